"""The revision of an edition or the site counts its changes. Every cached response depends on it.

A change advances the revision in the same transaction, and records the cache tags that it invalidates. Every
reader of the new revision therefore sees the change.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import models, transaction
from django.db.models import Case, F, Q, When
from django.db.models.expressions import Combinable
from django.dispatch import Signal
from django.utils import timezone

from content import invalidation
from content.changed import reads
from content.editions import get_edition_model
from content.history import changed_rows
from content.invalidation import MAX_TAGS_PER_CHANGE, SITE_KEY, SITE_TAG
from content.row_values import is_recorded

if TYPE_CHECKING:
    from conference.models import Edition
    from content.models import Content

FIRST_REVISION = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
# Pairs of revisions that were compared.
COMPARED_REVISIONS = 500

# Sent after the commit of a change, with the cache `tags` that it invalidated.
invalidated = Signal()

# The cache tags by edition. `None` in place of the tags means the whole edition.
type Changes = dict[int | None, set[str] | None]
_pending_changes: ContextVar[Changes | None] = ContextVar("pending_changes", default=None)
_only_tags: ContextVar[Collection[str] | None] = ContextVar("only_tags", default=None)


class SiteRevision(models.Model):
    """The revision of rows that belong to no edition: people, institutions, pages for all years. One row."""

    revision = models.PositiveBigIntegerField(default=0)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="site_revision_is_one_row")]

    def __str__(self) -> str:
        return str(self.revision)


@dataclass(frozen=True, slots=True)
class Revision:
    """The revisions of one edition and of the site, and the time of the later change."""

    edition: int
    site: int
    changed_at: datetime

    @property
    def etag(self) -> str:
        """Both numbers as text for an ETag."""
        return f"{self.edition}.{self.site}"


def advance(editions: Iterable[int | None], tags: Collection[str] | None = None) -> None:
    """Advance the revisions of these editions (by primary key); `None` means the site.

    `tags` are those of the changed rows, such as "paper:17", if only descriptive fields changed.
    """
    changed_tags = _only_tags.get() if tags is None else tags
    edition_keys = set(editions)
    pending = _pending_changes.get()
    if pending is not None:
        for key in edition_keys:
            pending_tags = pending.get(key, set())
            if pending_tags is None or changed_tags is None:
                pending[key] = None
            else:
                pending[key] = pending_tags | {*changed_tags}
        return
    with transaction.atomic(savepoint=False):
        now = timezone.now()
        invalidated_tags: list[str] = []
        changed = {*reads.describe(changed_rows.current())}
        if keys := [key for key in edition_keys if key is not None]:
            invalidated_tags += _advance_editions(keys, now, changed_tags, changed)
        if None in edition_keys:
            invalidated_tags += _advance_site(now, changed)
        if invalidated_tags and invalidated.receivers:
            transaction.on_commit(lambda: invalidated.send(SiteRevision, tags=invalidated_tags), robust=True)


def _advance_editions(
    keys: Collection[int], now: datetime, changed_tags: Collection[str] | None, changed: Collection[str]
) -> list[str]:
    rows = get_edition_model()._base_manager.filter(Q(pk__in=keys) | editions_showing(keys))
    rows.update(**next_revision_values(now))
    invalidated_tags: list[str] = []
    columns = ("pk", "slug", "revision", "changed_at")
    for key, slug, revision, changed_at in rows.order_by("pk").values_list(*columns):
        changed_rows.add_revision(key, revision)
        tags = [invalidation.edition_tag(slug)]
        if changed_tags and len(changed_tags) <= MAX_TAGS_PER_CHANGE:
            tags = [*changed_tags, invalidation.papers_tag(slug)]
        invalidated_tags += invalidation.record(key, revision, changed_at, tags, changed)
    return invalidated_tags


def _advance_site(now: datetime, changed: Collection[str]) -> list[str]:
    rows = SiteRevision.objects.filter(pk=1)
    if not rows.update(**next_revision_values(now)):
        SiteRevision.objects.update_or_create(pk=1, defaults={"revision": 1, "changed_at": now})
    site = rows.get()
    changed_rows.add_revision(SITE_KEY, site.revision)
    return invalidation.record(SITE_KEY, site.revision, site.changed_at, [SITE_TAG], changed)


@contextmanager
def invalidate_only(tags: Collection[str] | None) -> Iterator[None]:
    """Invalidate only these tags for changes in the block; with `None`, whole editions."""
    token = _only_tags.set(tags)
    try:
        yield
    finally:
        _only_tags.reset(token)


def next_revision_values(now: datetime) -> dict[str, Combinable]:
    """Return the values of the next revision. `changed_at` also increases if the clock was set back.

    It then increases by a second, since HTTP caches compare times in seconds.
    """
    clock_set_back = When(changed_at__gt=now, then=F("changed_at") + SECOND)
    changed_at = Case(clock_set_back, default=now, output_field=models.DateTimeField())
    return {"revision": F("revision") + 1, "changed_at": changed_at}


@cache
def tying_models() -> "tuple[type[Content], ...]":
    """Return the models whose rows connect two editions, such as an award of one for a paper of the other."""
    return tuple(model for model in apps.get_models() if is_recorded(model) and model.other_edition_lookup)


def editions_tied_to(
    changed_models: Collection[type[models.Model]], editions: Iterable[int | None]
) -> set[int]:
    """Return the editions that are connected to these, if rows of a connecting model are about to change.

    Call this before the change: afterwards, the rows no longer connect them.
    """
    keys = {key for key in editions if key is not None}
    if not keys or not {*tying_models()} & {*changed_models}:
        return set()
    return {*get_edition_model()._base_manager.filter(editions_showing(keys)).values_list("pk", flat=True)}


def editions_showing(keys: Collection[int]) -> Q:
    """Return the condition for editions that show rows of these, such as an award for an older paper."""
    condition = Q()
    for model in tying_models():
        rows = model._base_manager.order_by()
        for lookup, target_lookup in permutations((model.edition_lookup, model.other_edition_lookup)):
            tying_rows = rows.filter(**{f"{lookup}__in": keys, f"{target_lookup}__isnull": False})
            condition |= Q(pk__in=tying_rows.values(target_lookup))
    return condition


@contextmanager
def lock() -> Iterator[None]:
    """Advance the revisions once for all changes in the block, when it ends."""
    if _pending_changes.get() is not None:
        yield
        return
    with transaction.atomic(), changed_rows.collected(), collect():
        yield


@contextmanager
def collect() -> Iterator[None]:
    """Advance the revisions like `lock()`, inside of a transaction."""
    if _pending_changes.get() is not None:
        yield
        return
    changes: Changes = {}
    token = _pending_changes.set(changes)
    try:
        yield
    finally:
        _pending_changes.reset(token)
    whole_editions = [key for key, tags in changes.items() if tags is None or key is None]
    if whole_editions:
        advance(whole_editions)
    tags_by_edition = {key: frozenset(tags) for key, tags in changes.items() if tags is not None}
    tags_by_edition.pop(None, None)
    for tags in {*tags_by_edition.values()}:
        advance([key for key, edition_tags in tags_by_edition.items() if edition_tags == tags], tags)


def is_affected(names: Collection[str], edition: "Edition", since: tuple[int, datetime]) -> bool:
    """Return whether a value that read these names then may differ by now (`content.changed.reads`).

    `since` are an earlier revision of the edition and its time. Two queries for each pair of revisions.
    """
    return reads.is_affected(
        names, _changed_between(edition.pk, since, (edition.revision, edition.changed_at))
    )


@lru_cache(COMPARED_REVISIONS)
def _changed_between(edition: int, old: tuple[int, datetime], new: tuple[int, datetime]) -> set[str] | None:
    return invalidation.changed_between(edition, old[0], new[0], old[1]) if old[0] < new[0] else None


def forget_comparisons() -> None:
    """Forget which revisions were compared."""
    _changed_between.cache_clear()


def is_locked() -> bool:
    """Return whether rows may have changed since the current revisions: these advance when `lock()` ends."""
    return _pending_changes.get() is not None


def current(edition: int | None) -> Revision:
    """Return the revision of an edition, or of the site alone. Two short queries."""
    with reads.ignored():
        return _read(edition)


def _read(edition: int | None) -> Revision:
    site = SiteRevision.objects.filter(pk=1).first() or SiteRevision(changed_at=FIRST_REVISION)
    if edition is None:
        return Revision(0, site.revision, site.changed_at)
    row = get_edition_model()._base_manager.only("revision", "changed_at").get(pk=edition)
    return Revision(row.revision, site.revision, max(row.changed_at, site.changed_at))
