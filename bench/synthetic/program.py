"""A synthetic edition as records."""

import random
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bench.synthetic import words
from bench.synthetic.community import (
    Community,
    biography,
    community,
    institution_records,
    member,
    person_record,
)
from bench.synthetic.timetable import Timetable, days_for, rooms, timetable
from bench.synthetic.writing import papers, topic_records
from exchange.jobs.unset import stated
from exchange.reading.slugs import slug
from exchange.records import (
    AnnouncementRecord,
    AwardRecord,
    CommitteeRecord,
    ConferenceRecord,
    EditionRecord,
    GrantRecord,
    PageRecord,
    PaperRecord,
    PersonRecord,
    Program,
    SponsorRecord,
)

CHAIRS = (("General chair", 2), ("Program chair", 3), ("Area chair", 40))
OUTSTANDING = 5


def synthetic(seed: int, number: int, year: int, first_year: int) -> Program:
    """Return the program of one year. Years since `first_year` share people."""
    people = community(seed, number, year - first_year)
    chance = random.Random(f"{seed}:{year}")
    written = list(papers(seed, year, number, people))
    edition = edition_record(year, number, people, chance)
    week = Timetable(ZoneInfo(str(edition.timezone)), monday(year) - timedelta(days=1), people, chance)
    timetable(week, written)
    return Program(
        conference=ConferenceRecord(
            slug="invented", name="Invented", full_name="Conference on Invented Papers"
        ),
        edition=edition,
        institutions=institution_records(),
        people=everybody(seed, written, week, edition),
        pages=pages(year),
        sponsors=sponsors(),
        announcements=announcements(year, public_moment(week.first, str(edition.timezone))),
        topics=topic_records(),
        rooms=rooms(number),
        papers=tuple(written),
        awards=awards(year, first_year, written),
        sessions=tuple(week.sessions),
        presentations=tuple(week.presentations),
    )


def monday(year: int) -> date:
    """Return the Monday of the week in which the conference is."""
    middle = date(year, 7, 12)
    return middle - timedelta(days=middle.weekday())


def edition_record(year: int, number: int, people: Community, chance: random.Random) -> EditionRecord:
    """Return the edition: another city each year, all of it public."""
    city, country, zone = words.CITIES[year % len(words.CITIES)]
    first = monday(year) - timedelta(days=1)
    public = public_moment(first, zone)
    return EditionRecord(
        slug=str(year),
        conference="invented",
        year=year,
        name=f"Invented {year}",
        start_date=first,
        end_date=first + timedelta(days=days_for(number) + 1),
        timezone=zone,
        venue=f"{city} Congress Centre",
        city=city,
        country=country,
        mode="hybrid",
        description="Nothing here was ever written, shown or awarded: the program comes from a generator.",
        public_from=public,
        papers_public_from=public,
        schedule_public_from=public,
        committee=tuple(
            CommitteeRecord(person=one.ref, role=role, affiliation=one.institution)
            for role, size in CHAIRS
            for one in people.team(chance, size)
        ),
    )


def public_moment(first: date, zone: str) -> datetime:
    """Return when everything becomes public: never in the future of those who try it."""
    return datetime(min(first.year, 2024), 1, 1, tzinfo=ZoneInfo(zone))


def everybody(
    seed: int, written: list[PaperRecord], week: Timetable, edition: EditionRecord
) -> tuple[PersonRecord, ...]:
    """Return all who take part, speakers with a biography."""
    told = {one.uid: biography(one) for one in week.speakers}
    parts: list[Any] = [
        *(author for one in written for author in stated(one.authors, ())),
        *(role for one in week.sessions for role in stated(one.roles, ())),
        *(speaker for one in week.presentations for speaker in stated(one.speakers, ())),
        *stated(edition.committee, ()),
    ]
    numbers = sorted({int(part.person.uid.rpartition("-")[2]) for part in parts})
    return tuple(person_record(one, told.get(one.uid, "")) for one in (member(seed, key) for key in numbers))


def pages(year: int) -> tuple[PageRecord, ...]:
    """Return free pages."""
    venue = f"A short walk from the station.\n\n## Getting there\n\nTrains run all night in {year}."
    code = "Be kind. Say who you are. *Ask before you record.*"
    return (
        PageRecord(slug="venue", title="Venue", body=venue, status="published"),
        PageRecord(slug="code-of-conduct", title="Code of Conduct", body=code, status="published"),
    )


def sponsors() -> tuple[SponsorRecord, ...]:
    """Return sponsors by tier."""
    return tuple(
        SponsorRecord(
            slug=slug(name),
            name=name,
            tier=tier,
            url=f"https://example.org/{slug(name)}",
            position=place,
            status="published",
        )
        for place, (name, tier) in enumerate(words.SPONSORS, 1)
    )


def announcements(year: int, at: datetime) -> tuple[AnnouncementRecord, ...]:
    """Return what was told to all."""
    rows = (
        ("schedule", "The schedule is out", "All sessions have their rooms now."),
        ("boards", "Poster boards", "Boards are 2 m wide."),
    )
    return tuple(
        AnnouncementRecord(
            uid=f"{year}-{key}",
            title=title,
            text=text,
            published_at=at,
            pinned=False,
            status="published",
        )
        for key, title, text in rows
    )


def awards(year: int, first_year: int, written: list[PaperRecord]) -> tuple[AwardRecord, ...]:
    """Return awards: outstanding papers, and one that stood the test of time where there is an older year."""
    best = [one for one in written if one.status == "published"][: OUTSTANDING * 7 : 7]
    grants = tuple(GrantRecord(paper=one.uid, citation="For a result that nobody expected.") for one in best)
    rows = [
        AwardRecord(
            uid=f"{year}-outstanding",
            name="Outstanding Paper",
            citation="",
            position=1,
            status="published",
            grants=grants,
        )
    ]
    if year > first_year:
        old = (GrantRecord(paper=f"{first_year}-00001", edition=str(first_year)),)
        rows.append(
            AwardRecord(
                uid=f"{year}-time",
                name="Test of Time",
                citation="",
                position=2,
                status="published",
                grants=old,
            )
        )
    return tuple(rows)
