"""Benchmark of imports: the first one of a program, and that of the same file again, by number of papers.

`uv run -m bench.imports [--database URL] [--sizes 600 6000 60000]`. Each import is measured in a process of
its own, beside a loader that only parses the file and inserts papers, people, authors and talks. The database
is emptied before each size.
"""

import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench import generate
from bench.harness import cpu_seconds, growth_exponent, parser, program, report

SIZES = (600, 6_000, 60_000)
# The budgets of the middle size, of growth, and of the memory of any size.
BUDGET_PAPERS = 6_000
FIRST_SECONDS, UNCHANGED_SECONDS = 30, 6
MAX_EXPONENT, MAX_MEGABYTES = 1.1, 600
BATCH_ROWS = 500


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of papers")
    arguments = options.parse_args()
    arguments.papers = max(arguments.sizes)
    first_times: dict[int, float] = {}
    with program("imports", arguments, fill=lambda _: None) as folder:
        for papers in arguments.sizes:
            (path,) = in_process(generate_file, papers, folder)
            first_times[papers] = measure_size(papers, path)
            path.unlink()
    if len(first_times) > 1:
        report("growth of the first import: exponent", growth_exponent(first_times), "", MAX_EXPONENT)


def measure_size(papers: int, path: Path) -> float:
    """Report the imports of a file; return the CPU seconds of the first."""
    has_budget = papers == BUDGET_PAPERS
    bare_seconds, bare_peak = in_process(run, load_bare, path, True)
    first_seconds, first_peak = in_process(run, generate.load, path, True)
    again_seconds, again_peak = in_process(run, generate.load, path, False)
    report(f"{papers:,} papers: bare loader", bare_seconds, "s")
    report(f"{papers:,} papers: bare loader, peak memory", bare_peak, "MB")
    report(f"{papers:,} papers: first import", first_seconds, "s", FIRST_SECONDS if has_budget else None)
    report(f"{papers:,} papers: first import, peak memory", first_peak, "MB", MAX_MEGABYTES)
    report(f"{papers:,} papers: unchanged", again_seconds, "s", UNCHANGED_SECONDS if has_budget else None)
    report(f"{papers:,} papers: unchanged, peak memory", again_peak, "MB", MAX_MEGABYTES)
    return float(first_seconds)


def in_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function that runs in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(set_up_and_call, work, *arguments).result()


def set_up_and_call(work: Callable[..., Any], *arguments: Any) -> Any:
    import django

    django.setup()
    return work(*arguments)


def generate_file(papers: int, folder: Path) -> list[Path]:
    return generate.generate(papers, into=folder / "generated")


def run(load: Callable[[Path], None], path: Path, is_first: bool) -> tuple[float, float]:
    """Load a file, first into an emptied database; return CPU seconds and peak memory in MB."""
    from django.core.management import call_command

    if is_first:
        call_command("flush", interactive=False, verbosity=0)
    start = cpu_seconds()
    load(path)
    seconds = cpu_seconds() - start
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    return seconds, int(peak) / 1024


def load_bare(path: Path) -> None:
    """Insert papers, people, authors and talks as they are: no comparison, validation or history."""
    from django.db import transaction
    from django.db.models import Model, QuerySet

    from conference.models import Conference, Edition
    from papers.models import Authorship, Paper
    from people.models import Person
    from schedule.models import Presentation

    def insert[M: Model](model: type[M], rows: dict[str, M]) -> None:
        # A plain queryset bypasses the history and the search index.
        queryset: QuerySet[M] = QuerySet(model)
        queryset.bulk_create(rows.values(), batch_size=BATCH_ROWS)

    content = json.loads(path.read_bytes())
    with transaction.atomic():
        conference = Conference(slug=content["conference"]["slug"], name=content["conference"]["name"])
        dates = {name: content["edition"][name] for name in ("year", "start_date", "end_date", "timezone")}
        edition = Edition(slug=content["edition"]["slug"], conference=conference, **dates)
        insert(Conference, {conference.slug: conference})
        insert(Edition, {edition.slug: edition})
        people = {row["uid"]: Person(uid=row["uid"], name=row["name"]) for row in content["people"]}
        papers = {
            row["uid"]: Paper(edition=edition, uid=row["uid"], title=row["title"], abstract=row["abstract"])
            for row in content["papers"]
        }
        insert(Person, people)
        insert(Paper, papers)
        authors = {
            f"{row['uid']} {position}": Authorship(
                paper=papers[row["uid"]],
                person=people[author["person"]["uid"]],
                name=author["person"]["name"],
                position=position,
            )
            for row in content["papers"]
            for position, author in enumerate(row["authors"], start=1)
        }
        insert(Authorship, authors)
        talks = {
            row["uid"]: Presentation(
                edition=edition,
                uid=row["uid"],
                kind=row["kind"],
                paper=papers.get(row.get("paper")),
                title=row.get("title", ""),
            )
            for row in content["presentations"]
        }
        insert(Presentation, talks)


if __name__ == "__main__":
    main()
