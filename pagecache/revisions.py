"""The stamps of all editions as the page cache reads them: all at once, every quarter of a second or so."""

import threading
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import DatabaseError, close_old_connections
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from content import touches
from content.prepared import prepared
from content.revision import BEGINNING, SiteRevision
from content.touches import Touches
from pagecache.board import Board, mark_of

READ_EVERY = 0.25
# How long a reader waits for a reading of this second, while another thread is at it.
MOMENT = 0.1
# Pages say what is on now, and what is dated ahead comes: nothing may stand still for ever although nothing
# was edited. What tells no time lives longer while nothing comes soon.
LIFETIME = timedelta(minutes=5).total_seconds()
LIFETIME_WHILE_RUNNING = timedelta(seconds=15).total_seconds()
LIFETIME_OF_STEADY = timedelta(hours=1).total_seconds()
# What has come is on every page after so long (`pagecache.per_revision` keeps things for a minute).
SETTLED = timedelta(minutes=2)
SWITCHES = ("public_from", "papers_public_from", "schedule_public_from")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an edition's pages look like: equal stamps mean equal pages. Without edition: the whole site's."""

    revisions: tuple[tuple[str, int], ...]
    site: int
    switches: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A stamp, when the content behind it last changed, how long a page made now may be kept (seconds).

    `steady` is how long if it tells no time.
    """

    stamp: Stamp
    changed_at: datetime
    lifetime: float
    steady: float = LIFETIME
    # By slug, what is noted of the last changes.
    touched: Mapping[str, Touches] = field(default_factory=dict)

    def touched_since(self, stamp: Stamp) -> Set[str] | None:
        """Return the names of all that changed since another stamp; `None` if that may be anything."""
        old, new = dict(stamp.revisions), dict(self.stamp.revisions)
        is_same_site = (stamp.site, stamp.switches) == (self.stamp.site, self.stamp.switches)
        if not is_same_site or old.keys() != new.keys() or any(old[slug] > new[slug] for slug in old):
            return None
        moved = [slug for slug in old if old[slug] != new[slug]]
        return touches.together(touches.since(self.touched[slug], old[slug], new[slug]) for slug in moved)


class Stamps:
    """The current states by edition slug; "" stands for pages that show several editions."""

    def __init__(self, board: Board | None = None) -> None:
        self._board = board or Board()
        self._mark = self._board.mark
        self._states: dict[str, State] = {}
        self._read_at = float("-inf")
        self._second = 0
        self._lock = threading.Lock()

    def of(self, slug: str) -> State | None:
        """Return the state of an edition's pages, or of the site's where no edition has that slug.

        `None` before the first reading succeeded. While the database is away, the last reading stands.
        """
        # Another process has shown another state: nobody here goes on before it is read.
        is_behind = self._board.mark != self._mark
        if is_behind or self._is_due():
            patience = -1 if is_behind or not self._states else MOMENT if self._is_of_before() else 0
            if self._lock.acquire(timeout=patience):
                try:
                    if self._board.mark != self._mark or self._is_due():
                        self._read()
                finally:
                    self._lock.release()
            elif patience:
                # The database hangs: nobody else waits in this second.
                self._second = int(time.time())
        return self._states.get(slug) or self._states.get("")

    def forget(self) -> None:
        """Read again at the next question."""
        self._read_at = float("-inf")

    def _is_due(self) -> bool:
        return self._is_of_before() or time.monotonic() - self._read_at > READ_EVERY

    def _is_of_before(self) -> bool:
        """Whether it was read in an earlier second: nginx keeps what is answered to the end of this one."""
        return int(time.time()) != self._second

    def _read(self) -> None:
        began, second, self._mark = time.monotonic(), int(time.time()), self._board.mark
        try:
            self._states = read_states(timezone.now())
        except DatabaseError:
            close_old_connections()
        else:
            self._tell(mark_of(self._states[""].stamp))
        self._read_at, self._second = began, second

    def _tell(self, mark: int) -> None:
        """Put up what was read, unless another process put up something meanwhile: that is read next."""
        if self._board.mark == self._mark:
            self._board.mark = self._mark = mark


def read_states(at: datetime) -> dict[str, State]:
    """Read the states of all editions. Two queries."""
    site = (_site() or [SiteRevision(changed_at=BEGINNING)])[0]
    editions = _editions(*soon(at))
    touched = {row["slug"]: touches.read(row["touched"]) for row in editions}
    states, is_moving = {}, any(is_turning(row, at) for row in editions)
    today = at.astimezone(UTC).date()
    for row in editions:
        switches = tuple(row[name] is not None and row[name] <= at for name in SWITCHES)
        stamp = Stamp(((row["slug"], row["revision"]),), site.revision, switches)
        is_near = row["start_date"] - timedelta(days=1) <= today <= row["end_date"] + timedelta(days=1)
        changed_at = max(row["changed_at"], site.changed_at, *passed(row, at))
        lifetime = LIFETIME_WHILE_RUNNING if is_near else LIFETIME
        steady = LIFETIME if is_moving or row["is_to_come"] else LIFETIME_OF_STEADY
        states[row["slug"]] = State(stamp, changed_at, lifetime, steady, touched)
    stamps = [state.stamp for state in states.values()]
    whole = Stamp(
        tuple(pair for stamp in stamps for pair in stamp.revisions),
        site.revision,
        tuple(switch for stamp in stamps for switch in stamp.switches),
    )
    changed = max([site.changed_at, *(state.changed_at for state in states.values())])
    lifetime = min([LIFETIME, *(state.lifetime for state in states.values())])
    steady = min([LIFETIME_OF_STEADY, *(state.steady for state in states.values())])
    return {**states, "": State(whole, changed, lifetime, steady, touched)}


@prepared
def _site() -> Any:
    return SiteRevision.objects.filter(pk=1)


@prepared
def _editions(first: datetime, last: datetime) -> Any:
    fields = ("slug", "revision", "changed_at", "touched", "start_date", "end_date", *SWITCHES)
    rows = apps.get_model("conference", "Edition")._base_manager.annotate(is_to_come=to_come(first, last))
    return rows.order_by("slug").values(*fields, "is_to_come")


def to_come(first: datetime, last: datetime) -> Q:
    """Whether news or a release of an edition come, or came, between these moments."""
    models = (apps.get_model("conference", "Announcement"), apps.get_model("schedule", "Release"))
    dated = {"edition": OuterRef("pk"), "published_at__gte": first, "published_at__lte": last}
    news, releases = (Exists(model._base_manager.filter(**dated)) for model in models)
    return news | releases


def soon(at: datetime) -> tuple[datetime, datetime]:
    """Return between which moments something changes while a page stands that is made now."""
    return at - SETTLED, at + timedelta(seconds=LIFETIME_OF_STEADY)


def is_turning(row: dict[str, Any], at: datetime) -> bool:
    """Whether a part of an edition becomes public soon, or it ends: other editions may show that, too."""
    first, last = soon(at)
    opens = any(row[name] is not None and first <= row[name] <= last for name in SWITCHES)
    return opens or timedelta(0) <= at.astimezone(UTC).date() - row["end_date"] <= timedelta(days=1)


def passed(row: dict[str, datetime | None], at: datetime) -> list[datetime]:
    """Return the moments at which a part of the edition became public, so far."""
    moments = (row[name] for name in SWITCHES)
    return [moment for moment in moments if moment is not None and moment <= at]
