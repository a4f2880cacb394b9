"""The opening morning: many readers through nginx, while chairs edit and import.

`uv run -m bench.morning [--database URL]`. Needs nginx. Readers come at a steady rate, whether or not
responses do: the time of a response counts from the moment at which its request was due.
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
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bench.harness import (
    GZIP,
    ROOT,
    SITE,
    Results,
    fetch,
    granian,
    nginx,
    parser,
    percentile,
    program,
    sample,
)

if TYPE_CHECKING:
    from conference.models import Edition
    from papers.models import Paper

READERS = 64
EDIT_SECONDS = 5.0
IMPORTED_PAPERS = 500
# How long a reader may wait, and how long the import may go on after the end.
PATIENCE_SECONDS = 10
DRY_RUN_SECONDS = 120
LIMIT_MS, LIMIT_BEHIND_SECONDS = 250, 10
# With a mark of its own: a database that is used again shows earlier edits.
EDITED = f"Opening morning {int(time.time())}, edition"
WORDS = ("learning", "graph", "attention", "memory", "quantum", "ada", "sparse", "model", "kernels", "vision")
# Some pages are read far more than others: places are drawn as this power of an even number.
SKEW = 4
# What readers request, in hundredths.
MIX = {"home": 20, "day": 25, "session": 15, "paper": 22, "search": 8, "person": 4, "ics": 3, "api": 3}
TOKEN = "counting-the-morning"  # noqa: S105  for this run alone

type Addresses = dict[str, list[str]]


@dataclass(slots=True)
class Seen:
    """What readers got: seconds by kind of page, errors, and seconds that a look at the edit was behind."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    behind: list[float] = field(default_factory=lambda: [0.0])
    went_back: int = 0

    @property
    def responses(self) -> int:
        return sum(map(len, self.seconds.values())) + len(self.errors)


@dataclass(slots=True)
class Edits:
    """The moments at which versions of one paper were committed."""

    moments: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--seconds", type=int, default=120)
    options.add_argument("--rate", type=int, default=600, help="requests a second")
    options.add_argument("--warm", type=int, default=150, help="seconds of reading before")
    chosen = options.parse_args()
    with program("morning", chosen) as (folder, results):
        paper, addresses = sample().paper, requested()
        run_import = importing(paper.edition, folder)
        counting = {"METRICS_TOKEN": TOKEN, "METRICS_DIR": str(folder / "metrics"), "BEHIND_PROXY": "true"}
        (folder / "metrics").mkdir()
        with granian(SITE, counting) as site, nginx(folder / "nginx", site) as front:
            read(front, addresses, Seen(), chosen.rate, chosen.warm, "evening")
            before = counts(site)
            seen = morning(front, addresses, paper, run_import, chosen)
            after = counts(site)
        report(seen, chosen, results)
        report_work({name: value - before.get(name, 0) for name, value in after.items()}, results)


def requested() -> Addresses:
    """Return addresses by kind of page."""
    from django.urls import reverse

    from people.models import Person

    edition = sample().edition
    root = edition.get_absolute_url()
    papers = list(edition.papers.published().order_by("pk").select_related("edition")[:2000])
    sessions = list(edition.sessions.published().select_related("edition"))
    people = Person.objects.filter(authorships__paper__in=papers[:200]).distinct()[:200]
    talks = edition.presentations.published().filter(paper__in=papers[:50])
    return {
        "home": [root],
        "day": [f"{root}schedule/{day}/" for day in sorted({edition.day_of(one.start) for one in sessions})],
        "session": [session.get_absolute_url() for session in sessions],
        "paper": [paper.get_absolute_url() for paper in papers],
        "search": [f"/search/?q={quote(word)}" for word in WORDS],
        "person": [person.get_absolute_url() for person in people],
        "ics": [reverse("exchange:presentation_calendar", args=[edition.slug, one.uid]) for one in talks],
        "api": [f"/api/v1/papers/?edition={edition.slug}&page_size=20"],
    }


def morning(
    front: str,
    addresses: Addresses,
    paper: "Paper",
    run_import: Callable[[float], None],
    options: argparse.Namespace,
) -> Seen:
    """Let readers in for so many seconds, and chairs work beside them."""
    seen, edits = Seen(), Edits()
    host = front.removeprefix("http://")
    others = [
        threading.Thread(target=edit, args=(paper, edits)),
        threading.Thread(target=look, args=(host, paper, edits, seen)),
        threading.Thread(target=import_later, args=(run_import, options.seconds)),
    ]
    for thread in others:
        thread.start()
    read(front, addresses, seen, options.rate, options.seconds)
    edits.ended.set()
    for thread in others:
        thread.join()
    return seen


def read(
    front: str, addresses: Addresses, seen: Seen, rate: int, seconds: int, name: str = "morning"
) -> None:
    """Let a crowd read at a steady rate for so many seconds; another name opens other pages."""
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
    addresses: Addresses,
    next_due: Callable[[], float],
    span: tuple[float, float],
    seen: Seen,
    dice: random.Random,
) -> None:
    """Request one page after the other, each when it is due or as soon as there is time, until the end."""
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_SECONDS)
    kinds, weights = list(MIX), list(MIX.values())
    _, end = span
    while (due := next_due()) < end and time.perf_counter() < end:
        time.sleep(max(0.0, due - time.perf_counter()))
        (kind,) = dice.choices(kinds, weights)
        # Half of those who open a paper open one of the six best known in a hundred.
        address = addresses[kind][int(len(addresses[kind]) * dice.random() ** SKEW)]
        try:
            connection.request("GET", address, headers=GZIP)
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            seen.errors.append(f"{address}: {error}")
            continue
        seen.seconds[kind].append(time.perf_counter() - due)
        if response.status not in (http.client.OK, http.client.MOVED_PERMANENTLY):
            seen.errors.append(f"{address}: {response.status}")
    connection.close()


def edit(paper: "Paper", edits: Edits) -> None:
    """Give the paper another title every few seconds."""
    while not edits.ended.wait(EDIT_SECONDS):
        paper.title = f"{EDITED} {len(edits.moments) + 1}"
        paper.save()
        edits.moments.append(time.perf_counter())


def look(host: str, paper: "Paper", edits: Edits, seen: Seen) -> None:
    """Read the edited paper all the time: how far is what is shown behind what was committed?"""
    address, last = paper.get_absolute_url(), 0
    while not edits.ended.wait(0.02):
        connection = http.client.HTTPConnection(host, timeout=PATIENCE_SECONDS)
        asked, committed = time.perf_counter(), len(edits.moments)
        try:
            connection.request("GET", address)
            response = connection.getresponse()
            page = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            seen.errors.append(f"{address}: {error}")
            continue
        finally:
            connection.close()
        # A paper's address follows its title.
        is_moved = response.status == http.client.MOVED_PERMANENTLY
        address = response.getheader("Location", address) if is_moved else address
        found = re.search(rf"<h1>{EDITED} (\d+)</h1>", page)
        version = int(found[1]) if found else last
        seen.went_back += version < last
        if not is_moved and version < committed:
            seen.behind.append(asked - edits.moments[version])
        last = max(last, version)


def importing(edition: "Edition", folder: Path) -> Callable[[float], None]:
    """Return what imports another abstract for 500 papers, in a process of its own, within some seconds.

    A worker has its code compiled before there is something to do: a dry run compiles it here.
    """
    papers = list(edition.papers.published().order_by("uid"))
    file = folder / "papers.csv"
    with file.open("w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(("uid", "title", "abstract"))
        for paper in papers[:: max(1, len(papers) // IMPORTED_PAPERS)][:IMPORTED_PAPERS]:
            rows.writerow((paper.uid, paper.title, f"{paper.abstract} {EDITED}."))
    compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    # As the worker, it gives way to readers.
    command = ["nice", "-n", "10", sys.executable, "manage.py", "import_program", "tables", str(file)]
    command += [f"--edition={edition.slug}", "--no-progress", "--skip-checks", "-v0"]

    def run(seconds: float, *more: str) -> None:
        subprocess.run([*command, *more], cwd=ROOT, check=True, timeout=seconds, env=os.environ | compiled)

    run(DRY_RUN_SECONDS, "--dry-run")
    return run


def import_later(run_import: Callable[[float], None], seconds: float) -> None:
    """Import in the middle of the morning."""
    time.sleep(seconds / 2)
    run_import(seconds / 2 + PATIENCE_SECONDS)


def counts(site: str) -> dict[str, float]:
    """Return what a site has counted since it was started, by name and labels."""
    body, _ = fetch(f"{site}/metrics", {"Authorization": f"Bearer {TOKEN}"})
    pairs = (line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#"))
    return {name: float(number) for name, _, number in pairs}


def report(seen: Seen, options: argparse.Namespace, results: Results) -> None:
    """Report what readers got."""
    everything = [second * 1000 for seconds in seen.seconds.values() for second in seconds]
    for kind, seconds in sorted(seen.seconds.items()):
        results.add(f"{kind}: 99 of 100 within", percentile(seconds, 0.99) * 1000, "ms")
    results.add("all: median", percentile(everything, 0.5), "ms")
    results.add("all: 99 of 100 within", percentile(everything, 0.99), "ms", at_most=LIMIT_MS)
    due = options.seconds * options.rate
    results.add(
        f"requests of {due:,} that could not be made in time", max(0, due - seen.responses), "", at_most=0
    )
    results.add("errors", len(seen.errors), "", at_most=0)
    results.add("farthest behind an edit", max(seen.behind), "s", at_most=LIMIT_BEHIND_SECONDS)
    results.add("older pages after newer ones", seen.went_back, "")
    for error in seen.errors[:5]:
        print(error)


def report_work(counts: dict[str, float], results: Results) -> None:
    """Report what the page cache did, and the views that took most of the time."""
    for name in ("hit", "stale", "miss"):
        results.add(f"page cache: {name}", counts.get(f'plenary_page_cache_total{{outcome="{name}"}}', 0), "")
    views = {name: value for name, value in counts.items() if name.startswith("plenary_view_seconds_sum")}
    for name, seconds in sorted(views.items(), key=lambda pair: -pair[1])[:6]:
        times = counts[name.replace("_sum", "_count")]
        view = name.split('"')[1]
        results.add(f"view {view}, rendered {times:,.0f} times: mean", 1000 * seconds / max(1, times), "ms")


if __name__ == "__main__":
    main()
