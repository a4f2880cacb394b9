"""Benchmark of uncached files: those of a schedule, or 100,000 papers as CSV.

`uv run -m bench.files [--database URL]` writes `schedule.xml`, `schedule.json` and the calendar of all
papers. With `--csv` it writes the papers of a larger program, in a separate process to measure its memory.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench import generate
from bench.harness import client, cpu_seconds, parser, program, report, sample

TIMES = 5
LIMITS_MS = {"schedule.xml": 1_000, "schedule.json": 1_000, "papers.ics": 2_000}
CALENDAR_TALKS = 4_000
COPIED_PAPERS, BATCH_ROWS = 5_000, 1_000
CSV_PAPERS, CSV_SECONDS, CSV_MEGABYTES = 100_000, 8, 250


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--csv", type=int, nargs="?", const=CSV_PAPERS, help="papers as CSV: how many")
    arguments = options.parse_args()
    if arguments.csv:
        measure_csv(arguments)
    else:
        measure_schedule(arguments)


def measure_schedule(options: argparse.Namespace) -> None:
    with program("files", options):
        root = sample().edition.get_absolute_url()
        for name, limit in LIMITS_MS.items():
            milliseconds, body = measure_after_change(f"{root}{name}")
            talks = body.count(b"BEGIN:VEVENT")
            share = CALENDAR_TALKS / talks if talks else 1
            label = f"{name}, for each {CALENDAR_TALKS:,} talks" if talks else name
            report(f"{label}: computing", milliseconds * share, "ms", at_most=limit)


def measure_after_change(address: str) -> tuple[float, bytes]:
    """Return the minimum of CPU milliseconds after an invalidation of all editions, and the file."""
    from conference.models import Edition
    from content.revision import advance

    editions = [*Edition.objects.values_list("pk", flat=True), None]
    browser, times, body = client(), [], b""
    for _ in range(TIMES):
        advance(editions)
        start = cpu_seconds()
        body = browser.get(address).getvalue()
        times.append((cpu_seconds() - start) * 1000)
    return min(times[1:]), body


def measure_csv(options: argparse.Namespace) -> None:
    options.papers = options.csv
    with program("csv", options, fill_large):
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            seconds, size, peak = pool.submit(write_csv).result()
        report("papers.csv: computing", seconds, "s", at_most=CSV_SECONDS)
        report("papers.csv: peak memory", peak, "MB", at_most=CSV_MEGABYTES)
        report("papers.csv: size", size, "MB")


def fill_large(number: int) -> None:
    """Create an edition with this number of papers, by copies of a smaller program and its authors."""
    from django.db.models import QuerySet

    from papers.models import Authorship, Paper

    generate.fill(min(number, COPIED_PAPERS))
    papers = [*Paper.objects.order_by("pk")]
    authorships = [*Authorship.objects.order_by("pk")]
    # A plain queryset bypasses the history and the search index.
    rows: QuerySet[Paper] = QuerySet(Paper)
    authors: QuerySet[Authorship] = QuerySet(Authorship)
    for copy in range(1, number // COPIED_PAPERS):
        by_original = {}
        for paper in papers:
            original, paper.pk, paper.uid = paper.pk, None, f"{paper.uid[:10]}-{copy}"
            by_original[original] = paper
        rows.bulk_create(papers, batch_size=BATCH_ROWS)
        for authorship in authorships:
            authorship.pk, authorship.paper = None, by_original[authorship.paper_id]
        authors.bulk_create(authorships, batch_size=BATCH_ROWS)


def write_csv() -> tuple[float, float, float]:
    """Write the file without storing it; return CPU seconds, size and peak memory of the process in MB."""
    import django

    django.setup()
    from conference.models import Edition
    from exchange.exports.dump import dump_for_format, writing_context
    from exchange.formats import csv_files

    start, edition = cpu_seconds(), Edition.objects.get()
    files = csv_files.write(dump_for_format(csv_files.FORMAT, edition), writing_context(edition))
    size = sum(map(len, next(file.chunks for file in files if file.name.endswith("papers.csv"))))
    seconds = cpu_seconds() - start
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    return seconds, size / 1e6, int(peak) / 1024


if __name__ == "__main__":
    main()
