"""Records history: `Content` and its bulk methods report changes, which form one change set.

Entry points name the user and origin: `recording(Origin.API, user, "name of the token")`. All changes
in the block form one change set in one transaction. A change outside of a block forms its own change set.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import models, transaction
from django.db.models.signals import m2m_changed
from django.dispatch import receiver
from django.utils import timezone

from content import revision
from content.actor import User, acting_as, current_actor
from content.editions import get_edition_model
from content.history import ChangeSet, RowChange
from content.row_values import (
    Key,
    Values,
    is_recorded,
    linked_keys,
    many_to_many_fields,
    owner_fields,
    owner_names,
    read_values_by_key,
    values_in_memory,
)

if TYPE_CHECKING:
    from content.models import Content

MAX_PENDING_ROWS = 1000
Kind = RowChange.Kind


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """Entries written to the history together; `created` are all rows that the change set created."""

    change_set: ChangeSet
    rows: list[RowChange]
    created: set[Key]


@dataclass(slots=True)
class HistoryWatch:
    """The history that a block wrote, and rows without a history that it deleted or changed by cascade.

    `unrecorded` contains the previous columns of the latter.
    """

    written: list[WrittenRows] = field(default_factory=list)
    unrecorded: list[tuple[type[models.Model], Values]] = field(default_factory=list)


_watch: ContextVar[HistoryWatch | None] = ContextVar("watch", default=None)


@contextmanager
def watch_history() -> Iterator[HistoryWatch]:
    """Collect the history that the block writes, and rows without a history that it deletes by cascade."""
    token = _watch.set(found := HistoryWatch())
    try:
        yield found
    finally:
        _watch.reset(token)


def current_watch() -> HistoryWatch | None:
    """Return the watch of the current block; `None` outside of any."""
    return _watch.get()


class Log:
    """The pending changes of a change set."""

    def __init__(self) -> None:
        self.change_set: ChangeSet | None = None
        self.pending: dict[Key, RowChange] = {}
        # New rows: later changes in the same set are part of their creation.
        self.created: set[Key] = set()
        # The state before each entry, so that a failed part leaves no entry.
        self.undone: list[tuple[Key, RowChange | None, bool]] = []
        self.depth = 0
        self.reference = ""

    def _put(self, key: Key, change: RowChange | None, *, created: bool = False) -> None:
        self.undone.append((key, self.pending.pop(key, None), key in self.created))
        if change is not None:
            self.pending[key] = change
        if created:
            self.created.add(key)

    def roll_back(self, mark: int) -> None:
        """Discard the entries since the mark."""
        while len(self.undone) > mark:
            key, change, was_created = self.undone.pop()
            self.pending.pop(key, None)
            if change is not None:
                self.pending[key] = change
            if not was_created:
                self.created.discard(key)

    def record_created(self, row: "Content") -> None:
        """Record a new row. A dependent of a new row needs no entry."""
        model = type(row)
        key = (model._meta.label_lower, row.pk)
        above = owner_names(model, values_in_memory(row, owner_fields(model)))
        owner = _key(above[0]) if above else None
        if owner and not is_container(owner[0]) and owner in self.created:
            self._put(key, None, created=True)
        else:
            self._put(key, _change(Kind.CREATED, model, row.pk, above, row.get_edition_key()), created=True)

    def record_changed(
        self, model: type[models.Model], key: int, before: Values, after: Values, edition: int | None
    ) -> None:
        """Record the fields that differ. `before` also contains the row's owners."""
        name = (model._meta.label_lower, key)
        news = {field: [before[field], after[field]] for field in after if before.get(field) != after[field]}
        known = self.pending.get(name)
        if name in self.created or not (news or known):
            return
        if known is not None and known.kind == Kind.CHANGED:
            merged = {name: [known.values.get(name, pair)[0], pair[1]] for name, pair in news.items()}
            news = {field: pair for field, pair in (known.values | merged).items() if pair[0] != pair[1]}
        now = owner_names(model, {**before, **after})
        if known is not None and known.kind == Kind.CHANGED:
            before = {**before, **known.before()}
        change = _change(Kind.CHANGED, model, key, owner_names(model, before), edition)
        change.moved_to = next((name for name in now[:1] if name != change.owner), "")
        change.values = news
        self._put(name, change if news else None)

    def record_deleted(self, row: "Content", values: Values, *, dragged: bool) -> None:
        """Record a row that is about to be deleted, with all its values."""
        model, key = type(row), row.pk
        name = (model._meta.label_lower, key)
        known = self.pending.get(name)
        if known is not None and known.kind == Kind.CREATED:
            self._put(name, None)
            return
        if known is not None and known.kind == Kind.CHANGED:
            values = {**values, **known.before()}
        change = _change(Kind.DELETED, model, key, owner_names(model, values), row.get_edition_key())
        change.values, change.label, change.dragged = values, str(row)[:300], dragged
        self._put(name, change)

    def set_reference(self, row: models.Model | None) -> None:
        """Link the change set to a row it created, such as an import run."""
        self.reference = f"{row._meta.label_lower}:{row.pk}" if row else ""
        if self.change_set is not None:
            self.change_set.reference = self.reference
            self.change_set.save(update_fields=["reference"])

    def write(self) -> None:
        rows = list(self.pending.values())
        if not rows:
            return
        if self.change_set is None:
            self.change_set = create_change_set(self.reference)
        for row in rows:
            row.change_set = self.change_set
        RowChange.objects.bulk_create(rows, batch_size=MAX_PENDING_ROWS)
        if (watch := current_watch()) is not None:
            watch.written.append(WrittenRows(self.change_set, rows, self.created))
        self.pending.clear()
        self.undone.clear()


def _key(name: str) -> Key:
    label, _, key = name.partition(":")
    return label, int(key)


def _change(
    kind: str, model: type[models.Model], key: int, above: list[str], edition: int | None
) -> RowChange:
    owner, other = [*above, "", ""][:2]
    return RowChange(
        kind=kind,
        model=model._meta.label_lower,
        object_id=key,
        owner=owner,
        other=other,
        edition_key=key if model is get_edition_model() else edition,
    )


def is_container(label: str) -> bool:
    """Return whether all content belongs to rows of this model. Its changes are recorded separately."""
    return bool(getattr(apps.get_model(label), "is_container", False))


def create_change_set(reference: str = "") -> ChangeSet:
    who = current_actor()
    user = who.user if getattr(who.user, "is_authenticated", False) else None
    return ChangeSet.objects.create(
        at=timezone.now(),
        user_id=user.pk if user else None,
        user_name=user.get_username() if user else "",
        origin=who.origin,
        detail=who.detail[:200],
        reference=reference,
    )


_log: ContextVar[Log | None] = ContextVar("log", default=None)


@contextmanager
def single_change_set() -> Iterator[Log]:
    """Group all changes in the block into one change set and transaction; nested blocks join it."""
    log = _log.get()
    token = None
    if log is None:
        log = Log()
        token = _log.set(log)
    mark, log.depth = len(log.undone), log.depth + 1
    try:
        with transaction.atomic():
            yield log
            if log.depth == 1 or (log.depth == 2 and len(log.pending) >= MAX_PENDING_ROWS):
                log.write()
    except BaseException:
        log.roll_back(mark)
        raise
    finally:
        log.depth -= 1
        if token is not None:
            _log.reset(token)


@contextmanager
def recording(origin: str, user: User = None, detail: str = "") -> Iterator[Log]:
    """Group all changes in the block into one change set of this user and origin."""
    with acting_as(origin, user, detail), single_change_set() as log:
        yield log


def editions_by_row(model: type[models.Model], keys: Iterable[int]) -> dict[int, int | None]:
    """Return the edition of each of these rows. One query for 1,000 rows."""
    lookup: str = model.edition_lookup  # type: ignore[attr-defined]
    wanted = list(keys)
    if not lookup:
        return dict.fromkeys(wanted)
    found: dict[int, int | None] = {}
    for batch in batched(wanted, MAX_PENDING_ROWS, strict=False):
        found |= dict(model._base_manager.filter(pk__in=batch).order_by().values_list("pk", lookup))
    return found


def advance_for_links(model: type[models.Model], name: str, far: Iterable[int]) -> None:
    """Advance the editions of rows whose relation was changed from its other side, such as authors."""
    owner = many_to_many_fields(model)[name].model
    if owner is not model and (keys := list(far)):
        revision.advance(editions_by_row(owner, keys).values())


# Many-to-many relations are not columns, so `save` and `update` do not report them.


@contextmanager
def record_link_changes(model: type[models.Model], name: str, keys: Iterable[int]) -> Iterator[None]:
    """Record the changes of a many-to-many relation that the block writes directly."""
    rows = list(keys)
    before = linked_keys(model, name, rows)
    with single_change_set() as log:
        yield
        after = linked_keys(model, name, rows)
        differing = [key for key in rows if before[key] != after[key]]
        present = read_values_by_key(model, differing, owner_fields(model))
        editions = editions_by_row(model, differing)
        for key in differing:
            values = {**present.get(key, {}), name: before[key]}
            log.record_changed(model, key, values, {name: after[key]}, editions.get(key))


@receiver(m2m_changed)
def _links_change(sender: type[models.Model], instance: Any, action: str, **more: object) -> None:
    """Record changes of a row's many-to-many relation. Forms write them after the row."""
    model = type(instance)
    if not is_recorded(model):
        return
    fields = many_to_many_fields(model)
    name = next(name for name, field in fields.items() if field.remote_field.through is sender)
    now = linked_keys(model, name, [instance.pk])[instance.pk]
    if action.startswith("pre_"):
        vars(instance)["_linked_before"] = now
        return
    before = vars(instance).pop("_linked_before", now)
    if before != now:
        with single_change_set() as log:
            values = {**values_in_memory(instance, owner_fields(model)), name: before}
            log.record_changed(model, instance.pk, values, {name: now}, instance.get_edition_key())
        if fields[name].model is model:
            revision.advance([instance.get_edition_key()])
        advance_for_links(model, name, {*before} ^ {*now})
