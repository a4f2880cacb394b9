"""Template tags and filters of the program: times in the edition's zone, counts, cached fragments."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
from django import template
from django.conf import settings
from django.db.models import Model
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, ngettext, pgettext

from conference import page_metadata
from conference.models import Edition
from content import languages, licenses, page_paths, times
from content.querysets import at_or_now
from pagecache.fragments import render_each_cached

register = template.Library()

# Names of icons by kind of material.
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
# The number of names before "and 4 more"; a single further author is named, too.
FEW_NAMES = 2
# The mask of QR codes; all eight masks are readable. Choosing the best one per address would take four fifths
# of the time. The penalty of this one is typically 3 % above that of the best, and 17 % at most.
MASK = 2


def moment_tag(
    moment: datetime, edition: Edition, text: str, end: datetime | None = None, *, until: bool = False
) -> SafeString:
    """Return a text as a <time> element.

    For zones.js, pass `end` with the start of a time span, and `until=True` with its end.
    """
    start_time = moment.astimezone(edition.zone).isoformat()
    end_attribute = (
        end and end != moment and format_html(' data-end="{}"', end.astimezone(edition.zone).isoformat())
    )
    until_attribute = mark_safe(" data-until") if until else ""
    return format_html(
        '<time datetime="{}"{}{}>{}</time>', start_time, end_attribute or "", until_attribute, text
    )


@register.simple_tag
def known_licenses() -> Sequence[licenses.License]:
    return licenses.KNOWN_LICENSES


register.filter("license", licenses.find_license)


@register.simple_tag
def second(start: datetime, end: datetime | None, edition: Edition) -> SafeString:
    """Return the time span in the second zone of a hybrid conference; empty if there is none."""
    zone = edition.second_zone
    text = times.time_range_in_other_zone(start, end or start, edition.zone, zone) if zone else ""
    return format_html(' <span class="second">{}</span>', text) if text else SafeString("")


@register.filter
def clock(moment: datetime, edition: Edition) -> SafeString:
    """Return the local time at the venue: 08:15."""
    return moment_tag(moment, edition, times.clock_time(moment, edition.zone))


@register.filter
def zone(moment: datetime, edition: Edition) -> SafeString:
    """Return the abbreviation of the venue's zone at that moment: PDT."""
    return format_html('<span class="tz">{}</span>', times.zone_label(moment, edition.zone))


register.filter("day_name", times.day_name)
register.filter("short_day", times.short_day)
register.filter("full_date", times.full_date)
register.filter("month_day", times.month_day)


@register.simple_tag
def time_range(start: datetime, end: datetime, edition: Edition) -> SafeString:
    """Return a time span such as 08:00 to 08:15 PDT."""
    text = times.time_range(start, end, edition.zone)
    return moment_tag(start, edition, text, end) + second(start, end, edition)


@register.simple_tag
def when(start: datetime, end: datetime, edition: Edition) -> SafeString:
    """Return a time span with its day, such as Tue 6 Apr, 08:00 to 08:15 PDT."""
    text = times.day_and_time_range(start, end, edition.zone)
    return moment_tag(start, edition, text, end) + second(start, end, edition)


@register.simple_tag
def no_time(edition: Edition, at: datetime | None = None) -> str:
    """Return the text for a missing time, which may still be announced unless the edition is over."""
    return gettext("time not announced") if is_over(edition, at) else gettext("time to be announced")


@register.simple_tag
def is_over(edition: Edition, at: datetime | None = None) -> bool:
    """Return whether the last day of the edition is over, for texts in the past tense."""
    return edition.day_of(at_or_now(at)) > edition.end_date


@register.filter
def lead(source: str, length: int = 250) -> str:
    """Return the beginning of an author's text in whole words, for the description of a page."""
    return page_metadata.lead(source, length)


@register.filter
def material_icon(kind: str) -> str:
    return MATERIAL_ICONS.get(kind, "file")


@register.filter
def host(address: str) -> str:
    """Return the host of a URL without "www."; empty for paths of this site."""
    return (urlsplit(address).hostname or "").removeprefix("www.")


@register.filter
def local_day(moment: datetime, edition: Edition) -> date:
    """Return the calendar day at the venue."""
    return moment.astimezone(edition.zone).date()


@register.simple_tag
def clock_range(start: datetime, end: datetime | None, edition: Edition) -> SafeString:
    """Return 08:00 <span>to 08:15 PDT</span> with <time> elements; without an end, the start and its zone."""
    zone = edition.zone
    start_zone = times.zone_label(start, zone)
    start_tag = moment_tag(start, edition, times.clock_time(start, zone), end)
    second_span = second(start, end, edition)
    if end is None or end == start:
        return format_html('{} <span class="tz">{}</span>{}', start_tag, start_zone, second_span)
    end_zone = times.zone_label(end, zone)
    start_zone_tag = "" if start_zone == end_zone else format_html(' <span class="tz">{}</span>', start_zone)
    end_tag = moment_tag(end, edition, times.end_time(start, end, zone), until=True)
    # The rest of the range, which narrow columns show below the start.
    message = pgettext("end of a span of time", "to {end}")
    end_text = format_html(message, end=format_html("{} {}", end_tag, end_zone))
    return format_html("{}{} <span>{}</span>{}", start_tag, start_zone_tag, end_text, second_span)


@register.filter
def board(label: str, room: Any = None) -> str:
    """Return a label such as Board 37; labels of several words are unchanged.

    Where the page names the room too, "Hall B - Position 34" loses its name. `room`: the room, or its name.
    """
    if name := getattr(room, "name", room):
        label = re.sub(rf"^{re.escape(name)}\s*[-–—·:,]\s*(?=\S)", "", label)
    return label if " " in label else gettext("Board %(label)s") % {"label": label}


@register.filter
def framed(row: Any, edition: Any) -> str:
    """Return the URL of a person or an institution that shows the header and menu of this edition, if any."""
    return page_paths.with_edition(row.get_absolute_url(), edition.slug if edition else "")


@register.filter
def isolated(title_html: str) -> SafeString:
    """Wrap a rendered title in <bdi>, so that its direction does not affect the sentence around it."""
    return mark_safe(f"<bdi>{title_html}</bdi>")


@register.filter
def raised(markup: str, top: int = 2) -> SafeString:
    """Change the headings of rendered text so that the highest has level `top`, without gaps below it."""
    levels = sorted(set(re.findall(r"<h([1-6])>", markup)))
    new_levels = {level: str(min(6, top + index)) for index, level in enumerate(levels)}
    return mark_safe(re.sub(r"(</?h)([1-6])(?=>)", lambda match: match[1] + new_levels[match[2]], markup))


@register.simple_tag
def calendar_links(path: str, name: str = "") -> dict[str, str]:
    """Return links that subscribe to the calendar at `path`, by calendar program."""
    address = f"{settings.SITE_URL}{path}"
    subscription = f"webcal:{address.partition(':')[2]}"
    outlook = {"url": address, "name": name} if name else {"url": address}
    return {
        "apple": subscription,
        "google": f"https://calendar.google.com/calendar/r?{urlencode({'cid': subscription})}",
        "outlook": f"https://outlook.live.com/calendar/0/addfromweb?{urlencode(outlook)}",
    }


@register.simple_tag
def qr(url: str, label: str = "") -> SafeString:
    """Return the QR code of a URL as SVG; `label` is its text for screen readers."""
    opening_tag = format_html(
        '<svg role="img" aria-label="{}"', label or gettext("QR code of this page's address")
    )
    return mark_safe(_qr_svg(url).replace("<svg", opening_tag, 1))


@lru_cache(maxsize=1000)
def _qr_svg(url: str) -> str:
    code = segno.make(url, error="m", micro=False, mask=MASK)
    return str(code.svg_inline(omitsize=True, svgclass="qr", lineclass=None, border=4, light="#fff"))


# Language and counts


@register.simple_tag
def language() -> str:
    """Return the language of the interface for `lang` attributes; English has no country."""
    return languages.html_lang()


def numbered(number: int) -> dict[str, str]:
    """Return the parameters of a message with a number, formatted for the language."""
    return {"number": number_format(number, force_grouping=True)}


@register.filter
def papers(number: int) -> str:
    """Return a count such as 1,200 papers."""
    return ngettext("%(number)s paper", "%(number)s papers", number) % numbered(number)


@register.filter
def people(number: int) -> str:
    """Return a count such as 1,200 people."""
    return ngettext("%(number)s person", "%(number)s people", number) % numbered(number)


@register.filter
def posters(number: int) -> str:
    """Return a count such as 800 posters."""
    return ngettext("%(number)s poster", "%(number)s posters", number) % numbered(number)


@register.filter
def session_number(number: int) -> str:
    """Return a count such as 12 sessions."""
    return ngettext("%(number)s session", "%(number)s sessions", number) % numbered(number)


@register.filter
def few_names(authors: Sequence[Any]) -> str:
    """Return names such as Ada Lovelace, Alan Turing and 4 more. The authors need `shown_name`."""
    names = [author.shown_name for author in authors]
    if len(names) <= FEW_NAMES + 1:
        return ", ".join(names)
    other_count = len(names) - FEW_NAMES
    message = ngettext("%(names)s and %(number)s more", "%(names)s and %(number)s more", other_count)
    return message % {"names": ", ".join(names[:FEW_NAMES]), **numbered(other_count)}


@register.filter
def talk_count_label(session: Any) -> str:
    """Return 6 talks or 800 posters for a session fetched `with_place()`; empty if there are none."""
    number = session.talk_count
    if session.counts_as == "poster":
        return posters(number) if number else ""
    return ngettext("%(number)s talk", "%(number)s talks", number) % numbered(number) if number else ""


@register.filter
def digits(number: int, prefix: str) -> str:
    """Return the classes of a grid line: `r200 r80 r7` for 287. The rules are in `grid-places.css`."""
    text = str(number)
    numbers = (digit.ljust(len(text) - index, "0") for index, digit in enumerate(text) if digit != "0")
    return " ".join(f"{prefix}{digit}" for digit in numbers)


# Cached fragments and metadata


@register.simple_tag
def fragment_each(template: str, name: str, rows: Iterable[Model], **values: object) -> SafeString:
    """Render the template for each row, which is in its context as `name`, with the values; cached.

    The template gets nothing else of the page. This pays for long rows of which few change: a day's sessions
    and a person's papers.
    """
    return render_each_cached(template, name, rows, values)


@register.simple_block_tag(takes_context=True)
def pagetitle(context: template.Context, content: str) -> SafeString:
    """Return the <title> and `og:title`, which is that of `head` if it has one."""
    head: Any = context.get("head")
    og_title = head.title if head and head.title else mark_safe(content.replace('"', "&quot;"))
    return format_html('<title>{}</title>\n    <meta property="og:title" content="{}">', content, og_title)


@register.simple_tag(takes_context=True)
def crumbs_data(context: template.Context, crumbs: Sequence[tuple[str, str]]) -> SafeString:
    """Return the breadcrumbs as JSON-LD, from the home page of the edition or of the site."""
    edition: Any = context.get("edition")
    home = edition.get_absolute_url() if edition else f"/{languages.path_prefix(get_language())}"
    top = (str(edition or context.get("site_name", "")), home)
    return page_metadata.json_ld(page_metadata.breadcrumbs([top, *crumbs]))
