"""Sessions on the page, with their stored and their planned load."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content import times
from schedule.admin.assignment.plan import PlannedPaper
from schedule.assignment import Load, Unit
from schedule.board_plan import board_rows
from schedule.models import Presentation, Session

# The maximum number of planned papers listed in a session; the list “Planned here” has all.
MAX_LISTED = 8


@dataclass
class SessionCard:
    session: Session
    load: Load
    planned: list[PlannedPaper] = field(default_factory=list)
    is_confirmed: bool = False

    @property
    def is_over(self) -> bool:
        """Return whether it is too full and the plan adds papers to it."""
        return bool(self.planned and self.load.over)

    @cached_property
    def when(self) -> str:
        return times.day_and_time_range(self.session.start, self.session.end, self.session.edition.zone)

    @property
    def listed(self) -> list[PlannedPaper]:
        return self.planned[:MAX_LISTED]

    @property
    def more(self) -> int:
        return len(self.planned) - MAX_LISTED

    @property
    def fullness(self) -> str:
        message = {
            (Unit.MINUTES, True): _("%(used)d of %(limit)d minutes used"),
            (Unit.BOARDS, True): _("%(used)d of %(limit)d boards used"),
            (Unit.MINUTES, False): _("%(used)d minutes used"),
            (Unit.BOARDS, False): _("%(used)d posters; the room has no number of boards"),
        }[self.load.unit, self.load.limit is not None]
        return message % {"used": self.load.used, "limit": self.load.limit}

    @property
    def overfull(self) -> str:
        """The label of the excess; empty if the session is not too full."""
        if not self.load.over:
            return ""
        if self.load.unit is Unit.MINUTES:
            message = ngettext("Over-full by %(n)d minute", "Over-full by %(n)d minutes", self.load.over)
        else:
            message = ngettext("Over-full by %(n)d board", "Over-full by %(n)d boards", self.load.over)
        return message % {"n": self.load.over}


def session_loads(sessions: Sequence[Session], minutes_each: int) -> dict[int, Load]:
    """Return the load of these sessions by key. One query."""
    keys = [session.pk for session in sessions]
    rows = Presentation.objects.matching(session_id__in=keys).taking_place().order_by()
    lengths: dict[int, timedelta] = {}
    counts, untimed = Counter[int](), Counter[int]()
    for session_key, start, end in rows.rows("session_id", "start", "end"):
        counts[session_key] += 1
        if start and end:
            lengths[session_key] = lengths.get(session_key, timedelta()) + (end - start)
        else:
            untimed[session_key] += 1
    loads = {}
    for session in sessions:
        if session.counts_as == Session.Kind.POSTER:
            loads[session.pk] = Load(Unit.BOARDS, counts.get(session.pk, 0), board_count(session))
            continue
        used_minutes = (
            lengths.get(session.pk, timedelta()) // timedelta(minutes=1) + minutes_each * untimed[session.pk]
        )
        total_minutes = (session.end - session.start) // timedelta(minutes=1)
        loads[session.pk] = Load(Unit.MINUTES, used_minutes, total_minutes, minutes_each)
    return loads


def board_count(session: Session) -> int | None:
    """Return the number of boards in the room of a poster session, or `None` if unknown."""
    room = session.room
    if room is None:
        return None
    return sum(map(len, board_rows(room.poster_boards))) if room.poster_boards else room.capacity
