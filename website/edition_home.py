"""The context of the home page of an edition. Sections without content are omitted."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from conference import art, pictures
from conference.edition_state import EditionState, edition_state
from conference.home_sections import HOME_SECTIONS
from conference.menu_sections import SECTIONS
from conference.models import Edition
from papers.models import AwardGrant, Paper
from papers.querysets import TOPIC_PATHS
from schedule import timetable
from schedule.day_pictures import SessionSpan, day_pictures
from schedule.notices.live import banners, with_sessions
from schedule.querysets import BREAK_KINDS
from website.menu import count_section_rows, filled_sections, program_links

# The home page shows the next sessions this long before they begin.
LOOKAHEAD = timedelta(hours=18)
# A session that begins this soon after the start of a pause is shown instead of it.
MAX_PAUSE_BEFORE = timedelta(hours=1)
PAUSE_KINDS = (*BREAK_KINDS, "registration")
MAX_SPEAKERS, MAX_TOPICS, MAX_GRANTS, MAX_NEWS = 12, 24, 4, 4


class Button(NamedTuple):
    label: str
    url: str
    is_external: bool = False
    is_calendar: bool = False


class TopicCount(NamedTuple):
    slug: str
    name: str
    number: int
    url: str


@dataclass(slots=True)
class Sessions:
    """The running, upcoming and invited sessions, and the spans of all sessions."""

    spans: list[SessionSpan]
    running: list[Any] = field(default_factory=list)
    upcoming: list[Any] = field(default_factory=list)
    # Whether the upcoming sessions are on another day.
    is_later: bool = False
    invited: list[Any] = field(default_factory=list)


def home_context(edition: Edition, at: datetime) -> dict[str, Any]:
    """Return the template context of the home page. At most 12 queries."""
    numbers, state = count_section_rows(edition, at), edition_state(edition, at)
    news = list(with_sessions(edition, at))
    sessions = sessions_around(edition, at) if numbers["schedule"] else Sessions([])
    days = day_pictures(sessions.spans, edition)
    today = edition.day_of(at)
    context = {
        "at": at,
        "state": state,
        "today": today,
        "hero": pictures.sources(edition.hero),
        "art_url": art_url(edition),
        "recordings_url": recordings_url(edition, at) if state.is_over else "",
        "days": days,
        "sessions": sessions,
        "speaker_count": numbers["talks"],
        "topics": topic_counts(edition, at) if numbers["papers"] else [],
        "max_topics": f":{MAX_TOPICS}",
        "grants": list(first_grants(edition, at)) if numbers["awards"] else [],
        "news": news,
        "notices": banners(news, at),
        "first_news": f":{MAX_NEWS}",
        "more_news": f"{MAX_NEWS}:",
        "key_dates": [(row, row.is_past(at)) for row in edition.key_dates.published(at)],
        "venue_picture": pictures.sources(edition.venue_picture),
        "tiers": edition.sponsors.published(at).grouped("tier"),
        "program_links": program_links(edition, numbers),
    }
    context["sections"] = section_templates(edition, context)
    is_on_today = any(day.date == today for day in days)
    return context | {"buttons": buttons(edition, numbers, state, is_on_today)}


def art_url(edition: Edition) -> str:
    return reverse("conference:art", args=[edition.slug, art.art_hash(edition.name, edition.accent)])


def recordings_url(edition: Edition, at: datetime) -> str:
    """Return the address of the recordings, or an empty string if there are none. One query."""
    is_filled = "recordings" in filled_sections(edition, at).sections
    return SECTIONS["recordings"].url(edition) if is_filled else ""


def buttons(
    edition: Edition, numbers: dict[str, int], state: EditionState, is_on_today: bool
) -> list[Button]:
    """Return the main buttons, most important first."""
    shown_buttons = []
    if numbers["schedule"]:
        label = gettext("Today’s schedule") if is_on_today else gettext("Schedule")
        shown_buttons.append(Button(label, SECTIONS["schedule"].url(edition)))
    if numbers["papers"]:
        number = number_format(numbers["papers"], force_grouping=True)
        label = ngettext("Browse %(number)s paper", "Browse %(number)s papers", numbers["papers"])
        shown_buttons.append(Button(label % {"number": number}, SECTIONS["papers"].url(edition)))
    if numbers["schedule"] and not state.is_over:
        calendar = reverse("exchange:edition_calendar", args=[edition.slug])
        shown_buttons.append(Button(gettext("Add to calendar"), calendar, is_calendar=True))
    if edition.registration_url and not state.is_over:
        registration = Button(gettext("Register"), edition.registration_url, is_external=True)
        # Before the conference, most visitors come to register.
        shown_buttons.insert(0 if state.is_ahead else len(shown_buttons), registration)
    return shown_buttons


def sessions_around(edition: Edition, at: datetime) -> Sessions:
    """Return all spans, and the running, upcoming and invited sessions. Three queries."""
    rows = edition.sessions.published(at).with_called_off().order_by("start", "end")
    columns = ("pk", "start", "end", "kind", "counts_as", "parent_id", "called_off")
    spans = [
        SessionSpan(pk, start, end, kind, counts_as, parent is not None, is_off)
        for pk, start, end, kind, counts_as, parent, is_off in rows.values_list(*columns)
    ]
    active_spans = [span for span in spans if not span.is_off]
    running_keys = {span.pk for span in active_spans if span.start <= at < span.end}
    invited_keys = [span.pk for span in active_spans if span.counts_as == "invited_talk"][:MAX_SPEAKERS]
    first_start = next_start(active_spans, at)
    upcoming_keys = set()
    if first_start and first_start - at < LOOKAHEAD:
        upcoming_keys = {span.pk for span in active_spans if span.start == first_start}
    session_keys = {*running_keys, *upcoming_keys, *invited_keys}
    sessions = edition.sessions.filter(pk__in=session_keys).for_timetable(at) if session_keys else ()
    by_key = {session.pk: session for session in sessions}
    return Sessions(
        spans,
        running=timetable.sort_series(session for pk, session in by_key.items() if pk in running_keys),
        upcoming=timetable.sort_series(session for pk, session in by_key.items() if pk in upcoming_keys),
        is_later=first_start is not None and edition.day_of(first_start) != edition.day_of(at),
        invited=[by_key[pk] for pk in invited_keys],
    )


def next_start(spans: Iterable[SessionSpan], at: datetime) -> datetime | None:
    """Return the next start of a session. Skip a pause if a session begins soon after its start."""
    future_spans = [span for span in spans if span.start > at]
    first = min((span.start for span in future_spans), default=None)
    if first is None:
        return None
    session_starts = (span.start for span in future_spans if span.counts_as not in PAUSE_KINDS)
    return min((start for start in session_starts if start <= first + MAX_PAUSE_BEFORE), default=first)


def topic_counts(edition: Edition, at: datetime) -> list[TopicCount]:
    """Return the top-level topics with the numbers of papers in them and their subtopics. One query."""
    papers = edition.papers.published(at).filter(topic__isnull=False).order_by()
    # Each topic comes with those above it, so that the papers are counted in one pass.
    names = [f"{path}__{name}" for path in TOPIC_PATHS for name in ("position", "name", "pk", "slug")]
    totals = Counter[tuple[Any, ...]]()
    for *values, number in papers.values_list(*names).annotate(number=Count("pk")):
        levels = list(batched(values, 4, strict=True))
        root = next(level for level in reversed(levels) if level[2] is not None)
        totals[root] += number
    return [
        TopicCount(slug, name, number, reverse("papers:topic", args=[edition.slug, slug]))
        for (_position, name, _key, slug), number in sorted(totals.items())
    ]


def first_grants(edition: Edition, at: datetime) -> Any:
    """Return the first awarded papers and people, in the chairs' order. Three queries."""
    papers = Paper.objects.published(at).select_related("edition").with_authors(at)
    rows = AwardGrant.objects.published(at).filter(award__edition=edition)
    rows = rows.select_related("award", "person").prefetch_related(Prefetch("paper", papers))
    return rows.order_by("award__position", "award", "position", "pk")[:MAX_GRANTS]


def section_templates(edition: Edition, context: dict[str, Any]) -> list[str]:
    """Return the templates of the sections with content, in the order that the chairs chose."""
    sessions: Sessions = context["sessions"]
    filled = {
        "now": sessions.running or sessions.upcoming,
        "about": edition.description_html,
        # Without a program, this section shows a note.
        "program": True,
        "speakers": sessions.invited,
        "topics": context["topics"],
        "awards": context["grants"],
        "news": context["news"],
        "dates": context["key_dates"],
        "venue": edition.venue_address or edition.map_url or edition.venue_picture,
        "sponsors": context["tiers"],
    }
    order = edition.home_sections or HOME_SECTIONS
    return [f"website/home/_{name}.html" for name in order if filled[name]]
