"""The front page of a site with several conferences: running and upcoming editions, and all series."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from conference import pictures
from conference.edition_state import EditionState, edition_state
from conference.models import Conference, Edition
from website.edition_home import art_url


@dataclass(frozen=True, slots=True)
class EditionCard:
    edition: Edition
    state: EditionState
    picture_url: str


@dataclass(frozen=True, slots=True)
class Series:
    """A conference and its editions, newest first."""

    conference: Conference
    editions: list[Edition]
    latest: EditionCard


def picture_url(edition: Edition) -> str:
    """Return the address of the edition's picture. The default is its generated art."""
    hero = pictures.sources(edition.hero)
    return hero.src if hero else art_url(edition)


def front_page_context(editions: Iterable[Edition], at: datetime) -> dict[str, object]:
    """Return the template context from the published editions, which come newest first. No query."""
    entries = [EditionCard(edition, edition_state(edition, at), picture_url(edition)) for edition in editions]
    by_conference: dict[int, list[EditionCard]] = {}
    for entry in entries:
        by_conference.setdefault(entry.edition.conference_id, []).append(entry)
    series = [
        Series(rows[0].edition.conference, [entry.edition for entry in rows], rows[0])
        for rows in by_conference.values()
    ]
    return {
        "running": [entry for entry in entries if entry.state.is_running],
        "upcoming": [entry for entry in reversed(entries) if entry.state.is_ahead],
        "series": sorted(series, key=lambda row: row.conference.name.casefold()),
    }
