"""Metadata of pages for search engines, citation tools and social sites: tags, links, linked data.

It is made of rows that the view has fetched, without queries. `_metadata.html` renders it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from conference.cards import HEIGHT, WIDTH
from content.languages import strip_language
from content.licenses import License
from markup import plain

if TYPE_CHECKING:
    from conference.models import Edition, EditionClock

# Escapes of characters that could end a <script> element, or a line in old JavaScript engines.
SCRIPT_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
# Search engines show about this many characters of a description.
MAX_DESCRIPTION_CHARS = 300
ATTENDANCE = {
    "in_person": "https://schema.org/OfflineEventAttendanceMode",
    "virtual": "https://schema.org/OnlineEventAttendanceMode",
    "hybrid": "https://schema.org/MixedEventAttendanceMode",
}
SCHEDULED = "https://schema.org/EventScheduled"
CANCELLED = "https://schema.org/EventCancelled"
RESCHEDULED = "https://schema.org/EventRescheduled"

type Thing = dict[str, object]


@dataclass(frozen=True, slots=True)
class HeadTag:
    """A <meta> element; `key` is the attribute with its name: "name" or "property"."""

    key: str
    name: str
    content: str


@dataclass(frozen=True, slots=True)
class HeadLink:
    """A <link> element to another form of the page, or of its site."""

    rel: str
    href: str
    type: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """The preview image of a page, and its alternative text."""

    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class Head:
    """Additions to the head of a page; `title` is for `og:title`, by default the title of the page."""

    title: str = ""
    tags: Sequence[HeadTag] = ()
    links: Sequence[HeadLink] = ()
    data: Sequence[SafeString] = ()


def absolute(path: str) -> str:
    """Return the absolute URL of a path; other URLs are unchanged."""
    return f"{settings.SITE_URL}{path}" if path.startswith("/") else path


def language_neutral_url(path: str) -> str:
    """Return the URL that identifies the subject of a page in all languages."""
    return absolute(strip_language(path))


def lead(source: str, length: int = MAX_DESCRIPTION_CHARS) -> str:
    """Return the beginning of an author's text in whole words, without markup."""
    text = " ".join(plain(source).split())
    if len(text) <= length:
        return text
    # Chinese and Japanese have no spaces between words, so cut such a text anywhere.
    end = text.rfind(" ", length // 2, length)
    return f"{text[: end if end > 0 else length]} …"


def name_tags(pairs: Iterable[tuple[str, str]]) -> list[HeadTag]:
    """Return <meta name> tags for pairs of name and content, except empty ones."""
    return [HeadTag("name", name, content) for name, content in pairs if content]


def open_graph(
    kind: str, description: str, card: Card | None, extra_pairs: Iterable[tuple[str, str]] = ()
) -> list[HeadTag]:
    """Return tags of Open Graph and Twitter. The template adds title and URL."""
    pairs = [
        ("og:type", kind),
        ("og:site_name", settings.SITE_NAME),
        ("og:description", description),
        *extra_pairs,
    ]
    if card:
        pairs += [
            ("og:image", absolute(card.url)),
            ("og:image:type", "image/png"),
            ("og:image:width", str(WIDTH)),
            ("og:image:height", str(HEIGHT)),
            ("og:image:alt", card.alt),
        ]
    tags = [HeadTag("property", name, content) for name, content in pairs if content]
    return [*tags, HeadTag("name", "twitter:card", "summary_large_image" if card else "summary")]


# Linked data


def json_ld(thing: Mapping[str, object]) -> SafeString:
    """Return a thing of schema.org as JSON-LD without empty values, safe within <script>."""
    document = {"@context": "https://schema.org", **thing}
    json_text = json.dumps(without_empty(document), ensure_ascii=False, separators=(",", ":"))
    return mark_safe(json_text.translate(SCRIPT_ESCAPES))


def without_empty(value: object) -> object:
    if isinstance(value, Mapping):
        members = {name: without_empty(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in ("", None, [], {})}
    if isinstance(value, (list, tuple)):
        return [member for member in map(without_empty, value) if member not in ("", None, [], {})]
    return value


def breadcrumbs(steps: Sequence[tuple[str, str]]) -> Thing:
    """Return a BreadcrumbList of pairs of name and path, from the top."""
    items = [
        {"@type": "ListItem", "position": position, "name": str(name), "item": absolute(url)}
        for position, (name, url) in enumerate(steps, start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}


def venue_time(moment: datetime, edition: "EditionClock") -> str:
    """Return a moment in the venue's zone, with UTC offset: 2021-04-06T08:00:00-07:00."""
    return moment.astimezone(edition.zone).isoformat(timespec="seconds")


def organizer(edition: "Edition") -> Thing:
    conference = edition.conference
    return {
        "@type": "Organization",
        "name": conference.full_name or conference.name,
        "url": conference.website or absolute(edition.get_absolute_url()),
    }


def license_thing(license_: License | None) -> str | Thing | None:
    """Return the URL of a license, or a CreativeWork with its name if it has none."""
    return license_ and (license_.url or {"@type": "CreativeWork", "name": license_.name})


def publisher(edition: "Edition") -> Thing:
    """Return the publisher of the proceedings, by default the conference."""
    if not edition.publisher:
        return organizer(edition)
    return {"@type": "Organization", "name": edition.publisher, "address": edition.publisher_place}


def proceedings(edition: "Edition") -> Thing:
    """Return the proceedings of an edition as a Book."""
    conference = edition.conference.full_name or edition.conference.name
    series: Thing | None = None
    if edition.proceedings_series or edition.issn:
        series = {"@type": "BookSeries", "name": edition.proceedings_series, "issn": edition.issn}
    if number := edition.proceedings_volume:
        series = {"@type": "PublicationVolume", "volumeNumber": number, "isPartOf": series}
    return {
        "@type": "Book",
        "name": edition.proceedings_title or f"{conference} ({edition.name})",
        "editor": [{"@type": "Person", "name": name} for name in edition.proceedings_editors],
        "isbn": edition.isbn,
        "isPartOf": series,
    }


def venue(edition: "Edition", room: str = "") -> Thing:
    """Return a Place: the room, else the venue, else the city."""
    names = [name for name in (room, edition.venue, edition.city, edition.name) if name]
    city_address = {"addressLocality": edition.city, "addressCountry": edition.country}
    address = (
        {"@type": "PostalAddress", **city_address}
        if any(city_address.values())
        else edition.venue or edition.name
    )
    venue_place = None
    if room and edition.venue:
        venue_place = {"@type": "Place", "name": edition.venue, "address": address}
    return {"@type": "Place", "name": names[0], "address": address, "containedInPlace": venue_place}


def attendance(edition: "Edition", url: str, room: Any = None) -> tuple[str, list[Thing]]:
    """Return the attendance mode of an event, and its places: in person, online at `url`, or both."""
    mode = "virtual" if room is not None and room.virtual else edition.mode
    places = [venue(edition, room.name if room and not room.virtual else "")] if mode != "virtual" else []
    online_places: list[Thing] = (
        [{"@type": "VirtualLocation", "url": absolute(url)}] if mode != "in_person" else []
    )
    return ATTENDANCE[mode], [*places, *online_places]


def conference_event(edition: "Edition") -> Thing:
    """Return an edition as an Event, in the short form for events that are part of it."""
    url = absolute(edition.get_absolute_url())
    mode, places = attendance(edition, url)
    return {
        "@type": "Event",
        "@id": language_neutral_url(edition.get_absolute_url()),
        "name": edition.name,
        "url": url,
        "startDate": edition.start_date.isoformat(),
        "endDate": edition.end_date.isoformat(),
        "eventAttendanceMode": mode,
        "eventStatus": SCHEDULED,
        "location": places,
    }


def edition_head(edition: "Edition", card: Card, links: Sequence[HeadLink], schedule: str) -> Head:
    """Return the head of an edition's home page; `schedule` is the path of its schedule if that is public."""
    description = ", ".join(filter(None, (edition.name, edition.date_line, edition.place_line)))
    event = conference_event(edition) | {
        "description": lead(edition.description) or f"{description}.",
        "image": absolute(card.url),
        "organizer": organizer(edition),
        "subjectOf": schedule and {"@type": "WebPage", "name": "Schedule", "url": absolute(schedule)},
    }
    tags = open_graph("website", lead(f"{description}. {edition.description}"), card)
    return Head(edition.name, tags, links, [json_ld(event)])
