"""Benchmark of one, two and four processes: throughput for a paper's page, and memory of the largest.

`uv run -m bench.workers [--database URL]`. Needs wrk. Memory is measured after requests of all kinds.
"""

import time

from bench.harness import SITE, UNCACHED_SITE, fetch, granian, parser, program, rate, report, sample

NUMBERS = (1, 2, 4)
SECONDS = 4
# The number of pages of papers and of people, of lists, and of repetitions of other pages.
ROWS, LISTS, TIMES = 1_000, 39, 4
LIMIT_MB = 220
# The seconds to wait until the memory of the last responses is freed.
SETTLING_SECONDS = 5


def main() -> None:
    with program("workers", parser(__doc__).parse_args()):
        page, addresses = sample().paper.get_absolute_url(), sample_addresses()
        for number in NUMBERS:
            for application, state in ((UNCACHED_SITE, "uncached"), (SITE, "cached")):
                with granian(application, workers=number) as site:
                    # Fetch the page repeatedly, because each process has its own cache.
                    for _ in range(2 * number):
                        fetch(site.address + page)
                    pages = rate(site.address + page, SECONDS)
                    report(f"{number} processes: {state} pages of papers", pages, "/s")
                    if application == SITE:
                        for address in addresses:
                            fetch(site.address + address)
                        time.sleep(SETTLING_SECONDS)
                        name = f"{number} processes: memory of the largest"
                        report(name, site.memory(), "MB", at_most=LIMIT_MB)


def sample_addresses() -> list[str]:
    """Return addresses of pages, searches, files and the API."""
    from papers.views import PAGE_SIZE
    from people.models import Person

    rows = sample()
    edition, root = rows.edition, rows.edition.get_absolute_url()
    papers = edition.papers.published().order_by("pk").select_related("edition")[:ROWS]
    people = Person.objects.published().order_by("pk")[:ROWS]
    pages = [address() for address in rows.pages().values()]
    last = -(-edition.papers.published().count() // PAGE_SIZE)
    pages += [f"{root}papers/?page={number}" for number in range(1, min(last, LISTS) + 1)]
    pages += [f"/search/?q={word}" for word in ("learning", "graph", "attention", "sparse", "model")]
    files = ("schedule.xml", "schedule.json", "papers.ics", "posters/", "awards/")
    pages += [f"{root}{name}" for name in files]
    pages += [f"/api/v1/papers/?edition={edition.slug}&page_size={size}" for size in (20, 50, 100)]
    return [*(row.get_absolute_url() for row in (*papers, *people)), *pages * TIMES]


if __name__ == "__main__":
    main()
