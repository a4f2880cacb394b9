"""Cache of function results per revision of an edition.

A cached value is discarded when the edition, its published parts, or anything that it read from the database
changes. It is kept over changes of other tables and columns.
"""

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.translation import get_language

from content.changed import reads
from content.querysets import at_or_now, public_parts
from content.revision import forget_comparisons, is_affected
from pagecache.lru import LRUCache

if TYPE_CHECKING:
    from conference.models import Edition

# Rows with a future date, such as a release, change a result without a new revision.
DATED_LIFETIME_SECONDS = 60

_caches: list[LRUCache[Hashable, Any]] = []


class Entry[T](NamedTuple):
    """A value, the revision of its edition, and the other facts for which it was computed.

    `names` are the tables and columns that it was read from.
    """

    revision: tuple[int, datetime]
    others: tuple[object, ...]
    names: frozenset[str]
    value: T


def clear_caches() -> None:
    """Empty all caches."""
    forget_comparisons()
    for cache in _caches:
        cache.clear()


def cached_per_revision[T](
    max_entries: int, *, is_dated: bool = False, by_language: bool = False
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the results of a function of an edition, a time, and hashable values.

    There is one entry for each edition, set of published parts, and values. `is_dated` results are discarded
    after a minute. Results with translated text or paths of pages are cached `by_language`; no other may
    depend on the language. Callers must not modify a result. One query after a change.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        cache = LRUCache[Hashable, Entry[T]](max_entries, size_of=lambda entry: 1)
        _caches.append(cache)

        @wraps(function)
        def wrapped(edition: "Edition", at: datetime | None, *values: Hashable) -> T:
            now = at_or_now(at)
            language = get_language() if by_language else None
            key = edition.pk, language, public_parts(edition, now), values
            revision = edition.revision, edition.changed_at
            entry = cache.get(key)
            if entry is not None and entry.revision != revision:
                if is_affected(entry.names, edition, entry.revision):
                    entry = None
                elif not is_dated:
                    entry = entry._replace(revision=revision)
                    cache.put(key, entry)
            if entry is None or entry.others != others(edition, entry.revision[1], now):
                with reads.noted() as names:
                    value = function(edition, now, *values)
                entry = Entry(revision, others(edition, edition.changed_at, now), frozenset(names), value)
                cache.put(key, entry)
            else:
                reads.add(entry.names)
            return entry.value

        def others(edition: "Edition", changed_at: datetime, now: datetime) -> tuple[object, ...]:
            age = (now - changed_at).total_seconds() // DATED_LIFETIME_SECONDS if is_dated else 0
            return edition.timezone, edition.day_start_hour, age

        return wrapped

    return decorate
