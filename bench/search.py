"""Benchmark of searches in an index of 100,000 papers.

`uv run -m bench.search [--database URL]`. A filled database is reused.
"""

import random
import timeit
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from statistics import quantiles
from typing import TYPE_CHECKING

from bench.harness import parser, program, report

if TYPE_CHECKING:
    from search.index import DocumentRecord

COMMON = ["the", "of", "and", "a", "to", "in", "we", "is", "this", "with", "learning", "model", "show", "it"]
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
WORDS = 60_000
PEOPLE = 30_000
EDITIONS = 20
ABSTRACT_WORDS = 160
SEARCHES = 200
LIMIT_MS = 40


def words() -> list[str]:
    """Return invented words, the most common first."""
    rng = random.Random(1)
    invented = {"".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))) for _ in range(2 * WORDS)}
    return [*COMMON, *sorted(invented, key=lambda _: rng.random())][:WORDS]


def documents(number: int) -> "Iterator[DocumentRecord]":
    """Yield documents of papers whose words follow Zipf's law, as those of languages do."""
    from search.index import DocumentRecord

    rng, vocabulary = random.Random(1), words()
    weights = [*accumulate(1 / (rank + 3) for rank in range(len(vocabulary)))]
    names = [" ".join(rng.choices(vocabulary[200:], k=2)).title() for _ in range(PEOPLE)]
    for key in range(1, number + 1):
        edition = 1 + (key - 1) * EDITIONS // number
        yield DocumentRecord(
            kind="paper",
            object_id=key,
            key=f"p{key}",
            edition=edition,
            year=2000 + edition,
            title=" ".join(rng.choices(vocabulary, cum_weights=weights, k=9)),
            people=rng.choices(names, k=4),
            topic=vocabulary[30 + key % 60],
            body=" ".join(rng.choices(vocabulary, cum_weights=weights, k=ABSTRACT_WORDS)),
        )


def searches(number: int) -> dict[str, tuple[Callable[[str], object], list[str]]]:
    """Return searches by name: a function, and different texts to call it with."""
    from search.hits import correct_query, find_documents, find_related, suggest
    from search.query import parse_query

    rng, vocabulary = random.Random(2), words()
    rare, medium = rng.sample(vocabulary[2000:40_000], SEARCHES), rng.sample(vocabulary[25:1500], SEARCHES)
    common = [*COMMON * 15][:SEARCHES]
    pairs = [" ".join(rng.sample(COMMON, 2)) for _ in range(SEARCHES)]

    def search(text: str) -> object:
        return find_documents(parse_query(text))

    def in_edition(text: str) -> object:
        return find_documents(parse_query(text), edition=rng.randint(1, EDITIONS))

    def forgiving(text: str) -> object:
        return find_documents(correct_query(parse_query(text)) or parse_query(text))

    texts = {
        "common words": common,
        "two common words": pairs,
        "a common and a rare word": [f"{rng.choice(COMMON)} {word}" for word in rare],
        "medium words": medium,
        "rare words": rare,
        "the first three letters": [word[:3] for word in medium],
        "three medium words": [" ".join(rng.sample(medium, 3)) for _ in range(SEARCHES)],
        "a phrase of common words": [f'"{text}"' for text in pairs],
        "an excluded word": [f"{rng.choice(COMMON)} -{word}" for word in medium],
        "an author and a word": [f"author:{word} {rng.choice(COMMON)}" for word in medium],
        "a year and a common word": [f"{word} year:{2000 + i % 20}" for i, word in enumerate(common)],
    }
    mistyped = [f"{word[:3]}z{word[4:]}" for word in rare if len(word) > 5]
    prefixes = [word[: rng.randint(1, 5)] for word in medium]
    keys = [str(rng.randint(1, number)) for _ in range(SEARCHES)]
    return {
        **{name: (search, variants) for name, variants in texts.items()},
        "common words in one edition": (in_edition, common),
        "a typing error": (forgiving, mistyped),
        "suggestions while typing": (suggest, prefixes),
        "related papers": (lambda key: find_related("paper", int(key)), keys),
    }


def fill(number: int) -> None:
    from search.index import index_documents

    index_documents([*documents(number)])


def main() -> None:
    options = parser(__doc__, papers=100_000).parse_args()
    with program("search", options, fill):
        all_times: list[float] = []
        for name, (call, texts) in searches(options.papers).items():
            # Make a first search, which loads code.
            call(texts[0])
            # Use the faster of two, because other load may delay one.
            times = [min(timeit.repeat(partial(call, text), repeat=2, number=1)) * 1000 for text in texts]
            all_times += times
            report(f"{name}: 99 of 100 within", quantiles(times, n=100)[98], "ms")
        slowest = quantiles(all_times, n=100)[98]
        report("all searches: 99 of 100 within", slowest, "ms", at_most=LIMIT_MS)


if __name__ == "__main__":
    main()
