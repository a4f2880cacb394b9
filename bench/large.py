"""A synthetic edition of any size, written past the history and the search index.

What the models compute on saving (rendered text, sort keys) is written as they would: the words are plain.
"""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import batched

from django.db.models import Model, QuerySet

from conference.models import Conference, Edition
from papers.models import Authorship, Paper
from people.models import Person

SLUG = "2030"
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
BATCH_ROWS = 5000
AUTHORS = 4
ABSTRACT_WORDS = 160


def fill(number: int, seed: int = 1) -> None:
    """Make an edition of so many papers, with four authors each and half as many people."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(20_000)]
    edition = make_edition()

    def phrase(size: int) -> str:
        return " ".join(chance.choices(words, k=size))

    def person(key: int) -> Person:
        given, family = phrase(1).title(), phrase(1).title()
        name, sort_key = f"{given} {family}", f"{family}, {given}".lower()
        names = {"name": name, "given": given, "family": family}
        return Person(uid=f"n{key}", sort_key=sort_key, folded=name.lower(), **names)

    def paper(key: int) -> Paper:
        title, abstract = phrase(9), phrase(ABSTRACT_WORDS)
        texts = {"title": title, "title_html": title, "sort_title": title, "abstract": abstract}
        texts |= {"abstract_html": f"<p>{abstract}</p>\n", "status": "published"}
        return Paper(edition=edition, uid=f"p{key}", keywords=[phrase(1), phrase(1)], **texts)

    people = list(stored(person, number // 2))
    papers = list(stored(paper, number))

    def authorship(key: int) -> Authorship:
        place, position = divmod(key, AUTHORS)
        # Spread over all people; four neighbors are four people.
        one = people[(place * 7919 + position) % len(people)]
        row = Authorship(paper=papers[place], person=one, position=position + 1, name=one.name)
        row.affiliations = [f"University of {words[key % 1000].title()}"]
        return row

    for _ in stored(authorship, number * AUTHORS):
        pass


def make_edition() -> Edition:
    """Make a public edition without anything in it."""
    conference = Conference.objects.create(slug="bench", name="Bench")
    since, day = datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 7, 8, tzinfo=UTC).date()
    return Edition.objects.create(
        conference=conference,
        slug=SLUG,
        year=int(SLUG),
        name=f"Bench {SLUG}",
        timezone="Asia/Seoul",
        start_date=day,
        end_date=day,
        public_from=since,
        papers_public_from=since,
        schedule_public_from=since,
    )


def stored[M: Model](make: Callable[[int], M], number: int) -> Iterator[M]:
    """Yield rows as they are written: a plain queryset knows no history and computes nothing."""
    for keys in batched(range(number), BATCH_ROWS, strict=False):
        rows = [make(key) for key in keys]
        plain: QuerySet[M] = QuerySet(type(rows[0]))
        yield from plain.bulk_create(rows)
