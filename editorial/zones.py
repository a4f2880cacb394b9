"""Parsing of time zones that people type: an IANA name in any case, or the city in such a name."""

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

# Prefixes of zones that are named after places; other zones are abbreviations and old spellings.
AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)
MAX_LIKELY = 3


@dataclass(frozen=True, slots=True)
class OfferedZone:
    name: str
    # In the form "UTC+05:30".
    offset: str


@cache
def zone_names() -> dict[str, str]:
    """Return all zone names by their case-folded spelling."""
    return {name.casefold(): name for name in sorted(available_timezones())}


@cache
def zones_by_city() -> dict[str, list[str]]:
    """Return zone names by the case-folded last part, the city."""
    zones: dict[str, list[str]] = {}
    for folded, name in zone_names().items():
        if name.startswith(AREAS) and "/" in name:
            zones.setdefault(folded.rpartition("/")[2], []).append(name)
    return zones


def parse_zone(text: str) -> str:
    """Return the zone name for a text, or the text itself if no name is similar.

    Raises `ValidationError` if several zones match, or if none does but some are similar.
    """
    typed = "_".join(text.split()).casefold()
    if typed in zone_names():
        return zone_names()[typed]
    matching = zones_by_city().get(typed.rpartition("/")[2], [])
    if len(matching) == 1:
        return matching[0]
    similar = get_close_matches(typed.rpartition("/")[2], zones_by_city(), MAX_LIKELY, 0.75)
    likely = matching or [zone for city in similar for zone in zones_by_city()[city]]
    if likely:
        raise ValidationError(
            _("“%(value)s” is not a time zone. Did you mean %(likely)s?"),
            code="zone",
            params={"value": text, "likely": ", ".join(likely[:MAX_LIKELY])},
        )
    return text


def offered_zones(at: datetime | None = None) -> list[OfferedZone]:
    """Return UTC and the zones of places with their offsets at a moment."""
    at = at or timezone.now()
    names = [name for name in zone_names().values() if name.startswith(AREAS) and "/" in name]
    return [OfferedZone(name, f"UTC{at.astimezone(ZoneInfo(name)):%:z}") for name in ["UTC", *names]]


class ZoneNameField(forms.CharField):
    """Field for a zone from the `<datalist>` of `admin/change_form.html`; the model validates the value."""

    def widget_attrs(self, widget: forms.Widget) -> dict[str, object]:
        return {**super().widget_attrs(widget), "list": "zones", "autocomplete": "off"}

    def to_python(self, value: object) -> str:
        text = super().to_python(value) or ""
        return parse_zone(text) if text else text
