"""Plenary and pretalx with the same synthetic program: requests of readers, calendars and programs.

`uv run -m bench.pretalx` installs pretalx into an environment of its own and fills two databases on a
PostgreSQL server, which are dropped afterwards. Needs uv, wrk and redis-server.
"""

import argparse
import html
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.harness import (
    GZIP,
    ROOT,
    SITE,
    UNCACHED_SITE,
    WORKERS,
    Results,
    Server,
    django_on,
    end_on_sigterm,
    fetch,
    granian,
    rate,
)
from bench.pretalx import site as pretalx

if TYPE_CHECKING:
    from conference.models import Edition
    from papers.models import Authorship

SERVER = "postgres://postgres@127.0.0.1:5432/"
EDITION = "2031"
CONNECTIONS = 8
# As browsers send: without it pretalx renders the schedule as text.
HEADERS = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
# Plenary's rate limit would stop a measurement after a minute.
UNLIMITED = {"API_REQUESTS_PER_MINUTE": "100000000"}
SETTLING_SECONDS = 5
# wrk gives no rate for fewer responses.
MIN_RESPONSES = 10
API_RATIO = 10
# Talks, and their first authors, spread over the program.
SAMPLES = 50
# Names and titles that every format writes alike.
PLAIN = re.compile(r"[\w ]+(?:[-:][\w ]+)*\Z", re.ASCII)
# wrk requests one address after the other.
SCRIPT = """
local places, number = {{ {places} }}, 0
request = function()
  number = number % #places + 1
  return wrk.format("GET", places[number])
end
"""

type Check = Callable[[list[str]], bool]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Addresses of both sites that show the same, and whether their responses do.

    `is_whole`: together they count as one response. `is_file`: how long one takes is what matters.
    """

    name: str
    theirs: list[str]
    ours: list[str]
    is_right: Check
    is_whole: bool = False
    is_file: bool = False


@dataclass(slots=True)
class Measured:
    """Responses a second; for a file seconds and entries; megabytes of the largest process."""

    rates: dict[str, float] = field(default_factory=dict)
    files: dict[str, tuple[float, int]] = field(default_factory=dict)
    memory: float = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=4_000)
    parser.add_argument("--server", default=SERVER, help="of PostgreSQL, with a slash at its end")
    parser.add_argument("--seconds", type=int, default=4, help="for each figure")
    parser.add_argument("--environment", type=Path, help="folder for pretalx that is used again")
    options = parser.parse_args()
    end_on_sigterm()
    own, other = (f"{name}_bench_{options.papers}" for name in ("plenary", "pretalx"))
    with (
        tempfile.TemporaryDirectory() as work,
        database(options.server, own) as ours,
        database(options.server, other) as theirs,
    ):
        environment = (options.environment or Path(work) / "pretalx").resolve()
        pretalx.install(environment)
        file = Path(work) / "program.json"
        export(ours, options.papers, file)
        compare(ours, theirs, environment, file, options)


@contextmanager
def database(server: str, name: str) -> Iterator[str]:
    """Yield the address of a database that is made for the time of the block."""
    import psycopg

    drop = f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode()
    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            yield f"{server}{name}"
        finally:
            connection.execute(drop)


def export(address: str, papers: int, file: Path) -> None:
    """Fill Plenary's database, and write its program into a file."""
    own = {"DATABASE_URL": address, "PLENARY_VAR_DIR": str(file.parent / "plenary")}
    for step in (
        ["manage.py", "migrate", "-v0"],
        ["-m", "bench.generate", "--papers", str(papers), "--last-year", EDITION],
        ["manage.py", "export_program", "program_json", "--edition", EDITION, "-o", str(file)],
    ):
        pretalx.run_quietly([sys.executable, *step], own, ROOT, "Plenary cannot be filled")


def compare(ours: str, theirs: str, environment: Path, file: Path, options: argparse.Namespace) -> None:
    """Measure one site after the other, and report."""
    with django_on(ours) as folder:
        with pretalx.serve(environment, theirs, file, folder / "pretalx") as site:
            chosen = comparisons(pretalx.codes(theirs))
            for address in (ours, theirs):
                pretalx.analyze(address)
            other = measure(site, chosen, options.seconds, folder, HEADERS, is_ours=False)
        with granian(UNCACHED_SITE, UNLIMITED) as site:
            uncached = measure(site, chosen, options.seconds, folder, HEADERS)
        with granian(SITE, UNLIMITED) as site:
            cached = measure(site, chosen, options.seconds, folder, HEADERS | GZIP)
    results = Results(f"pretalx {pretalx.VERSION}", "postgresql", options.papers)
    for name, rate_of_theirs in other.rates.items():
        results.add(f"{name}: pretalx", rate_of_theirs, "/s")
        results.add(f"{name}: Plenary, uncached", uncached.rates[name], "/s")
        results.add(f"{name}: Plenary, cached", cached.rates[name], "/s")
        least = API_RATIO if name.startswith("API") else None
        times = uncached.rates[name] / rate_of_theirs
        results.add(f"{name}: Plenary, uncached, times pretalx", times, "", at_least=least)
    for name, (took, many) in other.files.items():
        short, few = uncached.files[name]
        results.add(f"{name}: pretalx, {many:,} entries", took, "s")
        results.add(f"{name}: Plenary, uncached, {few:,} entries", short, "s")
        results.add(f"{name}: by entry, times faster than pretalx", took / many / (short / few), "")
    for name, measured in (("pretalx", other), ("Plenary, uncached", uncached), ("Plenary, cached", cached)):
        results.add(f"memory of the largest process: {name}", measured.memory, "MB")


def measure(
    site: Server,
    chosen: list[Comparison],
    seconds: int,
    folder: Path,
    headers: Mapping[str, str],
    *,
    is_ours: bool = True,
) -> Measured:
    """Request everything once and check it; then, but for whole files, again and again with these headers."""
    measured = Measured()
    for one in chosen:
        addresses = [site.address + path for path in (one.ours if is_ours else one.theirs)]
        began = time.perf_counter()
        bodies = [fetch(address, HEADERS)[0].decode() for address in addresses]
        took = time.perf_counter() - began
        if not one.is_right([html.unescape(body.replace("\r\n ", "")) for body in bodies]):
            raise SystemExit(f"{addresses[0]} does not show what it should.")
        if one.is_file:
            measured.files[one.name] = took, entries(bodies[0])
            continue
        parts = len(addresses) if one.is_whole else 1
        # The first request loads code.
        slow_rate(addresses[:parts])
        number = slow_rate(addresses[:parts])
        if number * parts * seconds >= MIN_RESPONSES:
            script = folder / "places.lua"
            paths = [address.removeprefix(site.address) for address in addresses]
            script.write_text(SCRIPT.format(places=", ".join(map(json.dumps, paths))))
            # At the second request each process has loaded and cached everything.
            for _ in range(2):
                number = rate(site.address, seconds, headers, CONNECTIONS, script) / parts
        measured.rates[one.name] = number
    time.sleep(SETTLING_SECONDS)
    measured.memory = site.memory()
    return measured


def slow_rate(addresses: list[str]) -> float:
    """Return responses a second with one request per process, where wrk would get too few."""
    began = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda address: fetch(address, HEADERS), addresses * WORKERS))
    return WORKERS / (time.perf_counter() - began)


def comparisons(codes: dict[str, dict[str, str]]) -> list[Comparison]:
    """Return what is requested of both sites; `codes` are pretalx's for talks and speakers.

    Plenary's schedule.ics leaves out posters, which have no time of their own; that of all papers has them.
    """
    from conference.models import Edition

    edition = Edition.objects.get(slug=EDITION)
    root, authorships = f"/{EDITION}/", sampled(edition, codes["talks"])
    papers = [row.paper for row in authorships]
    titles, names = [paper.title for paper in papers], [row.person.name for row in authorships]
    talks = [f"{root}talk/{codes['talks'][paper.uid]}" for paper in papers]
    speakers = [f"{root}speaker/{codes['speakers'][row.person.uid]}/" for row in authorships]
    calendars = [f"{root}papers/{paper.uid}.ics" for paper in papers]
    pages = [paper.get_absolute_url() for paper in papers]
    people = [row.person.get_absolute_url() for row in authorships]
    sessions = edition.sessions.published().select_related("edition")
    days = [f"{root}schedule/{day}/" for day in sorted(sessions.program_days(edition.day_of))]
    halls = [row.get_absolute_url() for row in sessions.filter(presentations__isnull=False).distinct()]
    shell = [f"{root}schedule/", f"{root}schedule/v/1.0/widgets/schedule.json"]
    number = min(SAMPLES, len(codes["talks"]))
    api = f"/api/events/{EDITION}/submissions/?page_size={number}&expand=speakers,slots,track"
    own_api = f"/api/v1/papers/?edition={EDITION}&page_size={number}&expand=authors,presentations,awards"
    whole, whole_day = [f"{root}schedule/nojs"], days[1:2] or days
    files = {"schedule.xml": "schedule.xml", "schedule.json": "schedule.json", "schedule.ics": "papers.ics"}
    return [
        Comparison("the schedule as HTML with every talk", whole, [*days, *halls], holding(titles), True),
        Comparison("opening the schedule", shell, whole_day, holding(["Coffee"]), True),
        Comparison("a talk's page", [f"{talk}/" for talk in talks], pages, each(titles)),
        Comparison("a speaker's page", speakers, people, each(names)),
        Comparison("a talk's .ics", [f"{talk}.ics" for talk in talks], calendars, each(titles)),
        Comparison(f"API, {number} talks with speakers, slots, track", [api], [own_api], expanded(number)),
        *(
            Comparison(
                name, [f"{root}schedule/export/{name}"], [f"{root}{own}"], holding(titles), is_file=True
            )
            for name, own in files.items()
        ),
    ]


def sampled(edition: "Edition", known: dict[str, str]) -> "list[Authorship]":
    """Return first authorships of papers with a plain title, spread over the program."""
    from papers.models import Authorship

    papers = edition.papers.published().filter(presentations__isnull=False, uid__in=known)
    rows = Authorship.objects.filter(paper__in=papers, position=1).select_related("paper__edition", "person")
    found = [
        row for row in rows.order_by("paper") if PLAIN.match(row.paper.title) and PLAIN.match(row.person.name)
    ]
    return found[:: max(1, len(found) // SAMPLES)][:SAMPLES]


def entries(body: str) -> int:
    """Return how many talks, sessions and breaks a file lists."""
    if not body.startswith("{"):
        return max(body.count("<event "), body.count("BEGIN:VEVENT"))
    days = json.loads(body)["schedule"]["conference"]["days"]
    return sum(len(events) for day in days for events in day["rooms"].values())


def each(texts: list[str]) -> Check:
    """Return whether each response has its own text."""
    return lambda bodies: all(text in body for text, body in zip(texts, bodies, strict=True))


def holding(texts: list[str]) -> Check:
    """Return whether responses have all texts together."""
    return lambda bodies: all(text in "".join(bodies) for text in texts)


def expanded(number: int) -> Check:
    """Return whether a response of an API has so many talks, with people and places as objects."""

    def is_right(bodies: list[str]) -> bool:
        rows = json.loads(bodies[0])["results"]
        people, places = ("speakers", "slots") if "speakers" in rows[0] else ("authors", "presentations")
        parts = [part for row in rows for part in (*row[people], *row[places])]
        return len(rows) == number and bool(parts) and all(isinstance(part, dict) for part in parts)

    return is_right


if __name__ == "__main__":
    main()
