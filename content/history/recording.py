"""Records history: `Content` and its bulk methods report changes, which form one change set.

Entry points name the user and origin: `recording(Origin.API, user, "name of the token")`. What is
changed inside is one act in one transaction; a change outside of any is an act of its own.
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
from content.actor import User, acting, actor
from content.editions import get_edition_model
from content.history import ChangeSet, RowChange
from content.row_values import (
    Key,
    Values,
    held_rows,
    is_recorded,
    linked,
    links,
    owners,
    part_of,
    read_keys,
)

if TYPE_CHECKING:
    from content.models import Content

FULL = 1000
Kind = RowChange.Kind


@dataclass(frozen=True, slots=True)
class Written:
    """What was written to the history at once; `made` are all rows that are new in the change set."""

    change_set: ChangeSet
    rows: list[RowChange]
    made: set[Key]


@dataclass(slots=True)
class Watch:
    """What a block wrote to the history, and rows without a history that it deleted or changed by cascade.

    Of these it has the columns as they were before.
    """

    written: list[Written] = field(default_factory=list)
    unrecorded: list[tuple[type[models.Model], Values]] = field(default_factory=list)


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching() -> Iterator[Watch]:
    """Collect what the block writes to the history, and what it deletes by cascade."""
    token = _watch.set(found := Watch())
    try:
        yield found
    finally:
        _watch.reset(token)


def watched() -> Watch | None:
    """Return what is collected of the current block, if anything is."""
    return _watch.get()


class Log:
    """The pending changes of a change set."""

    def __init__(self) -> None:
        self.change_set: ChangeSet | None = None
        self.pending: dict[Key, RowChange] = {}
        # New rows: later changes in the same set are part of their creation.
        self.made: set[Key] = set()
        # The state before each entry, so that a failed part leaves no entry.
        self.undone: list[tuple[Key, RowChange | None, bool]] = []
        self.depth = 0
        self.reference = ""

    def _put(self, key: Key, change: RowChange | None, *, made: bool = False) -> None:
        self.undone.append((key, self.pending.pop(key, None), key in self.made))
        if change is not None:
            self.pending[key] = change
        if made:
            self.made.add(key)

    def take_back(self, mark: int) -> None:
        """Discard the entries since the mark."""
        while len(self.undone) > mark:
            key, change, was_made = self.undone.pop()
            self.pending.pop(key, None)
            if change is not None:
                self.pending[key] = change
            if not was_made:
                self.made.discard(key)

    def created(self, row: "Content") -> None:
        """Record a new row. A dependent of a new row needs no entry."""
        model = type(row)
        key = (model._meta.label_lower, row.pk)
        above = owners(model, held_rows(row, part_of(model)))
        owner = _key(above[0]) if above else None
        if owner and not is_container(owner[0]) and owner in self.made:
            self._put(key, None, made=True)
        else:
            self._put(key, _change(Kind.CREATED, model, row.pk, above, row.stamped_edition()), made=True)

    def changed(
        self, model: type[models.Model], key: int, before: Values, after: Values, edition: int | None
    ) -> None:
        """Record the fields that differ. `before` holds the row's owners too."""
        name = (model._meta.label_lower, key)
        news = {field: [before[field], after[field]] for field in after if before.get(field) != after[field]}
        known = self.pending.get(name)
        if name in self.made or not (news or known):
            return
        if known is not None and known.kind == Kind.CHANGED:
            merged = {name: [known.values.get(name, pair)[0], pair[1]] for name, pair in news.items()}
            news = {field: pair for field, pair in (known.values | merged).items() if pair[0] != pair[1]}
        now = owners(model, {**before, **after})
        if known is not None and known.kind == Kind.CHANGED:
            before = {**before, **known.before()}
        change = _change(Kind.CHANGED, model, key, owners(model, before), edition)
        change.moved_to = next((name for name in now[:1] if name != change.owner), "")
        change.values = news
        self._put(name, change if news else None)

    def deleted(self, row: "Content", values: Values, *, dragged: bool) -> None:
        """Record a row that is about to be deleted, with all its values."""
        model, key = type(row), row.pk
        name = (model._meta.label_lower, key)
        known = self.pending.get(name)
        if known is not None and known.kind == Kind.CREATED:
            self._put(name, None)
            return
        if known is not None and known.kind == Kind.CHANGED:
            values = {**values, **known.before()}
        change = _change(Kind.DELETED, model, key, owners(model, values), row.stamped_edition())
        change.values, change.label, change.dragged = values, str(row)[:300], dragged
        self._put(name, change)

    def refer_to(self, row: models.Model | None) -> None:
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
            self.change_set = new_set(self.reference)
        for row in rows:
            row.change_set = self.change_set
        RowChange.objects.bulk_create(rows, batch_size=FULL)
        if (watch := watched()) is not None:
            watch.written.append(Written(self.change_set, rows, self.made))
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
    """Whether all content belongs to rows of this model; changes of content are recorded apart from them."""
    return bool(getattr(apps.get_model(label), "is_container", False))


def new_set(reference: str = "") -> ChangeSet:
    who = actor()
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
def together() -> Iterator[Log]:
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
            if log.depth == 1 or (log.depth == 2 and len(log.pending) >= FULL):
                log.write()
    except BaseException:
        log.take_back(mark)
        raise
    finally:
        log.depth -= 1
        if token is not None:
            _log.reset(token)


@contextmanager
def recording(origin: str, user: User = None, detail: str = "") -> Iterator[Log]:
    """Group all changes in the block into one change set of this user and origin."""
    with acting(origin, user, detail), together() as log:
        yield log


def row_editions(model: type[models.Model], keys: Iterable[int]) -> dict[int, int | None]:
    """Return the edition of each of these rows. One query for 1,000 rows."""
    lookup: str = model.edition_lookup  # type: ignore[attr-defined]
    wanted = list(keys)
    if not lookup:
        return dict.fromkeys(wanted)
    found: dict[int, int | None] = {}
    for batch in batched(wanted, FULL, strict=False):
        found |= dict(model._base_manager.filter(pk__in=batch).order_by().values_list("pk", lookup))
    return found


def advance_for_links(model: type[models.Model], name: str, far: Iterable[int]) -> None:
    """Advance the editions of authors whose institutions changed from the other side, and the like."""
    owner = links(model)[name].model
    if owner is not model and (keys := list(far)):
        revision.advance(row_editions(owner, keys).values())


# Many-to-many relations are not columns, so `save` and `update` do not report them.


@contextmanager
def linking(model: type[models.Model], name: str, keys: Iterable[int]) -> Iterator[None]:
    """Record the changes of a many-to-many relation that the block writes directly."""
    rows = list(keys)
    before = linked(model, name, rows)
    with together() as log:
        yield
        after = linked(model, name, rows)
        differing = [key for key in rows if before[key] != after[key]]
        present = read_keys(model, differing, part_of(model))
        editions = row_editions(model, differing)
        for key in differing:
            values = {**present.get(key, {}), name: before[key]}
            log.changed(model, key, values, {name: after[key]}, editions.get(key))


@receiver(m2m_changed)
def _links_change(sender: type[models.Model], instance: Any, action: str, **more: object) -> None:
    """Record changes of a row's many-to-many relation. Forms write them after the row."""
    model = type(instance)
    if not is_recorded(model):
        return
    name = next(name for name, field in links(model).items() if field.remote_field.through is sender)
    now = linked(model, name, [instance.pk])[instance.pk]
    if action.startswith("pre_"):
        vars(instance)["_linked_before"] = now
        return
    before = vars(instance).pop("_linked_before", now)
    if before != now:
        with together() as log:
            values = {**held_rows(instance, part_of(model)), name: before}
            log.changed(model, instance.pk, values, {name: now}, instance.stamped_edition())
        if links(model)[name].model is model:
            revision.advance([instance.stamped_edition()])
        advance_for_links(model, name, {*before} ^ {*now})
