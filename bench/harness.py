"""Common code of the benchmarks: databases with a synthetic program, servers, results with budgets."""

import argparse
import math
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from django.test import Client

    from conference.models import Edition
    from papers.models import Paper
    from people.models import Person
    from schedule.models import Session

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
WORKERS = 2
# Long enough for a busy machine.
START_SECONDS = 120
GZIP = {"Accept-Encoding": "gzip"}
SITE = "website.wsgi:application"
UNCACHED_SITE = "website.wsgi:django"


def report(
    name: str, value: float, unit: str, at_most: float | None = None, at_least: float | None = None
) -> None:
    """Print a result as a row of the table, with its budget, if any, and the reference loop after it."""
    budget = ""
    if at_most is not None:
        budget = f"at most {at_most:g}{' MISSED' if value > at_most else ''}"
    elif at_least is not None:
        budget = f"at least {at_least:g}{' MISSED' if value < at_least else ''}"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    row = name, f"{number} {unit}".strip(), budget, f"{reference_ms():.0f} ms"
    print(f"| {' | '.join(row)} |", flush=True)


def growth_exponent(figures: Mapping[int, float]) -> float:
    """Return the exponent between the two largest sizes: 0 without growth, 1 if figures grow as sizes do.

    Fixed costs hide the growth between small sizes.
    """
    small, large = sorted(figures)[-2:]
    return math.log(figures[large] / figures[small]) / math.log(large / small)


def parser(description: str | None, papers: int = 6_000) -> argparse.ArgumentParser:
    """Return a parser with the options of all benchmarks."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--papers", type=int, default=papers)
    options.add_argument(
        "--database", help="address of a database for this alone, filled if it is empty (default: SQLite)"
    )
    return options


@contextmanager
def program(
    bench: str, options: argparse.Namespace, fill: Callable[[int], object] | None = None
) -> Iterator[Path]:
    """Set Django up with a database that has a program, and begin the table; yield a temporary folder."""
    with database(options, fill) as folder:
        from django.db import connection

        machine = f"{os.cpu_count()} cores, CPython {platform.python_version()}"
        print(f"# {bench}, {connection.vendor}, {options.papers:,} papers, {machine}\n")
        print("| what | measured | budget | reference loop |\n|---|---|---|---|", flush=True)
        yield folder


@contextmanager
def database(options: argparse.Namespace, fill: Callable[[int], object] | None = None) -> Iterator[Path]:
    """Set Django up with a database that has a program; yield a temporary folder.

    `fill` fills an empty database with the given number of papers, by default with a synthetic program.
    """
    # Let SIGTERM raise `SystemExit`, so that servers are stopped as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended."))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLENARY_VAR_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database or f"sqlite:///{folder}/bench.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "conference.settings"
        import django

        django.setup()
        from django.core.management import call_command

        from bench import generate
        from conference.models import Edition
        from operations.table_statistics import analyze
        from search.models import Document

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not (Edition.objects.exists() or Document.objects.exists()):
            (fill or generate.fill)(options.papers)
        # Autovacuum does this some minutes after an import.
        analyze()
        yield Path(folder)


@dataclass(frozen=True, slots=True)
class Sample:
    """Related rows of the largest edition. The pages of all show `paper`, apart from that of `talks`.

    `paper` is one by the person with the most papers, among those with a poster; `neighbor` is another paper
    of its poster session.
    """

    edition: "Edition"
    paper: "Paper"
    neighbor: "Paper"
    session: "Session"
    talks: "Session"
    person: "Person"

    def pages(self) -> dict[str, Callable[[], str]]:
        """Return functions of the addresses of pages by name, because addresses change with titles."""
        root = self.edition.get_absolute_url()
        day = self.edition.day_of(self.session.start)
        return {
            "paper": self.paper.get_absolute_url,
            "person": self.person.get_absolute_url,
            "session": self.talks.get_absolute_url,
            "poster session": self.session.get_absolute_url,
            "day": lambda: f"{root}schedule/{day}/",
            "day as grid": lambda: f"{root}schedule/{day}/?view=grid",
            "list of papers": lambda: f"{root}papers/",
            "list of people": lambda: "/people/",
            "search": lambda: f"{root}search/?q=learning",
            "search of all years": lambda: "/search/?q=learning",
            "home page": lambda: root,
        }


def sample() -> Sample:
    """Return the sample of this database; raise `SystemExit` if it has no posters."""
    from django.db.models import Count

    from conference.models import Edition
    from people.models import Person
    from schedule.models import Presentation, Session

    edition = Edition.objects.published().annotate(size=Count("papers")).order_by("-size", "-year")[0]
    posters = Presentation.objects.filter(edition=edition, kind="poster", paper__status="published")
    authors = Person.objects.filter(pk__in=posters.values("paper__authorships__person"))
    person = authors.annotate(size=Count("authorships")).order_by("-size", "pk")[0]
    poster = posters.filter(paper__authorships__person=person).order_by("pk")[0]
    neighbors = posters.filter(session=poster.session).exclude(pk=poster.pk).order_by("pk")
    talks = Session.objects.published().filter(edition=edition, kind="oral")
    largest = talks.annotate(size=Count("presentations")).order_by("-size", "pk")[0]
    if poster.paper is None or neighbors[0].paper is None:
        raise SystemExit("The program has no posters.")
    return Sample(edition, poster.paper, neighbors[0].paper, poster.session, largest, person)


def client() -> "Client":
    """Return a test client, which calls Django in this process without the page cache."""
    from django.test import Client

    return Client(SERVER_NAME=HOST)


def count_queries(browser: "Client", address: str) -> int:
    """Return the number of queries of a page. Raises `SystemExit` if it is refused."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as queries:
        response = browser.get(address)
    if response.status_code != 200:
        raise SystemExit(f"{address} answers {response.status_code}.")
    return len(queries)


def measure[**P](call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    """Return the CPU milliseconds of a call, in this process and in its PostgreSQL backend.

    They do not depend on other load; on an idle machine they equal the elapsed time.
    """
    start = cpu_seconds()
    call(*args, **kwargs)
    return (cpu_seconds() - start) * 1000


def reference_ms() -> float:
    """Return the CPU milliseconds of the reference loop, which show how fast the machine is at the moment."""
    return median(measure(reference_loop) for _ in range(3))


def reference_loop() -> None:
    """Do the same work in each run."""
    counts: dict[str, int] = {}
    for number in range(200_000):
        word = f"w{number % 5_000}"
        counts[word] = counts.get(word, 0) + 1


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its PostgreSQL backend so far."""
    from django.db import connection

    seconds = time.process_time()
    if connection.vendor == "postgresql" and connection.connection is not None:
        backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
        seconds += int(backend.read_text().split()[0]) / 1e9
    return seconds


# Servers


class Server(NamedTuple):
    """A running server: its address, and the id of the parent process of its workers."""

    address: str
    process: int

    def memory(self) -> float:
        """Return the resident memory of the largest worker in MB."""
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        status = [Path(f"/proc/{child}/status").read_text() for child in children]
        return max(int(text.split("VmRSS:")[1].split()[0]) / 1024 for text in status)


def free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run a server during the block, then kill its process group."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            with suppress(OSError):
                socket.create_connection((HOST, port), timeout=1).close()
                break
            time.sleep(0.05)
        else:
            raise SystemExit(f"{command} does not listen on port {port}.")
        yield Server(f"http://{HOST}:{port}", process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def granian(
    application: str, environment: Mapping[str, str] | None = None, workers: int = WORKERS, port: int = 0
) -> AbstractContextManager[Server]:
    """Serve a WSGI application as in production, on a free port or on the given one."""
    port = port or free_port()
    listen_options = ["--interface", "wsgi", "--host", HOST, "--port", str(port), "--log-level", "warning"]
    size_options = ["--workers", str(workers), "--blocking-threads", "16", "--backpressure", "128"]
    memory_options = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "262144"}
    variables = {**memory_options, **(environment or {})}
    return running(
        [sys.executable, "-m", "granian", *listen_options, *size_options, application], port, variables
    )


NGINX = """
daemon off; {user}worker_processes {workers}; pid {folder}/nginx.pid; error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  {around}
  server {{ listen {host}:{port}; access_log {folder}/access.log plenary buffer=64k flush=1s;
    include {folder}/locations.conf; }}
}}
"""


def nginx(folder: Path, processes: Sequence[Server]) -> AbstractContextManager[Server]:
    """Run nginx in front of processes, with the configuration of `deploy/` but without https."""
    port, deploy_folder = free_port(), ROOT / "deploy" / "nginx"
    folder.mkdir()
    http_block, _, _ = (deploy_folder / "plenary.conf").read_text("utf-8").partition("\nserver {")
    shipped = (deploy_folder / "upstream.conf").read_text("utf-8")
    zone, options = re.findall(r"^zone .*;$|(?<=:8000 ).*;$", shipped, re.M)
    addresses = [site.address.removeprefix("http://") for site in processes]
    upstream = "\n".join([zone, *(f"server {address} {options}" for address in addresses)])
    http_block = http_block.replace("include /etc/nginx/plenary/upstream.conf;", upstream)
    http_block = http_block.replace("/var/cache/nginx/plenary", f"{folder}/cache")
    # Let nginx read files in a folder that belongs to root.
    user = "user root; " if os.geteuid() == 0 else ""
    names = {"folder": folder, "host": HOST, "port": port, "workers": WORKERS}
    locations = (deploy_folder / "locations.conf").read_text("utf-8")
    (folder / "locations.conf").write_text(locations.replace("/etc/nginx/plenary", str(deploy_folder)))
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(user=user, around=http_block, **names))
    return running([find_program("nginx"), "-p", str(folder), "-c", str(config)], port)


def find_program(name: str) -> str:
    """Return the path of a program. Raises `SystemExit` if it is missing."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        raise SystemExit(f"{name} is missing: install it, as {__package__}/README.md says.")
    return path


def fetch(address: str) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a response. Raises `OSError` for an error."""
    with urlopen(Request(address, headers=GZIP), timeout=300) as response:  # noqa: S310
        return response.read(), dict(response.headers.items())


def rate(address: str, seconds: int) -> float:
    """Return the responses per second as wrk measures them. Raises `SystemExit` if one is an error."""
    headers = [f"-H{name}: {value}" for name, value in GZIP.items()]
    command = [find_program("wrk"), "-t1", "-c16", f"-d{seconds}s", *headers, address]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in output:
        raise SystemExit(f"{address} answers with errors:\n{output}")
    return float(output.split("Requests/sec:")[1].split()[0])
