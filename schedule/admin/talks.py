"""The presentations of one session: put in order, spread over its time, checked and saved together.

What its chair left alone is not planned: whatever somebody else made of it meanwhile holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from content.ordering import reorder, reordered
from content.row_values import plain
from content.versions import CHOICE, MINE, THEIRS, Seen, mark
from editorial.model_admin import ContentAdmin
from schedule import clashes
from schedule.admin.editor import SessionPage, clash_context, decide, difference, may
from schedule.editing import (
    BACKWARDS,
    DAY,
    PlannedRows,
    PlannedTalk,
    TooShortError,
    clock_field,
    end_after,
    moment_on,
    runs_over,
    spread,
    wall,
)
from schedule.entries import Status
from schedule.models import Presentation, Session
from schedule.timetable import instant

type Times = tuple[datetime | None, datetime | None]

MAX_TALK_MINUTES = 24 * 60
TIMES, ORDER = "times", "order"


class TalkForm(forms.Form):
    place = forms.IntegerField(label=_("place"), required=False, min_value=0, max_value=1_000_000)
    start = clock_field(pgettext_lazy("moment", "start"), required=False)
    end = clock_field(pgettext_lazy("moment", "end"), required=False)
    pause = forms.IntegerField(
        label=_("pause after"), required=False, min_value=0, max_value=MAX_TALK_MINUTES
    )


class SpreadForm(forms.Form):
    """How the presentations are spread: from when to when, so many minutes each, with a gap between them."""

    since = clock_field(_("From"))
    until = clock_field(_("To"))
    minutes = forms.IntegerField(
        label=_("Minutes for each"),
        required=False,
        min_value=1,
        max_value=MAX_TALK_MINUTES,
        help_text=_("Empty: equal shares of the time."),
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
    sent: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.before = self.after = (self.talk.start, self.talk.end)

    def mark(self, value: Times) -> str:
        return "".join(mark(plain(at)) for at in value)

    @property
    def takes_time(self) -> bool:
        """Whether it gets a share of the session: not what is called off."""
        is_withdrawn = self.talk.paper is not None and self.talk.paper.status == "withdrawn"
        return not (self.talk.cancelled or is_withdrawn)

    @property
    def state(self) -> str:
        status = self.talk.status
        return "" if status == Status.PUBLISHED else str(Status(status).label)

    @property
    def values(self) -> dict[str, Any]:
        return self.sent if self.errors else {"pause": self.pause or "", **self.clocks(self.after)}

    def clocks(self, times: Times) -> dict[str, str]:
        zone = self.session.edition.zone
        names = ("start", "end")
        return {name: f"{wall(at, zone):%H:%M}" if at else "" for name, at in zip(names, times, strict=True)}

    @property
    def was(self) -> str:
        return self.in_words(self.before)

    def in_words(self, times: Times) -> str:
        return " – ".join(value or "…" for value in self.clocks(times).values()) if any(times) else "–"

    def read(self, data: QueryDict, seen: str) -> int:
        form = TalkForm(data, prefix=f"t{self.pk}")
        self.sent = {name: data.get(f"t{self.pk}-{name}", "") for name in form.fields}
        if not form.is_valid():
            self.errors = [str(line) for found in form.errors.values() for line in found]
            return self.place
        self.pause = form.cleaned_data["pause"] or 0
        try:
            self.plan(self.moments(form.cleaned_data), seen)
        except ValidationError as error:
            self.errors = [str(line) for line in error.messages]
        place: int | None = form.cleaned_data["place"]
        return self.place if place is None else place

    def moments(self, sent: dict[str, Any]) -> Times:
        start = self.moment(sent["start"], self.before[0], self.session.start)
        end = self.moment(sent["end"], self.before[1], start or self.session.start)
        if start and end and instant(end) < instant(start):
            raise ValidationError(BACKWARDS)
        return start, end

    def moment(self, clock: time | None, stored: datetime | None, since: datetime) -> datetime | None:
        """Return the first moment with that clock in the session, else the one on its program day.

        What was stored, such as on a later day of a session of several, stays while its clock does.
        """
        edition, session = self.session.edition, self.session
        if clock is None or (stored and wall(stored, edition.zone).time() == clock):
            return stored if clock else None
        day = edition.day_of(session.start)
        found = moment_on(edition, day, clock)
        if instant(found) < instant(since) and runs_over(edition, session.start, session.end):
            later = moment_on(edition, day + DAY, clock)
            return later if instant(later) <= instant(session.end) else found
        return found


@dataclass
class Lineup(PlannedRows[LineupRow]):
    session: Session
    # The keys as they stand here, and whether somebody else changed the order that is changed here too.
    stored: list[int] = field(init=False)
    is_stale: bool = False

    def __post_init__(self) -> None:
        self.stored = [row.pk for row in self.rows]

    def read(self, data: QueryDict, seen: Seen) -> None:
        shown, order = seen.get(TIMES, {}), [int(key) for key in seen.get(ORDER, {})]
        sent = [row for row in self.rows if f"t{row.pk}-place" in data]
        places = {row.pk: row.read(data, shown.get(str(row.pk), "")) for row in sent}
        known = [key for key in order if key in places] or [*places]
        mine = in_order(known, places)
        now = [key for key in self.stored if key in known]
        if mine != known:
            self.is_stale = known != now != mine
            self.put([*mine, *(key for key in self.stored if key not in known)])

    def put(self, keys: Sequence[int]) -> None:
        by_key = {row.pk: row for row in self.rows}
        self.rows = [by_key[key] for key in keys]

    def spread(self, start: datetime, end: datetime, minutes: int | None, gap: int) -> None:
        """Give those that take place times one after another. Raises `TooShortError`."""
        rows = [row for row in self.rows if row.takes_time]
        for row, times in zip(
            rows, spread(start, end, [row.pause for row in rows], minutes, gap), strict=True
        ):
            row.after, row.errors = times, []

    def clear(self) -> None:
        for row in self.rows:
            row.after, row.errors = (None, None), []

    @property
    def order(self) -> list[int]:
        return [row.pk for row in self.rows]

    @property
    def is_reordered(self) -> bool:
        return self.order != self.stored

    def now(self) -> Seen:
        """Return the marks of what is here, for the page to carry."""
        times = {str(row.pk): row.mark(row.before) for row in self.rows}
        return {TIMES: times, ORDER: {str(key): "" for key in self.stored}}

    def save(self) -> None:
        """Store the times and the order; errors go to `errors`, and nothing is stored."""
        if self.save_talks() and self.is_reordered:
            reorder(Presentation.objects.filter(session=self.session), self.order)


def in_order(keys: Sequence[int], entered: dict[int, int]) -> list[int]:
    """Return the keys as the numbers beside them say."""
    ranked = sorted((*reordered(entered[key], place), key) for place, key in enumerate(keys, start=1))
    return [key for *_rank, key in ranked]


class TalksPage(SessionPage):
    name = "talks"
    title = _("Order and times: %(session)s")
    plan: Lineup

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, session: Session) -> None:
        super().__init__(model_admin, request, session)
        self.may_change = self.may_change and may(model_admin, request, "change", Session, session)

    def prepare(self, rows: Any) -> None:
        session, zone = self.session, self.edition.zone
        lines = [
            LineupRow(talk=talk, session=session, place=place) for place, talk in enumerate(rows, start=1)
        ]
        self.plan = Lineup(lines, session)
        clocks = {"since": session.start, "until": session.end}
        initial = {name: f"{wall(at, zone):%H:%M}" for name, at in clocks.items()}
        self.form = SpreadForm(self.sent or None, initial=initial)

    def act(self) -> None:
        if "_clear" in self.sent:
            self.plan.clear()
        if "_spread" in self.sent and self.form.is_valid():
            asked, session = self.form.cleaned_data, self.session
            try:
                day = self.edition.day_of(session.start)
                start = moment_on(self.edition, day, asked["since"], session.start)
                end = end_after(self.edition, start, asked["until"], (session.start, session.end))
                self.plan.spread(start, end, asked["minutes"], asked["gap"] or 0)
            except TooShortError as error:
                words = gettext("There are %(there)d minutes, and %(needed)d are needed for a minute each.")
                self.notes.append(words % {"there": error.there, "needed": error.needed})
            except ValidationError as error:
                self.notes += error.messages

    def settle(self, is_current: bool) -> bool:
        plan = self.plan
        decide(self.sent, "t", plan.stale if is_current else [])
        choice = self.sent.get(f"{CHOICE}order") if is_current else None
        if plan.is_stale and choice == THEIRS:
            plan.put(plan.stored)
        plan.is_stale = plan.is_stale and choice not in (MINE, THEIRS)
        return not (plan.stale or plan.is_stale)

    def differences(self) -> list[dict[str, object]]:
        found = [
            difference(self.sent, f"t{row.pk}", gettext("Times"), row.talk, row.was, row.in_words(row.after))
            for row in self.plan.stale
        ]
        if self.plan.is_stale:
            names = {row.pk: str(row.talk) for row in self.plan.rows}
            sides = (
                "\n".join(f"{place}. {names[key]}" for place, key in enumerate(keys, start=1))
                for keys in (self.plan.stored, self.plan.order)
            )
            found.append(difference(self.sent, "order", gettext("Order"), self.session, *sides))
        return found

    def context(self) -> dict[str, Any]:
        plans = {row.pk: {"start": row.after[0], "end": row.after[1]} for row in self.plan.moved}
        found = clashes.difference(self.edition, clashes.PlannedEdit(talks=plans))
        here = [clash for clash in found.all if self.session.pk in found.sessions(clash)]
        is_planned = bool(self.plan.moved) or self.plan.is_reordered
        return {"is_planned": is_planned, **clash_context(found, here, found.solved)}

    def save(self) -> str:
        self.plan.save()
        return gettext("Order and times of “%(session)s” were saved.") % {"session": self.session}
