"""The revision stamp: how often an edition, or the site, has changed. Every cached answer hangs on it.

A change advances the stamp in its own transaction, so that a reader who sees the stamp sees the change.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.models import Case, F, Q, When
from django.utils import timezone

from content import touches
from content.prepared import prepared_update

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

# By edition the names of what was touched.
_held: ContextVar[dict[int | None, set[str]] | None] = ContextVar("held_editions", default=None)
EVERYTHING = frozenset([touches.KIND])
_named: ContextVar[Collection[str] | None] = ContextVar("named_things", default=None)


class SiteRevision(models.Model):
    """The stamp of what belongs to no edition: people, institutions, pages for all years. One row."""

    revision = models.PositiveBigIntegerField(default=0)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="site_revision_is_one_row")]

    def __str__(self) -> str:
        return str(self.revision)


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of one edition together with the site: equal stamps mean equal pages."""

    edition: int
    site: int
    changed_at: datetime

    @property
    def etag(self) -> str:
        """The stamp as text for an ETag."""
        return f"{self.edition}.{self.site}"


def kind_of(model: type[models.Model]) -> str:
    """Return how a change of some rows of a model is noted; of what all years share, as everything."""
    is_part = bool(getattr(model, "edition_lookup", ""))
    return f"{touches.KIND}{model._meta.label_lower if is_part else ''}"


def named(model: type[models.Model], keys: Iterable[int]) -> set[str]:
    """Return how a change of these rows of a model is noted."""
    kind = kind_of(model)
    return {kind} if kind == touches.KIND else {f"{kind}/{key}" for key in keys}


def advance(editions: Iterable[int | None], touched: Collection[str] = EVERYTHING) -> None:
    """Advance the stamps of these editions (by primary key); `None` stands for the site as a whole.

    `touched` names the things if only their words changed, or the rows or their kinds (`content.touches`).
    """
    wanted, named = set(editions), _named.get()
    names = touched if named is None else named
    held = _held.get()
    if held is not None:
        for key in wanted:
            held.setdefault(key, set()).update(names)
        return
    now, note = timezone.now(), touches.written(names)
    keys = [key for key in wanted if key is not None]
    if keys:
        change = _change_all if touches.is_of_everything(note) else _change_kinds
        (_change_words if touches.is_of_words(note) else change)(keys, now, note)
    if None in wanted and not _advance_site(now):
        SiteRevision.objects.update_or_create(pk=1, defaults={"revision": 1, "changed_at": timezone.now()})


@contextmanager
def of(names: Collection[str]) -> Iterator[None]:
    """Count what advances the stamps inside as a change of these things or kinds."""
    token = _named.set(names)
    try:
        yield
    finally:
        _named.reset(token)


@prepared_update
def _change_all(keys: Collection[int], now: datetime, note: Any) -> tuple[Any, dict[str, Any]]:
    return _showing(keys), {**further(now), "touched": touches.alone(note)}


@prepared_update
def _change_kinds(keys: Collection[int], now: datetime, note: Any) -> tuple[Any, dict[str, Any]]:
    return _showing(keys), {**further(now), "touched": touches.with_kinds(note)}


@prepared_update
def _change_words(keys: Collection[int], now: datetime, note: Any) -> tuple[Any, dict[str, Any]]:
    return _showing(keys), {**further(now), "touched": touches.with_words(note)}


def _showing(keys: Collection[int]) -> Any:
    return apps.get_model("conference", "Edition")._base_manager.filter(Q(pk__in=keys) | showing(keys))


@prepared_update
def _advance_site(now: datetime) -> tuple[Any, dict[str, Any]]:
    return SiteRevision.objects.filter(pk=1), further(now)


def further(now: datetime) -> dict[str, Any]:
    """Return what a stamp becomes: one more, changed now, or where the clock was put back, a second later.

    Caches ask whether something changed since a moment, in seconds.
    """
    after = When(changed_at__gt=now, then=F("changed_at") + SECOND)
    changed_at = Case(after, default=now, output_field=models.DateTimeField())
    return {"revision": F("revision") + 1, "changed_at": changed_at}


def tie() -> Any:
    """Return the model of what ties two editions: an award of one for a paper of the other."""
    award: Any = apps.get_model("conference", "Edition")._meta.get_field("awards").related_model
    return award._meta.get_field("grants").related_model


def tied(changed: Collection[type[models.Model]], editions: Iterable[int | None]) -> set[int]:
    """Return the editions that are tied to these, if ties are among what is going to change.

    They are asked for before it does: afterwards nothing leads to them.
    """
    keys = {key for key in editions if key is not None}
    if tie() not in changed or not keys:
        return set()
    edition: Any = apps.get_model("conference", "Edition")
    return set(edition._base_manager.filter(showing(keys)).values_list("pk", flat=True))


def showing(keys: Collection[int]) -> Q:
    """Editions that show something of these: an award for an older paper stands on the pages of both."""
    grants = tie()._base_manager.order_by()
    newer = grants.filter(paper__edition__in=keys).values("award__edition")
    older = grants.filter(award__edition__in=keys).exclude(paper=None).values("paper__edition")
    return Q(pk__in=newer) | Q(pk__in=older)


@contextmanager
def hold() -> Iterator[None]:
    """Make all changes inside count as one: the stamps advance once, when the block ends."""
    if _held.get() is not None:
        yield
        return
    with transaction.atomic():
        editions: dict[int | None, set[str]] = {}
        token = _held.set(editions)
        try:
            yield
        finally:
            _held.reset(token)
        same = {frozenset(names) for names in editions.values()}
        for touched in sorted(same, key=sorted):
            advance([key for key, names in editions.items() if names == touched], touched)


def current(edition: int | None) -> Stamp:
    """Return the stamp of an edition, or of the site alone. Two short queries."""
    site = SiteRevision.objects.filter(pk=1).first() or SiteRevision(changed_at=BEGINNING)
    if edition is None:
        return Stamp(0, site.revision, site.changed_at)
    row = apps.get_model("conference", "Edition")._base_manager.only("revision", "changed_at").get(pk=edition)
    return Stamp(row.revision, site.revision, max(row.changed_at, site.changed_at))
