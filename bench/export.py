"""How long a large edition takes to be written and read as files, and how much memory that needs.

`uv run python bench/export.py` makes an edition of papers in a SQLite file and forgets it; `--database URL`
names an empty database for this alone. `--import FILES` measures the import of other files twice. Each export
runs in a process of its own, so that its memory is its own. Prints a Markdown table, with each time also as a
ratio to reading the same rows as plain values.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SLUG = "2030"
IMPORTED = "2031"
# What is asked of a file: format, ending of its name.
EXPORTS = (("csv", "papers.csv"), ("csv", "authors.csv"), ("program_json", ".json"), ("xlsx", "papers.xlsx"))


def plainly() -> int:
    """Read the papers as plain values: what anything that writes them costs at least."""
    from papers.models import Paper

    rows = Paper.objects.filter(edition__slug=SLUG).values_list("uid", "title", "abstract").order_by()
    return sum(len(title) + len(abstract) for _, title, abstract in rows.iterator(2000))


def written(form: str, ending: str) -> Iterator[int]:
    """Write a file to nowhere; yield the sizes of its pieces."""
    from conference.models import Edition
    from exchange.exports.dump import dumped_for, writing_context
    from exchange.formats import formats

    fmt, edition = formats()[form], Edition.objects.get(slug=SLUG)
    if fmt.write:
        files = fmt.write(dumped_for(fmt, edition), writing_context(edition))
        yield from map(len, next(file.chunks for file in files if file.name.endswith(ending)))


def loaded(form: str, files: list[str]) -> Iterator[tuple[float, float, str]]:
    """Import files twice; yield the seconds, those of them spent computing, and what became of it."""
    from exchange.files import Context, Source
    from exchange.formats import formats
    from exchange.imports.load import load

    read = formats()[form].read
    for _ in range(2 if read else 0):
        start, computing = time.perf_counter(), time.process_time()
        sources = [Source(Path(file).name, Path(file).read_bytes()) for file in files]
        result = load(read(sources, Context(IMPORTED, 2031, "Asia/Seoul")), IMPORTED)  # type: ignore[misc]
        outcome = "nothing written" if result.run is None else "written"
        yield time.perf_counter() - start, time.process_time() - computing, outcome


def measure(form: str, ending: str) -> None:
    """Print one line of the table; in a process of its own."""
    next(written(form, ending))
    # The peak so far is that of starting up: what follows is the export's own.
    Path("/proc/self/clear_refs").write_text("5")
    start, computing, first, size = time.perf_counter(), time.process_time(), 0.0, 0
    for piece in written(form, ending):
        first = first or time.perf_counter() - start
        size += piece
    took, computing = time.perf_counter() - start, time.process_time() - computing
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(lines["VmHWM"].split()[0]) / 1024
    start = time.perf_counter()
    plainly()
    base = time.perf_counter() - start
    times = f"{took:.1f} | {computing:.1f} | {first * 1000:.0f}"
    print(f"| {form} {ending} | {times} | {size / 1e6:.0f} | {peak:.0f} | {took / base:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure files of a large program.")
    parser.add_argument("--papers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", help="address of a database for this alone; filled if it is empty")
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
    from bench.largeprogram import empty_edition, fill
    from papers.models import Paper

    start = time.perf_counter()
    if not Paper.objects.exists():
        fill(options.papers, options.seed)
        with connection.cursor() as cursor:
            # A server counts its rows by itself, but later than this.
            cursor.execute("ANALYZE")
        print(f"Made in {time.perf_counter() - start:.0f} s.\n")
    print(
        "| file | s | of that, this process computing | first byte ms | MB "
        "| peak memory MB | / reading the rows |"
        "\n|---|---|---|---|---|---|---|"
    )
    for form, ending in EXPORTS:
        database = ["--database", os.environ["DATABASE_URL"]]
        subprocess.run([sys.executable, __file__, *database, "--only", form, ending], check=True)
    if options.files:
        empty_edition(IMPORTED)
        for name, (took, computing, outcome) in zip(
            ("First", "Second"), loaded("orals_posters", options.files), strict=True
        ):
            print(
                f"\n{name} import: {took:.1f} s, {computing:.1f} s of them computing: {outcome}.", flush=True
            )


if __name__ == "__main__":
    main()
