"""How cold pages grow with the program: from 60 to 6,000 papers, and from one edition to twenty.

Each is the first of its process after a poster of the edition was given another board.

`uv run python bench/growth.py` fills SQLite files by `bench.generate` and forgets them; `--server URL`
names a PostgreSQL server, on which databases are made for this and dropped again. Prints a Markdown table.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.pages import SETTLED, change_all, program  # noqa: E402

TIMES = 9
SAMPLES = 5
PATIENCE = 900
# Papers of an edition, and editions.
SIZES = ((60, 1), (60, 20), (6_000, 1))
# What stands around a paper on its days is read once for all papers there.
NEXT = "another paper of its sessions"
# Nothing that is kept for a state of the program helps, as in a new process.
UNNOTED = "paper, after a change not noted"
KINDS = ("person", "paper", NEXT, "session", "day", UNNOTED)


def main() -> None:
    asked = argparse.ArgumentParser(description="Measure how cold pages grow.")
    asked.add_argument("--server", help="address of a PostgreSQL server, with a slash at its end")
    asked.add_argument("--one", nargs=2, type=int, help=argparse.SUPPRESS)
    asked.add_argument("--database", help=argparse.SUPPRESS)
    asked.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.one:
        with program(options.database, *options.one):
            print(json.dumps({} if options.fill else measured()))
        return
    found = {size: alone(options.server, *size) for size in SIZES}
    report(found)


def alone(server: str | None, papers: int, editions: int) -> dict[str, Any]:
    """Fill a database, then measure in a process that has read pages alone."""
    with database(server, f"plenary_growth_{papers}_{editions}") as address:
        command = [sys.executable, __file__, "--one", str(papers), str(editions), "--database", address]
        subprocess.run([*command, "--fill"], cwd=ROOT, check=True, stdout=subprocess.PIPE, timeout=PATIENCE)
        said = subprocess.run(
            command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=PATIENCE
        )
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return found


@contextmanager
def database(server: str | None, name: str) -> Iterator[str]:
    """Make a database for the time of the block; yield its address."""
    if server is None:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/{name}.sqlite3"
        return
    import psycopg

    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server}{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def measured() -> dict[str, Any]:
    """Return milliseconds and queries by kind of page, a plain 404, and the memory of this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    client = Client(SERVER_NAME="127.0.0.1")
    found: dict[str, Any] = {"404": median(spent(client, "/static/nothing") for _ in range(TIMES))}
    for kind, addresses in shown().items():
        change = change_all if kind == UNNOTED else shift
        rows = []
        for before, address, lines in addresses:
            times = []
            for _ in range(SETTLED + TIMES):
                change()
                if before:
                    client.get(before)
                times.append(spent(client, address))
            change()
            if before:
                client.get(before)
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            rows.append((median(times[SETTLED:]), len(queries), lines))
        found[kind] = [median(row[part] for row in rows) for part in range(3)]
    found["memory"] = memory()
    return found


def shift() -> None:
    """Let a poster of the newest edition stand elsewhere."""
    from conference.models import Edition

    poster = Edition.objects.published()[0].presentations.exclude(board="").order_by("pk")[0]
    poster.board = str(1 + int(poster.board) % 900) if poster.board.isdecimal() else "1"
    poster.save()


def spent(client: Any, address: str) -> float:
    """Return the milliseconds for one answer."""
    began = time.perf_counter()
    client.get(address)
    return (time.perf_counter() - began) * 1000


def shown() -> dict[str, list[tuple[str, str, int]]]:
    """Return addresses by kind, of the newest edition, and how many talks or papers each of them shows.

    Before each stands what is asked for first.
    """
    from django.db.models import Count, Exists, OuterRef

    from conference.models import Edition
    from people.models import Person
    from schedule.models import Presentation

    edition = Edition.objects.published()[0]
    root = edition.get_absolute_url()
    talks = edition.presentations.published()
    with_paper = talks.exclude(paper=None).select_related("paper__edition")
    beside = Presentation.objects.published().filter(session=OuterRef("session")).exclude(paper=None)
    shared = with_paper.filter(Exists(beside.exclude(paper=OuterRef("paper"))))[:SAMPLES]
    others = [with_paper.filter(session=one.session_id).exclude(paper=one.paper)[0] for one in shared]
    pairs = [
        (one.paper.get_absolute_url(), other.paper.get_absolute_url())
        for one, other in zip(shared, others, strict=True)
    ]
    sessions = edition.sessions.published().annotate(size=Count("presentations")).filter(size__gt=0)
    sessions = sessions.select_related("edition").order_by("-size", "pk")[:SAMPLES]
    days: dict[str, int] = {}
    for start in talks.exclude(session=None).values_list("session__start", flat=True):
        day = str(edition.day_of(start))
        days[day] = days.get(day, 0) + 1
    # Who has written about as many papers, so that all of the same kind are compared.
    people = Person.objects.filter(authorships__paper__edition=edition).annotate(size=Count("authorships"))
    people = people.order_by("size", "pk")[:SAMPLES]
    return {
        "person": [("", person.get_absolute_url(), person.size) for person in people],
        "paper": [("", own, 1) for own, _ in pairs],
        NEXT: [(own, other, 1) for own, other in pairs],
        UNNOTED: [("", own, 1) for own, _ in pairs],
        "session": [("", session.get_absolute_url(), session.size) for session in sessions],
        "day": [("", f"{root}schedule/{day}/", size) for day, size in sorted(days.items())],
    }


def memory() -> float:
    """Return the megabytes that this process holds."""
    lines = Path(f"/proc/{os.getpid()}/status").read_text().splitlines()
    held = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(held["VmRSS"].split()[0]) / 1024


def report(found: dict[tuple[int, int], dict[str, Any]]) -> None:
    """Print times, per line shown, beside those of the smallest program."""
    small = found[SIZES[0]]
    print(
        "| papers x editions | page | lines shown | queries | ms | / a 404 | ms a line | / smallest program |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (papers, editions), sizes in found.items():
        for kind in KINDS:
            took, queries, lines = sizes[kind]
            each, before = took / max(1, lines), small[kind][0] / max(1, small[kind][2])
            ratios = f"{took / sizes['404']:.1f} | {each:.2f} | {each / before:.2f}"
            print(
                f"| {papers:,} x {editions} | {kind} | {lines:.0f} | {queries:.0f} | {took:.1f} | {ratios} |"
            )
    held = ", ".join(
        f"{sizes['memory']:.0f} MB with {papers:,} x {editions}"
        for (papers, editions), sizes in found.items()
    )
    print(f"\nMemory of the process afterwards: {held}.")


if __name__ == "__main__":
    main()
