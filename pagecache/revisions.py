"""Detection of content changes: each process reads the revisions of all editions a few times a second.

A reading that finds a change gets the next number, which is stored for each of the invalidated tags. A cached
response is valid as long as none of its tags has a higher number than the response.

A change that a reading finds was committed after the previous reading at the earliest. In a process without
requests, this may be long before the change is found.

Where there is a replica, this is read, and it is left while it does not answer or lags behind.
"""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils import timezone
from django.utils.module_loading import import_string

from content import replica
from content.invalidation import SITE_KEY, SITE_TAG, edition_tag, tags_between
from pagecache import clock

POLL_SECONDS = 0.25
# A reading that is not older shows that a response is current, so that shared caches may store it. A purge
# follows a commit at this interval.
CURRENT_SECONDS = 0.5
# For how long responses that were current when the database was lost are served without it.
OUTAGE_SECONDS = 60.0
# For how long a request waits for the reading of another.
WAIT_SECONDS = 10.0
# By how much a replica may lag behind, which is checked as often with the primary database.
MAX_LAG_SECONDS = 2.0
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
        # When the last reading began that succeeded, and the last one of all.
        self._read_at = self._tried_at = float("-inf")
        # When the first reading since then began that failed.
        self._lost_at: float | None = None
        # The states of the primary database, with which the replica is compared, and when they were read.
        self._primary: CacheStates = {}
        self._primary_read_at = float("-inf")
        self._lock = threading.Lock()

    def poll(self) -> bool:
        """Read the revisions if the last reading is too old; return whether there is one to rely on.

        While one thread reads, the others use the last reading, or wait if it is too old even for a stale
        response. While the database is unavailable, all use the last one for a limited time.
        """
        wait_seconds = 0.0 if self._is_recent() or self._lost_at is not None else WAIT_SECONDS
        if clock.now() - self._tried_at > POLL_SECONDS and self._lock.acquire(timeout=wait_seconds):
            try:
                if clock.now() - self._tried_at > POLL_SECONDS:
                    self._read()
            finally:
                self._lock.release()
        return self._is_recent() or self._is_outage()

    def is_current(self) -> bool:
        """Return whether the last reading has seen every change that was purged from shared caches."""
        return clock.now() - self._read_at <= max(CURRENT_SECONDS, POLL_SECONDS)

    def _is_recent(self, at: float | None = None) -> bool:
        """Return whether the last reading was recent enough for a stale response."""
        age = (clock.now() if at is None else at) - self._read_at
        return age <= max(CURRENT_SECONDS, settings.PAGE_CACHE_STALE_SECONDS)

    def _is_outage(self) -> bool:
        """Return whether the database was lost soon after the last reading, and not long ago.

        Then nothing can have changed, unless only this process has lost the database.
        """
        lost_at = self._lost_at
        return lost_at is not None and self._is_recent(lost_at) and clock.now() - lost_at <= OUTAGE_SECONDS

    def is_valid(self, tags: Iterable[str], since: int) -> bool:
        """Return whether none of these tags was invalidated after this number."""
        if since < self._floor:
            return False
        return since == self.number or all(self._invalidated.get(tag, 0) <= since for tag in tags)

    def moment_after(self, number: int) -> float:
        """Return when the first change after this number was committed at the earliest; -inf if unknown."""
        index = number + 1 - (self.number + 1 - len(self._moments))
        return self._moments[index] if 0 <= index < len(self._moments) else float("-inf")

    def expire(self) -> None:
        """Make the next request read the revisions."""
        self._tried_at = float("-inf")

    def _read(self) -> None:
        started_at = clock.now()
        try:
            states, tags = self._read_changes()
        except DatabaseError:
            close_old_connections()
            if self._lost_at is None:
                self._lost_at = started_at
        else:
            self._store_invalidations(tags)
            self.states, self._read_at, self._lost_at = states, started_at, None
        self._tried_at = started_at

    def _read_changes(self) -> tuple[CacheStates, set[str] | None]:
        """Return the states and the tags that were invalidated, from the replica if it may be used."""
        if replica.is_allowed() and replica.use.is_due():
            try:
                with replica.try_replica():
                    states = read_states()
                    tags = changed_tags(self.states, states) if self.states else set()
            except DatabaseError:
                close_old_connections()
                replica.use.leave("does not answer")
            else:
                if not self._lags(states):
                    replica.use.resume()
                    return states, tags
                replica.use.leave("lags behind")
        with replica.read_from_replica(False):
            states = read_states()
            return states, changed_tags(self.states, states) if self.states else set()

    def _lags(self, states: CacheStates) -> bool:
        """Return whether the replica is behind the last reading, or the primary database some seconds ago."""
        if is_behind(states, self.states):
            return True
        if clock.now() - self._primary_read_at < MAX_LAG_SECONDS:
            return False
        known, self._primary_read_at = self._primary, clock.now()
        try:
            with replica.read_from_replica(False):
                self._primary = read_states()
        except DatabaseError:
            # The replica answers alone.
            close_old_connections()
            self._primary = {}
        return is_behind(states, known)

    def _store_invalidations(self, tags: set[str] | None) -> None:
        if tags is not None and not tags:
            return
        number = self.number + 1
        if tags is None or len(self._invalidated) > MAX_TAGS:
            self._invalidated.clear()
            self._floor = number
        self._invalidated.update(dict.fromkeys(tags or (), number))
        self._moments.append(self._read_at)
        self.number = number


def read_states() -> CacheStates:
    """Read the states of all editions and of the site. Two queries."""
    # The function is a setting, as it needs the models of other apps.
    states: CacheStates = import_string(settings.PAGE_CACHE_STATES)(timezone.now())
    return states


def is_behind(states: CacheStates, known: CacheStates) -> bool:
    """Return whether states are older than known ones."""
    if not known:
        return False
    missing = known.keys() - states.keys()
    if missing and states[SITE].revision <= known[SITE].revision:
        return True
    return any(states[slug].revision < state.revision for slug, state in known.items() if slug in states)


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
