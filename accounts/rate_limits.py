"""Counters of requests in each minute of the clock, in Django's cache."""

import time
from hashlib import blake2b

from django.conf import settings
from django.core.cache import cache

MINUTE = 60


def count_in_minute(name: str, limit: int, now: float) -> bool:
    """Count one more of these in this minute; return whether the limit allows it.

    `name` may hold an address, of which only a digest is stored. Without the cache, all is allowed.
    """
    # A digest also because caches restrict the characters of keys.
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=12).hexdigest()
    key = f"throttle:{digest}:{int(now // MINUTE)}"
    try:
        if cache.add(key, 1, timeout=2 * MINUTE):
            return limit > 0
        return cache.incr(key) <= limit
    except ValueError:  # The counter has expired.
        return True
    except settings.CACHE_ERRORS:
        return True


def seconds_left(now: float | None = None) -> float:
    """Return how long this minute of the clock lasts."""
    return MINUTE - (time.time() if now is None else now) % MINUTE
