"""The data of a person's page, and of the lines of the A-Z list."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from conference.models import Edition, EditionSummary
from conference.page_metadata import Head, absolute, json_ld, language_neutral_url, lead, open_graph
from content.querysets import at_or_now, published_rows
from people import names
from people.models import CommitteeRole, Person
from people.querysets import APPEARANCES
from people.rows import PersonLink


@dataclass(slots=True)
class ProfileYear:
    """The contributions of a person to one edition."""

    edition: EditionSummary
    committee: list[CommitteeRole] = field(default_factory=list)
    awards: list[Any] = field(default_factory=list)
    roles: list[Any] = field(default_factory=list)
    talks: list[Any] = field(default_factory=list)
    papers: list[Any] = field(default_factory=list)


class Meeting(NamedTuple):
    """A time and place of a person's session, talk or presentation of a paper.

    `kind` is a label. `slug` is the kind of session or presentation, which selects the color.
    """

    start: datetime
    end: datetime
    edition: EditionSummary
    kind: str
    slug: str
    title_html: str
    url: str
    room: str = ""
    board: str = ""


MAX_CO_AUTHORS, MAX_MEETINGS = 12, 5
# The assumed duration of an appearance without an end.
MIN_DURATION = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One line of the A-Z page."""

    person: Person
    years: list[int]

    @property
    def initial(self) -> str:
        """The letter under which the person is listed."""
        return names.initial(self.person.sort_key)

    @property
    def sorted_name(self) -> str:
        """The name with the family name first: "Banbury, Colby"."""
        return ", ".join(part for part in (self.person.family, self.person.given) if part)


def profile(person: Person, at: datetime | None = None) -> list[ProfileYear]:
    """Return the years of a person, newest first. The person must be fetched `with_profile()`.

    Sessions and papers are sorted by time and title. Four queries for the papers.
    """
    years: dict[str, ProfileYear] = {}
    prefetched = vars(person)

    def year_of(edition: Edition | EditionSummary) -> ProfileYear:
        return years.setdefault(
            edition.slug, ProfileYear(edition if isinstance(edition, EditionSummary) else edition.summary)
        )

    for role in prefetched["shown_committee_roles"]:
        year_of(role.edition).committee.append(role)
    for grant in prefetched["shown_grants"]:
        year_of(grant.award.edition).awards.append(grant)
    for role in sorted(prefetched["shown_session_roles"], key=attrgetter("session.start", "position")):
        year_of(role.session.edition).roles.append(role)
    for talk in prefetched["shown_talks"]:
        year_of(talk.presentation.edition).talks.append(talk.presentation)
    authorships = published_rows(Person, "authorships", at).filter(person=person.pk).order_by()
    papers = published_rows(authorships.model, "paper", at)
    for paper in papers.filter(pk__in=authorships.values("paper")).by_title().list_rows(at):
        year_of(paper.edition).papers.append(paper)
    return sorted(years.values(), key=attrgetter("edition.start_date", "edition.slug"), reverse=True)


def next_meetings(years: Iterable[ProfileYear], at: datetime | None = None) -> list[Meeting]:
    """Return the current and next appearances of a person, in order. No query."""
    now = at_or_now(at)
    meetings = (meeting for year in years for meeting in year_meetings(year))
    upcoming = [meeting for meeting in meetings if max(meeting.end, meeting.start + MIN_DURATION) > now]
    return sorted(upcoming, key=attrgetter("start", "title_html"))[:MAX_MEETINGS]


def year_meetings(year: ProfileYear) -> Iterable[Meeting]:
    """Yield the appearances of one year that have a start and are not canceled."""
    for role in year.roles:
        session = role.session
        if not session.cancelled:
            kind = f"{role.get_role_display()} · {session.get_kind_display()}"
            yield _meeting(
                session, year.edition, kind, session.title_html, session.get_absolute_url(), session.room
            )
    for talk in year.talks:
        if talk.starts and not talk.cancelled:
            kind, title = talk.get_kind_display(), talk.shown_title_html
            yield _meeting(talk, year.edition, kind, title, talk.get_absolute_url(), talk.effective_room)
    for paper in year.papers:
        for talk in paper.appearances:
            if talk.starts and not talk.cancelled:
                url = paper.get_absolute_url()
                yield _meeting(talk, year.edition, talk.get_kind_display, paper.title_html, url, talk.room)


def _meeting(appearance: Any, edition: EditionSummary, kind: str, title: str, url: str, room: Any) -> Meeting:
    start = getattr(appearance, "starts", appearance.start)
    end = getattr(appearance, "ends", appearance.end) or start
    room_name, board = room.name if room else "", getattr(appearance, "board", "")
    return Meeting(start, end, edition, kind, appearance.kind, title, url, room_name, board)


def co_authors(person: Person, years: Iterable[ProfileYear]) -> list[tuple[PersonLink, int]]:
    """Return the most frequent co-authors with the numbers of common papers. No query."""
    paper_counts = Counter[str]()
    links: dict[str, PersonLink] = {}
    for paper in (paper for year in years for paper in year.papers):
        for author in paper.shown_authors:
            if author.uid != person.uid:
                links.setdefault(author.uid, author)
                paper_counts[author.uid] += 1
    return [(links[uid], count) for uid, count in paper_counts.most_common(MAX_CO_AUTHORS)]


def index_entries(people: Iterable[Person]) -> list[IndexEntry]:
    """Return the lines of the A-Z list. The people must be fetched `with_editions()`."""
    entries = []
    for person in people:
        appearances = [vars(person)[f"shown_{appearance.relation}"] for appearance in APPEARANCES[Person]]
        editions = [
            attrgetter(row.edition_lookup.replace("__", "."))(row)
            for related_rows in appearances
            for row in related_rows
        ]
        entries.append(IndexEntry(person, sorted({edition.year for edition in editions})))
    return entries


def person_head(person: Person) -> Head:
    """Return the head of a person's page. The person must be fetched `with_profile()`."""
    url = absolute(person.get_absolute_url())
    orcid = f"https://orcid.org/{person.orcid}" if person.orcid else ""
    structured_data = {
        "@type": "Person",
        "@id": language_neutral_url(person.get_absolute_url()),
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
    name_properties = [("profile:first_name", person.given), ("profile:last_name", person.family)]
    description = ", ".join(filter(None, (person.name, person.affiliation)))
    properties = open_graph("profile", description, None, name_properties)
    return Head(person.name, properties, (), [json_ld(structured_data)])
