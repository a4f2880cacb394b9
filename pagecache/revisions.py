"""Detection of content changes: each process reads the revisions of all editions a few times a second.

A reading that finds a change gets the next number, which is stored for each of the invalidated tags. A cached
response is valid as long as none of its tags has a higher number than the response.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone
from django.utils.module_loading import import_string

from content.invalidation import SITE_KEY, SITE_TAG, edition_tag, tags_between

POLL_SECONDS = 0.25
# The number of changes whose times are stored.
MAX_MOMENTS = 10_000
MAX_TAGS = 50_000
# The slug of the site, and of pages that show several editions.
SITE = ""


@dataclass(frozen=True, slots=True)
class CacheState:
    """The revision of an edition or, with the key 0, the site, and how long to cache a response in seconds.

    `steady` is the lifetime of a response that does not depend on the time of day.
    """

    key: int
    revision: int
    # When rows last changed, and when pages last did: a gate may have opened since.
    changed_at: datetime
    shown_at: datetime
    lifetime: float
    steady: float
    # Seconds until the next part of it becomes public.
    next_gate: float = float("inf")


type CacheStates = Mapping[str, CacheState]


class Revisions:
    """The states by slug as last read, and the numbers at which tags were invalidated."""

    def __init__(self) -> None:
        self.states: CacheStates = {}
        self.number = 0
        self._invalidated: dict[str, int] = {}
        # All responses with a lower number are invalid.
        self._floor = 0
        self._moments: deque[float] = deque([0.0], maxlen=MAX_MOMENTS)
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def poll(self) -> bool:
        """Read the revisions if the last reading is too old; return whether there is any reading.

        While one thread reads, the others use the last reading, as all do while the database is unavailable.
        """
        is_due = time.monotonic() - self._read_at > POLL_SECONDS
        if is_due and self._lock.acquire(blocking=not self.states):
            try:
                if time.monotonic() - self._read_at > POLL_SECONDS:
                    self._read()
            finally:
                self._lock.release()
        return bool(self.states)

    def is_valid(self, tags: Iterable[str], since: int) -> bool:
        """Return whether none of these tags was invalidated after this number."""
        if since < self._floor:
            return False
        return since == self.number or all(self._invalidated.get(tag, 0) <= since for tag in tags)

    def moment_after(self, number: int) -> float:
        """Return when the first change after this number was found (monotonic clock); -inf if unknown."""
        index = number + 1 - (self.number + 1 - len(self._moments))
        return self._moments[index] if 0 <= index < len(self._moments) else float("-inf")

    def expire(self) -> None:
        """Make the next request read the revisions."""
        self._read_at = float("-inf")

    def _read(self) -> None:
        started_at = time.monotonic()
        try:
            # The function is a setting, as it needs the models of other apps.
            states: CacheStates = import_string(settings.PAGE_CACHE_STATES)(timezone.now())
            tags = changed_tags(self.states, states) if self.states else set()
        except DatabaseError:
            close_old_connections()
        else:
            self._store_invalidations(tags)
            self.states = states
        self._read_at = started_at

    def _store_invalidations(self, tags: set[str] | None) -> None:
        if tags is not None and not tags:
            return
        number = self.number + 1
        if tags is None or len(self._invalidated) > MAX_TAGS:
            self._invalidated.clear()
            self._floor = number
        self._invalidated.update(dict.fromkeys(tags or (), number))
        self._moments.append(time.monotonic())
        self.number = number


def changed_tags(old: CacheStates, new: CacheStates) -> set[str] | None:
    """Return the tags invalidated between two readings; `None` for all. A query for each changed edition."""
    tags: set[str] = set()
    if {slug: state.key for slug, state in old.items()} != {slug: state.key for slug, state in new.items()}:
        return None
    for slug, new_state in new.items():
        old_state = old[slug]
        if (new_state.revision, new_state.changed_at) == (old_state.revision, old_state.changed_at):
            continue
        edition_tags = None
        if new_state.revision > old_state.revision:
            edition_tags = tags_between(
                new_state.key, old_state.revision, new_state.revision, old_state.changed_at
            )
        if edition_tags is None:
            # The tags are unknown after a restore or pruning: invalidate the whole edition.
            edition_tags = {SITE_TAG if new_state.key == SITE_KEY else edition_tag(slug)}
        tags |= edition_tags
    return tags
