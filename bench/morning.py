"""Benchmark of an opening morning: many readers through nginx, while chairs edit and import.

`uv run -m bench.morning [--database URL]`. Needs nginx. Requests are due at a steady rate, even if responses
are late: the time of a response counts from the moment at which its request was due.

With `--restart`, the processes are restarted instead of the import. `--warm 0` begins with empty caches,
`--unwarmed` also without the pages that a new process renders first.
"""

import csv
import http.client
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.parse import quote
from urllib.request import Request, urlopen

from bench.harness import (
    HOST,
    ROOT,
    SITE,
    WORKERS,
    Server,
    free_port,
    granian,
    nginx,
    parser,
    program,
    report,
    sample,
)

if TYPE_CHECKING:
    from conference.models import Edition
    from papers.models import Paper

READERS = 64
EDIT_SECONDS = 5.0
IMPORTED_PAPERS = 500
# The timeout of requests, and the time that the import may take after the last request.
PATIENCE_SECONDS = 10
DRY_RUN_SECONDS = 120
LIMIT_MS, LIMIT_BEHIND_SECONDS = 250, 10
# Unique per run: a reused database contains earlier edits.
EDITED = f"Opening morning {int(time.time())}, edition"
WORDS = ("learning", "graph", "attention", "memory", "quantum", "ada", "sparse", "model", "kernels", "vision")
# The exponent of a uniform random number, which makes some pages more popular.
SKEW = 4
STARRED_PAPERS = 200
# What nginx logs for answers that it has stored, renewed in the background or not.
STORED = ("HIT", "STALE", "UPDATING")
METRICS_TOKEN = 5 * "metrics-"
# Shares of requests in percent.
MIX = {"home": 20, "day": 25, "session": 15, "paper": 22, "search": 8, "person": 4, "ics": 3, "api": 3}


class Connection:
    """A persistent connection. `http.client` takes twice the CPU time, on the cores of the site."""

    def __init__(self, host: str) -> None:
        name, _, port = host.partition(":")
        self.end_of_request = f" HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\n\r\n"
        self.stream = socket.create_connection((name, int(port)), timeout=PATIENCE_SECONDS).makefile("rwb")

    def get(self, address: str) -> int:
        """Request a compressed response and read it; return its status. Raises `OSError` or `ValueError`."""
        self.stream.write(f"GET {address}{self.end_of_request}".encode())
        self.stream.flush()
        status = int(self.stream.readline()[9:12])
        headers: dict[bytes, bytes] = {}
        while line := self.stream.readline().strip().lower():
            name, _, value = line.partition(b":")
            headers[name] = value
        if b"transfer-encoding" in headers:
            while length := int(self.stream.readline(), 16):
                self.stream.read(length + 2)
            self.stream.readline()
        else:
            self.stream.read(int(headers.get(b"content-length", 0)))
        return status


@dataclass(slots=True)
class Morning:
    """A run with readers and a chair who edits a paper, and its measurements."""

    host: str
    addresses: dict[str, list[str]]
    rate: int
    readers: int = READERS
    # When all processes had been restarted, and the response times of requests that were due later.
    restarted_at: float = float("inf")
    later_seconds: list[float] = field(default_factory=list)
    # Response times by kind of page.
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    # Seconds until nginx said that the site is busy.
    refusals: list[float] = field(default_factory=list)
    # Times of edits, delays until pages showed them, and the number of pages older than the one before.
    edits: list[float] = field(default_factory=list)
    behind: list[float] = field(default_factory=lambda: [0.0])
    went_back: int = 0
    ended: Event = field(default_factory=Event)

    def read(self, seconds: int, name: str) -> None:
        """Request pages at a steady rate for these seconds; `name` is the seed of their choice."""
        # `count()` is atomic in CPython, so the threads can share it.
        due, start = count(), time.perf_counter()
        for thread in [
            start_thread(self._reader, due, start, start + seconds, random.Random(f"{name} {number}"))
            for number in range(self.readers)
        ]:
            thread.join()

    def _reader(self, due: "count[int]", start: float, end: float, rng: random.Random) -> None:
        """Request pages one by one, each when it is due or as soon as possible."""
        connection: Connection | None = None
        kinds, weights = list(MIX), list(MIX.values())
        while (due_at := start + next(due) / self.rate) < end and time.perf_counter() < end:
            time.sleep(max(0.0, due_at - time.perf_counter()))
            (kind,) = rng.choices(kinds, weights)
            # Half of the requests for papers are for the most popular 6 %.
            address = self.addresses[kind][int(len(self.addresses[kind]) * rng.random() ** SKEW)]
            try:
                connection = connection or Connection(self.host)
                status = connection.get(address)
            except (OSError, ValueError) as error:
                connection = None
                self.errors.append(f"{address}: {error}")
                continue
            if status == http.client.SERVICE_UNAVAILABLE:
                self.refusals.append(time.perf_counter() - due_at)
                continue
            self.seconds[kind].append(time.perf_counter() - due_at)
            if due_at > self.restarted_at:
                self.later_seconds.append(time.perf_counter() - due_at)
            if status not in (http.client.OK, http.client.MOVED_PERMANENTLY):
                self.errors.append(f"{address}: {status}")

    def edit(self, paper: "Paper") -> None:
        """Change the title of the paper every few seconds."""
        while not self.ended.wait(EDIT_SECONDS):
            paper.title = f"{EDITED} {len(self.edits) + 1}"
            paper.save()
            self.edits.append(time.perf_counter())

    def poll(self, address: str) -> None:
        """Request the page of the edited paper continually, and measure its delay after the commit."""
        last_version = 0
        while not self.ended.wait(0.02):
            requested_at, committed = time.perf_counter(), len(self.edits)
            try:
                with urlopen(address, timeout=PATIENCE_SECONDS) as response:  # noqa: S310
                    page = response.read().decode()
            except (OSError, http.client.HTTPException) as error:
                if getattr(error, "code", None) != http.client.SERVICE_UNAVAILABLE:
                    self.errors.append(f"{address}: {error}")
                continue
            # The address of a paper changes with its title, and the old one redirects.
            address = response.url
            match = re.search(rf"<h1[^>]*>{EDITED} (\d+)</h1>", page)
            version = int(match[1]) if match else last_version
            self.went_back += version < last_version
            if version < committed:
                self.behind.append(requested_at - self.edits[version])
            last_version = max(last_version, version)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--seconds", type=int, default=120)
    options.add_argument("--rate", type=int, default=600, help="requests a second")
    options.add_argument("--warm", type=int, default=150, help="seconds of reading before")
    options.add_argument("--readers", type=int, default=READERS, help="connections at a time")
    options.add_argument(
        "--restart", choices=("each", "all"), help="processes one after the other, or at once"
    )
    options.add_argument("--unwarmed", action="store_true", help="new processes answer at once")
    arguments = options.parse_args()
    with program("morning", arguments) as folder:
        paper, addresses = sample().paper, sample_addresses()
        command = [] if arguments.restart else prepare_import(paper.edition, folder)
        add_stars(paper.edition)
        with ExitStack() as stack:
            site = Site(stack, folder, is_warmed=not arguments.unwarmed)
            front = site.front
            host = front.address.removeprefix("http://")
            Morning(host, addresses, arguments.rate, arguments.readers).read(arguments.warm, "evening")
            morning = Morning(host, addresses, arguments.rate, arguments.readers)
            crowd = start_thread(morning.read, arguments.seconds, "morning")
            threads = [
                start_thread(morning.edit, paper),
                start_thread(morning.poll, f"{front.address}{paper.get_absolute_url()}"),
            ]
            time.sleep(arguments.seconds / 2)
            if arguments.restart:
                site.restart(at_once=arguments.restart == "all")
                morning.restarted_at = time.perf_counter()
            else:
                run_import(command, morning, arguments.seconds / 2 + PATIENCE_SECONDS)
            crowd.join()
            morning.ended.set()
            renderings = site.renderings()
            log = (folder / "nginx" / "access.log").read_text()
            stored = [status in STORED for status in re.findall(r'"cache":"(\w*)"', log)]
            for thread in threads:
                thread.join()
        report_all(morning, arguments.seconds * arguments.rate)
        report(f"requests of {len(stored):,} that nginx answered with stored pages", sum(stored), "")
        report("renderings that readers waited for since the last start", renderings, "")


def start_thread(call: Callable[..., None], *args: object) -> Thread:
    """Start a daemon thread."""
    thread = Thread(target=call, args=args, daemon=True)
    thread.start()
    return thread


def run_import(command: list[str], morning: Morning, limit: float) -> None:
    try:
        subprocess.run(command, cwd=ROOT, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        morning.errors.append("The import took longer than the readers.")


class Site:
    """The site as `deploy/` serves it: a process for each core, with nginx in front of them."""

    def __init__(self, stack: ExitStack, folder: Path, *, is_warmed: bool) -> None:
        example = (ROOT / "deploy" / ".env.example").read_text("utf-8")
        unit = (ROOT / "deploy" / "systemd" / "plenary-web@.service").read_text("utf-8")
        self.shipped = dict(re.findall(r"^(BEHIND_PROXY|PAGE_CACHE_STALE_SECONDS)=(.*)$", example, re.M))
        if is_warmed:
            self.shipped |= dict(re.findall(r"^Environment=(WARM_SECONDS)=(.*)$", unit, re.M))
        self.shipped["METRICS_TOKEN"] = METRICS_TOKEN
        self.stack = stack
        self.processes = self.start([free_port() for _ in range(WORKERS)])
        self.front = stack.enter_context(nginx(folder / "nginx", self.processes))

    def start(self, ports: list[int]) -> list[Server]:
        """Start processes on these ports, all at once; return them when they listen."""
        with ThreadPoolExecutor() as pool:
            servers = [granian(SITE, self.shipped, workers=1, port=port) for port in ports]
            return list(pool.map(self.stack.enter_context, servers))

    def renderings(self) -> int:
        """Return for how many pages readers have waited since the processes started."""
        count = 0
        for process in self.processes:
            headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
            with urlopen(Request(f"{process.address}/metrics", headers=headers), timeout=60) as response:  # noqa: S310
                misses = re.findall(
                    r'^plenary_page_cache_total{outcome="miss"} (\d+)', response.read().decode(), re.M
                )
            count += sum(map(int, misses))
        return count

    def restart(self, *, at_once: bool) -> None:
        """Restart all processes at once, or each when the one before it listens."""
        for processes in [self.processes] if at_once else [[process] for process in self.processes]:
            ports = [int(process.address.rpartition(":")[2]) for process in processes]
            for process, port in zip(processes, ports, strict=True):
                os.killpg(process.process, signal.SIGKILL)
                while is_listening(port):
                    time.sleep(0.01)
            self.start(ports)


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((HOST, port)) == 0


def add_stars(edition: "Edition") -> None:
    """Let visitors star the most popular papers, unless a reused database has stars."""
    from schedule.following import Agenda, AgendaStar

    if Agenda.objects.exists():
        return
    papers = edition.papers.published().order_by("pk")[:STARRED_PAPERS]
    talks = [paper.presentations.order_by("pk")[0] for paper in papers if paper.presentations.exists()]
    for number in range(STARRED_PAPERS, 0, -10):
        agenda = Agenda.objects.create(edition=edition, token_digest=f"bench {number}")
        stars = [AgendaStar(agenda=agenda, presentation=talk) for talk in talks[:number]]
        AgendaStar.objects.bulk_create(stars)


def sample_addresses() -> dict[str, list[str]]:
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
        "day": [
            f"{root}schedule/{day}/"
            for day in sorted({edition.day_of(session.start) for session in sessions})
        ],
        "session": [session.get_absolute_url() for session in sessions],
        "paper": [paper.get_absolute_url() for paper in papers],
        "search": [f"/search/?q={quote(word)}" for word in WORDS],
        "person": [person.get_absolute_url() for person in people],
        "ics": [reverse("exchange:presentation_calendar", args=[edition.slug, talk.uid]) for talk in talks],
        "api": [f"/api/v1/papers/?edition={edition.slug}&page_size=20"],
    }


def prepare_import(edition: "Edition", folder: Path) -> list[str]:
    """Return the command that imports new abstracts of 500 papers, after a dry run to compile its code."""
    papers = list(edition.papers.published().order_by("uid"))
    file = folder / "papers.csv"
    with file.open("w", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(("uid", "title", "abstract"))
        for paper in papers[:: max(1, len(papers) // IMPORTED_PAPERS)][:IMPORTED_PAPERS]:
            rows.writerow((paper.uid, paper.title, f"{paper.abstract} {EDITED}."))
    # Run it at a lower priority than the site, as the worker does.
    command = ["nice", "-n", "10", sys.executable, "manage.py", "import_program", "tables", str(file)]
    command += [f"--edition={edition.slug}", "--no-progress", "--skip-checks", "-v0"]
    subprocess.run([*command, "--dry-run"], cwd=ROOT, check=True, timeout=DRY_RUN_SECONDS)
    return command


def report_all(morning: Morning, due: int) -> None:
    """Report the measurements, and print the first errors."""
    all_milliseconds = [second * 1000 for seconds in morning.seconds.values() for second in seconds]
    for kind, seconds in sorted(morning.seconds.items()):
        report(f"{kind}: 99 of 100 within", quantiles(seconds, n=100)[98] * 1000, "ms")
    report("all: median", median(all_milliseconds), "ms")
    report("all: 99 of 100 within", quantiles(all_milliseconds, n=100)[98], "ms", at_most=LIMIT_MS)
    if len(morning.later_seconds) > 1:
        later_milliseconds = [second * 1000 for second in morning.later_seconds]
        report("after the restart: median", median(later_milliseconds), "ms")
        report("after the restart: 99 of 100 within", quantiles(later_milliseconds, n=100)[98], "ms")
    missed = max(0, due - len(all_milliseconds) - len(morning.refusals) - len(morning.errors))
    report(f"requests of {due:,} answered with 503", len(morning.refusals), "")
    if morning.refusals:
        report("503: longest", max(morning.refusals) * 1000, "ms")
    report(f"requests of {due:,} that could not be made in time", missed, "", at_most=0)
    report("errors", len(morning.errors), "", at_most=0)
    report("farthest behind an edit", max(morning.behind), "s", at_most=LIMIT_BEHIND_SECONDS)
    report("older pages after newer ones", morning.went_back, "")
    for error in morning.errors[:5]:
        print(error)


if __name__ == "__main__":
    main()
