"""A generated edition of any size, written past the history and the search index: for measuring only.

What the models compute on saving (rendered text, sort keys) is written as they would: the words are plain.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import batched
from typing import Any

from django.db.models import Model, QuerySet

from conference.models import Conference, Edition
from papers.models import Authorship, Paper
from people.models import Institution, Person
from schedule.models import Presentation, Room, Session

SLUG = "2030"
START = datetime(2030, 7, 8, 0, 0, tzinfo=UTC)
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
BATCH = 5000
AUTHORS = 4
ABSTRACT = 160
# So many papers share a session.
TOGETHER = 100


class Maker:
    """Makes rows from a seed: the same seed, the same program."""

    def __init__(self, number: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.words = ["".join(self.chance.choices(SYLLABLES, k=3)) for _ in range(20_000)]
        self.edition = empty_edition(SLUG)
        self.institutions = list(_made(self.institution, max(1, number // 100)))
        self.by_name = {row.name: row for row in self.institutions}
        self.people = list(_made(self.person, number // 2))
        self.sessions = list(_made(self.session, -(-number // TOGETHER)))
        (self.room,) = _made(self.hall, 1)
        self.papers: list[Paper] = []

    def phrase(self, number: int) -> str:
        return " ".join(self.chance.choices(self.words, k=number))

    def institution(self, key: int) -> Institution:
        name = f"University of {self.phrase(1).title()} {key}"
        return Institution(slug=f"i{key}", name=name, folded=name.lower())

    def person(self, key: int) -> Person:
        given, family = self.phrase(1).title(), self.phrase(1).title()
        name, sort_key = f"{given} {family}", f"{family}, {given}".lower()
        return Person(
            uid=f"n{key}", name=name, given=given, family=family, sort_key=sort_key, folded=name.lower()
        )

    def paper(self, key: int) -> Paper:
        title, abstract = self.phrase(9), self.phrase(ABSTRACT)
        return Paper(
            edition=self.edition,
            uid=f"p{key}",
            title=title,
            title_html=title,
            sort_title=title,
            abstract=abstract,
            abstract_html=f"<p>{abstract}</p>\n",
            keywords=[self.phrase(1), self.phrase(1)],
            status="published",
        )

    def session(self, key: int) -> Session:
        title, start = f"Posters {key}", START + timedelta(hours=2 * (key // 20))
        return Session(
            edition=self.edition,
            uid=f"s{key}",
            kind="poster",
            title=title,
            title_html=title,
            start=start,
            end=start + timedelta(hours=2),
            status="published",
        )

    def hall(self, key: int) -> Room:
        return Room(edition=self.edition, slug=f"hall-{key}", name="Hall", position=1)

    def authorship(self, key: int) -> Authorship:
        paper, place = divmod(key, AUTHORS)
        # Spread over all people, and four neighbours are four people.
        person = self.people[(paper * 7919 + place) % len(self.people)]
        row = Authorship(paper=self.papers[paper], person=person, position=place + 1, name=person.name)
        row.affiliations = [self.institutions[key % len(self.institutions)].name]
        return row

    def presentation(self, key: int) -> Presentation:
        return Presentation(
            edition=self.edition,
            uid=f"p{key}-poster",
            kind="poster",
            paper=self.papers[key],
            session=self.sessions[key // TOGETHER],
            position=key % TOGETHER + 1,
            room=self.room,
            board=f"#{key}",
        )


def fill(number: int, seed: int) -> None:
    """Make an edition of so many papers: four authors each, half as many people, each paper on one board."""
    make = Maker(number, seed)
    make.papers = list(_made(make.paper, number))
    link: Any = Authorship.institutions.through
    for rows in batched(_made(make.authorship, number * AUTHORS), BATCH, strict=False):
        _stored([link(authorship=row, institution=make.by_name[row.affiliations[0]]) for row in rows])
    for _ in _made(make.presentation, number):
        pass


def empty_edition(slug: str) -> Edition:
    """Make a public edition of the conference without anything in it."""
    conference, _ = Conference.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    name, since = f"Bench {slug}", datetime(2020, 1, 1, tzinfo=UTC)
    edition = Edition(conference=conference, slug=slug, year=int(slug), name=name, timezone="Asia/Seoul")
    edition.start_date = edition.end_date = START.date()
    edition.public_from = edition.papers_public_from = edition.schedule_public_from = since
    edition.save()
    return edition


def _made[M: Model](make: Callable[[int], M], number: int) -> Iterator[M]:
    for keys in batched(range(number), BATCH, strict=False):
        yield from _stored([make(key) for key in keys])


def _stored[M: Model](rows: list[M]) -> list[M]:
    """Write rows as they are: a plain queryset knows of no history, no stamp and nothing computed."""
    plain: QuerySet[M] = QuerySet(type(rows[0]))
    return plain.bulk_create(rows)
