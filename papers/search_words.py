"""The days, rooms, kinds and topics that words of a search can name in an edition (`search.filters`)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from content.querysets import at_or_now
from pagecache.per_revision import cached_per_revision
from papers.catalog import Catalog, Choices, FacetValue, catalog
from search.filters import Vocabulary, edition_vocabulary

CACHED_EDITIONS = 24


@dataclass(frozen=True, slots=True)
class ProgramWords:
    """The days of all sessions, and the slugs and names of their rooms and kinds."""

    days: list[date]
    rooms: list[tuple[str, str]]
    kinds: list[tuple[str, str]]


# Functions that return the words of sessions. The app `schedule` registers one.
PROGRAM_WORDS: list[Callable[[Edition, datetime], ProgramWords]] = []


@dataclass(frozen=True, slots=True)
class SearchWords:
    """The vocabulary, and the catalog of papers with the days, rooms and kinds of all sessions."""

    vocabulary: Vocabulary
    catalog: Catalog
    # Days on which sessions begin.
    days: list[date]


# Plurals that visitors may type. They are translated, because languages form plurals differently.
PLURALS = {
    "invited_talk": _("Invited talks"),
    "oral": _("Orals"),
    "poster": _("Posters"),
    "talk": _("Talks"),
    "tutorial": _("Tutorials"),
    "workshop": _("Workshops"),
}


def search_words(edition: Edition, at: datetime | None = None) -> SearchWords:
    """Return the words of the public program of the edition. Two queries after a change, else none."""
    now = at_or_now(at)
    today = edition.day_of(now)
    is_running = edition.start_date <= today <= edition.end_date
    return _search_words(edition, now, today if is_running else None)


@cached_per_revision(CACHED_EDITIONS, by_language=True)
def _search_words(edition: Edition, at: datetime, today: date | None) -> SearchWords:
    papers = catalog(edition, at)
    programs = [get_words(edition, at) for get_words in PROGRAM_WORDS]
    days = sorted({day for program in programs for day in program.days})
    rooms = [room for program in programs for room in program.rooms]
    kinds = [kind for program in programs for kind in program.kinds]
    day_labels = [(day.isoformat(), times.short_day(day)) for day in days]
    facets = {
        **papers.facets,
        "day": dict(sorted(add_choices(papers.facets["day"], day_labels).items())),
        "room": add_choices(papers.facets["room"], rooms),
        "kind": add_choices(papers.facets["kind"], kinds),
    }
    labels: dict[str, list[str]] = {slug: [choice.label] for slug, choice in facets["kind"].items()}
    for slug, label in kinds:
        labels[slug].append(label)
    for slug, plural in PLURALS.items():
        if slug in labels:
            labels[slug].append(str(plural))
    if "invited_talk" in labels:
        labels["invited_talk"].append(gettext("keynote"))
    vocabulary = edition_vocabulary(
        [date.fromisoformat(day) for day in facets["day"]],
        {room.value: room.label for room in facets["room"].values()},
        labels,
        [(topic.value, topic.label) for topic in facets["topic"].values()],
        today,
    )
    return SearchWords(vocabulary, replace(papers, facets=facets), days)


def add_choices(choices: Choices, others: list[tuple[str, str]]) -> Choices:
    """Return the choices of papers, followed by the others."""
    return {**choices, **{value: FacetValue(value, label) for value, label in others if value not in choices}}
