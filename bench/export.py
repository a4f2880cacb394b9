"""How long 100,000 papers take as CSV, and how much memory.

`uv run -m bench.export [--database URL]`. The export runs in a process of its own, whose peak is its own.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from bench.harness import Results, analyze, django_on, measure, parser

FORMAT, FILE = "csv", "papers.csv"
SECONDS, MEGABYTES = 8, 250


def main() -> None:
    options = parser(__doc__, papers=100_000)
    options.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    with django_on(chosen.database):
        if chosen.write:
            write()
            return
        from django.db import connection

        from bench.large import fill
        from papers.models import Paper

        if not Paper.objects.exists():
            fill(chosen.papers)
        analyze()
        results = Results("export", connection.vendor, chosen.papers)
        command = [sys.executable, "-m", "bench.export", "--write", "--database", os.environ["DATABASE_URL"]]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        clock, computed, size, peak = map(float, output.split())
        results.add("papers.csv: computing", computed, "s", at_most=SECONDS)
        results.add("papers.csv: by the clock", clock, "s")
        results.add("papers.csv: peak memory", peak, "MB", at_most=MEGABYTES)
        results.add("papers.csv: size", size, "MB")
        if chosen.save:
            results.save()


def write() -> None:
    """Write the file to nowhere; print seconds by the clock and computing, its size and the peak in MB."""
    from bench.large import SLUG
    from conference.models import Edition
    from exchange.exports.dump import dumped_for, writing_context
    from exchange.formats import formats

    sizes: list[int] = []

    def export() -> None:
        fmt, edition = formats()[FORMAT], Edition.objects.get(slug=SLUG)
        if fmt.write is None:
            raise SystemExit(f"{FORMAT} cannot be written.")
        files = fmt.write(dumped_for(fmt, edition), writing_context(edition))
        sizes.extend(map(len, next(file.chunks for file in files if file.name.endswith(FILE))))

    clock, computed = measure(export)
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024
    print(clock / 1000, computed / 1000, sum(sizes) / 1e6, peak)


if __name__ == "__main__":
    main()
