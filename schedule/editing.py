"""Plans of the timetable editor: reading clock times, moving several sessions together, and saving the moves.

Durations are elapsed time, even across a change of clocks. A field that the chair did not change is not
planned, so that it does not overwrite what someone else saved in the meantime.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import prefetch_related_objects
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from content import times
from content.row_values import to_json_value
from content.unreleased.plan import match
from content.versions import MARK_DIGITS, Seen, value_mark
from editorial.form_fields import resolve_wall_time, to_the_minute
from schedule.clashes import PlannedEdit
from schedule.entries import Status
from schedule.models import Presentation, Room, Session
from schedule.timetable import instant

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from content.models import Content

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
TOO_SHORT = _("There are %(there)d minutes, and %(needed)d are needed for a minute each.")
BACKWARDS = _("The end is before the start.")
PAST_THE_DAY = _(
    "The end is before the start. If the session runs past %(hour)s, when the next day begins, use its form."
)


def wall_clock(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the naive local time in the zone, to the minute, as forms show it."""
    return to_the_minute(moment).astimezone(zone).replace(tzinfo=None)


def moment_on(edition: Edition, day: date, clock: time, stored: datetime | None = None) -> datetime:
    """Return the moment of a clock time on a program day; hours before its first are of the next date.

    Raises `ValidationError` for a time that the clocks skip or repeat, unless `stored` has that time, and for
    a year that is out of range.
    """
    naive = datetime.combine(day, clock)
    # The last day of the calendar has no next one; its year is an error anyway.
    if clock.hour < edition.day_start_hour and day < date.max:
        naive += DAY
    return resolve_wall_time(naive, edition.zone, stored)


def end_after(edition: Edition, start: datetime, clock: time, stored: tuple[datetime, datetime]) -> datetime:
    """Return the end as the first moment with this clock time from `start` on.

    `stored` are the stored start and end, whose whole days of duration are added. Raises `ValidationError`
    for an end beyond the program day, unless the stored end is beyond it too.
    """
    stored_start, stored_end = stored
    local_start, local_stored_start, local_stored_end = (
        wall_clock(moment, edition.zone) for moment in (start, stored_start, stored_end)
    )
    if (local_start, clock) == (local_stored_start, local_stored_end.time()):
        return stored_end
    naive = datetime.combine(local_start.date(), clock)
    naive += DAY * ((naive < local_start) + (local_stored_end - local_stored_start) // DAY)
    end = resolve_wall_time(naive, edition.zone, stored_end)
    if instant(end) < instant(start):
        raise ValidationError(BACKWARDS)
    if runs_over(edition, start, end) and not runs_over(edition, stored_start, stored_end):
        raise ValidationError(PAST_THE_DAY, params={"hour": f"{edition.day_start_hour:02}:00"})
    return end


def runs_over(edition: Edition, start: datetime, end: datetime) -> bool:
    """Return whether a span ends after the program day on which it begins."""
    return instant(end) > edition.day_bounds(edition.day_of(start))[1]


def add_elapsed(moment: datetime, duration: timedelta) -> datetime:
    """Return the moment after that much elapsed time, even across a change of clocks."""
    return instant(moment) + duration


@dataclass(frozen=True, slots=True)
class Placement:
    start: datetime
    end: datetime
    room: int | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        own_values, other_values = (
            (instant(placement.start), instant(placement.end), placement.room) for placement in (self, other)
        )
        return own_values == other_values

    __hash__ = None  # type: ignore[assignment]

    def shifted(self, duration: timedelta) -> "Placement":
        return replace(self, start=add_elapsed(self.start, duration), end=add_elapsed(self.end, duration))


def delay(before: Placement, after: Placement) -> timedelta:
    """Return the difference of the starts, negative if the move is to an earlier time."""
    return instant(after.start) - instant(before.start)


def moved_parts(before: Placement, after: Placement, parts: Mapping[int, Placement]) -> dict[int, Placement]:
    """Return the changed placements of a moved session's parts: same delay, and its room if they share it."""
    placements = {}
    for key, part in parts.items():
        room = after.room if part.room == before.room else part.room
        placement = replace(part.shifted(delay(before, after)), room=room)
        if placement != part:
            placements[key] = placement
    return placements


def spread_talks(
    start: datetime, end: datetime, pauses: Sequence[int], minutes: int | None = None, gap: int = 0
) -> list[tuple[datetime, datetime]]:
    """Return start and end of as many talks as there are `pauses`.

    Without `minutes`, all share the time to `end` equally, in whole minutes; raises `ValidationError` if it
    is too short. `gap` follows each talk but the last; `pauses` are further minutes after each talk.
    """
    if not pauses:
        return []
    breaks = [gap + pause for pause in pauses[:-1]]
    lengths = [minutes] * len(pauses) if minutes else equal_shares(start, end, len(pauses), sum(breaks))
    spans = []
    for length, break_minutes in zip(lengths, [*breaks, 0], strict=True):
        spans.append((start, add_elapsed(start, length * MINUTE)))
        start = add_elapsed(start, (length + break_minutes) * MINUTE)
    return spans


def equal_shares(start: datetime, end: datetime, count: int, break_minutes: int) -> list[int]:
    """Return equal shares of the remaining time, in whole minutes that differ by one at most."""
    available = int((instant(end) - instant(start)) / MINUTE)
    remaining = available - break_minutes
    if remaining < count:
        raise ValidationError(TOO_SHORT, params={"there": available, "needed": count + break_minutes})
    offsets = [remaining * index // count for index in range(count + 1)]
    return [after - before for before, after in pairwise(offsets)]


CLOCK_FORMATS = ["%H:%M", "%H:%M:%S"]
MAX_SHIFT_MINUTES = 7 * 24 * 60
# One mark each for start, end and room.
MARKS_CHARS = 3 * MARK_DIGITS
SESSION_FIELD = re.compile(r"s(?P<key>[0-9]{1,18})-start")


def clock_field(label: "StrPromise", *, required: bool = True) -> forms.TimeField:
    """Return a field for a clock time in the formats that a browser's time input sends."""
    return forms.TimeField(label=label, required=required, input_formats=CLOCK_FORMATS)


class MoveForm(forms.Form):
    """Form of one session's placement: a program day, two clock times in the edition's zone, a room."""

    day = forms.DateField(label=_("day"), input_formats=["%Y-%m-%d"])
    start = clock_field(pgettext_lazy("moment", "start"))
    end = clock_field(pgettext_lazy("moment", "end"))
    room = forms.IntegerField(label=_("room"), required=False)
    parts = forms.BooleanField(label=_("its parts move with it"), required=False)

    def __init__(self, data: QueryDict, row: "SessionRow") -> None:
        super().__init__(data, prefix=f"s{row.pk}")
        self.row = row

    def clean_room(self) -> int | None:
        key: int | None = self.cleaned_data["room"]
        if key is not None and key not in self.row.rooms:
            raise ValidationError(_("This room no longer exists. Choose another."))
        return key

    def clean(self) -> dict[str, object]:
        """Add the `placement` to the cleaned data."""
        cleaned, edition, before = self.cleaned_data, self.row.edition, self.row.before
        if {"day", "start", "end", "room"} <= cleaned.keys():
            field_name = "start"
            try:
                start = moment_on(edition, cleaned["day"], cleaned["start"], before.start)
                field_name = "end"
                end = end_after(edition, start, cleaned["end"], (before.start, before.end))
                cleaned["placement"] = Placement(start, end, cleaned["room"])
            except ValidationError as error:
                self.add_error(field_name, error)
        return cleaned


class ShiftForm(forms.Form):
    minutes = forms.IntegerField(
        label=_("minutes"), required=False, min_value=-MAX_SHIFT_MINUTES, max_value=MAX_SHIFT_MINUTES
    )
    pick = forms.TypedMultipleChoiceField(label=_("chosen sessions"), coerce=int, required=False)

    def __init__(self, data: QueryDict, keys: Iterable[int]) -> None:
        super().__init__(data)
        pick_field: Any = self.fields["pick"]
        pick_field.choices = [(str(key), str(key)) for key in keys]


def sent_keys(data: QueryDict) -> set[int]:
    matches = (SESSION_FIELD.fullmatch(name) for name in data)
    return {int(match["key"]) for match in matches if match}


def marks_of(placement: Placement) -> tuple[str, str]:
    """Return the marks of the times and of the room, in the format of form versions."""
    return value_mark(to_json_value(placement.start)) + value_mark(to_json_value(placement.end)), value_mark(
        placement.room
    )


@dataclass
class SessionRow:
    session: Session
    edition: Edition
    rooms: Mapping[int, Room]
    is_fixed: bool = False
    before: Placement = field(init=False)
    after: Placement = field(init=False)
    # The marks of the values that the page showed.
    seen: tuple[str, str] = ("", "")
    # Someone else changed the planned fields in the meantime.
    is_stale: bool = False
    errors: dict[str, list[str]] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    takes_parts: bool = False

    def __post_init__(self) -> None:
        self.before = self.after = Placement(self.session.start, self.session.end, self.session.room_id)
        self.seen = marks_of(self.before)

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
        """The number of whole days in its duration, which two clock times do not show."""
        zone = self.edition.zone
        return (wall_clock(self.before.end, zone) - wall_clock(self.before.start, zone)) // DAY

    @property
    def state(self) -> str:
        """The label of a status other than published; empty if published."""
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

    def in_words(self, placement: Placement) -> str:
        room = self.rooms.get(placement.room or 0)
        when = times.day_and_time_range(placement.start, placement.end, self.edition.zone)
        return f"{when}, {room.name}" if room else when

    @property
    def values(self) -> dict[str, str]:
        """The values of the inputs: as submitted if they were invalid, else of the planned placement."""
        return self.sent if self.errors else self.input_values(self.after)

    @property
    def stored_values(self) -> str:
        """The stored values of the inputs, joined for the comparison in the page's script."""
        return "|".join(self.input_values(self.before).values())

    def input_values(self, placement: Placement) -> dict[str, str]:
        zone = self.edition.zone
        return {
            "day": self.edition.day_of(placement.start).isoformat(),
            "start": f"{wall_clock(placement.start, zone):%H:%M}",
            "end": f"{wall_clock(placement.end, zone):%H:%M}",
            "room": str(placement.room or ""),
        }

    def read(self, data: QueryDict, seen: str) -> None:
        """Read the submitted fields; `seen` are the marks of what the page showed."""
        form = MoveForm(data, self)
        if len(seen) == MARKS_CHARS:
            self.seen = seen[: 2 * MARK_DIGITS], seen[2 * MARK_DIGITS :]
        if not form.is_valid():
            self.errors = {
                name: [str(message) for message in messages] for name, messages in form.errors.items()
            }
            self.sent = {
                name: data.get(form.add_prefix(name), "") for name in ("day", "start", "end", "room")
            }
            return
        self.takes_parts = form.cleaned_data["parts"]
        self.plan(form.cleaned_data["placement"])

    def plan(self, placement: Placement) -> None:
        """Plan the times and the room of this placement if they differ from those shown."""
        planned_marks, stored_marks = marks_of(placement), marks_of(self.before)
        has_new_times, has_new_room = (planned_marks[index] != self.seen[index] for index in (0, 1))
        span = placement if has_new_times else self.before
        self.after = Placement(span.start, span.end, (placement if has_new_room else self.before).room)
        self.is_stale = any(
            is_planned and self.seen[index] != stored_marks[index] != planned_marks[index]
            for index, is_planned in ((0, has_new_times), (1, has_new_room))
        )


@dataclass
class PlannedTalk[V]:
    """A presentation on the page, with its stored value and its planned one."""

    fields: ClassVar[tuple[str, ...]]
    talk: Presentation
    before: V = field(init=False)
    after: V = field(init=False)
    is_stale: bool = False
    errors: list[str] = field(default_factory=list)

    @property
    def pk(self) -> int:
        return self.talk.pk

    @property
    def is_moved(self) -> bool:
        return self.mark(self.after) != self.mark(self.before)

    def mark(self, value: V) -> str:
        return value_mark(value)

    def plan(self, value: V, seen: str) -> None:
        """Plan this value if it differs from what was shown."""
        planned_mark, stored_mark = self.mark(value), self.mark(self.before)
        shown_mark = seen or stored_mark
        if planned_mark != shown_mark:
            self.after = value
            self.is_stale = shown_mark != stored_mark != planned_mark

    def apply(self) -> None:
        """Set the planned values in memory, and validate them into `errors`."""
        values = self.after if isinstance(self.after, tuple) else (self.after,)
        for name, value in zip(self.fields, values, strict=True):
            setattr(self.talk, name, value)
        self.errors = validation_errors(self.talk)


@dataclass
class PlannedRows[R: Any]:
    """The rows of a page on which several are edited together."""

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

    def save_talks(self) -> bool:
        """Store the planned values, unless a presentation is invalid; return whether all are valid."""
        moved_rows = [] if self.wrong else self.moved
        for row in moved_rows:
            row.apply()
        if moved_rows and not self.wrong:
            save_fields([row.talk for row in moved_rows], moved_rows[0].fields)
        return not self.wrong


@dataclass
class PlannedSessions(PlannedRows[SessionRow]):
    """All sessions of the page, and those of other days that were moved."""

    # Keys of submitted sessions that someone else deleted.
    gone: set[int] = field(default_factory=set)

    def read(self, data: QueryDict, seen: Seen) -> None:
        """Read the submitted fields, and move parts with their sessions where requested."""
        shown_marks, submitted_keys = seen.get("", {}), sent_keys(data)
        self.gone = submitted_keys - {row.pk for row in self.rows}
        for row in self.rows:
            if row.pk in submitted_keys and not row.is_fixed:
                row.read(data, shown_marks.get(str(row.pk), ""))
        for row in self.moved:
            if row.takes_parts:
                self.move_parts(row)

    def move_parts(self, parent: SessionRow) -> None:
        """Move the parts of a session with it, unless they were moved themselves."""
        parts = {
            row.pk: row
            for row in self.rows
            if row.session.parent_id == parent.pk and not (row.is_moved or row.is_fixed or row.errors)
        }
        placements = {key: row.after for key, row in parts.items()}
        for key, placement in moved_parts(parent.before, parent.after, placements).items():
            parts[key].plan(placement)

    def shift(self, keys: Iterable[int], duration: timedelta) -> None:
        chosen_keys = set(keys)
        for row in self.rows:
            if {row.pk, row.session.parent_id} & chosen_keys and not (row.errors or row.is_fixed):
                row.plan(row.after.shifted(duration))

    def reset(self, key: str) -> None:
        for row in self.rows:
            if str(row.pk) == key:
                row.after, row.is_stale, row.errors = row.before, False, {}

    def planned_edit(self) -> PlannedEdit:
        sessions = {
            row.pk: {"start": row.after.start, "end": row.after.end, "room": row.after.room}
            for row in self.moved
        }
        return PlannedEdit(
            sessions, {talk.pk: {"start": talk.start, "end": talk.end} for talk in self.timed_talks()}
        )

    def timed_talks(self) -> list[Presentation]:
        """Return the presentations with their own times in moved sessions, at the new times. One query."""
        delays = {row.pk: difference for row in self.moved if (difference := delay(row.before, row.after))}
        timed = match(Presentation, start__isnull=False) | match(Presentation, end__isnull=False)
        talks = list(Presentation.objects.filter(timed).matching(session_id__in=delays).order_by("pk"))
        for talk in talks:
            difference = delays[talk.session_id or 0]
            talk.start, talk.end = (
                moment and add_elapsed(moment, difference) for moment in (talk.start, talk.end)
            )
        return talks

    def save(self) -> bool:
        """Store the moves; return whether there are any. If a row gets validation `errors`, store nothing."""
        rows = self.moved
        for row in rows:
            row.session.start, row.session.end = row.after.start, row.after.end
            row.session.room = row.room
        prefetch_related_objects([row.session for row in rows], "parts")
        for row in rows:
            input_values = row.values
            try:
                row.session.clean_in_memory()
            except ValidationError as error:
                row.errors, row.sent = error.message_dict, input_values
        if self.wrong:
            return False
        talks = self.timed_talks()
        save_fields([row.session for row in rows], ["start", "end", "room"])
        save_fields(talks, ["start", "end"])
        return bool(rows)


def validation_errors(row: "Content") -> list[str]:
    """Return the messages of a row's own validation."""
    try:
        row.clean_in_memory()
    except ValidationError as error:
        return list(error.messages)
    return []


def save_fields(rows: list[Any], fields: Sequence[str]) -> None:
    if rows:
        type(rows[0])._default_manager.bulk_update(rows, fields, batch_size=200)
