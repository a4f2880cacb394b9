"""How fast the pages of a large program are, warm and cold, beside what is possible on the same machine.

`uv run python bench/pages.py` fills a SQLite file by `bench.generate` and forgets it; `--database URL`
names a database for this alone, which is kept and used again. Needs wrk and nginx. Prints Markdown tables.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import generate, servers  # noqa: E402

COLD = 7
# PostgreSQL keeps a plan of what a connection asked so often: a server that was used has these.
SETTLED = 8
OPEN = "open_file_cache max=100;"


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure pages.")
    asked.add_argument("--papers", type=int, default=6_000, help="of each edition")
    asked.add_argument("--editions", type=int, default=1)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    asked.add_argument("--seconds", type=int, default=3, help="for each figure")
    asked.add_argument("--only", choices=("warm", "cold"))
    options = asked.parse_args()
    with program(options.database, options.papers, options.editions) as folder:
        addresses = pages()
        if options.only != "warm":
            cold(addresses)
        if options.only != "cold":
            warm(addresses, folder, options.seconds)


@contextmanager
def program(database: str | None, papers: int, editions: int = 1) -> Iterator[Path]:
    """Set Django up on a database with a program; yield a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLENARY_VAR_DIR"] = folder
        os.environ["DATABASE_URL"] = database or f"sqlite:///{folder}/bench.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "conference.settings"
        import django

        django.setup()
        fill(papers, editions)
        yield Path(folder)


def fill(papers: int, editions: int) -> None:
    """Make the program, unless the database has one."""
    from django.core.management import call_command
    from django.db import connection

    from conference.models import Edition
    from papers.models import Paper

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    if not Edition.objects.exists():
        generate.fill(papers, editions)
        with connection.cursor() as cursor:
            # As it comes by itself some minutes after an import.
            cursor.execute("ANALYZE")
    print(f"## {connection.vendor}, {Paper.objects.count():,} papers, {Edition.objects.count()} editions\n")


def pages() -> dict[str, str]:
    """Return the addresses of the pages that most people open, by what they are."""
    from django.db.models import Count

    from conference.models import Edition
    from papers.models import Paper
    from people.models import Person
    from schedule.models import Session

    edition = Edition.objects.published().annotate(size=Count("papers")).order_by("-size", "-year")[0]
    root = edition.get_absolute_url()
    sessions = Session.objects.filter(edition=edition).annotate(size=Count("presentations"))
    posters = sessions.order_by("-size")[0]
    oral = sessions.filter(kind=Session.Kind.ORAL).order_by("-size", "pk")[0]
    paper = Paper.objects.filter(edition=edition, status="published").order_by("pk")[7]
    writer = Person.objects.annotate(size=Count("authorships")).order_by("-size", "pk")[0]
    day = f"{posters.start.astimezone(edition.zone):%Y-%m-%d}"
    return {
        "home": root,
        "day": f"{root}schedule/{day}/",
        "day as grid": f"{root}schedule/{day}/?view=grid",
        f"session of {posters.size} posters": posters.get_absolute_url(),
        f"session of {oral.size} talks": oral.get_absolute_url(),
        "paper": paper.get_absolute_url(),
        f"person with {writer.size} papers": writer.get_absolute_url(),
        "papers list": f"{root}papers/",
        "papers list, page 40": f"{root}papers/?page=40",
        "awards": f"{root}awards/",
    }


def cold(addresses: dict[str, str]) -> None:
    """Print how long a page takes that nobody asked for since the last change, and how many queries.

    What the pages of an edition share, such as its menus, was read for another page; what the first of all
    pages takes after a change stands in a table of its own.
    """
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(SERVER_NAME="127.0.0.1")
    base = median(seconds(client, "/static/nothing") for _ in range(COLD))
    print("### Cold: through Django, nothing kept\n")
    print("| page | queries | ms | of that computing | KB | / a 404 |")
    print("|---" * 6 + "|")
    for name, address in addresses.items():
        for _ in range(SETTLED):
            client.get(address)
        with CaptureQueriesContext(connection) as queries:
            size = len(client.get(address).content)
            number = len(queries)
        times, works = zip(*(both(client, address) for _ in range(COLD)), strict=True)
        took, work = median(times), median(works)
        numbers = f"{number} | {took * 1000:.1f} | {work * 1000:.1f} | {size / 1000:.0f} | {took / base:.1f}"
        print(f"| {name} | {numbers} |", flush=True)
    print("\n### First page of a process after a change: queries, ms\n")
    print(f"| page | {' | '.join(CHANGES)} |")
    print("|---" * (len(CHANGES) + 1) + "|")
    for name, address in addresses.items():
        firsts = (first_after(client, address, change) for change in CHANGES.values())
        print(
            f"| {name} | {' | '.join(f'{number}, {took * 1000:.1f}' for took, number in firsts)} |",
            flush=True,
        )
    print()


def first_after(client: Any, address: str, change: Callable[[], object]) -> tuple[float, int]:
    """Return the seconds for the first page after a change, and the queries of one such."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times = []
    for _ in range(SETTLED + COLD):
        change()
        times.append(seconds(client, address))
    change()
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return median(times[SETTLED:]), len(queries)


def retitle() -> None:
    """Change a title so that papers stand in another order."""
    paper = some_paper()
    paper.title = f"{'A' if paper.title.startswith('Z') else 'Z'}{paper.title[1:]}"
    paper.save()


def move() -> None:
    """Let a poster stand elsewhere."""
    poster = some_paper().presentations.order_by("pk")[0]
    poster.board = str(1 + int(poster.board or 0) % 900) if poster.board.isdecimal() else "1"
    poster.save()


def withdraw() -> None:
    """Take a paper out of the program, or back into it."""
    paper = some_paper()
    paper.status = "published" if paper.status == "withdrawn" else "withdrawn"
    paper.save()


def mark_author() -> None:
    """Change something of an author of a paper."""
    author = some_paper().authorships.order_by("position")[0]
    author.corresponding = not author.corresponding
    author.save()


def change_all() -> None:
    """Change editions and site in a way that is not noted, as a repair of the stamps does."""
    from conference.models import Edition
    from content.revision import advance

    advance([*Edition.objects.values_list("pk", flat=True), None])


def some_paper() -> Any:
    """Return a paper of the largest edition whose poster is not measured."""
    from papers.models import Paper
    from schedule.models import Presentation

    poster = Presentation.objects.filter(kind="poster", paper__isnull=False).order_by("pk")[11]
    return Paper.objects.get(pk=poster.paper_id)


CHANGES: dict[str, Callable[[], object]] = {
    "title": retitle,
    "board of a poster": move,
    "author": mark_author,
    "withdrawal": withdraw,
    "everything": change_all,
}


def both(client: Any, address: str) -> tuple[float, float]:
    """Return the seconds by the clock and of this process for one answer."""
    work, start = time.process_time(), time.perf_counter()
    client.get(address)
    return time.perf_counter() - start, time.process_time() - work


def seconds(client: Any, address: str) -> float:
    """Return the seconds by the clock for one answer."""
    return both(client, address)[0]


def warm(addresses: dict[str, str], folder: Path, lasting: int) -> None:
    """Print how many answers a second leave the page cache, and what other ways to the same bytes give."""
    with servers.granian("website.wsgi:application", {"BEHIND_PROXY": "true"}) as site:
        kept = {name: answer(site + address) for name, address in addresses.items()}
        rates = {
            name: list(own_rates(site + address, kept[name][1], lasting))
            for name, address in addresses.items()
        }
        with servers.micro_cache(folder, site) as front:
            behind = {name: rate_behind(front + address, lasting) for name, address in addresses.items()}
    save(folder / "bare", [kept[name] for name in addresses])
    with servers.granian("bench.bare:application", {"BARE_FOLDER": str(folder / "bare")}) as bare:
        for number, name in enumerate(addresses):
            rates[name] += [servers.rate(f"{bare}/{kind}/{number}", lasting) for kind in ("view", "wsgi")]
    with (
        servers.nginx(folder / "nginx", f"root {folder}/bare; default_type text/html; {OPEN}") as files,
        servers.bare_cache(folder, files) as cache,
    ):
        for number, name in enumerate(addresses):
            rates[name] += [servers.rate(f"{where}/{number}", lasting) for where in (files, cache)]
    print(f"### Warm: requests a second, {servers.WORKERS} workers, 16 connections, compressed\n")
    columns = ("page", "KB on the wire", "kept", "304", "bare view", "WSGI function", "nginx file")
    fronts = ("nginx cache alone", "behind nginx", "/ view", "/ WSGI", "/ file", "cache alone / file")
    print(f"| {' | '.join((*columns, *fronts))} | behind nginx / file |")
    print("|---" * 14 + "|")
    for name, (page, known, view, function, file, alone) in rates.items():
        size = len(kept[name][0]) / 1000
        all_rates = (page, known, view, function, file, alone, behind[name])
        numbers = " | ".join(f"{number:,.0f}" for number in all_rates)
        ratios = " | ".join(f"{page / other:.2f}" for other in (view, function, file))
        ratios += f" | {alone / file:.2f} | {behind[name] / file:.2f}"
        print(f"| {name} | {size:.1f} | {numbers} | {ratios} |", flush=True)


def answer(address: str) -> tuple[bytes, dict[str, str]]:
    """Return the compressed bytes of a page and its headers, from a cache that has it."""
    kept = b"", dict[str, str]()
    for _ in range(20):
        with urlopen(Request(address, headers={"Accept-Encoding": "gzip"})) as reply:  # noqa: S310
            kept = reply.read(), dict(reply.headers.items())
    return kept


def rate_behind(address: str, lasting: int) -> float:
    """Return answers a second of the shipped nginx, which keeps a page to the end of the second."""
    answer(address)
    return servers.rate(address, lasting, {"Accept-Encoding": "gzip"})


def own_rates(address: str, headers: dict[str, str], lasting: int) -> Iterator[float]:
    """Yield answers a second: whole ones, and to readers who have the page."""
    yield servers.rate(address, lasting, {"Accept-Encoding": "gzip"})
    yield servers.rate(address, lasting, {"Accept-Encoding": "gzip", "If-None-Match": headers["etag"]})


def save(folder: Path, kept: list[tuple[bytes, dict[str, str]]]) -> None:
    """Write the bytes of the pages, and their headers, for the servers to compare with."""
    folder.mkdir()
    own = {"date", "server", "connection", "transfer-encoding"}
    for number, (body, _) in enumerate(kept):
        (folder / str(number)).write_bytes(body)
    shared = [[pair for pair in headers.items() if pair[0].lower() not in own] for _, headers in kept]
    (folder / "headers.json").write_text(json.dumps(shared))


if __name__ == "__main__":
    main()
