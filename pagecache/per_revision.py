"""Cache of function results per revision of an edition.

A cached value is discarded when the edition's revision, its published parts, its time zone or the hour at
which its days start change.
"""

from collections.abc import Callable, Hashable
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.utils.translation import get_language

from content.querysets import at_or_now, public_parts
from pagecache.lru import LRUCache

if TYPE_CHECKING:
    from conference.models import Edition

# Rows with a future date, such as a release, change a result without a new revision.
DATED_LIFETIME_SECONDS = 60

_caches: list[LRUCache[Hashable, Any]] = []


def clear_caches() -> None:
    """Empty all caches."""
    for cache in _caches:
        cache.clear()


def cached_per_revision[T](
    max_entries: int, *, is_dated: bool = False, by_language: bool = False
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the results of a function of an edition, a time, and hashable values.

    There is one entry for each edition, set of published parts, and values. `is_dated` results are discarded
    after a minute. Results with translated text or paths of pages are cached `by_language`; no other may
    depend on the language. Callers must not modify a result.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        # Results, with the state of the edition for which they were computed.
        cache = LRUCache[Hashable, tuple[tuple[object, ...], T]](max_entries, size_of=lambda entry: 1)
        _caches.append(cache)

        @wraps(function)
        def wrapped(edition: "Edition", at: datetime | None, *values: Hashable) -> T:
            now = at_or_now(at)
            language = get_language() if by_language else None
            key = edition.pk, language, public_parts(edition, now), values
            age = (now - edition.changed_at).total_seconds() // DATED_LIFETIME_SECONDS if is_dated else 0
            state = edition.revision, edition.changed_at, edition.timezone, edition.day_start_hour, age
            entry = cache.get(key)
            if entry is None or entry[0] != state:
                entry = state, function(edition, now, *values)
                cache.put(key, entry)
            return entry[1]

        return wrapped

    return decorate
