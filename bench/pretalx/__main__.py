"""Plenary beside pretalx with the same synthetic program: what readers, calendars and programs request.

`uv run -m bench.pretalx` installs pretalx into an environment of its own and fills two databases on a
PostgreSQL server, which are dropped afterwards. Needs uv, wrk and redis-server.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.harness import (
    GZIP,
    ROOT,
    SITE,
    UNCACHED_SITE,
    WORKERS,
    Results,
    django_on,
    fetch,
    granian,
    megabytes,
    rate,
    worker_processes,
)
from bench.pretalx import site as pretalx
from bench.pretalx.requests import Pages, entries, requests

SERVER = "postgres://postgres@127.0.0.1:5432/"
EDITION = "2031"
CONNECTIONS = 8
# As a browser asks: without it pretalx draws the schedule with letters.
HEADERS = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# Plenary's limit would stop a measurement after a minute.
UNLIMITED = {"API_REQUESTS_PER_MINUTE": "100000000"}
SETTLING_SECONDS = 5
# Of fewer responses wrk makes no rate.
FEW = 10
API_RATIO = 10
# wrk requests one address after the other.
SCRIPT = """
local places, number = {{ {places} }}, 0
request = function()
  number = number % #places + 1
  return wrk.format("GET", places[number])
end
"""


@dataclass(slots=True)
class Measured:
    """Responses a second; for a file seconds and entries; megabytes of each process, and its share."""

    rates: dict[str, float] = field(default_factory=dict)
    files: dict[str, tuple[float, int]] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=4_000)
    parser.add_argument("--server", default=SERVER, help="of PostgreSQL, with a slash at its end")
    parser.add_argument("--seconds", type=int, default=4, help="for each figure")
    parser.add_argument("--environment", type=Path, help="folder for pretalx that is used again")
    parser.add_argument("--keep", action="store_true", help="keep the databases and use them again")
    parser.add_argument("--only", default="", help="figures whose name contains this")
    parser.add_argument("--save", action="store_true", help="write the figures into bench/results/")
    options = parser.parse_args()
    # What ends this must end what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))
    own, other = (f"{name}_bench_{options.papers}" for name in ("plenary", "pretalx"))
    with (
        tempfile.TemporaryDirectory() as work,
        database(options.server, own, options.keep) as ours,
        database(options.server, other, options.keep) as theirs,
    ):
        environment = (options.environment or Path(work) / "pretalx").resolve()
        pretalx.install(environment)
        file = Path(work) / "program.json"
        if not pretalx.is_filled(theirs):
            export(ours, options.papers, file)
        compare(ours, theirs, environment, file, options)


@contextmanager
def database(server: str, name: str, keep: bool) -> Iterator[str]:
    """Yield the address of a database that is made for the time of the block, or stays."""
    import psycopg

    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        if not keep:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield f"{server}{name}"
        finally:
            if not keep:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def export(address: str, papers: int, file: Path) -> None:
    """Fill Plenary's database, unless it is filled, and write its program into a file."""
    own = {"DATABASE_URL": address, "PLENARY_VAR_DIR": str(file.parent / "plenary")}
    generate = ["-m", "bench.generate", "--papers", str(papers), "--last-year", EDITION]
    steps = [["manage.py", "export_program", "program_json", "--edition", EDITION, "-o", str(file)]]
    if not pretalx.is_filled(address, "conference_edition"):
        steps = [["manage.py", "migrate", "-v0"], generate, *steps]
    for step in steps:
        pretalx.run_quietly([sys.executable, *step], own, ROOT, "Plenary cannot be filled")


def compare(ours: str, theirs: str, environment: Path, file: Path, options: argparse.Namespace) -> None:
    """Measure one site after the other, and report."""
    with django_on(ours) as folder:
        from django.core.management import call_command

        call_command("collectstatic", verbosity=0, interactive=False)
        with pretalx.serve(environment, theirs, file, folder / "pretalx") as site:
            chosen = [one for one in requests(EDITION, pretalx.codes(theirs)) if options.only in one.name]
            analyze(ours, theirs)
            their_pages = {one.name: one.theirs for one in chosen}
            other = measure(site, "gunicorn", their_pages, options.seconds, folder, HEADERS)
        our_pages = {one.name: one.ours for one in chosen}
        with granian(UNCACHED_SITE, UNLIMITED) as site:
            uncached = measure(site, "granian", our_pages, options.seconds, folder, HEADERS)
        with granian(SITE, UNLIMITED) as site:
            cached = measure(site, "granian", our_pages, options.seconds, folder, HEADERS | GZIP)
    results = Results("pretalx", "postgresql", options.papers)
    report(other, uncached, cached, results)
    if options.save:
        results.save()


def analyze(*addresses: str) -> None:
    """Let PostgreSQL count what it holds, so that it plans neither site's queries blindly."""
    import psycopg

    for address in addresses:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def measure(
    site: str,
    server: str,
    chosen: dict[str, Pages],
    seconds: int,
    folder: Path,
    headers: Mapping[str, str],
) -> Measured:
    """Request everything once and check it; then, but for whole files, again and again with these headers."""
    measured = Measured()
    for name, pages in chosen.items():
        began = time.perf_counter()
        bodies = [fetch(site + address, HEADERS)[0] for address in pages.addresses]
        took = time.perf_counter() - began
        if not pages.are_right(bodies):
            raise SystemExit(f"{site}{pages.addresses[0]} does not show what it should.")
        if pages.is_file:
            measured.files[name] = (took, entries(bodies[0]))
        else:
            measured.rates[name] = rate_of(site, pages, seconds, folder, headers)
        print(server, name, measured.files.get(name) or measured.rates[name], file=sys.stderr, flush=True)
    time.sleep(SETTLING_SECONDS)
    processes = worker_processes(site, server)
    measured.memory = [(megabytes(process), megabytes(process, "Pss")) for process in processes]
    return measured


def rate_of(site: str, pages: Pages, seconds: int, folder: Path, headers: Mapping[str, str]) -> float:
    """Return responses a second. Where wrk would get too few, each process is asked once."""
    parts = len(pages.addresses) if pages.is_whole else 1
    # The first time is for loading.
    slow_rate(site, pages)
    number = slow_rate(site, pages)
    if number * parts * seconds < FEW:
        return number
    script = folder / "places.lua"
    script.write_text(SCRIPT.format(places=", ".join(json.dumps(one) for one in pages.addresses)))
    # The second time each process has loaded, and cached, what it will.
    for _ in range(2):
        number = rate(site, seconds, headers, CONNECTIONS, script)
    return number / parts


def slow_rate(site: str, pages: Pages) -> float:
    """Return responses a second while each process works at one."""
    addresses = pages.addresses if pages.is_whole else pages.addresses[:1]
    chosen = [f"{site}{address}" for address in addresses for _ in range(WORKERS)]
    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda address: fetch(address, HEADERS), chosen))
    return WORKERS / (time.perf_counter() - began)


def report(other: Measured, uncached: Measured, cached: Measured, results: Results) -> None:
    """Report rates, seconds of files, and memory."""
    for name, theirs in other.rates.items():
        budget = {"at_least": API_RATIO} if name.startswith("API") else {}
        results.add(f"{name}: pretalx", theirs, "/s")
        results.add(f"{name}: Plenary, uncached", uncached.rates[name], "/s")
        results.add(f"{name}: Plenary, cached", cached.rates[name], "/s")
        results.add(f"{name}: Plenary, uncached, times pretalx", uncached.rates[name] / theirs, "", **budget)
    for name, (took, many) in other.files.items():
        short, few = uncached.files[name]
        results.add(f"{name}: pretalx, {many:,} entries", took, "s")
        results.add(f"{name}: Plenary, uncached, {few:,} entries", short, "s")
        results.add(f"{name}: by entry, times faster than pretalx", took / many / (short / few), "")
    sites = {"pretalx": other, "Plenary, uncached": uncached, "Plenary, cached": cached}
    for name, measured in sites.items():
        largest, share = (max(sizes) for sizes in zip(*measured.memory, strict=True))
        results.add(f"memory of a process: {name}", largest, "MB")
        results.add(f"memory of a process, its part of what is shared: {name}", share, "MB")
    print(f"\npretalx {pretalx.VERSION}; load: {os.getloadavg()}")


if __name__ == "__main__":
    main()
