"""The planned state of an edition: public rows as they will be after the next release.

`planned(edition)` is a block in which instances carry planned values, and in which `value_of()` and `match()`
give planned values to queries. Outside of it, and for rows that did not change, both give the columns.
Nothing is written and no row is locked. What does not ask shows the public value.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from django.apps import apps
from django.db.models import Case, F, Field, Model, Q, TextField, Value, When
from django.db.models.constants import LOOKUP_SEP
from django.db.models.functions import Cast
from django.db.models.lookups import IsNull

import markup
from content import preview_context
from content.array_lookup import AnyOf
from content.replica import read_from_replica
from content.row_values import position_key, recorded_fields

if TYPE_CHECKING:
    from conference.models import Edition
    from content.history import ChangeSet

# In `on_release`: the row is removed with the release.
REMOVED = "removed"

type Columns = dict[str, Any]

# The detail of a release in the history.
RELEASE_DETAIL = "release of unreleased changes"


class Group(NamedTuple):
    """Rows with the same planned value; `column` is that in which they have one of these keys."""

    column: str
    value: Any
    keys: list[int]


def waiting_fields(model: type[Model]) -> frozenset[str]:
    """Return the fields of public rows whose changes wait. All others are public when they are saved."""
    return getattr(model, "waiting_fields", frozenset())


def passes_waiting_field(model: type[Model], path: str) -> bool:
    """Return whether a path of relations leads through one that may change with the release."""
    for step in path.split(LOOKUP_SEP):
        if step in waiting_fields(model):
            return True
        model = model._meta.get_field(step).related_model  # type: ignore[assignment]
    return False


def release_model() -> Any:
    return apps.get_model("schedule", "Release")


def change_model() -> Any:
    return apps.get_model("schedule", "UnreleasedChange")


def target_names() -> dict[str, str]:
    """Return the foreign keys of a change to its row, by the label of the row's model."""
    model = change_model()
    return {model._meta.get_field(name).related_model._meta.label_lower: name for name in model.part_of}


def has_unreleased_rows(change_set: "ChangeSet") -> bool:
    """Return whether a change set made unreleased changes, or rows that wait for a release."""
    model = change_model()
    if change_set.rows.filter(model=model._meta.label_lower).exists():
        return True
    created = change_set.rows.filter(kind="created")
    return any(
        model._base_manager.filter(
            **{f"{name}__in": created.filter(model=label).order_by().values("object_id")}
        ).exists()
        for label, name in target_names().items()
    )


def public_at_once(change_sets: "Iterable[ChangeSet]") -> set[int]:
    """Return the keys of the releases and live notices: their reverts are public at once, too. One query."""
    details = {change_set.pk: change_set.detail for change_set in change_sets}
    changes = apps.get_model("content", "RowChange")._base_manager.filter(change_set__in=details)
    news = changes.filter(kind="created", model="conference.announcement").order_by()
    releases = {key for key, detail in details.items() if detail == RELEASE_DETAIL}
    return releases | {*news.values_list("change_set", flat=True)}


def planned_columns(model: Any, edition: "Edition", values: Mapping[str, Any]) -> Columns:
    """Return the columns of unreleased values, with those that are derived from them."""
    fields = recorded_fields(model)
    columns = {fields[name].attname: fields[name].to_python(value) for name, value in values.items()}
    if "title" in columns:
        columns["title_html"] = markup.inline(columns["title"])
    if "kind" in columns:
        columns |= model(edition=edition).kind_copies(columns["kind"])
    return columns


class Plan:
    """The unreleased changes of an edition, as read when the block began."""

    def __init__(self, edition: "Edition", version: str, changes: Iterable[tuple[str, int, Columns]]) -> None:
        self.edition, self.version = edition, version
        self.columns: dict[str, dict[int, Columns]] = {}
        for label, key, values in changes:
            self.columns.setdefault(label, {})[key] = planned_columns(
                apps.get_model(label), self.edition, values
            )

    @property
    def change_count(self) -> int:
        return int(self.version.partition(".")[0] or 0)

    def learn(self, label: str, key: int, values: Mapping[str, Any]) -> None:
        """Take over what a write in the block has changed."""
        rows = self.columns.setdefault(label, {})
        if values:
            rows[key] = planned_columns(apps.get_model(label), self.edition, values)
        else:
            rows.pop(key, None)
        for name in ("sessions", "rooms", "renumbered"):
            vars(self).pop(name, None)

    def of(self, model: type[Model]) -> dict[int, Columns]:
        """Return the planned columns of the changed rows of a model, by key."""
        label = model._meta.label_lower
        return self.renumbered.get(label) or self.columns.get(label, {})

    @cached_property
    def renumbered(self) -> dict[str, dict[int, Columns]]:
        """The planned columns of ordered rows, with positions from 1 to n where an order changes.

        Two queries for each model whose rows are added, removed, moved or reordered.
        """
        models: Iterable[Any] = (apps.get_model(label) for label in target_names())
        return {
            model._meta.label_lower: self._renumber(model)
            for model in models
            if hasattr(model, "siblings_of")
        }

    def _renumber(self, model: Any) -> dict[int, Columns]:
        owner = column_of(model, model.siblings_of)
        stored = self.columns.get(model._meta.label_lower, {})
        columns = {key: dict(values) for key, values in stored.items()}
        rows = model._base_manager.filter(**{model.edition_lookup: self.edition}).order_by()
        moved = [key for key, values in columns.items() if {owner, "position"} & values.keys()]
        touched = (
            rows.filter(Q(AnyOf("pk", moved)) | ~Q(on_release="")) if moved else rows.exclude(on_release="")
        )
        owners = {*touched.values_list(owner, flat=True)} | {
            values[owner] for values in columns.values() if owner in values
        }
        owners -= {None}
        if not owners:
            return columns
        members: dict[int, list[tuple[int, int]]] = {}
        near = rows.filter(Q(AnyOf(owner, owners)) | Q(AnyOf("pk", moved))).exclude(on_release=REMOVED)
        for key, owner_key, position in near.values_list("pk", owner, "position"):
            planned = columns.get(key, {})
            place = planned.get("position", position), key
            members.setdefault(planned.get(owner, owner_key), []).append(place)
        for owner_key in owners & members.keys():
            ordered = sorted(members[owner_key], key=lambda place: position_key(*place))
            for position, (_, key) in enumerate(ordered, start=1):
                columns.setdefault(key, {})["position"] = position
        return columns

    def lay_over(self, row: Any) -> None:
        """Give an instance its planned values."""
        for name, value in self.of(type(row)).get(row.pk, {}).items():
            if name in vars(row):
                setattr(row, name, value)
        columns = vars(row)
        status = columns.get("on_release")
        is_of_edition = "status" in columns and columns.get("edition_id") == self.edition.pk
        if is_of_edition and status not in (None, "", REMOVED):
            row.status = status

    @cached_property
    def rooms(self) -> dict[int, Any]:
        rooms = apps.get_model("schedule", "Room")._base_manager.filter(edition=self.edition)
        return {room.pk: room for room in rooms}

    @cached_property
    def sessions(self) -> dict[int, Any]:
        """All sessions of the edition in the planned state, with rooms and parents. Two queries."""
        rows = apps.get_model("schedule", "Session")._base_manager.filter(edition=self.edition)
        sessions: dict[int, Any] = {session.pk: session for session in rows}
        for session in sessions.values():
            session.edition = self.edition
            session.room = self.rooms.get(session.room_id or 0)
            session.parent = sessions.get(session.parent_id or 0)
        return sessions

    @property
    def session_statuses(self) -> dict[int, str]:
        """The statuses of the sessions whose status waits, by key."""
        return {
            key: session.status
            for key, session in self.sessions.items()
            if session.on_release not in ("", REMOVED)
        }

    def row(self, model: type[Model], key: int | None) -> Any:
        """Return a planned room or session; `None` without a key."""
        rows: Mapping[int, Any] = self.rooms if model._meta.model_name == "room" else self.sessions
        return rows.get(key or 0)

    def groups(self, model: type[Model], path: str) -> list[Group]:
        """Return the rows whose value at a path, such as "session__start", differs from the public one."""
        first, _sep, rest = path.partition(LOOKUP_SEP)
        name = column_of(model, first)
        changed = {key: columns[name] for key, columns in self.of(model).items() if name in columns}
        if not rest:
            return list(_group(self.session_statuses if name == "status" else changed))
        target = model._meta.get_field(first).related_model
        if not isinstance(target, type) or target._meta.model_name not in ("room", "session"):
            return []
        moved = {key: _follow(self.row(target, target_key), rest) for key, target_key in changed.items()}
        through = [
            Group(name if column == "pk" else f"{first}__{column}", value, keys)
            for column, value, keys in self.groups(target, rest)
        ]
        return [*_group(moved), *through]


def _group(values: Mapping[int, Any]) -> Iterator[Group]:
    keys_by_value: dict[Any, list[int]] = {}
    for key, value in values.items():
        keys_by_value.setdefault(value, []).append(key)
    for value, keys in keys_by_value.items():
        yield Group("pk", value, keys)


def _follow(row: Any, path: str) -> Any:
    """Return the value at a path from an instance, and its key if that is an instance."""
    value = reduce(lambda target, name: getattr(target, name, None), path.split(LOOKUP_SEP), row)
    return value.pk if isinstance(value, Model) else value


def column_of(model: type[Model], name: str) -> str:
    """Return the attribute of a field's column: `room_id` for "room"."""
    field = next((f for f in model._meta.concrete_fields if name in (f.name, f.attname)), None)
    return field.attname if field else name


def field_at(model: type[Model], path: str) -> "Field[Any, Any]":
    """Return the field at a path; of a foreign key the field that it points to."""
    *steps, last = path.split(LOOKUP_SEP)
    for step in steps:
        model = model._meta.get_field(step).related_model  # type: ignore[assignment]
    field = next(f for f in model._meta.concrete_fields if last in (f.name, f.attname, "pk"))
    return field.target_field if field.is_relation else field  # type: ignore[attr-defined]


_plan: ContextVar[Plan | None] = ContextVar("plan", default=None)


def current() -> Plan | None:
    """Return the plan of the current block; `None` in the public state."""
    return _plan.get()


def read_version(edition: int) -> str:
    """Return a text that differs after every change of an edition's unreleased changes. One query."""
    changes = change_model()._base_manager.filter(edition=edition).order_by("pk")
    columns = ("pk", "at", "on_release", Cast("values", TextField()), Cast("began", TextField()))
    rows = [*changes.values_list(*columns)]
    return f"{len(rows)}.{crc32(repr(rows).encode()):x}" if rows else ""


def waiting_editions(editions: Iterable[int | None]) -> set[int]:
    """Return those of the editions whose changes wait for a release. One query."""
    plans = apps.get_model("schedule", "ReleasePlan").objects
    return {*plans.open().filter(edition__in={*editions} - {None}).values_list("edition", flat=True)}


def read_plan(edition: "Edition", *, for_edits: bool = False) -> Plan | None:
    """Return the plan of an edition; `None` without unreleased changes. Two queries, else one.

    With `for_edits`, return an empty plan if changes wait, which learns the changes that are made now.
    """
    with read_from_replica(allowed=False):
        version = read_version(edition.pk)
        if not version:
            return Plan(edition, "", ()) if for_edits and waiting_editions([edition.pk]) else None
        names = target_names()
        columns = [f"{name}_id" for name in names.values()]
        changes = change_model()._base_manager.filter(edition=edition)
        rows = changes.exclude(values={}).values_list(*columns, "values")
        return Plan(
            edition,
            version,
            [
                (label, key, values)
                for *keys, values in rows
                for label, key in zip(names, keys, strict=True)
                if key
            ],
        )


@contextmanager
def planned(edition: "Edition", *, for_edits: bool = False) -> Iterator[Plan | None]:
    """Show the planned state of an edition in the block. Writes nothing; three or four queries.

    Pages whose POST changes rows and reads them again set `for_edits`.
    """
    plan = read_plan(edition, for_edits=for_edits)
    if plan is None:
        yield None
        return
    with in_plan(plan):
        yield plan


@contextmanager
def in_plan(plan: Plan) -> Iterator[None]:
    """Show a plan in the block."""
    with preview_context.planned_state(plan.edition.pk, plan.version), read_from_replica(allowed=False):
        token = _plan.set(plan)
        try:
            yield
        finally:
            _plan.reset(token)


@contextmanager
def public_state() -> Iterator[None]:
    """Show the public state in the block, inside of `planned()` too."""
    token = _plan.set(None)
    try:
        with preview_context.public_state():
            yield
    finally:
        _plan.reset(token)


_is_publishing: ContextVar[bool] = ContextVar("is_publishing", default=False)


@contextmanager
def publishing() -> Iterator[None]:
    """Write to the public rows in the block, as a release and a live notice do."""
    token = _is_publishing.set(True)
    try:
        with public_state():
            yield
    finally:
        _is_publishing.reset(token)


@contextmanager
def settled() -> Iterator[None]:
    """Write in the block what was found not to wait, without asking again."""
    token = _is_publishing.set(True)
    try:
        yield
    finally:
        _is_publishing.reset(token)


def is_publishing() -> bool:
    """Return whether writes in the current block are public at once."""
    return _is_publishing.get()


# Queries


def value_of(model: type[Model], path: str, prefix: str = "") -> Any:
    """Return the expression of the value at a path from `model`; `prefix` is the lookup of its row."""
    plan = current()
    if plan and path == "status":
        return _status_of(model, prefix)
    groups = plan.groups(model, path) if plan else []
    if not groups:
        return F(f"{prefix}{path}")
    field = field_at(model, path)
    whens = [
        When(AnyOf(f"{prefix}{group.column}", group.keys), then=Value(group.value, output_field=field))
        for group in groups
    ]
    return Case(*whens, default=F(f"{prefix}{path}"), output_field=field)


def _status_of(model: type[Model], prefix: str) -> Case:
    """Return the expression of the status after the release. Other editions have no planned state here."""
    plan: Any = current()
    waits = Q(**{f"{prefix}edition": plan.edition.pk}) & ~Q(**{f"{prefix}on_release__in": ("", REMOVED)})
    after, before = F(f"{prefix}on_release"), F(f"{prefix}status")
    return Case(When(waits, then=after), default=before, output_field=field_at(model, "status"))


def match(model: type[Model], prefix: str = "", /, **lookups: Any) -> Q:
    """Return the condition for rows of `model` at `prefix` with these lookups, such as `start__gt=`."""
    if current() is None:
        return Q(**{f"{prefix}{lookup}": value for lookup, value in lookups.items()})
    condition = Q()
    for lookup, value in lookups.items():
        path, _sep, name = lookup.rpartition(LOOKUP_SEP)
        if name not in LOOKUPS:
            path, name = lookup, "exact"
        expression = value_of(model, path, prefix)
        if isinstance(expression, F):
            condition &= Q(**{f"{prefix}{lookup}": value})
        else:
            lookup_class: Any = expression.output_field.get_lookup(name)
            condition &= Q(lookup_class(expression, value.pk if isinstance(value, Model) else value))
            if name != "isnull":
                # Never unknown, so that the condition can be negated.
                condition &= Q(IsNull(expression, False))
    return condition


LOOKUPS = frozenset(("exact", "gt", "gte", "in", "isnull", "lt", "lte"))


def in_state(planned_rows: Q, public_rows: Q, prefix: str = "") -> Q:
    """Return a condition for rows of the planned edition, and one for all others; else only the latter.

    `prefix` leads to a row with an edition.
    """
    if (plan := current()) is None:
        return public_rows
    is_planned = Q(**{f"{prefix}edition": plan.edition.pk})
    return (is_planned & planned_rows) | (~is_planned & public_rows)


def session_keys(test: Any) -> list[int]:
    """Return the keys of the planned sessions for which `test` holds. Only inside of `planned()`."""
    plan = current()
    sessions = plan.sessions.items() if plan else ()
    return [key for key, session in sessions if session.on_release != REMOVED and test(session)]
