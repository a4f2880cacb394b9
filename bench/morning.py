"""The opening morning: many readers through nginx, while chairs edit and import.

`uv run python bench/morning.py` fills a SQLite file by `bench.generate` and forgets it; `--database URL`
names a database for this alone, with `CACHE_URL` processes share their pages. Readers come at a steady rate,
whether or not answers do; the time of an answer counts from when it was due. It ends when it should, however
slow the site is: who could not even ask by then is counted. Needs nginx. Prints a Markdown table.
"""

import argparse
import csv
import http.client
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import servers  # noqa: E402
from bench.morningseen import HALF_MINUTE, Seen, answered, report, report_work  # noqa: E402
from bench.pages import program  # noqa: E402

READERS = 64
EDIT_EVERY = 5.0
# So many papers are imported in the middle.
IMPORTED = 500
# So long may a reader, the looker or the import take after the end (seconds).
PATIENCE = 10
# So long the import's code may take to be compiled, before anybody reads.
READY_IN = 60
TOKEN = "counting-the-morning"  # noqa: S105  for this run alone
# With a mark of its own: a database that is used again shows what was edited before.
EDITED = f"Opening morning {int(time.time())}, edition"
WORDS = ("learning", "graph", "attention", "memory", "quantum", "ada", "sparse", "model", "kernels", "vision")
# How much more some pages are asked for than others: places are drawn as this power of an even number.
SKEW = 4
# What readers ask for, in hundredths.
MIX = {"home": 20, "day": 25, "session": 15, "paper": 22, "search": 8, "person": 4, "ics": 3, "api": 3}


@dataclass(slots=True)
class Edits:
    """The versions of one paper, by the moment at which each was committed."""

    moments: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure an opening morning.")
    asked.add_argument("--papers", type=int, default=6_000)
    asked.add_argument("--database", help="a database for this alone; filled if it is empty")
    asked.add_argument("--seconds", type=int, default=300)
    asked.add_argument("--rate", type=int, default=600, help="requests a second")
    asked.add_argument("--warm", type=int, default=0, help="seconds of reading before it is measured")
    asked.add_argument("--no-import", action="store_true", help="edits alone")
    options = asked.parse_args()
    with program(options.database, options.papers) as folder:
        addresses, paper = asked_for()
        imported = None if options.no_import else importing(paper.edition, folder)
        counting = servers.counting(folder / "metrics", TOKEN)
        with (
            servers.granian("website.wsgi:application", {"BEHIND_PROXY": "true", **counting}) as site,
            servers.micro_cache(folder, site) as front,
        ):
            if options.warm:
                read(front, addresses, Seen(), options.rate, options.warm, "evening")
            before = servers.counts(site, TOKEN)
            seen = morning(front, addresses, paper, imported, options)
            counts = {name: n - before.get(name, 0) for name, n in servers.counts(site, TOKEN).items()}
        report(seen, options)
        report_work(counts)


def asked_for() -> tuple[dict[str, list[str]], Any]:
    """Return addresses by kind of page, and the paper that is going to be edited."""
    from django.db.models import Count
    from django.urls import reverse

    from conference.models import Edition
    from people.models import Person

    edition = Edition.objects.published().annotate(size=Count("papers")).order_by("-size")[0]
    root = edition.get_absolute_url()
    papers = list(edition.papers.published().order_by("pk").select_related("edition")[:2000])
    sessions = list(edition.sessions.published().select_related("edition"))
    days = sorted(edition.sessions.published().program_days(edition.day_of))
    people = Person.objects.filter(authorships__paper__in=papers[:200]).distinct()[:200]
    talk = edition.presentations.published().filter(paper__in=papers[:50])
    calendars = [reverse("exchange:presentation_calendar", args=[edition.slug, one.uid]) for one in talk]
    addresses = {
        "home": [root],
        "day": [f"{root}schedule/{day}/" for day in days],
        "session": [session.get_absolute_url() for session in sessions],
        "paper": [paper.get_absolute_url() for paper in papers],
        "search": [f"/search/?q={quote(word)}" for word in WORDS],
        "person": [person.get_absolute_url() for person in people],
        "ics": calendars,
        "api": [f"/api/v1/papers/?edition={edition.slug}&page_size=20"],
    }
    return addresses, papers[7]


def morning(
    front: str,
    addresses: dict[str, list[str]],
    paper: Any,
    imported: Callable[[float], object] | None,
    options: argparse.Namespace,
) -> Seen:
    """Let readers in for so many seconds, and chairs work beside them."""
    seen, edits = Seen(), Edits()
    host = front.removeprefix("http://")
    others = [
        threading.Thread(target=edit, args=(paper, edits)),
        threading.Thread(target=look, args=(host, paper, edits, seen)),
    ]
    if imported:
        wanted = (imported, options.seconds / 2, options.seconds + PATIENCE)
        others.append(threading.Thread(target=take_in, args=wanted))
    for thread in others:
        thread.start()
    read(front, addresses, seen, options.rate, options.seconds)
    seen.unasked = max(0, options.seconds * options.rate - answered(seen))
    edits.ended.set()
    for thread in others:
        thread.join()
    return seen


def read(
    front: str, addresses: dict[str, list[str]], seen: Seen, rate: int, seconds: int, name: str = "morning"
) -> None:
    """Let a crowd read at a steady rate for so many seconds; one of another name opens other pages."""
    host, began = front.removeprefix("http://"), time.perf_counter()
    due, lock = count(), threading.Lock()

    def next_due() -> float:
        with lock:
            number: int = next(due)
        return began + number / float(rate)

    span = began, began + seconds
    crowd = [
        threading.Thread(
            target=reader, args=(host, addresses, next_due, span, seen, random.Random(f"{name} {number}"))
        )
        for number in range(READERS)
    ]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()


def reader(
    host: str,
    addresses: dict[str, list[str]],
    next_due: Any,
    span: tuple[float, float],
    seen: Seen,
    dice: random.Random,
) -> None:
    """Ask for one page after the other, each when it is due or as soon as there is time, until the end."""
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    kinds, weights = list(MIX), list(MIX.values())
    began, end = span
    while (due := next_due()) < end and time.perf_counter() < end:
        time.sleep(max(0.0, due - time.perf_counter()))
        (kind,) = dice.choices(kinds, weights)
        # Half of those who open a paper open one of the six best known in a hundred.
        address = addresses[kind][int(len(addresses[kind]) * dice.random() ** SKEW)]
        try:
            connection.request("GET", address, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            seen.errors.append(f"{address}: {error}")
            continue
        took = time.perf_counter() - due
        seen.seconds[kind].append(took)
        seen.by_time[int((due - began) // HALF_MINUTE)].append(took)
        # A paper's slug follows its title.
        if answer.status not in (http.client.OK, http.client.MOVED_PERMANENTLY):
            seen.errors.append(f"{address}: {answer.status}")
    connection.close()


def edit(paper: Any, edits: Edits) -> None:
    """Give the paper another title every few seconds."""
    while not edits.ended.wait(EDIT_EVERY):
        paper.title = f"{EDITED} {len(edits.moments) + 1}"
        paper.save()
        edits.moments.append(time.perf_counter())


def look(host: str, paper: Any, edits: Edits, seen: Seen) -> None:
    """Read the edited paper all the time: how far is what is shown behind what was committed?"""
    address, last = paper.get_absolute_url(), 0
    while not edits.ended.wait(0.02):
        connection = http.client.HTTPConnection(host, timeout=PATIENCE)
        asked, committed = time.perf_counter(), len(edits.moments)
        connection.request("GET", address)
        answer = connection.getresponse()
        if answer.status == http.client.MOVED_PERMANENTLY:
            # Its slug follows its title.
            address = answer.getheader("Location", address)
            last_page = b""
        else:
            last_page = answer.read()
        connection.close()
        found = re.search(rf"<h1>{EDITED} (\d+)</h1>", last_page.decode())
        version = int(found[1]) if found else last
        seen.backwards += version < last
        if last_page and version < committed:
            seen.behind.append(asked - edits.moments[version])
        last = max(last, version)


def importing(edition: Any, folder: Path) -> Callable[[float], object]:
    """Return what imports another abstract for 500 papers all over the program, in a process of its own.

    A worker has its code compiled and loaded before there is something to do; here it is compiled.
    """
    papers = list(edition.papers.published().order_by("uid"))
    file = folder / "papers.csv"
    with file.open("w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(("uid", "title", "abstract"))
        for paper in papers[:: max(1, len(papers) // IMPORTED)][:IMPORTED]:
            rows.writerow((paper.uid, paper.title, f"{paper.abstract} {EDITED}."))
    compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    # It gives way as the worker does.
    command = ["nice", "-n", "10", sys.executable, "manage.py", "import_program", "tables", str(file)]
    command += [f"--edition={edition.slug}", "--no-progress", "--skip-checks", "-v0"]

    def run(patience: float, *more: str) -> object:
        return subprocess.run(
            [*command, *more], cwd=ROOT, check=True, timeout=patience, env=os.environ | compiled
        )

    run(READY_IN, "--dry-run")
    return run


def take_in(imported: Callable[[float], object], wait: float, end: float) -> None:
    """Import when the wait is over, until the end at most."""
    time.sleep(wait)
    imported(end - wait)


if __name__ == "__main__":
    main()
