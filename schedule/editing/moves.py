"""The moves of sessions in one sitting: what was shown, what is planned, what is stored now, and saving it.

A field that its chair left alone is not planned: whatever somebody else made of it meanwhile holds.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, prefetch_related_objects
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content import times
from content.row_values import plain
from content.versions import MARK, Seen, mark
from schedule.clashes import PlannedEdit
from schedule.editing.clock import DAY, Placement, delay, end_after, follow, later, moment_on, wall
from schedule.entries import Status
from schedule.models import Presentation, Room, Session

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from content.models import Content

CLOCK = ["%H:%M", "%H:%M:%S"]
MAX_SHIFT_MINUTES = 7 * 24 * 60
# Start, end and room, a mark each.
MARKS = 3 * MARK
SENT = re.compile(r"s(?P<key>[0-9]{1,18})-start")


def clock_field(label: "StrPromise", *, required: bool = True) -> forms.TimeField:
    """Return a field for a clock time as a browser's own input sends it."""
    return forms.TimeField(label=label, required=required, input_formats=CLOCK)


class MoveForm(forms.Form):
    """Where one session goes: a program day, two clock times in the edition's zone, a room."""

    day = forms.DateField(label=_("day"), input_formats=["%Y-%m-%d"])
    start = clock_field(pgettext_lazy("moment", "start"))
    end = clock_field(pgettext_lazy("moment", "end"))
    room = forms.IntegerField(label=_("room"), required=False)
    parts = forms.BooleanField(label=_("its parts move along"), required=False)

    def __init__(self, data: QueryDict, row: "SessionRow") -> None:
        super().__init__(data, prefix=f"s{row.pk}")
        self.row = row

    def clean_room(self) -> int | None:
        key: int | None = self.cleaned_data["room"]
        if key is not None and key not in self.row.rooms:
            raise ValidationError(_("This room is not here any more. Choose another."))
        return key

    def clean(self) -> dict[str, object]:
        """Add the `placement` that the fields mean."""
        sent, edition, before = self.cleaned_data, self.row.edition, self.row.before
        if {"day", "start", "end", "room"} <= sent.keys():
            name = "start"
            try:
                start = moment_on(edition, sent["day"], sent["start"], before.start)
                name = "end"
                end = end_after(edition, start, sent["end"], (before.start, before.end))
                sent["placement"] = Placement(start, end, sent["room"])
            except ValidationError as error:
                self.add_error(name, error)
        return sent


class ShiftForm(forms.Form):
    minutes = forms.IntegerField(
        label=_("minutes"),
        required=False,
        min_value=-MAX_SHIFT_MINUTES,
        max_value=MAX_SHIFT_MINUTES,
    )
    pick = forms.TypedMultipleChoiceField(label=_("chosen sessions"), coerce=int, required=False)

    def __init__(self, data: QueryDict, keys: Iterable[int]) -> None:
        super().__init__(data)
        picks: Any = self.fields["pick"]
        picks.choices = [(str(key), str(key)) for key in keys]


def sent_keys(data: QueryDict) -> set[int]:
    found = (SENT.fullmatch(name) for name in data)
    return {int(match["key"]) for match in found if match}


def marked(at: Placement) -> tuple[str, str]:
    """Return the marks of a time and of a room, as the versions of forms have them."""
    return mark(plain(at.start)) + mark(plain(at.end)), mark(at.room)


@dataclass
class SessionRow:
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
        self.before = self.after = Placement(self.session.start, self.session.end, self.session.room_id)
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
        return (wall(self.before.end, zone) - wall(self.before.start, zone)) // DAY

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
        return self.in_words(self.before)

    @property
    def now(self) -> str:
        return self.in_words(self.after)

    def in_words(self, at: Placement) -> str:
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
        zone = self.edition.zone
        return {
            "day": self.edition.day_of(at.start).isoformat(),
            "start": f"{wall(at.start, zone):%H:%M}",
            "end": f"{wall(at.end, zone):%H:%M}",
            "room": str(at.room or ""),
        }

    def read(self, data: QueryDict, seen: str) -> None:
        """Take over what was sent of it; `seen` are the marks of what the page showed."""
        form = MoveForm(data, self)
        if len(seen) == MARKS:
            self.seen = seen[: 2 * MARK], seen[2 * MARK :]
        if not form.is_valid():
            self.errors = {name: [str(one) for one in found] for name, found in form.errors.items()}
            self.sent = {
                name: data.get(form.add_prefix(name), "") for name in ("day", "start", "end", "room")
            }
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
class PlannedRows[R: Any]:
    """The rows of a page on which several are planned together."""

    rows: list[R]

    @property
    def moved(self) -> list[R]:
        return [row for row in self.rows if row.is_moved]

    @property
    def wrong(self) -> list[R]:
        return [row for row in self.rows if row.errors]

    @property
    def stale(self) -> list[R]:
        return [row for row in self.rows if row.is_stale]


@dataclass
class Sitting(PlannedRows[SessionRow]):
    """All sessions of the page, those of other days too that were moved."""

    # Moved here, deleted by somebody else.
    gone: set[int] = field(default_factory=set)

    def read(self, data: QueryDict, seen: Seen) -> None:
        """Take over what was sent."""
        shown, sent = seen.get("", {}), sent_keys(data)
        self.gone = sent - {row.pk for row in self.rows}
        for row in self.rows:
            if row.pk in sent and not row.is_fixed:
                row.read(data, shown.get(str(row.pk), ""))
        for row in self.moved:
            if row.takes_parts:
                self.take_along(row)

    def take_along(self, whole: SessionRow) -> None:
        """Let the parts of a whole go with it, those at its old place."""
        parts = {
            row.pk: row
            for row in self.rows
            if row.session.parent_id == whole.pk and not (row.is_moved or row.is_fixed or row.errors)
        }
        places = {key: row.after for key, row in parts.items()}
        for key, at in follow(whole.before, whole.after, places).items():
            parts[key].plan(at)

    def shift(self, keys: Iterable[int], by: timedelta) -> None:
        """Put these sessions off, and what is part of them."""
        picked = set(keys)
        for row in self.rows:
            if {row.pk, row.session.parent_id} & picked and not (row.errors or row.is_fixed):
                row.plan(row.after.shifted(by))

    def reset(self, key: str) -> None:
        """Take the move of a session back."""
        for row in self.rows:
            if str(row.pk) == key:
                row.after, row.is_stale, row.errors = row.before, False, {}

    def planned(self) -> PlannedEdit:
        sessions = {
            row.pk: {"start": row.after.start, "end": row.after.end, "room": row.after.room}
            for row in self.moved
        }
        return PlannedEdit(
            sessions, {talk.pk: {"start": talk.start, "end": talk.end} for talk in self.timed_talks()}
        )

    def timed_talks(self) -> list[Presentation]:
        """Return the presentations with own times in sessions that move, at their new times. One query."""
        delays = {row.pk: by for row in self.moved if (by := delay(row.before, row.after))}
        timed = Q(start__isnull=False) | Q(end__isnull=False)
        talks = list(Presentation.objects.filter(timed, session__in=delays).order_by("pk"))
        for talk in talks:
            by = delays[talk.session_id or 0]
            talk.start, talk.end = (at and later(at, by) for at in (talk.start, talk.end))
        return talks

    def save(self) -> bool:
        """Store the moves. Validation errors go to `errors` of their row, and nothing is stored."""
        rows = self.moved
        for row in rows:
            row.session.start, row.session.end = row.after.start, row.after.end
            row.session.room = row.room
        prefetch_related_objects([row.session for row in rows], "parts")
        for row in rows:
            shown = row.values
            try:
                row.session.clean_in_memory()
            except ValidationError as error:
                row.errors, row.sent = error.message_dict, shown
        if self.wrong:
            return False
        talks = self.timed_talks()
        store([row.session for row in rows], ["start", "end", "room"])
        store(talks, ["start", "end"])
        return bool(rows)


def refusals(row: "Content") -> list[str]:
    """Return what its own rules say against a row."""
    try:
        row.clean_in_memory()
    except ValidationError as error:
        return list(error.messages)
    return []


def store(rows: "list[Any]", fields: list[str]) -> None:
    if rows:
        type(rows[0])._default_manager.bulk_update(rows, fields, batch_size=200)
