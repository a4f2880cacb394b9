"""Benchmark of pages: from the page cache, and the first view after a change.

`uv run -m bench.pages [--database URL]`. Needs wrk.

Cached pages are compared with a minimal Django view that returns the same bytes, in turns. First views are
rendered in this process without the page cache, after some other views as warm-up.
"""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.harness import (
    SITE,
    Sample,
    client,
    count_queries,
    fetch,
    granian,
    measure,
    parser,
    program,
    rate,
    report,
    sample,
)

if TYPE_CHECKING:
    from django.test import Client

WARM = ("paper", "person", "session", "poster session", "day", "list of papers", "home page")
TURNS = 3
TURN_SECONDS = 2
RATIO = 1.5
# Views that are not measured, and those that are.
WARM_UPS, TIMES = 2, 7
LARGE_MS, SMALL_MS, SEARCH_MS = 200, 80, 90
# What the search index takes to follow a change of one row, in its transaction.
FOLLOW_MS = 20
LARGE = ("poster session", "day", "day as grid", "list of papers", "list of people", "home page")
MAX_QUERIES = 16
# Headers that are set per response or connection.
OWN_HEADERS = {"connection", "date", "server", "transfer-encoding"}


def main() -> None:
    with program("pages", parser(__doc__).parse_args()) as folder:
        rows = sample()
        warm(rows, folder)
        following(rows)
        first_views(rows)


def following(rows: Sample) -> None:
    """Measure what it takes in the transaction of each change to index what it affects."""
    from content.history import changed_rows

    times: list[float] = []
    followers = [*changed_rows.FOLLOWERS]

    def follow(changes: changed_rows.Changes) -> None:
        times.append(sum(measure(follower, changes) for follower in followers))

    changed_rows.FOLLOWERS[:] = [follow]
    for name, change in row_changes(rows).items():
        times.clear()
        for _ in range(WARM_UPS + TIMES):
            change()
        report(f"search index after {name}: computing", median(times[WARM_UPS:]), "ms", at_most=FOLLOW_MS)
    changed_rows.FOLLOWERS[:] = followers


def warm(rows: Sample, folder: Path) -> None:
    """Compare cached pages with a view that returns the same bytes."""
    addresses = [rows.pages()[name]() for name in WARM]
    with granian(SITE) as site:
        # Fetch pages repeatedly, because each process has its own cache.
        for address in addresses * 20:
            fetch(site.address + address)
        headers = []
        for number, address in enumerate(addresses):
            body, response_headers = fetch(site.address + address)
            (folder / str(number)).write_bytes(body)
            headers.append(
                {name: value for name, value in response_headers.items() if name.lower() not in OWN_HEADERS}
            )
        (folder / "headers.json").write_text(json.dumps(headers))
        with granian("bench.bare:application", {"BARE_FOLDER": str(folder)}) as bare:
            for number, (name, address) in enumerate(zip(WARM, addresses, strict=True)):
                urls = (site.address + address, f"{bare.address}/{number}")
                turns = [[rate(url, TURN_SECONDS) for url in urls] for _ in range(TURNS)]
                ratio = median(cached / plain for cached, plain in turns)
                report(f"{name}, cached: rate", median(cached for cached, _ in turns), "/s")
                report(f"{name}, cached: times the rate of a bare view", ratio, "", at_least=RATIO)


def first_views(rows: Sample) -> None:
    """Measure the first view of each page after each change, and report the slowest."""
    for name, address in rows.pages().items():
        limit = SEARCH_MS if name.startswith("search") else LARGE_MS if name in LARGE else SMALL_MS
        views = {change_name: first_view(address, change) for change_name, change in changes(rows).items()}
        change_name, (milliseconds, _) = max(views.items(), key=lambda pair: pair[1][0])
        report(f"{name}, first view after {change_name}: computing", milliseconds, "ms", at_most=limit)
        max_queries = max(queries for _, queries in views.values())
        report(f"{name}, first view after a change: queries", max_queries, "", at_most=MAX_QUERIES)


def first_view(
    address: Callable[[], str], change: Callable[[], None], browser: "Client | None" = None
) -> tuple[float, int]:
    """Return the CPU milliseconds of the first view after a change, and its queries."""
    browser, times = browser or client(), []
    for _ in range(WARM_UPS + TIMES):
        change()
        times.append(measure(browser.get, address()))
    change()
    return median(times[WARM_UPS:]), count_queries(browser, address())


def changes(rows: Sample) -> dict[str, Callable[[], None]]:
    """Return functions that change what the pages show, by name. They can be repeated."""
    from content.revision import advance
    from operations.indexing.update import refresh

    def invalidate_all() -> None:
        """Invalidate the edition and the site, as after an import, whose task compares the search index."""
        advance([rows.edition.pk, None])
        refresh()

    return {**row_changes(rows), "a change of everything": invalidate_all}


def row_changes(rows: Sample) -> dict[str, Callable[[], None]]:
    """Return functions that change one row, by name."""
    paper, neighbor = rows.paper, rows.neighbor
    poster = paper.presentations.filter(kind="poster")[0]
    author = paper.authorships.order_by("position")[0]

    def retitle() -> None:
        """Change the title, and so the position in sorted lists."""
        paper.title = f"{'A' if paper.title.startswith('Z') else 'Z'}{paper.title[1:]}"
        paper.save()

    def move() -> None:
        poster.board = "1" if poster.board == "2" else "2"
        poster.save()

    def mark_author() -> None:
        author.corresponding = not author.corresponding
        author.save()

    def withdraw() -> None:
        neighbor.status = "published" if neighbor.status == "withdrawn" else "withdrawn"
        neighbor.save()

    return {
        "a new title": retitle,
        "a move to another board": move,
        "a change of an author": mark_author,
        "a withdrawal of another paper": withdraw,
    }


if __name__ == "__main__":
    main()
