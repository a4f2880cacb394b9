"""Rows for the benchmark of the admin: five years of a conference with many people, written in bulk."""

import random
from datetime import UTC, date, datetime, timedelta
from itertools import batched
from typing import TYPE_CHECKING, Any

from bench.desk import present, word

if TYPE_CHECKING:
    from conference.models import Edition

YEARS = {2027: 0.3, 2026: 0.2, 2025: 0.2, 2024: 0.15, 2023: 0.15}
HALLS, DAYS, SLOTS, TOPICS = 18, 4, 5, 40
BATCH = 2_000


def fill(papers: int, people: int, chance: random.Random) -> None:
    """Write everything, the first year the largest."""
    from conference.models import Conference
    from content import revision

    with revision.lock():
        some = make_people(people, chance)
        series = Conference.objects.create(slug="bench", name="Bench")
        for year, share in YEARS.items():
            make_year(make_edition(series, year), int(papers * share), some, chance)


def make_people(number: int, chance: random.Random) -> list[Any]:
    """People with an affiliation, every tenth with another spelling; institutions."""
    from people.models import Institution, Person, PersonName

    made = [
        Person(uid=f"p{n}", name=f"{word(chance)} {word(chance)}{word(chance)}", affiliation=word(chance))
        for n in range(number)
    ]
    people = Person.objects.bulk_create(made, batch_size=BATCH)
    names = [PersonName(person=person, name=f"{word(chance)} {person.family}") for person in people[::10]]
    PersonName.objects.bulk_create(names, batch_size=BATCH)
    places = [Institution(slug=f"i{n}", name=f"University of {word(chance)} {n}") for n in range(3_000)]
    Institution.objects.bulk_create(places, batch_size=BATCH)
    return people


def make_edition(series: Any, year: int) -> "Edition":
    """An edition whose parts are public."""
    from conference.models import Edition

    start = datetime(year, 3, 28, 6, tzinfo=UTC)
    dates = {"start_date": start.date(), "end_date": date(year, 3, 31), "timezone": "Europe/Berlin"}
    gates = {name: datetime(2020, 1, 1, tzinfo=UTC) for name in ("public_from", "papers_public_from")}
    return Edition.objects.create(
        conference=series, year=year, slug=str(year), name=f"Bench {year}", **dates, **gates
    )


def make_year(edition: "Edition", number: int, people: list[Any], chance: random.Random) -> None:
    """Papers with four authors each, one with 150; topics, material, sessions, awards, offices."""
    from papers.models import Authorship, Award, Material, Paper, Topic
    from people.models import CommitteeRole

    topics = Topic.objects.bulk_create(
        Topic(edition=edition, slug=f"t{n}", name=f"{word(chance)} {n}", position=n + 1)
        for n in range(TOPICS)
    )
    made = [
        Paper(
            edition=edition,
            uid=f"p{n}",
            title=f"On {word(chance)} {word(chance)} of {word(chance)}",
            abstract="So." if n % 50 else "",
            status="draft" if n % 40 == 0 else "published",
            topic=chance.choice(topics),
            track="" if n % 3 else "Position papers",
        )
        for n in range(number)
    ]
    papers = Paper.objects.bulk_create(made, batch_size=BATCH)
    authors = (
        Authorship(paper=paper, person=person, position=place, presenting=place == 1, name=person.name)
        for n, paper in enumerate(papers)
        for place, person in enumerate(chance.sample(people, 4 if n else 150), start=1)
    )
    for some in batched(authors, 20 * BATCH, strict=False):
        Authorship.objects.bulk_create(some, batch_size=BATCH)
    files = [Material(paper=paper, kind="pdf", url="https://example.org/p.pdf") for paper in papers]
    Material.objects.bulk_create(files, batch_size=BATCH)
    orals, posters = make_sessions(edition, people, chance)
    present(papers, orals, posters)
    Award.objects.bulk_create(Award(edition=edition, name=f"Award {n}", position=n + 1) for n in range(10))
    offices = [
        CommitteeRole(edition=edition, person=person, role="Area Chair", position=place)
        for place, person in enumerate(chance.sample(people, 200), start=1)
    ]
    CommitteeRole.objects.bulk_create(offices, batch_size=BATCH)


def make_sessions(
    edition: "Edition", people: list[Any], chance: random.Random
) -> tuple[list[Any], list[Any]]:
    """Oral sessions hall by hall and slot by slot, each with a chair, and poster sessions beside them."""
    from schedule.models import Room, Session, SessionRole

    rooms = [
        Room.objects.create(edition=edition, slug=f"r{n}", name=f"Hall {n}", position=n + 1)
        for n in range(HALLS + 1)
    ]
    first = datetime(edition.year, 3, 28, 6, tzinfo=UTC)
    begins = [first + timedelta(days=day, minutes=100 * slot) for day in range(DAYS) for slot in range(SLOTS)]

    def session(room: Any, kind: str, start: datetime) -> Any:
        end = start + timedelta(minutes=90)
        title = f"{word(chance)} {word(chance)}"
        return Session(
            edition=edition, kind=kind, title=title, start=start, end=end, room=room, status="published"
        )

    orals = Session.objects.bulk_create(session(room, "oral", at) for at in begins for room in rooms[:HALLS])
    posters = Session.objects.bulk_create(session(rooms[HALLS], "poster", at) for at in begins)
    roles = [
        SessionRole(session=one, person=person, role="chair", position=1, name=person.name)
        for one, person in zip(orals, chance.sample(people, len(orals)), strict=True)
    ]
    SessionRole.objects.bulk_create(roles, batch_size=BATCH)
    return orals, posters
