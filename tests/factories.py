"""Factories of test rows: each makes one valid, public row and accepts any field as an argument.

Factories of several rows advance the revisions once, because that is most of the cost of a row.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

from django.utils.text import slugify

from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor
from content.revision import lock
from papers.models import Authorship, Award, AwardGrant, Material, Paper, Topic
from people.models import CommitteeRole, Institution, Person
from schedule.models import Presentation, Room, Session, SessionKind, SessionRole, Speaker

PAST = datetime(2020, 1, 1, tzinfo=UTC)
MORNING = datetime(2021, 4, 6, 15, 0, tzinfo=UTC)  # 08:00 in Los Angeles
# Fields of an edition that is not public.
CLOSED: dict[str, Any] = {"public_from": None, "papers_public_from": None, "schedule_public_from": None}

numbers = count(1)


def make_conference(**fields: Any) -> Conference:
    slug = fields.pop("slug", "mlsys")
    defaults = {"name": "MLSys", "full_name": "Conference on Machine Learning and Systems"}
    return Conference.objects.get_or_create(slug=slug, defaults={**defaults, **fields})[0]


@lock()
def make_edition(year: int = 2021, **fields: Any) -> Edition:
    """Create an edition in Los Angeles whose papers and schedule are public."""
    defaults: dict[str, Any] = {
        "year": year,
        "slug": str(year),
        "name": f"MLSys {year}",
        "start_date": date(year, 4, 5),
        "end_date": date(year, 4, 9),
        "timezone": "America/Los_Angeles",
        "city": "San Jose",
        "public_from": PAST,
        "papers_public_from": PAST,
        "schedule_public_from": PAST,
    }
    conference = fields.pop("conference", None) or make_conference()
    return Edition.objects.create(conference=conference, **{**defaults, **fields})


def make_person(name: str = "", **fields: Any) -> Person:
    return Person.objects.create(name=name or f"Ada Lovelace {next(numbers)}", **fields)


def make_institution(name: str = "Analytical Engines", **fields: Any) -> Institution:
    return Institution.objects.create(name=name, **{"slug": f"institution-{next(numbers)}", **fields})


def make_topic(edition: Edition, name: str = "Compilers", **fields: Any) -> Topic:
    return Topic.objects.create(edition=edition, name=name, **{"slug": f"topic-{next(numbers)}", **fields})


@lock()
def make_paper(edition: Edition, authors: Iterable[Person | str] = (), **fields: Any) -> Paper:
    """Create a published paper with these authors in order, given as people or as names of new ones."""
    defaults = {"title": f"Paper {next(numbers)}", "abstract": "What was done.", "status": "published"}
    paper = Paper.objects.create(edition=edition, **{**defaults, **fields})
    for author in authors:
        add_author(paper, author)
    return paper


@lock()
def add_author(paper: Paper, author: Person | str, **fields: Any) -> Authorship:
    person = author if isinstance(author, Person) else make_person(author)
    return Authorship.objects.create(paper=paper, person=person, **fields)


def make_material(paper: Paper, kind: str = "pdf", **fields: Any) -> Material:
    return Material.objects.create(
        paper=paper, kind=kind, **{"url": "https://example.org/paper.pdf", **fields}
    )


@lock()
def make_award(edition: Edition, winners: Iterable[Paper | Person] = (), **fields: Any) -> Award:
    defaults = {"name": "Outstanding Paper Award", "status": "published"}
    award = Award.objects.create(edition=edition, **{**defaults, **fields})
    for winner in winners:
        key = "paper" if isinstance(winner, Paper) else "person"
        AwardGrant.objects.create(award=award, **{key: winner})
    return award


def make_room(edition: Edition, name: str = "Hall A", **fields: Any) -> Room:
    return Room.objects.create(edition=edition, name=name, **{"slug": f"room-{next(numbers)}", **fields})


def make_session(edition: Edition, minutes: int = 60, **fields: Any) -> Session:
    """Create a published session, by default an oral at 08:00 on 6 April 2021 in Los Angeles."""
    start = fields.pop("start", MORNING)
    defaults = {"title": f"Session {next(numbers)}", "kind": "oral", "status": "published"}
    defaults["end"] = start + timedelta(minutes=minutes)
    return Session.objects.create(edition=edition, start=start, **{**defaults, **fields})


def make_session_kind(conference: Conference, name: str = "Birds of a feather", **fields: Any) -> SessionKind:
    """Create a kind of sessions, by default one that counts as oral."""
    values = {"slug": slugify(name), "name": name, "counts_as": "oral", **fields}
    return SessionKind.objects.create(conference=conference, **values)


@lock()
def add_role(session: Session, person: Person | str, role: str = "moderator", **fields: Any) -> SessionRole:
    role_holder = person if isinstance(person, Person) else make_person(person)
    return SessionRole.objects.create(session=session, person=role_holder, role=role, **fields)


@lock()
def make_presentation(
    session: Session | None = None,
    paper: Paper | None = None,
    speakers: Iterable[Person | str] = (),
    **fields: Any,
) -> Presentation:
    """Create a presentation of a paper, or a talk without a paper; unscheduled without a session."""
    owner = session or paper
    edition = fields.pop("edition", None) or (owner.edition if owner else make_edition())
    kind = "oral" if paper else "talk"
    title = "" if paper else f"Talk {next(numbers)}"
    values = {"kind": kind, "title": title, "status": "published", **fields}
    presentation = Presentation.objects.create(edition=edition, session=session, paper=paper, **values)
    for speaker in speakers:
        person = speaker if isinstance(speaker, Person) else make_person(speaker)
        Speaker.objects.create(presentation=presentation, person=person)
    return presentation


def make_page(edition: Edition | None, **fields: Any) -> Page:
    number = next(numbers)
    defaults = {"slug": f"page-{number}", "title": f"Page {number}", "body": "Text.", "status": "published"}
    return Page.objects.create(edition=edition, **{**defaults, **fields})


def make_menu_item(edition: Edition, label: str = "Papers", **fields: Any) -> MenuItem:
    target = {} if fields.keys() & {"page", "url"} else {"section": "papers"}
    return MenuItem.objects.create(edition=edition, label=label, **{**target, **fields})


def make_sponsor(edition: Edition, name: str = "Babbage & Sons", **fields: Any) -> Sponsor:
    defaults = {"slug": f"sponsor-{next(numbers)}", "tier": "Gold", "status": "published"}
    return Sponsor.objects.create(edition=edition, name=name, **{**defaults, **fields})


def make_key_date(edition: Edition, title: str = "Doors open", **fields: Any) -> KeyDate:
    defaults: dict[str, Any] = {"title": title, "status": "published"}
    defaults |= {} if "moment" in fields else {"day": date(2021, 4, 5)}
    return KeyDate.objects.create(edition=edition, **{**defaults, **fields})


def make_announcement(edition: Edition, **fields: Any) -> Announcement:
    defaults = {"title": "Welcome", "text": "We begin.", "published_at": PAST, "status": "published"}
    return Announcement.objects.create(edition=edition, **{**defaults, **fields})


def make_committee_role(
    edition: Edition, person: Person, role: str = "Program Chair", **fields: Any
) -> CommitteeRole:
    return CommitteeRole.objects.create(edition=edition, person=person, role=role, **fields)
