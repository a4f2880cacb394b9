"""Template words for the program: times in the edition's zone, with the zone named; plain text."""

import re
from datetime import date, datetime
from functools import lru_cache
from urllib.parse import urlsplit

import segno
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext

import markup
from conference.models import Edition
from content import times
from content.querysets import moment

register = template.Library()

# The icon of each kind of material.
MATERIAL_ICONS = {
    "pdf": "file",
    "slides": "slides",
    "poster": "image",
    "video": "play",
    "code": "code",
    "data": "data",
    "review": "chat",
    "project": "link",
}
# Of the eight patterns that may lie over the code any can be read; to find the best for each address takes
# four fifths of the time. This one has 3 % more of what cameras stumble over than the best, 17 % at most.
MASK = 2


def moment_tag(
    moment: datetime, edition: Edition, words: str, end: datetime | None = None, *, until: bool = False
) -> SafeString:
    """Return the words as a <time> element that machines can read.

    `end` is that of the span whose start it is, `until` says that it is the end of one: zones.js reads them.
    """
    written = moment.astimezone(edition.zone).isoformat()
    last = end and end != moment and format_html(' data-end="{}"', end.astimezone(edition.zone).isoformat())
    mark = mark_safe(" data-until") if until else ""
    return format_html('<time datetime="{}"{}{}>{}</time>', written, last or "", mark, words)


@register.simple_tag
def second(start: datetime, end: datetime | None, edition: Edition) -> SafeString:
    """The same span in the second zone of a hybrid conference; nothing where there is none."""
    zone = edition.second_zone
    words = times.elsewhere(start, end or start, edition.zone, zone) if zone else ""
    return format_html(' <span class="second">{}</span>', words) if words else SafeString("")


@register.filter
def clock(moment: datetime, edition: Edition) -> SafeString:
    """Wall time at the venue: 08:15."""
    return moment_tag(moment, edition, times.clock(moment, edition.zone))


@register.filter
def zone(moment: datetime, edition: Edition) -> SafeString:
    """The short name of the venue's zone at that moment: PDT."""
    return format_html('<span class="tz">{}</span>', times.zone_label(moment, edition.zone))


@register.filter
def day_name(day: date) -> str:
    """Tuesday 6 April 2021."""
    return times.day_name(day)


@register.filter
def short_day(day: date) -> str:
    """Tue 6 Apr."""
    return times.short_day(day)


@register.simple_tag
def time_range(start: datetime, end: datetime, edition: Edition) -> SafeString:
    """08:00 to 08:15 PDT."""
    words = times.time_range(start, end, edition.zone)
    return moment_tag(start, edition, words, end) + second(start, end, edition)


@register.simple_tag
def when(start: datetime, end: datetime, edition: Edition) -> SafeString:
    """Tue 6 Apr, 08:00 to 08:15 PDT."""
    words = times.when(start, end, edition.zone)
    return moment_tag(start, edition, words, end) + second(start, end, edition)


@register.simple_tag
def no_time(edition: Edition, at: datetime | None = None) -> str:
    """The text in place of a missing time: it may still be announced, unless the edition is over."""
    over = edition.day_of(moment(at)) > edition.end_date
    return gettext("time not known") if over else gettext("not scheduled yet")


@register.filter
def plain(source: str) -> str:
    """An author's text without any markup: for page titles and descriptions."""
    return markup.plain(source)


@register.filter
def lead(source: str, length: int = 250) -> str:
    """The beginning of an author's text in whole words, for the description of a page."""
    words = " ".join(markup.plain(source).split())
    return words if len(words) <= length else f"{words[:length].rpartition(' ')[0]} …"


@register.filter
def material_icon(kind: str) -> str:
    """The name of the drawing for a kind of material."""
    return MATERIAL_ICONS.get(kind, "file")


@register.filter
def host(address: str) -> str:
    """Whose server an address leads to; empty where it is this site's own."""
    return (urlsplit(address).hostname or "").removeprefix("www.")


@register.filter
def local_day(moment: datetime, edition: Edition) -> date:
    """The calendar day at the venue."""
    return moment.astimezone(edition.zone).date()


@register.simple_tag
def clock_range(start: datetime, end: datetime | None, edition: Edition) -> SafeString:
    """08:00 <span>to 08:15 PDT</span>, each a <time>; without a shared end only the start and its zone."""
    zone = edition.zone
    first = times.zone_label(start, zone)
    begin = moment_tag(start, edition, times.clock(start, zone), end)
    beside = second(start, end, edition)
    if end is None or end == start:
        return format_html('{} <span class="tz">{}</span>{}', begin, first, beside)
    last = times.zone_label(end, zone)
    begin_zone = "" if first == last else format_html(' <span class="tz">{}</span>', first)
    until = moment_tag(end, edition, times.until(start, end, zone), until=True)
    # The rest of the range; in a narrow column it is below the start.
    words = pgettext("end of a span of time", "to {end}")
    rest = format_html(words, end=format_html("{} {}", until, last))
    return format_html("{}{} <span>{}</span>{}", begin, begin_zone, rest, beside)


@register.filter
def board(label: str) -> str:
    """Board 37; a label of several words says itself what it is."""
    return label if " " in label else gettext("Board %(label)s") % {"label": label}


@register.filter
def raised(markup: str, top: int = 2) -> SafeString:
    """Rendered text whose highest heading is of this level, those below it following without a gap."""
    levels = sorted(set(re.findall(r"<h([1-6])>", markup)))
    raise_to = {old: str(min(6, top + place)) for place, old in enumerate(levels)}
    return mark_safe(re.sub(r"(</?h)([1-6])(?=>)", lambda found: found[1] + raise_to[found[2]], markup))


@register.simple_tag
def qr(url: str, label: str = "") -> SafeString:
    """The address as a drawing for cameras; `label` is what it is called for those who do not see it."""
    named = format_html('<svg role="img" aria-label="{}"', label or gettext("QR code of this page's address"))
    return mark_safe(_drawn(url).replace("<svg", named, 1))


@lru_cache(maxsize=1000)
def _drawn(url: str) -> str:
    drawing = segno.make(url, error="m", micro=False, mask=MASK)
    return str(drawing.svg_inline(omitsize=True, svgclass="qr", lineclass=None, border=4, light="#fff"))
