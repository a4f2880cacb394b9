"""What a person did, year by year, as a page shows it. Computed from what `with_vita()` fetched."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from conference.models import Edition
from people import names
from people.models import Person
from people.querysets import PersonQuerySet


@dataclass(slots=True)
class Year:
    """A person's part in one edition."""

    edition: Edition
    committee: list[Any] = field(default_factory=list)
    awards: list[Any] = field(default_factory=list)
    roles: list[Any] = field(default_factory=list)
    talks: list[Any] = field(default_factory=list)
    papers: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the A-Z page."""

    person: Person
    years: list[int]

    @property
    def initial(self) -> str:
        """The letter under which it stands."""
        return names.initial(self.person.sort_key)

    @property
    def sorted_name(self) -> str:
        """The name as the list is sorted: "Banbury, Colby"."""
        return ", ".join(part for part in (self.person.family, self.person.given) if part)


def vita(person: Any) -> list[Year]:
    """Return the person's years, the newest first; talks, roles and papers by time or title."""
    years: dict[Edition, Year] = {}

    def year_of(edition: Edition) -> Year:
        return years.setdefault(edition, Year(edition))

    for role in person.shown_committee_roles:
        year_of(role.edition).committee.append(role)
    for grant in person.shown_grants:
        year_of(grant.award.edition).awards.append(grant)
    for role in sorted(person.shown_session_roles, key=attrgetter("session.start", "position")):
        year_of(role.session.edition).roles.append(role)
    for talk in person.shown_talks:
        year_of(talk.presentation.edition).talks.append(talk.presentation)
    for authorship in sorted(person.shown_authorships, key=attrgetter("paper.sort_title", "paper.uid")):
        year_of(authorship.paper.edition).papers.append(authorship.paper)
    return sorted(years.values(), key=attrgetter("edition.start_date", "edition.slug"), reverse=True)


def entries(people: Iterable[Any]) -> list[Entry]:
    """Return the lines of people that were fetched `with_editions()`."""
    return [Entry(person, sorted(set(_years(person)))) for person in people]


def _years(person: Any) -> Iterable[int]:
    for relation in PersonQuerySet.APPEARANCES:
        for row in getattr(person, f"shown_{relation}"):
            yield attrgetter(row.edition_lookup.replace("__", "."))(row).year
