"""Turns writes to public rows of an edition whose changes wait into unreleased changes.

Sessions, presentations, their people and papers call it from `save()`, `delete()` and the methods of their
querysets, so that no way of writing can forget it. Becoming public waits, and so do the fields in
`waiting_fields` of their models. All other fields, and going back to draft, are public at once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from django.db.models import Model
from django.utils import timezone
from django.utils.functional import cached_property

from content.actor import current_actor
from content.array_lookup import AnyOf
from content.history.recording import single_change_set
from content.ordering import is_ordered
from content.row_values import (
    BATCH_ROWS,
    UPDATE_BATCH_ROWS,
    read_values_by_key,
    recorded_fields,
    to_json_value,
    values_in_memory,
)
from content.unreleased import plan
from content.unreleased.plan import Columns, change_model, column_of, target_names, waiting_fields
from content.unreleased.timing import hides_with_release, publishes_now

DRAFT, ADDED, REMOVED = "draft", "added", plan.REMOVED
# The statuses with which a row is public. Canceled sessions are, and are marked as such, because visitors
# search for them.
PUBLIC_STATUSES = ("published", "cancelled")
# The status of a change waits if it makes a row public, or cancels it or not. Others are set at once.
STATUS = "status"


def waiting_editions(editions: Iterable[int | None]) -> set[int]:
    """Return those of the editions whose changes wait for a release. One query."""
    return set() if plan.is_publishing() else plan.waiting_editions(editions)


class Stored(NamedTuple):
    """What the database has of a row: whether it is public, and its public columns by attribute."""

    is_public: bool
    edition: int
    columns: Columns


def read_stored(model: Any, keys: Collection[int]) -> dict[int, Stored]:
    """Return what is stored of these rows, locked in the order of their keys. One query."""
    names = [column_of(model, name) for name in sorted(waiting_fields(model))]
    owner = "" if has_status(model) else f"{model.siblings_of}__"
    own = ["on_release", *([] if owner else [STATUS]), *names]
    locked = model._base_manager.filter(AnyOf("pk", keys)).order_by("pk")
    rows = locked.select_for_update(no_key=True, of=("self",))
    stored = {}
    state = ("pk", model.edition_lookup, f"{owner}{STATUS}")
    for key, edition, status, *values in rows.values_list(*state, *own):
        columns = dict(zip(own, values, strict=True))
        is_public = status in PUBLIC_STATUSES and columns["on_release"] != ADDED
        stored[key] = Stored(is_public, edition, columns)
    return stored


def has_status(model: type[Model]) -> bool:
    """Return whether rows have a status of their own, unlike the people of a session or talk."""
    return hasattr(model, STATUS)


def read_changes(model: Any, keys: Collection[int]) -> dict[int, Any]:
    """Return the unreleased changes of these rows, by the key of the row. One query."""
    name = target_names()[model._meta.label_lower]
    changes = change_model()._base_manager.filter(AnyOf(f"{name}_id", keys))
    return {getattr(change, f"{name}_id"): change for change in changes.select_for_update(no_key=True)}


# Existing rows


def is_concerned(model: type[Model], names: Collection[str] | None) -> bool:
    """Return whether a write to these fields, or all, may have to wait."""
    columns = {column_of(model, name) for name in (*waiting_fields(model), STATUS)}
    return not plan.is_publishing() and (
        names is None or bool({column_of(model, name) for name in names} & columns)
    )


def editions_that_hold(rows: Collection[Any], names: Collection[str] | None) -> set[int]:
    """Return the editions of these rows where writes to these fields, or all, may wait. One query at most."""
    if not rows or not is_concerned(type(next(iter(rows))), names):
        return set()
    return waiting_editions({row.get_edition_key() for row in rows})


def hold_back(
    rows: Collection[Any], names: Collection[str] | None, editions: Collection[int]
) -> dict[int, Columns]:
    """Store as unreleased changes what was edited in these rows and must wait.

    `names` are the fields that are to be written, or all; changes of these `editions` wait. Return for each
    row with a part that must wait the columns that it keeps, with their public values. Locks the rows.
    """
    waiting_rows = {row.pk: row for row in rows if row.get_edition_key() in editions}
    if not waiting_rows:
        return {}
    model = type(next(iter(rows)))
    held: dict[int, Columns] = {}
    written = []
    with single_change_set():
        stored_rows, changes = read_stored(model, waiting_rows), read_changes(model, waiting_rows)
        for key in sorted(stored_rows):
            edit = Edit(waiting_rows[key], names, stored_rows[key], changes.get(key))
            edit.decide()
            if edit.held:
                held[key] = edit.held
            written.append(edit)
        write_changes([edit for edit in written if edit.is_changed])
    return held


class Edit:
    """What happens to an edit of one row of an edition whose changes wait."""

    def __init__(self, row: Any, names: Collection[str] | None, stored: Stored, change: Any) -> None:
        self.row, self.stored, self.change = row, stored, change
        self.names = names
        self.values: dict[str, Any] = dict(change.values) if change else {}
        self.began: dict[str, Any] = dict(change.began) if change else {}
        self.on_release: str = stored.columns["on_release"]
        # The columns that the row keeps.
        self.held: Columns = {}
        self.is_changed = False
        # Whether the row was made to be added with the release.
        self.creates_row: bool = change.creates_row if change else False

    @cached_property
    def loaded(self) -> Columns:
        """The columns as the caller read them."""
        planned = {**self.stored.columns, **_columns(type(self.row), self.values)}
        if self.on_release in (*PUBLIC_STATUSES, DRAFT):
            planned[STATUS] = self.on_release
        return {**planned, **vars(self.row).get("loaded_columns", {})}

    def edited(self, name: str) -> bool:
        """Return whether the caller changed a field that it writes."""
        attribute = column_of(type(self.row), name)
        is_written = self.names is None or bool({name, attribute} & {*self.names})
        return (
            is_written and attribute in vars(self.row) and vars(self.row)[attribute] != self.loaded[attribute]
        )

    def decide(self) -> None:
        model: Any = type(self.row)
        is_status_edited = has_status(model) and self.edited(STATUS)
        if not self.stored.is_public:
            self.decide_status(is_status_edited)
            return
        if is_status_edited and self.row.status not in PUBLIC_STATUSES and not hides_with_release():
            self.withdraw()
            return
        if self.on_release == REMOVED:
            # Who edits a row that was to be removed wants it to stay.
            self.on_release, self.is_changed = "", True
        fields = recorded_fields(model)
        for name in waiting_fields(model):
            attribute = column_of(model, name)
            public = self.stored.columns[attribute]
            if self.edited(name):
                self.is_changed = True
                self.began.setdefault(name, to_json_value(public))
                self.values[name] = to_json_value(fields[name].to_python(vars(self.row)[attribute]))
            if name in self.values and self.values[name] == to_json_value(public):
                del self.values[name], self.began[name]
            self.held[attribute] = public
        self.decide_status(is_status_edited)

    def is_held(self, status: str) -> bool:
        """Return whether a new status waits."""
        if status not in PUBLIC_STATUSES:
            return self.stored.is_public and hides_with_release()
        return self.stored.is_public or not publishes_now()

    def decide_status(self, is_edited: bool) -> None:
        """Let a step to a public status, or a cancellation, wait; the row keeps its stored status."""
        if not has_status(type(self.row)):
            return
        stored, status = self.stored.columns[STATUS], self.row.status
        if is_edited:
            is_held = self.is_held(status)
            release = status if is_held and status != stored else ""
            self.is_changed = self.is_changed or release != self.on_release
            self.on_release = release
            if is_held:
                self.held[STATUS] = stored
        elif status != stored:
            self.held[STATUS] = stored

    def withdraw(self) -> None:
        """Take a public row back at once; what waited for it is written to the draft."""
        for attribute, value in _columns(type(self.row), self.values).items():
            if self.loaded[attribute] == self.stored.columns[attribute] == vars(self.row).get(attribute):
                setattr(self.row, attribute, value)
        self.values, self.on_release = {}, ""
        self.is_changed = self.change is not None


def _columns(model: Any, values: Mapping[str, Any]) -> Columns:
    fields = recorded_fields(model)
    return {fields[name].attname: fields[name].to_python(value) for name, value in values.items()}


def write_changes(edits: Collection[Edit]) -> None:
    """Store the unreleased changes of these edits. Three statements for any number of rows."""
    if not edits:
        return
    model = type(next(iter(edits)).row)
    name = target_names()[model._meta.label_lower]
    changes_model = change_model()
    actor, now = current_actor(), timezone.now()
    user = actor.user if getattr(actor.user, "is_authenticated", False) else None
    created: list[Any] = []
    updated: list[Any] = []
    deleted: list[int] = []
    for edit in edits:
        change = edit.change or changes_model(**{f"{name}_id": edit.row.pk}, edition_id=edit.stored.edition)
        if not edit.values and not edit.on_release:
            deleted += [change.pk] if change.pk else []
        else:
            change.values, change.began, change.on_release = edit.values, edit.began, edit.on_release
            change.creates_row = edit.creates_row
            change.at, change.by_id = now, user.pk if user else None
            change.by_name = user.get_username() if user else actor.detail[:150]
            set_targets(change, model)
            (updated if change.pk else created).append(change)
        edit.row.on_release = edit.on_release
        if active := plan.current():
            active.learn(model._meta.label_lower, edit.row.pk, edit.values)
    changes_model.objects.filter(pk__in=deleted).delete()
    changes_model.objects.bulk_create(created, batch_size=BATCH_ROWS)
    names = ["values", "began", "on_release", "at", "by", "by_name", "to_room", "to_session", "to_paper"]
    changes_model.objects.bulk_update(updated, names, batch_size=UPDATE_BATCH_ROWS)


def set_targets(change: Any, model: Any) -> None:
    """Repeat the keys in `values` in foreign keys, which keep the rows that a change needs."""
    change.to_room_id = change.values.get("room")
    change.to_session_id = change.values.get("session") or change.values.get("parent")
    change.to_paper_id = change.values.get("paper")


# New rows


def save_new(row: Any, save: Callable[[], None]) -> None:
    """Save a new row by `save`; if it is to be public and changes wait, it is added with the release."""
    edits = hold_back_new([row])
    if not edits:
        save()
        remember(row)
        return
    with single_change_set():
        save()
        finish_new(edits)


def hold_back_new(rows: Collection[Any]) -> list[Edit]:
    """Prepare new rows that are added with the release; `finish_new` then stores their changes."""
    public_rows = [] if plan.is_publishing() or publishes_now() else _to_be_public(rows)
    editions = waiting_editions({row.get_edition_key() for row in public_rows}) if public_rows else set()
    edits = []
    for row in public_rows:
        if (edition := row.get_edition_key()) in editions:
            edit = Edit(row, None, Stored(False, edition, {"on_release": ""}), None)
            edit.creates_row = True
            edit.on_release = row.on_release = row.status if has_status(type(row)) else ADDED
            if has_status(type(row)):
                row.status = DRAFT
            edits.append(edit)
    return edits


def finish_new(edits: Collection[Edit]) -> None:
    write_changes(edits)
    for edit in edits:
        if has_status(type(edit.row)):
            edit.row.status = edit.on_release
        remember(edit.row)


def _to_be_public(rows: Collection[Any]) -> list[Any]:
    """Return the new rows that would be public at once."""
    if not rows or has_status(model := type(next(iter(rows)))):
        return [row for row in rows if row.status in PUBLIC_STATUSES]
    owner = model._meta.get_field(model.siblings_of)
    owners = owner.related_model._base_manager.filter(
        AnyOf("pk", {getattr(row, owner.attname) for row in rows}), status__in=PUBLIC_STATUSES
    )
    public_keys = {*owners.values_list("pk", flat=True)}
    return [row for row in rows if getattr(row, owner.attname) in public_keys]


# Saving and deleting


def save_existing(
    row: Any, names: Collection[str] | None, save: Callable[[Collection[str] | None], None]
) -> None:
    """Save a row by `save(update_fields)`, without what must wait."""
    editions = editions_that_hold([row], names)
    if not editions:
        save(names)
        remember(row)
        return
    with single_change_set():
        if is_ordered(type(row)):
            row.take_position(names)
        held = hold_back([row], names, editions).get(row.pk, {})
        with showing_public({row.pk: held}, [row]):
            words = _written_names(row, names, held) if held else names
            if words is None or words:
                save(words)
        remember(row)


def _written_names(row: Any, names: Collection[str] | None, held: Columns) -> list[str]:
    """Return the fields to write: those that differ from the database, without those that wait."""
    model: Any = type(row)
    fields = recorded_fields(model)
    written = [
        name
        for name, field in fields.items()
        if field.attname not in held
        and field.attname in vars(row)
        and (names is None or {name, field.attname} & {*names})
    ]
    stored = read_values_by_key(type(row), [row.pk], written).get(row.pk, {})
    in_memory = values_in_memory(row, written)
    return [name for name in written if stored.get(name) != in_memory[name]]


def without_unchanged(rows: Collection[Any], names: Iterable[str], held: Mapping[int, Columns]) -> list[Any]:
    """Leave out rows of which a part waits, and whose other fields in `names` are as stored."""
    if not rows:
        return []
    model: Any = type(next(iter(rows)))
    compared = [name for name in names if name in recorded_fields(model)]
    stored = read_values_by_key(model, [row.pk for row in rows if row.pk in held], compared)
    return [row for row in rows if row.pk not in stored or stored[row.pk] != values_in_memory(row, compared)]


@contextmanager
def showing_public(held: Mapping[int, Columns], rows: Iterable[Any]) -> Iterator[None]:
    """Give the rows their public values in the block."""
    edited = []
    for row in rows:
        for attribute, value in held.get(row.pk, {}).items():
            if attribute in vars(row):
                edited.append((row, attribute, vars(row)[attribute]))
                setattr(row, attribute, value)
    try:
        yield
    finally:
        for row, attribute, value in edited:
            setattr(row, attribute, value)


def remember(row: Any) -> None:
    """Note the columns that the caller has read or written: what differs later is an edit."""
    model: Any = type(row)
    columns = vars(row)
    columns["loaded_columns"] = {name: columns[name] for name in remembered_columns(model) if name in columns}


@cache
def remembered_columns(model: type[Model]) -> tuple[str, ...]:
    """Return the columns whose edits may wait."""
    status = [STATUS] if has_status(model) else []
    return tuple(column_of(model, name) for name in (*waiting_fields(model), *status))


def editions_that_hold_removals(model: Any, keys: Collection[int]) -> set[int]:
    """Return the editions of these rows where the deletion of public rows waits. Two queries at most."""
    if plan.is_publishing() or not keys or not model.removal_waits:
        return set()
    rows = model._base_manager.filter(AnyOf("pk", keys))
    return waiting_editions({*rows.values_list(model.edition_lookup, flat=True).distinct()})


def remove_with_release(model: Any, keys: Collection[int], editions: Collection[int]) -> set[int]:
    """Let the deletion of public rows of these editions wait; return the keys of these rows."""
    rows = model._base_manager.filter(AnyOf("pk", keys))
    with single_change_set():
        stored, changes = read_stored(model, keys), read_changes(model, keys)
        edits = []
        for row in rows.order_by("pk"):
            if stored[row.pk].is_public and stored[row.pk].edition in editions:
                edit = Edit(row, (), stored[row.pk], changes.get(row.pk))
                edit.on_release = REMOVED
                edits.append(edit)
        write_changes(edits)
    return {edit.row.pk for edit in edits}
