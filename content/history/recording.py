"""Records history: `Content` and its bulk methods report changes, which form one change set.

Entry points name the user and origin: `recording(Origin.API, user, "name of the token")`. All changes
in the block form one change set in one transaction. A change outside of a block forms its own change set.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import models, transaction
from django.db.models.signals import m2m_changed
from django.dispatch import receiver

from content import revision
from content.actor import User, acting_as, current_actor
from content.changed import stamping
from content.editions import get_edition_model
from content.history import ChangeSet, RowChange, changed_rows
from content.history.makers import current_maker, set_makers
from content.publicity.watching import Watch
from content.row_values import (
    Key,
    Values,
    is_recorded,
    linked_keys,
    many_to_many_fields,
    owner_fields,
    owner_names,
    read_values_by_key,
    recorded_fields,
    values_in_memory,
)

if TYPE_CHECKING:
    from datetime import datetime

    from content.models import Content

MAX_PENDING_ROWS = 1000
Kind = RowChange.Kind


class Log(stamping.Stamps):
    """The pending changes of a change set."""

    def __init__(self) -> None:
        # `created` has new rows: later changes in the same set are part of their creation.
        super().__init__()
        self.change_set: ChangeSet | None = None
        self.pending: dict[Key, RowChange] = {}
        self.makers: dict[Key, int] = {}
        # The state before each entry, so that a failed part leaves no entry.
        self.undo_entries: list[tuple[Key, RowChange | None, bool]] = []
        self.depth = 0
        self.watch = Watch()
        self.reference = ""

    def _put(self, key: Key, change: RowChange | None, *, created: bool = False) -> None:
        self.undo_entries.append((key, self.pending.pop(key, None), key in self.created))
        if change is not None:
            self.pending[key] = change
        if created:
            self.created.add(key)

    def roll_back(self, mark: int) -> None:
        """Discard the entries since the mark."""
        self.stamped.clear()
        while len(self.undo_entries) > mark:
            key, change, was_created = self.undo_entries.pop()
            self.pending.pop(key, None)
            if change is not None:
                self.pending[key] = change
            if not was_created:
                self.created.discard(key)

    def record_created(self, row: "Content") -> None:
        """Record a new row. A dependent of a new row needs no entry, unless someone else made it."""
        model = type(row)
        key = (model._meta.label_lower, row.pk)
        changed_rows.add_row(*key)
        owners = owner_names(model, values_in_memory(row, owner_fields(model)))
        owner = _parse_row_name(owners[0]) if owners else None
        stamping.note_new(self, row)
        if (maker := current_maker(key)) is not None:
            self.makers[key] = maker
        is_dependent = owner is not None and not is_container(owner[0]) and owner in self.created
        if owner is not None and is_dependent and self.makers.get(key) == self.makers.get(owner):
            self._put(key, None, created=True)
        else:
            change = _new_row_change(Kind.CREATED, model, row.pk, owners, row.get_edition_key())
            if model.keeps_first_values:
                change.values = values_in_memory(row, recorded_fields(model))
            self._put(key, change, created=True)

    def record_changed(
        self, model: type[models.Model], key: int, before: Values, after: Values, edition: int | None
    ) -> None:
        """Record the fields that differ. `before` also contains the row's owners."""
        row_key = (model._meta.label_lower, key)
        changes = {
            field: [before[field], after[field]] for field in after if before.get(field) != after[field]
        }
        if changes:
            changed_rows.add_row(*row_key, {*changes}, {name: before.get(name) for name in changes})
        pending = self.pending.get(row_key)
        if row_key in self.created or not (changes or pending):
            if pending is not None and pending.values:
                pending.values |= after
            return
        new_owners = owner_names(model, {**before, **after})
        if pending is not None and pending.kind == Kind.CHANGED:
            merged = {field: [pending.values.get(field, pair)[0], pair[1]] for field, pair in changes.items()}
            changes = {field: pair for field, pair in (pending.values | merged).items() if pair[0] != pair[1]}
            before = {**before, **pending.before()}
        change = _new_row_change(Kind.CHANGED, model, key, owner_names(model, before), edition)
        change.moved_to = next((owner for owner in new_owners[:1] if owner != change.owner), "")
        change.values = changes
        self._put(row_key, change if changes else None)

    def record_deleted(self, row: "Content", values: Values, *, dragged: bool) -> None:
        """Record a row that is about to be deleted, with all its values."""
        model, key = type(row), row.pk
        row_key = (model._meta.label_lower, key)
        changed_rows.add_row(*row_key, None, values)
        pending = self.pending.get(row_key)
        if pending is not None and pending.kind == Kind.CREATED:
            self._put(row_key, None)
            return
        if pending is not None and pending.kind == Kind.CHANGED:
            values = {**values, **pending.before()}
        change = _new_row_change(Kind.DELETED, model, key, owner_names(model, values), row.get_edition_key())
        change.values, change.label, change.dragged = values, str(row)[:300], dragged
        self._put(row_key, change)

    def set_reference(self, row: models.Model | None) -> None:
        """Link the change set to a row it created, such as an import run."""
        self.reference = f"{row._meta.label_lower}:{row.pk}" if row else ""
        if self.change_set is not None:
            self.change_set.reference = self.reference
            self.change_set.save(update_fields=["reference"])

    def write(self) -> None:
        rows = list(self.pending.values())
        stamping.stamp_others(self, rows)
        if not rows:
            return
        if self.change_set is None:
            self.change_set = create_change_set(self.at, self.reference)
        for row in rows:
            row.change_set = self.change_set
        set_makers(rows, self.change_set.user_id)
        RowChange.objects.bulk_create(rows, batch_size=MAX_PENDING_ROWS)
        self.pending.clear()
        self.undo_entries.clear()


def _parse_row_name(name: str) -> Key:
    label, _, key = name.partition(":")
    return label, int(key)


def _new_row_change(
    kind: str, model: type[models.Model], key: int, owners: list[str], edition: int | None
) -> RowChange:
    owner, other = [*owners, "", ""][:2]
    return RowChange(
        kind=kind,
        model=model._meta.label_lower,
        object_id=key,
        owner=owner,
        other=other,
        edition_key=key if model is get_edition_model() else edition,
        made_by_id=current_maker((model._meta.label_lower, key)),
    )


def is_container(label: str) -> bool:
    """Return whether all content belongs to rows of this model. Its changes are recorded separately."""
    return bool(getattr(apps.get_model(label), "is_container", False))


def create_change_set(at: "datetime", reference: str = "") -> ChangeSet:
    actor = current_actor()
    user = actor.user if getattr(actor.user, "is_authenticated", False) else None
    return ChangeSet.objects.create(
        at=at,
        user_id=user.pk if user else None,
        user_name=user.get_username() if user else "",
        origin=actor.origin,
        detail=actor.detail[:200],
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
    mark, log.depth = len(log.undo_entries), log.depth + 1
    try:
        # The editions advance last, after the times of all rows: who waits for an edition holds no row then
        # that this change set still needs.
        with transaction.atomic(), changed_rows.collected(), revision.collect():
            yield log
            if log.depth == 1 or (log.depth == 2 and len(log.pending) >= MAX_PENDING_ROWS):
                log.write()
            if log.depth == 1:
                # After the times of rows that are known to have changed: it may take turns with others.
                for model, keys in log.watch.end(log.created).items():
                    stamping.touch(log, model, keys)
                stamping.stamp_others(log, ())
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


def touch(model: type[models.Model], keys: Iterable[int]) -> None:
    """Count rows as changed, because they became public or show something else, though no field changed."""
    with single_change_set() as log:
        stamping.touch(log, model, keys)


def editions_by_row(model: type[models.Model], keys: Iterable[int]) -> dict[int, int | None]:
    """Return the edition of each of these rows. One query for 1,000 rows."""
    lookup: str = model.edition_lookup  # type: ignore[attr-defined]
    row_keys = list(keys)
    if not lookup:
        return dict.fromkeys(row_keys)
    editions: dict[int, int | None] = {}
    for batch in batched(row_keys, MAX_PENDING_ROWS, strict=False):
        editions |= dict(model._base_manager.filter(pk__in=batch).order_by().values_list("pk", lookup))
    return editions


def advance_for_links(model: type[models.Model], name: str, keys: Iterable[int]) -> None:
    """Advance the editions of rows whose relation was changed from its other side, such as authors."""
    owner = many_to_many_fields(model)[name].model
    if owner is not model and (row_keys := list(keys)):
        revision.advance(editions_by_row(owner, row_keys).values())


# Many-to-many relations are not columns, so `save` and `update` do not report them.


@contextmanager
def record_link_changes(model: type[models.Model], name: str, keys: Iterable[int]) -> Iterator[None]:
    """Record the changes of a many-to-many relation that the block writes directly."""
    row_keys = list(keys)
    before = linked_keys(model, name, row_keys)
    with single_change_set() as log:
        log.watch.before_write(model, row_keys)
        yield
        after = linked_keys(model, name, row_keys)
        changed_keys = [key for key in row_keys if before[key] != after[key]]
        owner_values = read_values_by_key(model, changed_keys, owner_fields(model))
        editions = editions_by_row(model, changed_keys)
        for key in changed_keys:
            values = {**owner_values.get(key, {}), name: before[key]}
            log.record_changed(model, key, values, {name: after[key]}, editions.get(key))


@receiver(m2m_changed)
def _record_many_to_many(sender: type[models.Model], instance: Any, action: str, **kwargs: Any) -> None:
    """Record changes of a row's many-to-many relation. Forms write them after the row."""
    model = type(instance)
    if not is_recorded(model):
        return
    fields = many_to_many_fields(model)
    name = next(name for name, field in fields.items() if field.remote_field.through is sender)
    linked = linked_keys(model, name, [instance.pk])[instance.pk]
    if action.startswith("pre_"):
        vars(instance)["_linked_before"] = linked
        watch = vars(instance)["_watch"] = Watch()
        watch.before_write(model, [instance.pk])
        watch.before_write(kwargs["model"], kwargs["pk_set"] or ())
        return
    linked_before = vars(instance).pop("_linked_before", linked)
    watch = vars(instance).pop("_watch", None)
    if linked_before != linked:
        with single_change_set() as log:
            values = {**values_in_memory(instance, owner_fields(model)), name: linked_before}
            log.record_changed(model, instance.pk, values, {name: linked}, instance.get_edition_key())
            if watch is not None:
                log.watch.take_over(watch)
            # In the block, whose changed rows the new revision notes.
            if fields[name].model is model:
                revision.advance([instance.get_edition_key()])
            advance_for_links(model, name, {*linked_before} ^ {*linked})
