"""What a person did, year by year, as a page shows it; and the metadata of that page."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from conference.models import Edition, EditionSummary
from conference.page_metadata import Head, absolute, json_ld, lead, open_graph
from content.models import Content
from content.querysets import published_rows
from people import names
from people.models import CommitteeRole, Person
from people.querysets import APPEARANCES


@dataclass(slots=True)
class ProfileYear:
    """A person's part in one edition."""

    edition: EditionSummary
    committee: list[CommitteeRole] = field(default_factory=list)
    awards: list[Content] = field(default_factory=list)
    roles: list[Content] = field(default_factory=list)
    talks: list[Content] = field(default_factory=list)
    papers: list[Content] = field(default_factory=list)


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


def profile(person: Person, at: datetime | None = None) -> list[ProfileYear]:
    """Return the years of a person fetched `with_profile()`, the newest first; the rest by time or title.

    The papers take four queries.
    """
    years: dict[str, ProfileYear] = {}
    shown = vars(person)

    def year_of(edition: Edition | EditionSummary) -> ProfileYear:
        return years.setdefault(
            edition.slug, ProfileYear(edition if isinstance(edition, EditionSummary) else edition.face)
        )

    for role in shown["shown_committee_roles"]:
        year_of(role.edition).committee.append(role)
    for grant in shown["shown_grants"]:
        year_of(grant.award.edition).awards.append(grant)
    for role in sorted(shown["shown_session_roles"], key=attrgetter("session.start", "position")):
        year_of(role.session.edition).roles.append(role)
    for talk in shown["shown_talks"]:
        year_of(talk.presentation.edition).talks.append(talk.presentation)
    wrote = published_rows(Person, "authorships", at).filter(person=person.pk).order_by()
    papers = published_rows(wrote.model, "paper", at)
    for paper in papers.filter(pk__in=wrote.values("paper")).by_title().cards(at):
        year_of(paper.edition).papers.append(paper)
    return sorted(years.values(), key=attrgetter("edition.start_date", "edition.slug"), reverse=True)


def entries(people: Iterable[Person]) -> list[IndexEntry]:
    """Return the lines of people that were fetched `with_editions()`."""
    found = []
    for person in people:
        shown = [vars(person)[f"shown_{appearance.relation}"] for appearance in APPEARANCES[Person]]
        editions = [attrgetter(row.edition_lookup.replace("__", "."))(row) for rows in shown for row in rows]
        found.append(IndexEntry(person, sorted({edition.year for edition in editions})))
    return found


def person_head(person: Person) -> Head:
    """Return the head of a person's page. Other spellings are those that `with_profile()` shows."""
    url = absolute(person.get_absolute_url())
    orcid = f"https://orcid.org/{person.orcid}" if person.orcid else ""
    thing = {
        "@type": "Person",
        "@id": url,
        "url": url,
        "name": person.name,
        "givenName": person.given,
        "familyName": person.family,
        "alternateName": [person.native_name, *(spelling.name for spelling in vars(person)["shown_names"])],
        "affiliation": person.affiliation and {"@type": "Organization", "name": person.affiliation},
        "description": lead(person.biography),
        "image": absolute(person.photo.url) if person.photo else "",
        "identifier": orcid and {"@type": "PropertyValue", "propertyID": "ORCID", "value": orcid},
        "sameAs": [address for address in (orcid, person.homepage) if address],
    }
    names = [("profile:first_name", person.given), ("profile:last_name", person.family)]
    description = ", ".join(filter(None, (person.name, person.affiliation)))
    return Head(person.name, open_graph("profile", description, None, names), (), [json_ld(thing)])
