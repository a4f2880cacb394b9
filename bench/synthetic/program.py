"""A synthetic edition as records, which depend only on the numbers."""

import random
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from bench.synthetic import words
from bench.synthetic.papers import papers, topic_records
from bench.synthetic.people import Community, institution_records, member
from bench.synthetic.timetable import Timetable, days_for, rooms
from exchange import records
from exchange.reading.values import slug
from exchange.records import CommitteeRecord, PaperRecord, PersonRecord, Program, stated

CHAIRS = (("General chair", 2), ("Program chair", 3), ("Area chair", 40))
OUTSTANDING = 5
# One of this many papers is outstanding, among the first papers.
AWARDED_EACH = 7


def synthetic(seed: int, number: int, year: int, first_year: int) -> Program:
    """Return the program of a year. Years from `first_year` on share people."""
    people = Community(seed, number, year - first_year)
    rng = random.Random(f"{seed}:{year}")
    all_papers = list(papers(seed, year, number, people))
    city, country, zone = words.CITIES[year % len(words.CITIES)]
    middle = date(year, 7, 12)
    first = middle - timedelta(days=middle.weekday() + 1)
    # Must not be in the future.
    public = datetime(min(year, 2024), 1, 1, tzinfo=ZoneInfo(zone))
    committee = tuple(
        CommitteeRecord(person=chair.ref, role=role, affiliation=chair.institution)
        for role, size in CHAIRS
        for chair in people.team(rng, size)
    )
    week = Timetable(ZoneInfo(zone), first, people, rng)
    week.fill(all_papers)
    return Program(
        conference=records.ConferenceRecord(
            slug="invented", name="Invented", full_name="Conference on Invented Papers"
        ),
        edition=records.EditionRecord(
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
            description="Nothing here was ever written, shown or awarded: a generator made the program.",
            public_from=public,
            papers_public_from=public,
            schedule_public_from=public,
            committee=committee,
        ),
        institutions=institution_records(),
        people=participants(seed, all_papers, week, committee),
        pages=tuple(
            records.PageRecord(slug=key, title=title, body=body, status="published")
            for key, title, body in words.PAGES
        ),
        sponsors=tuple(
            records.SponsorRecord(
                slug=slug(name),
                name=name,
                tier=tier,
                url=f"https://example.org/{slug(name)}",
                position=position,
                status="published",
            )
            for position, (name, tier) in enumerate(words.SPONSORS, 1)
        ),
        announcements=tuple(
            records.AnnouncementRecord(
                uid=f"{year}-{key}",
                title=title,
                text=text,
                published_at=public,
                pinned=False,
                status="published",
            )
            for key, title, text in words.ANNOUNCEMENTS
        ),
        topics=topic_records(),
        rooms=rooms(number),
        papers=tuple(all_papers),
        awards=tuple(awards(year, first_year, all_papers)),
        sessions=tuple(week.sessions),
        presentations=tuple(week.presentations),
    )


def participants(
    seed: int, all_papers: list[PaperRecord], week: Timetable, committee: tuple[CommitteeRecord, ...]
) -> tuple[PersonRecord, ...]:
    """Return the records of all participants, with biographies of speakers."""
    authors = (author.person.uid for paper in all_papers for author in stated(paper.authors, ()))
    roles = (role.person.uid for session in week.sessions for role in stated(session.roles, ()))
    speakers = (
        speaker.person.uid
        for presentation in week.presentations
        for speaker in stated(presentation.speakers, ())
    )
    uids = {*authors, *roles, *speakers, *(role.person.uid for role in committee)}
    numbers = sorted(int(uid.rpartition("-")[2]) for uid in uids)
    return tuple(
        person.record(person.uid in week.speakers) for person in (member(seed, key) for key in numbers)
    )


def awards(year: int, first_year: int, all_papers: list[PaperRecord]) -> list[records.AwardRecord]:
    """Return the awards: Outstanding Paper, and Test of Time if there is an earlier year."""
    published = [paper for paper in all_papers if paper.status == "published"]
    best = published[: OUTSTANDING * AWARDED_EACH : AWARDED_EACH]
    grants = {
        "Outstanding Paper": tuple(
            records.GrantRecord(paper=paper.uid, citation="For a result that nobody expected.")
            for paper in best
        )
    }
    if year > first_year:
        grants["Test of Time"] = (records.GrantRecord(paper=f"{first_year}-00001", edition=str(first_year)),)
    return [
        records.AwardRecord(
            uid=f"{year}-{slug(name)}",
            name=name,
            citation="",
            position=position,
            status="published",
            grants=grant_records,
        )
        for position, (name, grant_records) in enumerate(grants.items(), 1)
    ]
