"""The moves of one sitting: what was shown, what is planned, and what is stored now.

Nothing is stored here (see `saving`). A field that its chair left alone is not planned: whatever somebody
else made of it meanwhile holds.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.http import QueryDict

from conference.models import Edition
from content import times
from content.row_values import plain
from content.versions import MARK, Seen, mark
from schedule.cancellation import Status
from schedule.editing.clock import wall
from schedule.editing.forms import MoveForm
from schedule.editing.placing import NestedSession, Placement, delay, follow
from schedule.models import Room, Session

# Start, end and room, a mark each.
MARKS = 3 * MARK
SENT = re.compile(r"s(?P<key>[0-9]{1,18})-start")


def sent_keys(data: QueryDict) -> set[int]:
    """Return the keys of the sessions that a page sent."""
    found = (SENT.fullmatch(name) for name in data)
    return {int(match["key"]) for match in found if match}


def stored(session: Session) -> Placement:
    return Placement(session.start, session.end, session.room_id)


def marked(at: Placement) -> tuple[str, str]:
    """Return the marks of a time and of a room, as the versions of forms have them."""
    return mark(plain(at.start)) + mark(plain(at.end)), mark(at.room)


@dataclass
class SessionRow:
    """A session on the page: its old and its new place."""

    session: Session
    edition: Edition
    rooms: Mapping[int, Room]
    is_fixed: bool = False
    before: Placement = field(init=False)
    after: Placement = field(init=False)
    # The marks of what its chair was shown.
    seen: tuple[str, str] = ("", "")
    # Somebody else changed since what is planned here.
    is_stale: bool = False
    errors: dict[str, list[str]] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    takes_parts: bool = False

    def __post_init__(self) -> None:
        self.before = self.after = stored(self.session)
        self.seen = marked(self.before)

    @property
    def pk(self) -> int:
        return self.session.pk

    @property
    def is_moved(self) -> bool:
        return self.after != self.before

    @property
    def start(self) -> datetime:
        return self.after.start

    @property
    def end(self) -> datetime:
        return self.after.end

    @property
    def room(self) -> Room | None:
        return self.rooms.get(self.after.room or 0)

    @property
    def day(self) -> date:
        return self.edition.day_of(self.after.start)

    @property
    def whole_days(self) -> int:
        """How many days it lasts besides what its two clock times say."""
        zone = self.edition.zone
        return (wall(self.before.end, zone) - wall(self.before.start, zone)) // timedelta(days=1)

    @property
    def state(self) -> str:
        """What it is besides published: a draft, or called off with its whole."""
        session = self.session
        if session.cancelled:
            return str(Status.CANCELLED.label)
        return "" if session.status == Status.PUBLISHED else session.get_status_display()

    @property
    def has_parts(self) -> bool:
        return bool(self.session.part_rows)  # type: ignore[attr-defined]

    @property
    def was(self) -> str:
        return self.told(self.before)

    @property
    def now(self) -> str:
        return self.told(self.after)

    def told(self, at: Placement) -> str:
        """Return a time and a place in words."""
        room = self.rooms.get(at.room or 0)
        when = times.when(at.start, at.end, self.edition.zone)
        return f"{when}, {room.name}" if room else when

    @property
    def values(self) -> dict[str, str]:
        """What the inputs hold: what was sent where it could not be read, else where the session goes."""
        return self.sent if self.errors else self.written(self.after)

    @property
    def stored_values(self) -> str:
        """What the inputs would hold without a move, as the page's script compares it."""
        return "|".join(self.written(self.before).values())

    def written(self, at: Placement) -> dict[str, str]:
        """Return a time and a place as inputs hold them."""
        zone = self.edition.zone
        return {
            "day": self.edition.day_of(at.start).isoformat(),
            "start": f"{wall(at.start, zone):%H:%M}",
            "end": f"{wall(at.end, zone):%H:%M}",
            "room": str(at.room or ""),
        }

    def read(self, data: QueryDict, seen: str) -> None:
        """Take over what was sent of it; `seen` are the marks of what the page showed."""
        prefix = f"s{self.pk}"
        form = MoveForm(data, prefix, self.edition, self.before, self.rooms)
        if len(seen) == MARKS:
            self.seen = seen[: 2 * MARK], seen[2 * MARK :]
        if not form.is_valid():
            self.errors = {name: [str(one) for one in found] for name, found in form.errors.items()}
            self.sent = {name: data.get(f"{prefix}-{name}", "") for name in ("day", "start", "end", "room")}
            return
        self.takes_parts = form.cleaned_data["parts"]
        self.plan(form.cleaned_data["placement"])

    def plan(self, wanted: Placement) -> None:
        """Let it go there, as far as that is not what was shown."""
        mine, now = marked(wanted), marked(self.before)
        moved, elsewhere = (mine[unit] != self.seen[unit] for unit in (0, 1))
        when = wanted if moved else self.before
        self.after = Placement(when.start, when.end, (wanted if elsewhere else self.before).room)
        self.is_stale = any(
            planned and self.seen[unit] != now[unit] != mine[unit]
            for unit, planned in ((0, moved), (1, elsewhere))
        )


@dataclass
class Sitting:
    """All rows of the page, those of other days too that were moved."""

    rows: dict[int, SessionRow]
    # Moved here, deleted by somebody else.
    gone: set[int] = field(default_factory=set)

    def read(self, data: QueryDict, seen: Seen) -> None:
        """Take over what was sent."""
        shown = seen.get("", {})
        sent = sent_keys(data)
        self.gone = sent - self.rows.keys()
        for row in self.rows.values():
            if row.pk in sent and not row.is_fixed:
                row.read(data, shown.get(str(row.pk), ""))
        for row in self.moved:
            if row.takes_parts:
                self.take_along(row, row.before)

    def take_along(self, whole: SessionRow, since: Placement) -> None:
        """Let the parts of a whole go with it, those at its old place."""
        parts = [
            NestedSession(row.pk, row.after)
            for row in self.rows.values()
            if row.session.parent_id == whole.pk and not (row.is_moved or row.is_fixed or row.errors)
        ]
        for key, at in follow(since, whole.after, parts).items():
            self.rows[key].plan(at)

    def shift(self, keys: Iterable[int], by: timedelta) -> None:
        """Put these sessions off, and what is part of them."""
        picked = set(keys)
        rows = self.rows.values()
        for row in [row for row in rows if row.pk in picked or row.session.parent_id in picked]:
            if not (row.errors or row.is_fixed):
                row.plan(row.after.shifted(by))

    def reset(self, key: int) -> None:
        """Take the move of a session back."""
        if key in self.rows:
            row = self.rows[key]
            row.after, row.is_stale, row.errors = row.before, False, {}

    @property
    def moved(self) -> list[SessionRow]:
        return [row for row in self.rows.values() if row.is_moved]

    @property
    def wrong(self) -> list[SessionRow]:
        return [row for row in self.rows.values() if row.errors]

    @property
    def stale(self) -> list[SessionRow]:
        return [row for row in self.rows.values() if row.is_stale]

    def on(self, day: date) -> list[SessionRow]:
        """Return the sessions that stand on the day, or would."""
        return [row for row in self.rows.values() if row.day == day]

    def seen(self) -> Seen:
        """Return the marks of what was shown, for the page to carry."""
        return {"": {str(row.pk): "".join(row.seen) for row in self.rows.values()}}

    def delays(self) -> dict[int, timedelta]:
        """Return by how much each session begins later, by key."""
        return {row.pk: delay(row.before, row.after) for row in self.moved}
