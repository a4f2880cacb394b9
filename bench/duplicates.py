"""How good and how fast the suggestions of likely duplicates are, where the truth is known.

`uv run python bench/duplicates.py` makes 20,000 people from a seed, 600 of them listed twice in another
spelling, namesakes among them, and asks for duplicates; nothing is stored and no database is needed.
`--papers FILE` reads authors from a Mini-Conf `main_papers.csv` too, lists some of them twice, and lists what
is suggested of the authors as they are, to be judged by eye.
"""

import argparse
import csv
import os
import random
import sys
import time
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from people.duplicates.evidence import LikelyDuplicate, PersonCandidate

type Pairs = dict[tuple[int, int], str]
SEEDS = (20, 21, 22)
BOUNDS = ((95, "almost certain"), (75, "probable or better"), (50, "all"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--people", type=int, default=20_000)
    asked.add_argument("--papers", type=Path, help="a main_papers.csv of a Mini-Conf site")
    options = asked.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
    for seed in SEEDS:
        generated(options.people, seed)
    if options.papers:
        real(options.papers)


def work() -> float:
    """Return the seconds of some plain work on this machine now: counting words."""
    began = time.process_time()
    Counter(str(number % 1_000) for number in range(1_000_000))
    return time.process_time() - began


def looked(figures: "list[PersonCandidate]") -> "tuple[list[LikelyDuplicate], float]":
    from people.duplicates.finder import find

    began = time.process_time()
    return find(figures), time.process_time() - began


def generated(people: int, seed: int) -> None:
    """Look among generated people."""
    from bench.population import population
    from people.duplicates.evidence import PersonCandidate

    records = population(people, seed)
    figures = [
        PersonCandidate(
            key,
            (one.name,),
            orcid=one.orcid,
            contacts=frozenset({one.email} - {""}),
            affiliations={one.place.lower()},
            papers={paper: frozenset({one.place.lower()}) for paper in one.papers},
        )
        for key, one in enumerate(records)
    ]
    truth: dict[int, list[int]] = defaultdict(list)
    for key, one in enumerate(records):
        truth[one.who].append(key)
    pairs = {pair: records[pair[1]].how for keys in truth.values() for pair in combinations(keys, 2)}
    found, seconds = looked(figures)
    named = Counter(one.name for one in records)
    namesakes = sum(count for count in named.values() if count > 1)
    print(f"\n### {people:,} people, seed {seed}\n")
    print(
        f"{len(records):,} entries, {len(pairs)} pairs that are one person; {namesakes:,} entries have a name"
    )
    ratio = seconds / work()
    print(f"that another has too. {seconds:.1f} s of one processor, {ratio:.0f} times counting words.\n")
    tell(found, pairs, figures)


def tell(found: "list[LikelyDuplicate]", pairs: Pairs, figures: "list[PersonCandidate]") -> None:
    """Print precision and recall, by likelihood and by kind."""
    from people.duplicates.evidence import are_distinct

    keys = {(one.first, one.second): one for one in found}
    print("| suggested as | pairs | right | precision | recall |\n|---|---|---|---|---|")
    for bound, words in BOUNDS:
        some = [key for key, one in keys.items() if one.score >= bound]
        right = sum(key in pairs for key in some)
        precision, recall = right / max(len(some), 1), right / len(pairs)
        print(f"| {words} | {len(some)} | {right} | {precision:.3f} | {recall:.3f} |")
    together = {key for key in pairs if met(figures[key[0]], figures[key[1]])}
    right = len(together & keys.keys())
    print(f"\nOf the {len(together)} pairs with a co-author, a place, a paper or an address in common")
    print(f"{right / len(together):.3f} are suggested; the others have nothing but a name.\n")
    print("| kind of second entry | found | of |\n|---|---|---|")
    kinds, hits = Counter(pairs.values()), Counter(pairs[key] for key in keys.keys() & pairs.keys())
    for kind in sorted(kinds):
        print(f"| {kind} | {hits[kind]} | {kinds[kind]} |")
    wrong = Counter(one.signs[0] for key, one in keys.items() if key not in pairs)
    said = ", ".join(f"{code.removeprefix('name_')} {count}" for code, count in wrong.most_common())
    print(f"\nWrong ones by how the names differ: {said or 'none'}.")
    unlike = sum(are_distinct(figures[a], figures[b]) for a, b in keys)
    print(f"Suggested although the ORCIDs differ: {unlike}.")


def met(one: "PersonCandidate", other: "PersonCandidate") -> bool:
    """Tell whether anything but the name could show that these are one."""
    return bool(
        one.coauthors & other.coauthors
        or one.affiliations & other.affiliations
        or one.papers.keys() & other.papers.keys()
        or one.contacts & other.contacts
    )


# Authors of a real conference


def real(file: Path) -> None:
    """Look among the authors of a file as they are, and among them with some listed twice."""
    from people.duplicates.evidence import PersonCandidate

    papers = [row["authors"].split("|") for row in csv.DictReader(file.open(encoding="utf-8"))]
    names = list(dict.fromkeys(name.strip() for authors in papers for name in authors))
    keys = {name: key for key, name in enumerate(names)}

    def entries() -> "list[PersonCandidate]":
        made = [PersonCandidate(key, (name,)) for key, name in enumerate(names)]
        for number, authors in enumerate(papers):
            for name in authors:
                made[keys[name.strip()]].papers[number] = frozenset()
        return made

    found, seconds = looked(entries())
    print(f"\n### {file.parent.name}: {len(papers)} papers, {len(names):,} names as they are\n")
    print(f"{seconds:.2f} s of one processor, {seconds / work():.1f} times counting words.\n")
    print("| suggested | likelihood | why |\n|---|---|---|")
    for one in found:
        print(f"| {names[one.first]} / {names[one.second]} | {one.score} | {', '.join(one.signs)} |")
    twice, pairs = listed_twice(entries(), random.Random(7))
    found, seconds = looked(twice)
    print(f"\n### The same, {len(pairs)} of those with two papers or more listed twice\n")
    tell(found, pairs, twice)


def listed_twice(
    figures: "list[PersonCandidate]", chance: random.Random
) -> "tuple[list[PersonCandidate], Pairs]":
    """Give some people of two papers a second entry in another spelling, with half of their papers."""
    from bench.population import VARIATIONS, Somebody, fits, varied
    from people.duplicates.evidence import PersonCandidate
    from people.names import split

    pairs: Pairs = {}
    chosen: Any = [one for one in figures if len(one.papers) > 1]
    for number, one in enumerate(chance.sample(chosen, 200)):
        parts = split(one.names[0])
        who = Somebody(parts.given.lower(), parts.family.lower(), 0)
        how = VARIATIONS[number % len(VARIATIONS)]
        if not parts.given or not fits(how, who):
            continue
        moved = sorted(one.papers)[: len(one.papers) // 2]
        second = PersonCandidate(len(figures), (varied(how, chance, who),))
        second.papers = {paper: one.papers.pop(paper) for paper in moved}
        pairs[one.key, second.key] = how
        figures.append(second)
    return figures, pairs


if __name__ == "__main__":
    main()
