"""Benchmark of growth: the first view of each page after a change, by number of papers and of editions.

`uv run -m bench.growth [--sizes 600 6000] [--editions 1 20] [--database URL]`. Each program is measured in a
process and a database of its own. "{}" in the address becomes the numbers of papers and of editions,
such as "6000_1": `sqlite:////tmp/growth-{}.sqlite3` is filled once and used again.
"""

import argparse
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from bench.harness import database, growth_exponent, parser, reference_ms, sample

# 60,000 papers take ten minutes to import.
SIZES, EDITIONS = (600, 6_000), (1, 20)
PAPERS_OF_EDITIONS = 60
CHANGE = "a change of an author"
# Twice as much for ten times as many.
MAX_EXPONENT = 0.3


class Figure(NamedTuple):
    milliseconds: float
    queries: int
    # The milliseconds of the reference loop after it.
    loop: float

    def __str__(self) -> str:
        return f"{self.milliseconds:,.0f} ({self.queries}; {self.loop:.0f})"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="papers of one edition")
    options.add_argument("--editions", type=int, nargs="*", default=EDITIONS, help="numbers of editions")
    arguments = options.parse_args()
    report_growth("papers", {size: measured(arguments.database, size, 1) for size in arguments.sizes})
    by_editions = {
        number: measured(arguments.database, PAPERS_OF_EDITIONS, number) for number in arguments.editions
    }
    report_growth(f"editions with {PAPERS_OF_EDITIONS} papers", by_editions)


def measured(address: str | None, papers: int, editions: int) -> dict[str, Figure]:
    """Return the figures of a program by page, measured in a process of its own."""
    own_address = address and address.replace("{}", f"{papers}_{editions}")
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(measure_pages, own_address, papers, editions).result()


def measure_pages(address: str | None, papers: int, editions: int) -> dict[str, Figure]:
    from bench import generate

    options = argparse.Namespace(database=address, papers=papers)
    with database(options, fill=lambda _: generate.fill(papers, editions)):
        from bench.desk import sign_in
        from bench.pages import first_view, row_changes

        rows = sample()
        change = row_changes(rows)[CHANGE]
        figures = {
            name: Figure(*first_view(page, change), reference_ms()) for name, page in rows.pages().items()
        }
        _user, browser = sign_in("bench", rows.edition)
        desk = first_view(lambda: f"/admin/?edition={rows.edition.pk}", change, browser)
        return {**figures, "desk": Figure(*desk, reference_ms())}


def report_growth(unit: str, measurements: Mapping[int, Mapping[str, Figure]]) -> None:
    """Print milliseconds, with queries and reference loop, by size, and the exponent of their last step.

    Milliseconds are divided by those of the loop first: the machine may be busier during one of the sizes.
    """
    if not measurements:
        return
    sizes = " | ".join(f"{size:,}" for size in measurements)
    print(f"\n# First view after {CHANGE}, by {unit}: ms (queries; reference loop in ms)\n")
    print(f"| page | {sizes} | exponent |\n|---|{'---|' * len(measurements)}---|")
    for page in next(iter(measurements.values())):
        figures = {size: figures_of_size[page] for size, figures_of_size in measurements.items()}
        exponent = ""
        if len(figures) > 1:
            slope = growth_exponent(
                {size: figure.milliseconds / figure.loop for size, figure in figures.items()}
            )
            exponent = f"{slope:.2f}{' MISSED' if slope > MAX_EXPONENT else ''}"
        print(f"| {page} | {' | '.join(map(str, figures.values()))} | {exponent} |", flush=True)


if __name__ == "__main__":
    main()
