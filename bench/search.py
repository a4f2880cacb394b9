"""How long the search index takes to fill and to answer, on a generated program. No installation is touched.

`uv run python bench/search.py` fills a SQLite file and forgets it. `--database URL` names a database for this
alone, which stays, and is asked again when it is filled. It ends by itself and prints a Markdown table, with
each time also as a ratio to fetching one row by its key.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from search.index import DocumentRecord

COMMON = ["the", "of", "and", "a", "to", "in", "we", "is", "this", "with", "learning", "model", "show", "it"]
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
WORDS = 60_000
PEOPLE = 30_000
EDITIONS = 20
ABSTRACT = 160
QUICK = 60.0


def words(chance: random.Random) -> list[str]:
    """Return made-up words, commonest first."""
    made = {"".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(2 * WORDS)}
    return [*COMMON, *sorted(made, key=lambda _: chance.random())][:WORDS]


def documents(number: int, seed: int) -> Iterator["DocumentRecord"]:
    """Write papers whose words are as unevenly used as those of a language (Zipf)."""
    from search.index import DocumentRecord

    chance = random.Random(seed)
    known = words(chance)
    weights = [*accumulate(1 / (rank + 3) for rank in range(len(known)))]
    names = [" ".join(chance.choices(known[200:], k=2)).title() for _ in range(PEOPLE)]
    for key in range(1, number + 1):
        edition = 1 + (key - 1) * EDITIONS // number
        text = chance.choices(known, cum_weights=weights, k=ABSTRACT)
        yield DocumentRecord(
            kind="paper",
            object_id=key,
            key=f"p{key}",
            edition=edition,
            year=2000 + edition,
            title=" ".join(chance.choices(known, cum_weights=weights, k=9)),
            people=chance.choices(names, k=4),
            topic=known[30 + key % 60],
            body=" ".join(text),
        )


def measured(call: Callable[[str], Any], texts: list[str]) -> tuple[float, float]:
    """Return the median and the 99th percentile of milliseconds; of each text the best of three."""
    times = []
    end = time.perf_counter() + QUICK
    for text in texts:
        times.append(min(_timed(call, text) for _ in range(3)))
        if time.perf_counter() > end:
            break
    return median(times), quantiles(times, n=100)[98]


def _timed(call: Callable[[str], Any], text: str) -> float:
    start = time.perf_counter()
    call(text)
    return (time.perf_counter() - start) * 1000


def questions(number: int, seed: int) -> list[tuple[str, Callable[[str], Any], list[str]]]:
    """Return what is asked: a name, the call, and different texts to call it with."""
    from search.hits import find, suggest
    from search.query import parse
    from search.related import related
    from search.vocabulary import corrected

    chance = random.Random(seed)
    known = words(random.Random(seed))
    rare = chance.sample(known[2000:40_000], 200)
    middle = chance.sample(known[25:1500], 200)
    common = [word for word in COMMON for _ in range(14)]

    def search(text: str) -> Any:
        return find(parse(text))

    def in_edition(text: str) -> Any:
        return find(parse(text), edition=chance.randint(1, EDITIONS))

    def forgiving(text: str) -> Any:
        return find(corrected(parse(text)) or parse(text))

    def papers_like(text: str) -> Any:
        return related("paper", int(text))

    typing = [word[: chance.randint(1, 5)] for word in chance.choices(known[:3000], k=200)]
    return [
        ("commonest words", search, common),
        ("commonest words in one edition", in_edition, common),
        ("two common words", search, [" ".join(chance.sample(COMMON, 2)) for _ in range(200)]),
        ("a common and a rare word", search, [f"{chance.choice(COMMON)} {word}" for word in rare]),
        ("middling words", search, middle),
        ("rare words", search, rare),
        ("beginnings of three letters", search, [word[:3] for word in middle]),
        ("beginnings of four letters", search, [word[:4] for word in middle]),
        ("three middling words", search, [" ".join(chance.sample(middle, 3)) for _ in range(200)]),
        ("phrase of common words", search, [f'"{" ".join(chance.sample(COMMON, 2))}"' for _ in range(200)]),
        ("phrase of middling words", search, [f'"{" ".join(chance.sample(middle, 2))}"' for _ in range(200)]),
        ("left out", search, [f"{chance.choice(COMMON)} -{word}" for word in middle]),
        ("author", search, [f"author:{word}" for word in middle]),
        ("author and word", search, [f"author:{word} {chance.choice(COMMON)}" for word in middle]),
        (
            "year and common word",
            search,
            [f"{chance.choice(COMMON)} year:{2000 + i % 20}" for i in range(200)],
        ),
        ("a typing error", forgiving, [_mistyped(word, chance) for word in rare if len(word) > 5]),
        ("suggestions while typing", suggest, typing),
        ("related papers", papers_like, [str(chance.randint(1, number)) for _ in range(200)]),
    ]


def _mistyped(word: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(word))
    return f"{word[:place]}z{word[place + 1 :]}"


def run(number: int, seed: int) -> None:
    """Fill the index, ask, and print."""
    from django.db import connection

    from search.index import index
    from search.models import Document

    print(f"## {connection.vendor}, {number:,} documents\n")
    if not Document.objects.exists():
        made = [*documents(number, seed)]
        start = time.perf_counter()
        index(made)
        print(f"Indexed in {time.perf_counter() - start:.1f} s.\n")
    base, _ = measured(lambda text: Document.objects.get(pk=int(text)), ["1"] * 200)
    print("| asked | p50 ms | p99 ms | p50 / one row by key |\n|---|---|---|---|")
    for name, call, texts in questions(number, seed):
        measured(call, texts[:3])
        middle, worst = measured(call, texts)
        print(f"| {name} | {middle:.1f} | {worst:.1f} | {middle / base:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the search index.")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--keep", action="store_true", help="ask what an earlier run has left in the database"
    )
    parser.add_argument("--database", help="address of a database for this alone, filled if it is empty")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = options.database or f"sqlite:///{folder}/bench.sqlite3"
        import django
        from django.conf import settings
        from django.core.management import call_command

        from conference.settings import DATABASES, DEFAULT_AUTO_FIELD

        settings.configure(
            DATABASES=DATABASES, DEFAULT_AUTO_FIELD=DEFAULT_AUTO_FIELD, INSTALLED_APPS=["search"]
        )
        django.setup()
        call_command("migrate", "search", verbosity=0)
        run(options.documents, options.seed)


if __name__ == "__main__":
    main()
