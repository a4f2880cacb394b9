"""How long a large edition takes to be written and read as files, and how much memory that needs.

`uv run python bench/export.py` makes an edition of papers in a SQLite file and forgets it. `--database URL`
names an empty database for this alone. `--import FILES` measures the import of other files twice. Each export
runs in a process of its own, so that its memory is its own. Prints a Markdown table, with each time also as a
ratio to reading the same rows as plain values.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SLUG = "2030"
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwxyz" for vowel in "aeiou"]
BATCH = 5000
AUTHORS = 4
ABSTRACT = 160
# What is asked of a file: format, ending of its name.
EXPORTS = (("csv", "papers.csv"), ("csv", "authors.csv"), ("program_json", ".json"), ("xlsx", "papers.xlsx"))


def fill(number: int, seed: int) -> None:
    """Make an edition with so many papers, half as many people, and four authors on each paper."""
    from django.utils import timezone

    from conference.models import Conference, Edition
    from papers.models import Authorship, Paper
    from people.models import Person

    chance = random.Random(seed)
    words = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(20_000)]
    now = timezone.now()
    conference = Conference.objects.create(slug="bench", name="Bench")
    edition = Edition(conference=conference, slug=SLUG, year=2030, name="Bench 2030", timezone="Asia/Seoul")
    edition.start_date = edition.end_date = now.date()
    edition.public_from = edition.papers_public_from = edition.schedule_public_from = now
    edition.save()

    def person(key: int) -> Person:
        name = f"{chance.choice(words).title()} {chance.choice(words).title()}"
        return Person(uid=f"n{key}", name=name, family=name.split()[1], sort_key=name.split()[1].lower())

    def paper(key: int) -> Paper:
        title = " ".join(chance.choices(words, k=9))
        abstract = " ".join(chance.choices(words, k=ABSTRACT))
        return Paper(edition=edition, uid=f"p{key}", title=title, abstract=abstract, status="published")

    people = list(_made(Person, person, number // 2))
    papers = list(_made(Paper, paper, number))
    keys = range(1, AUTHORS + 1)
    rows = (
        Authorship(paper_id=one, person_id=who, position=place, name="")
        for one in papers
        for place, who in zip(keys, chance.sample(people, AUTHORS), strict=True)
    )
    Authorship.objects.bulk_create(rows, BATCH)


def _made(model: Any, make: Callable[[int], Any], number: int) -> Iterator[int]:
    for start in range(0, number, BATCH):
        made = [make(key) for key in range(start, min(start + BATCH, number))]
        yield from (row.pk for row in model.objects.bulk_create(made))


def plainly() -> int:
    """Read the papers as plain values: what anything that writes them costs at least."""
    from papers.models import Paper

    rows = Paper.objects.filter(edition__slug=SLUG).values_list("uid", "title", "abstract").order_by()
    return sum(len(title) + len(abstract) for _, title, abstract in rows.iterator(2000))


def written(form: str, ending: str) -> Iterator[int]:
    """Write a file to nowhere; yield the sizes of its pieces."""
    from conference.models import Edition
    from exchange.dump import dumped_for, writing_context
    from exchange.formats import formats

    fmt, edition = formats()[form], Edition.objects.get(slug=SLUG)
    if fmt.write:
        files = fmt.write(dumped_for(fmt, edition), writing_context(edition))
        yield from map(len, next(file.chunks for file in files if file.name.endswith(ending)))


def loaded(form: str, files: list[str]) -> Iterator[tuple[float, str]]:
    """Import files twice; yield the seconds and what became of it."""
    from exchange.files import Context, Source
    from exchange.formats import formats
    from exchange.load import load

    read = formats()[form].read
    for _ in range(2 if read else 0):
        start = time.perf_counter()
        sources = [Source(Path(file).name, Path(file).read_bytes()) for file in files]
        result = load(read(sources, Context("2031", 2031, "Asia/Seoul")), "2031")  # type: ignore[misc]
        yield time.perf_counter() - start, "nothing written" if result.run is None else "written"


def measure(form: str, ending: str) -> None:
    """Print one line of the table; in a process of its own."""
    next(written(form, ending))
    # The peak so far is that of starting up: what follows is the export's own.
    Path("/proc/self/clear_refs").write_text("5")
    start, first, size = time.perf_counter(), 0.0, 0
    for piece in written(form, ending):
        first = first or time.perf_counter() - start
        size += piece
    took = time.perf_counter() - start
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(lines["VmHWM"].split()[0]) / 1024
    start = time.perf_counter()
    plainly()
    base = time.perf_counter() - start
    times = f"{took:.1f} | {first * 1000:.0f}"
    print(f"| {form} {ending} | {times} | {size / 1e6:.0f} | {peak:.0f} | {took / base:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure files of a large program.")
    parser.add_argument("--papers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", help="address of an empty database for this alone")
    parser.add_argument("--import", dest="files", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = options.database or f"sqlite:///{folder}/bench.sqlite3"
        os.environ.setdefault("PLENARY_VAR_DIR", folder)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
        import django

        django.setup()
        if options.only:
            measure(*options.only)
        else:
            run(options)


def run(options: argparse.Namespace) -> None:
    """Fill the database, and measure one after the other."""
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    print(f"## {connection.vendor}, {options.papers:,} papers\n")
    start = time.perf_counter()
    fill(options.papers, options.seed)
    print(f"Made in {time.perf_counter() - start:.0f} s.\n")
    print(
        "| file | s | first byte ms | MB | peak memory MB | / reading the rows |\n|---|---|---|---|---|---|"
    )
    for form, ending in EXPORTS:
        database = ["--database", os.environ["DATABASE_URL"]]
        subprocess.run([sys.executable, __file__, *database, "--only", form, ending], check=True)
    if options.files:
        for name, (took, outcome) in zip(
            ("first", "second"), loaded("orals_posters", options.files), strict=True
        ):
            print(f"\n{name.title()} import: {took:.1f} s, {outcome}.", flush=True)


if __name__ == "__main__":
    main()
