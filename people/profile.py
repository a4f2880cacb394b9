"""What a person did, year by year, as a page shows it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any

from conference.models import Edition
from conference.summaries import EditionSummary
from content.querysets import moment, published_rows
from people import names
from people.models import Person
from people.querysets import APPEARANCES


@dataclass(slots=True)
class ProfileYear:
    """A person's part in one edition."""

    edition: EditionSummary
    committee: list[Any] = field(default_factory=list)
    awards: list[Any] = field(default_factory=list)
    roles: list[Any] = field(default_factory=list)
    talks: list[Any] = field(default_factory=list)
    papers: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of the A-Z page."""

    person: Person
    years: list[int]

    @property
    def initial(self) -> str:
        """Return the index letter."""
        return names.initial(self.person.sort_key)

    @property
    def sorted_name(self) -> str:
        """The name as the list is sorted: "Banbury, Colby"."""
        return ", ".join(part for part in (self.person.family, self.person.given) if part)


def profile(person: Any, at: datetime | None = None) -> list[ProfileYear]:
    """Return the years of a person fetched `with_vita()`, the newest first; the rest by time or title.

    The papers take four queries.
    """
    years: dict[str, ProfileYear] = {}

    def year_of(edition: Edition | EditionSummary) -> ProfileYear:
        return years.setdefault(
            edition.slug, ProfileYear(edition if isinstance(edition, EditionSummary) else edition.face)
        )

    for role in person.shown_committee_roles:
        year_of(role.edition).committee.append(role)
    for grant in person.shown_grants:
        year_of(grant.award.edition).awards.append(grant)
    for role in sorted(person.shown_session_roles, key=attrgetter("session.start", "position")):
        year_of(role.session.edition).roles.append(role)
    for talk in person.shown_talks:
        year_of(talk.presentation.edition).talks.append(talk.presentation)
    for paper in papers_of(person, at):
        year_of(paper.edition).papers.append(paper)
    return sorted(years.values(), key=attrgetter("edition.start_date", "edition.slug"), reverse=True)


def papers_of(person: Person, at: datetime | None = None) -> list[Any]:
    """Return the published papers of all years that the person is an author of, as lines show them."""
    papers = published_rows(published_rows(Person, "authorships", at).model, "paper", at)
    shown: list[Any] = papers.cards_of(_written_by(person.pk, moment(at)), at)
    return shown


def _written_by(person: int, at: datetime) -> Any:
    wrote = published_rows(Person, "authorships", at)
    keys = wrote.filter(person=person).order_by().values("paper")
    return published_rows(wrote.model, "paper", at).filter(pk__in=keys).by_title().card_rows()


def person_with_profile(uid: str, at: datetime | None = None) -> Person | None:
    """Return the published person with this uid, fetched `with_vita()`. Six queries."""
    return next(iter(_person(uid, moment(at))), None)


def _person(uid: str, at: datetime) -> Any:
    return Person.objects.published(at).with_vita(at).filter(uid=uid)


def entries(people: Iterable[Any]) -> list[IndexEntry]:
    """Return the lines of people that were fetched `with_editions()`."""
    return [IndexEntry(person, sorted(set(_years(person)))) for person in people]


def _years(person: Person) -> Iterable[int]:
    for appearance in APPEARANCES[Person]:
        for row in getattr(person, f"shown_{appearance.relation}"):
            yield attrgetter(row.edition_lookup.replace("__", "."))(row).year
