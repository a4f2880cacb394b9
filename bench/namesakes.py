"""How well an import tells who is who: precision and recall for invented programs whose authors are known.

`uv run -m bench.namesakes`. Two authorships of one person are a pair. Precision: of the pairs that an import
gave to one person, how many are one. Recall: of the true pairs, how many it gave to one person.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING

from bench.harness import django_on, parser
from bench.search import SYLLABLES
from people.duplicates.spelling import FAMILY_NAME_PERCENT, GIVEN_NAME_PERCENT

if TYPE_CHECKING:
    from exchange.records import AuthorRecord, Program

PEOPLE, LABS, INSTITUTIONS, TOPICS, PARTNERS = 6_000, 400, 200, 25, 4
# Shares of those who move in a year, print another place, have an id; of common family names with a common
# given name.
MOVING, OTHER_PLACE, WITH_ID, COMMON_GIVEN = 0.15, 0.08, 0.5, 0.35
# Of papers: written with somebody of a partner's lab.
VISITED = 0.4
# Names other than the common ones, and how far the commonest of them is from rank 1 of Zipf's law.
NAMES, FIRST_RANK = 12_000, 200


@dataclass(slots=True)
class Member:
    """A person: true key, name, and the lab of this year."""

    key: int
    name: str
    lab: int


class World:
    """People in labs, who move, write papers together, and share names as people do."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.words = sorted(
            {"".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))).title() for _ in range(NAMES)}
        )
        chance.shuffle(self.words)
        self.zipf = [*accumulate(1 / (rank + FIRST_RANK) for rank in range(len(self.words)))]
        self.topics = [chance.randrange(TOPICS) for _ in range(LABS)]
        self.homes = [chance.choice(self.words[:INSTITUTIONS]) for _ in range(LABS)]
        self.partners = [chance.choices(range(LABS), k=PARTNERS) for _ in range(LABS)]
        self.members = [Member(key, self.name(), chance.randrange(LABS)) for key in range(PEOPLE)]

    def name(self) -> str:
        chance = self.chance
        if chance.random() > sum(FAMILY_NAME_PERCENT.values()) / 100:
            return " ".join(chance.choices(self.words, cum_weights=self.zipf, k=2))
        given = chance.choices(self.words, cum_weights=self.zipf)[0]
        if chance.random() < COMMON_GIVEN:
            given = chance.choices([*GIVEN_NAME_PERCENT], [*GIVEN_NAME_PERCENT.values()])[0].title()
        return f"{given} {chance.choices([*FAMILY_NAME_PERCENT], [*FAMILY_NAME_PERCENT.values()])[0].title()}"

    def edition(self, series: str, year: int, papers: int) -> "tuple[Program, dict[tuple[str, int], int]]":
        """Return the program of a year after which some have moved, and who is each author of each paper."""
        from exchange.records import (
            ConferenceRecord,
            EditionRecord,
            PaperRecord,
            Program,
            TopicRecord,
            stated,
        )

        chance, slug = self.chance, f"{series}-{year}"
        labs: dict[int, list[Member]] = defaultdict(list)
        for one in self.members:
            labs[one.lab].append(one)
        # Each series has fields of its own, and others in common.
        fields = [lab for lab in labs if self.topics[lab] % 3 or self.topics[lab] % 2 == ord(series) % 2]
        truth: dict[tuple[str, int], int] = {}
        written = []
        for number in range(papers):
            lab = chance.choice(fields)
            team = chance.sample(labs[lab], k=min(chance.randint(1, 5), len(labs[lab])))
            if chance.random() < VISITED:
                team.append(chance.choice(labs[chance.choice(self.partners[lab])] or team))
            # No two of one name on a paper.
            team = list({one.name: one for one in team}.values())
            uid = f"{slug}-{number}"
            truth |= {(uid, place): one.key for place, one in enumerate(team, 1)}
            topic, authors = f"topic-{self.topics[lab]}", tuple(map(self.author, team))
            written.append(PaperRecord(uid=uid, title=uid, topic=topic, status="published", authors=authors))
        for one in self.members:
            if chance.random() < MOVING:
                one.lab = chance.randrange(LABS)
        day = date(year, 7, 1)
        program = Program(
            conference=ConferenceRecord(slug=series, name=series),
            edition=EditionRecord(
                slug=slug,
                name=slug,
                conference=series,
                year=year,
                timezone="UTC",
                start_date=day,
                end_date=day,
            ),
            topics=tuple(
                TopicRecord(slug=one, name=one) for one in sorted({str(stated(p.topic, "")) for p in written})
            ),
            papers=tuple(written),
        )
        return program, truth

    def author(self, one: Member) -> "AuthorRecord":
        from exchange.records import AuthorRecord, PersonRef

        home, chance = self.homes[one.lab], self.chance
        place = chance.choice((f"University of {home}", f"{home} University"))
        if chance.random() < OTHER_PLACE:
            place = chance.choice(self.words[:INSTITUTIONS])
        ref = PersonRef(name=one.name, ids=(("true", str(one.key)),))
        return AuthorRecord(person=ref, affiliations=(place,))


def reduced(program: "Program", with_ids: float, *, with_places: bool, seed: int) -> "Program":
    """Return the program with the ids of a share of its people, with or without affiliations."""
    from exchange.records import stated

    def known(ids: tuple[tuple[str, str], ...]) -> bool:
        return random.Random(f"{seed}:{program.papers[0].uid}:{ids}").random() < with_ids

    def author(one: "AuthorRecord") -> "AuthorRecord":
        ref = one.person if known(one.person.ids) else replace(one.person, ids=())
        return replace(one, person=ref, affiliations=one.affiliations if with_places else ())

    papers = (replace(one, authors=tuple(map(author, stated(one.authors, ())))) for one in program.papers)
    return replace(program, papers=tuple(papers))


def pairs(keys: Iterable[Hashable]) -> int:
    return sum(comb(count, 2) for count in Counter(keys).values())


def measured(programs: "Iterator[Program]", truth: dict[tuple[str, int], int]) -> str:
    """Import the programs one after the other, and return the row of the results; nothing stays."""
    from django.db import transaction

    from exchange.imports.load import load
    from papers.models import Authorship

    with transaction.atomic():
        for program in programs:
            load(program, program.edition.slug if program.edition else "")
        columns = ("paper__uid", "position", "person", "paper__edition__conference")
        rows = Authorship.objects.values_list(*columns)
        found = [(truth[uid, place], person, series) for uid, place, person, series in rows]
        transaction.set_rollback(True)
    joined = pairs(person for _, person, _ in found)
    right = pairs((true, person) for true, person, _ in found)
    # A name alone joins nobody of two series: recall is that within each.
    inside = pairs((true, series) for true, _, series in found)
    right_inside = pairs(found)
    people = len({person for _, person, _ in found})
    mixed = sum(count > 1 for count in Counter(person for _, person in {one[:2] for one in found}).values())
    split = Counter((true, series) for true, _, series in {(one[0], one[1], one[2]) for one in found})
    parts = sum(count > 1 for count in split.values())
    return f"{right / joined:.4f} | {right_inside / inside:.4f} | {people:,} | {mixed} | {parts} |"


def main() -> None:
    options = parser(__doc__, papers=500)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    print("| what the files hold | precision | recall | people | of two | twice |\n|---|---|---|---|---|---|")
    with django_on(asked.database):
        world = World(asked.seed)
        years = [("a", 2021), ("a", 2022), ("b", 2022), ("a", 2023), ("b", 2023)]
        made = [world.edition(series, year, asked.papers) for series, year in years]
        truth = {key: one for _, found in made for key, one in found.items()}
        one_series = [program for program, _ in made if program.conference and program.conference.slug == "a"]
        both = [program for program, _ in made]
        for what, programs, with_ids, with_places in (
            ("names", one_series, 0, False),
            ("names and affiliations", one_series, 0, True),
            ("ids of half, names", one_series, WITH_ID, False),
            ("ids of half, names and affiliations", one_series, WITH_ID, True),
            ("two series: names", both, 0, False),
            ("two series: names and affiliations", both, 0, True),
            ("two series: ids of half, names and affiliations", both, WITH_ID, True),
        ):
            shown = (reduced(one, with_ids, with_places=with_places, seed=asked.seed) for one in programs)
            print(f"| {what} | {measured(shown, truth)}", flush=True)


if __name__ == "__main__":
    main()
