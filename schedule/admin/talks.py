"""The page that orders the presentations of a session and sets their times.

A value that the chair did not change is not part of the plan, so that it does not overwrite others' changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.http import QueryDict
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from content import times
from content.ordering import position_sort_key, reorder
from content.row_values import to_json_value
from content.versions import CHOICE, MINE, THEIRS, Seen, value_mark
from editorial.access import access_for
from papers.rows import running_order
from schedule import clashes
from schedule.admin.editor import SessionPage, plan_clash_context
from schedule.editing import (
    BACKWARDS,
    DAY,
    PlannedRows,
    PlannedTalk,
    add_elapsed,
    clock_field,
    end_after,
    moment_on,
    runs_over,
    spread_talks,
    wall_clock,
)
from schedule.entries import Status
from schedule.models import Presentation, Session
from schedule.timetable import instant

type Times = tuple[datetime | None, datetime | None]

MAX_TALK_MINUTES = 24 * 60
TIME_MARKS, ORDER_MARKS = "times", "order"


class Moving(models.TextChoices):
    """How times change when a presentation moves to another position."""

    SHIFT = "shift", _("Shift the times of the talks in between")
    SWAP = "swap", _("Swap times with the talk in that position")
    ORDER_ONLY = "order", _("Change the order only")


class TalkForm(forms.Form):
    place = forms.IntegerField(label=_("place"), required=False, min_value=0, max_value=1_000_000)
    start = clock_field(pgettext_lazy("moment", "start"), required=False)
    end = clock_field(pgettext_lazy("moment", "end"), required=False)
    pause = forms.IntegerField(
        label=_("pause after"), required=False, min_value=0, max_value=MAX_TALK_MINUTES
    )


class SpreadForm(forms.Form):
    """Form for spreading presentations: start, end, minutes for each, minutes between."""

    since = clock_field(_("From"))
    until = clock_field(_("To"))
    minutes = forms.IntegerField(
        label=_("Minutes for each"),
        required=False,
        min_value=1,
        max_value=MAX_TALK_MINUTES,
        help_text=_("Leave empty to divide the time equally."),
    )
    gap = forms.IntegerField(
        label=_("Minutes between two"), required=False, min_value=0, max_value=MAX_TALK_MINUTES, initial=0
    )


@dataclass(kw_only=True)
class LineupRow(PlannedTalk[Times]):
    fields = ("start", "end")
    session: Session
    place: int
    pause: int = 0
    # The marks of the times that the page showed.
    seen: str = ""
    submitted: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.before = self.after = (self.talk.start, self.talk.end)

    def mark(self, value: Times) -> str:
        return "".join(value_mark(to_json_value(at)) for at in value)

    @property
    def takes_time(self) -> bool:
        """Return whether it gets a share of the session's time: not if canceled or withdrawn."""
        is_withdrawn = self.talk.paper is not None and self.talk.paper.status == "withdrawn"
        return not (self.talk.cancelled or is_withdrawn)

    @property
    def state(self) -> str:
        status = self.talk.status
        return "" if status == Status.PUBLISHED else str(dict(Status.choices).get(status, status))

    @property
    def values(self) -> dict[str, Any]:
        return self.submitted if self.errors else {"pause": self.pause or "", **self.clocks(self.after)}

    def clocks(self, times: Times) -> dict[str, str]:
        zone = self.session.edition.zone
        names = ("start", "end")
        return {
            name: f"{wall_clock(at, zone):%H:%M}" if at else "" for name, at in zip(names, times, strict=True)
        }

    @property
    def was(self) -> str:
        return self.in_words(self.before)

    # The attributes by which `running_order()` sorts presentations for visitors.

    @property
    def starts(self) -> datetime:
        return self.after[0] or self.session.start

    @property
    def board(self) -> str:
        return self.talk.board

    @property
    def position(self) -> int:
        return self.place

    @property
    def clock(self) -> str:
        """Its own time in the form that visitors will see, else empty."""
        return self.in_words(self.after) if any(self.after) else ""

    def in_words(self, times: Times) -> str:
        return " – ".join(value or "…" for value in self.clocks(times).values()) if any(times) else "–"

    def read(self, data: QueryDict, seen_mark: str) -> int:
        form = TalkForm(data, prefix=f"t{self.pk}")
        self.submitted = {name: data.get(f"t{self.pk}-{name}", "") for name in form.fields}
        if not form.is_valid():
            self.errors = [str(message) for field_errors in form.errors.values() for message in field_errors]
            return self.place
        self.pause, self.seen = form.cleaned_data["pause"] or 0, seen_mark
        try:
            self.plan(self.read_times(form.cleaned_data), seen_mark)
        except ValidationError as error:
            self.errors = [str(message) for message in error.messages]
        entered_place: int | None = form.cleaned_data["place"]
        return self.place if entered_place is None else entered_place

    def read_times(self, cleaned: dict[str, Any]) -> Times:
        start = self.moment_at(cleaned["start"], self.before[0], self.session.start)
        end = self.moment_at(cleaned["end"], self.before[1], start or self.session.start)
        if start and end and instant(end) < instant(start):
            raise ValidationError(BACKWARDS)
        return start, end

    def moment_at(self, clock: time | None, stored: datetime | None, since: datetime) -> datetime | None:
        """Return the first moment at that clock time in the session, else on its program day.

        A stored moment is returned if its clock time is unchanged, even on a later day of the session.
        """
        edition, session = self.session.edition, self.session
        if clock is None or (stored and wall_clock(stored, edition.zone).time() == clock):
            return stored if clock else None
        day = edition.day_of(session.start)
        moment = moment_on(edition, day, clock)
        if instant(moment) < instant(since) and runs_over(edition, session.start, session.end):
            next_day_moment = moment_on(edition, day + DAY, clock)
            return next_day_moment if instant(next_day_moment) <= instant(session.end) else moment
        return moment


@dataclass
class Lineup(PlannedRows[LineupRow]):
    session: Session
    # The keys in the stored order, and whether someone else also changed the order.
    stored: list[int] = field(init=False)
    is_stale: bool = False
    moving: str = Moving.SHIFT
    # The order for which the page's times were entered, and the planned order.
    fitted: list[int] = field(init=False)
    planned: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.stored = self.fitted = self.planned = self.order

    def read(self, data: QueryDict, seen_marks: Seen) -> None:
        time_marks = seen_marks.get(TIME_MARKS, {})
        seen_order = [int(key) for key in seen_marks.get(ORDER_MARKS, {})]
        submitted_rows = [row for row in self.rows if f"t{row.pk}-place" in data]
        entered_places = {row.pk: row.read(data, time_marks.get(str(row.pk), "")) for row in submitted_rows}
        shown_keys = [key for key in seen_order if key in entered_places] or [*entered_places]
        key_by_text = {str(key): key for key in shown_keys}
        fitted = [
            key_by_text[key] for key in dict.fromkeys(data.get("fitted", "").split(",")) if key in key_by_text
        ]
        self.fitted = fitted if len(fitted) == len(shown_keys) else shown_keys
        self.moving = data.get("moving", "") if data.get("moving") in Moving.values else Moving.SHIFT
        self.planned = order_by_numbers(self.fitted, entered_places)
        if self.moving == Moving.SWAP:
            self.planned = swap_keys(self.fitted, self.planned)
        stored_keys = [key for key in self.stored if key in shown_keys]
        if self.planned != shown_keys:
            self.is_stale = shown_keys != stored_keys != self.planned
            self.set_order([*self.planned, *(key for key in self.stored if key not in shown_keys)])

    def set_order(self, keys: Sequence[int]) -> None:
        rows_by_key = {row.pk: row for row in self.rows}
        self.rows = [rows_by_key[key] for key in keys]
        for position, row in enumerate(self.rows, start=1):
            row.place = position

    def fit_times(self) -> None:
        """Adjust times to the new order, unless only the order changes or a row has errors."""
        if self.wrong:
            return
        by_key = {row.pk: row for row in self.rows}
        before, after = ([by_key[key] for key in keys] for keys in (self.fitted, self.planned))
        if before != after and self.moving != Moving.ORDER_ONLY:
            change = swap_times if self.moving == Moving.SWAP else shift_times
            for row, new_times in change(before, after):
                row.after, row.is_stale = row.before, False
                row.plan(new_times, row.seen)
        self.fitted = self.planned

    def spread(self, start: datetime, end: datetime, minutes: int | None, gap: int) -> None:
        """Set consecutive times, except for canceled talks. Raises `ValidationError` if they do not fit."""
        rows = [row for row in self.rows if row.takes_time]
        spans = spread_talks(start, end, [row.pause for row in rows], minutes, gap)
        for row, span in zip(rows, spans, strict=True):
            row.after, row.errors = span, []

    def clear(self) -> None:
        for row in self.rows:
            row.after, row.errors = (None, None), []

    @property
    def order(self) -> list[int]:
        return [row.pk for row in self.rows]

    @property
    def is_reordered(self) -> bool:
        return self.order != self.stored

    def current_marks(self) -> Seen:
        """Return the marks of the stored times and order."""
        marks = {str(row.pk): row.mark(row.before) for row in self.rows}
        return {TIME_MARKS: marks, ORDER_MARKS: {str(key): "" for key in self.stored}}

    def save(self) -> bool:
        """Save times and order and return `True`, or set `errors` and save nothing."""
        is_saved = self.save_talks()
        if is_saved and self.is_reordered:
            reorder(Presentation.objects.in_session(self.session), self.order)
        return is_saved


def order_by_numbers(keys: Sequence[int], entered_places: dict[int, int]) -> list[int]:
    """Return the keys sorted by the entered positions."""
    ranked = sorted(
        (*position_sort_key(entered_places[key], position), key) for position, key in enumerate(keys, start=1)
    )
    return [key for *_rank, key in ranked]


def swap_keys(before: list[int], after: list[int]) -> list[int]:
    """Return the order in which the one key that moved is swapped with the key at its new position.

    If more than one key moved, return `after`.
    """
    changed_positions = [
        position for position, (old, new) in enumerate(zip(before, after, strict=True)) if old != new
    ]
    if not changed_positions:
        return after
    first, last = changed_positions[0], changed_positions[-1]
    old, new = before[first : last + 1], after[first : last + 1]
    if new not in ([old[-1], *old[:-1]], [*old[1:], old[0]]):
        return after
    return [*before[:first], old[-1], *old[1:-1], old[0], *before[last + 1 :]]


type NewTimes = list[tuple[LineupRow, Times]]


def swap_times(before: list[LineupRow], after: list[LineupRow]) -> NewTimes:
    """Return each moved row with the times of the row that it replaces."""
    return [(new, old.after) for old, new in zip(before, after, strict=True) if old is not new]


def shift_times(before: list[LineupRow], after: list[LineupRow]) -> NewTimes:
    """Return new times for the rows from the first to the last that moved. Their lengths do not change.

    The pauses after each position do not change either. Rows without a start are omitted.
    """
    changed_positions = [
        position for position, (old, new) in enumerate(zip(before, after, strict=True)) if old is not new
    ]
    rows = [(row, *row.after) for row in after[changed_positions[0] : changed_positions[-1] + 1]]
    timed_rows = [(row, instant(start), instant(end or start), end) for row, start, end in rows if start]
    spans = sorted((start, until) for _row, start, until, _end in timed_rows)
    pauses = [start - until for (_, until), (start, _) in pairwise(spans)]
    if not timed_rows:
        return []
    at = spans[0][0]
    new_times: NewTimes = []
    for (row, start, until, end), pause in zip(timed_rows, [*pauses, timedelta()], strict=True):
        new_times.append((row, (at, add_elapsed(at, until - start) if end else None)))
        at = add_elapsed(at, until - start + pause)
    return new_times


class TalksPage(SessionPage):
    name = "talks"
    title = _("Order and times: %(session)s")
    prefix = "t"
    plan: Lineup

    def prepare(self, subject: Session) -> None:
        super().prepare(subject)
        access = access_for(self.request)
        self.may_change = self.may_change and access.may_all_fields("change", Session, subject)

    def read_plan(self, rows: Any) -> None:
        session, zone = self.session, self.edition.zone
        lineup_rows = [
            LineupRow(talk=talk, session=session, place=position)
            for position, talk in enumerate(rows, start=1)
        ]
        self.plan = Lineup(lineup_rows, session)
        bounds = {"since": session.start, "until": session.end}
        initial = {name: f"{wall_clock(at, zone):%H:%M}" for name, at in bounds.items()}
        self.form = SpreadForm(self.data or None, initial=initial)

    def handle_button(self) -> None:
        self.plan.fit_times()
        if "_clear" in self.data:
            self.plan.clear()
        if "_spread" in self.data and self.form.is_valid():
            cleaned, session = self.form.cleaned_data, self.session
            try:
                day = self.edition.day_of(session.start)
                start = moment_on(self.edition, day, cleaned["since"], session.start)
                end = end_after(self.edition, start, cleaned["until"], (session.start, session.end))
                self.plan.spread(start, end, cleaned["minutes"], cleaned["gap"] or 0)
            except ValidationError as error:
                self.notes += error.messages

    def resolve(self, shown_marks: Seen) -> bool:
        plan = self.plan
        choice = self.data.get(f"{CHOICE}order") if shown_marks == self.current_marks else None
        if plan.is_stale and choice == THEIRS:
            plan.set_order(plan.stored)
        else:
            plan.fit_times()
        plan.is_stale = plan.is_stale and choice not in (MINE, THEIRS)
        return super().resolve(shown_marks) and not plan.is_stale

    def differences(self) -> list[dict[str, object]]:
        conflicts = [
            self.difference(f"t{row.pk}", gettext("Times"), row.talk, row.was, row.in_words(row.after))
            for row in self.plan.stale
        ]
        if self.plan.is_stale:
            titles = {row.pk: str(row.talk) for row in self.plan.rows}
            orders = (
                "\n".join(f"{position}. {titles[key]}" for position, key in enumerate(keys, start=1))
                for keys in (self.plan.stored, self.plan.order)
            )
            conflicts.append(self.difference("order", gettext("Order"), self.session, *orders))
        return conflicts

    def context(self) -> dict[str, Any]:
        planned_values = {row.pk: {"start": row.after[0], "end": row.after[1]} for row in self.plan.moved}
        difference = clashes.clash_difference(self.edition, clashes.PlannedEdit(talks=planned_values))
        session_clashes = [clash for clash in difference.all if self.session.pk in difference.sessions(clash)]
        is_planned = bool(self.plan.moved) or self.plan.is_reordered
        return {
            **super().context(),
            "is_planned": is_planned,
            "visible": running_order(self.plan.rows) if is_planned else [],
            "zone": times.zone_label(self.session.start, self.edition.zone),
            "moving": self.plan.moving,
            "moving_choices": Moving.choices,
            "fitted": ",".join(str(key) for key in self.plan.fitted),
            **plan_clash_context(difference, session_clashes, difference.solved),
        }

    def save(self) -> str:
        before = [talk.pk for talk in running_order(row.talk for row in self.plan.rows)]
        after = [row.pk for row in running_order(self.plan.rows)]
        if not self.plan.save():
            return ""
        message = gettext("Order and times of “%(session)s” were saved.") % {"session": self.session}
        if self.plan.is_reordered and before == after:
            message += " " + gettext("Nothing changed for visitors: they see presentations in order of time.")
        return message
