"""What the pages of the timetable editor send: moves of sessions, shifts of several, the day to show."""

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from schedule.editing.clock import Program, end_after, moment_on
from schedule.editing.placing import Placement

if TYPE_CHECKING:
    from django.http import QueryDict
    from django_stubs_ext import StrPromise

CLOCK = ["%H:%M", "%H:%M:%S"]
MAX_SHIFT_MINUTES = 7 * 24 * 60


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

    def __init__(
        self, data: "QueryDict", prefix: str, program: Program, before: Placement, rooms: Mapping[int, object]
    ) -> None:
        super().__init__(data, prefix=prefix)
        self.program, self.before, self.rooms = program, before, rooms

    def clean_room(self) -> int | None:
        key: int | None = self.cleaned_data["room"]
        if key is not None and key not in self.rooms:
            raise ValidationError(_("This room is not here any more. Choose another."))
        return key

    def clean(self) -> dict[str, object]:
        sent = self.cleaned_data
        if {"day", "start", "end", "room"} <= sent.keys():
            sent["placement"] = self.placement(sent)
        return sent

    def placement(self, sent: Mapping[str, Any]) -> Placement | None:
        """Return where the session goes; add errors to their fields."""
        before, name = self.before, "start"
        try:
            start = moment_on(self.program, sent["day"], sent["start"], before.start)
            name = "end"
            end = end_after(self.program, start, sent["end"], (before.start, before.end))
        except ValidationError as error:
            self.add_error(name, error)
            return None
        return Placement(start, end, sent["room"])


class SittingForm(forms.Form):
    """What the page does besides: which day it shows, and by how much the chosen sessions are shifted."""

    minutes = forms.IntegerField(
        label=_("minutes"),
        required=False,
        min_value=-MAX_SHIFT_MINUTES,
        max_value=MAX_SHIFT_MINUTES,
    )
    pick = forms.TypedMultipleChoiceField(label=_("chosen sessions"), coerce=int, required=False)

    def __init__(self, data: "QueryDict", keys: Any) -> None:
        super().__init__(data)
        picks: Any = self.fields["pick"]
        picks.choices = [(str(key), str(key)) for key in keys]


def asked_day(written: str, days: list[date], otherwise: date) -> date:
    """Return the day that an address or a button names, if it is one of these."""
    return next((day for day in days if day.isoformat() == written), otherwise)
