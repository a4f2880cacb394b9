"""A server of the site, and a database and a cache that tests can stop."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import psycopg

from tests.processes import (
    DATABASE,
    HOST,
    ROOT,
    copy_tables,
    environment,
    free_port,
    output,
    start,
    wait_for_port,
)

TIMEOUT_SECONDS = 60.0
METRICS_TOKEN = 5 * "metrics-"
SERVER = ["-m", "granian", "--interface", "wsgi", "--host", HOST, "--log-level", "critical"]
SERVER_OPTIONS = ["--blocking-threads", "4", "website.wsgi:application"]


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Site:
    """A running server: its port and its process."""

    port: int
    process: int

    def request(self, path: str, method: str = "GET", body: str = "") -> Response:
        """Return a response and its duration; raise an error after a minute without a response."""
        started = time.monotonic()
        connection = HTTPConnection(HOST, self.port, timeout=TIMEOUT_SECONDS)
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        response_headers = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, response_headers, text, time.monotonic() - started)

    def renderings(self) -> int:
        """Return for how many pages a reader has waited; the server needs `METRICS_TOKEN`."""
        connection = HTTPConnection(HOST, self.port, timeout=TIMEOUT_SECONDS)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
        text = connection.getresponse().read().decode()
        connection.close()
        match = re.search(r'^plenary_page_cache_total{outcome="miss"} (\d+)', text, re.M)
        return int(match[1]) if match else 0

    def wait_for_status(self, path: str, status: int) -> Response:
        """Repeat a request until it has this status, or until a time limit; return the last response."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (response := self.request(path)).status != status and time.monotonic() < deadline:
            time.sleep(0.1)
        return response

    def kill(self) -> None:
        """Kill the server and its workers, and wait until they do not listen."""
        os.killpg(self.process, signal.SIGKILL)
        while is_listening(self.port):
            time.sleep(0.01)

    def process_ids(self) -> list[int]:
        """Return the ids of the server's process and its workers."""
        result = subprocess.run(
            ["pgrep", "-P", str(self.process)], capture_output=True, text=True, check=False
        )
        return [self.process, *map(int, result.stdout.split())]


@contextmanager
def running(command: list[str], port: int, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server during the block, then kill its process group."""
    devnull = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=devnull, stderr=devnull, start_new_session=True
    )
    try:
        wait_for_port(port, process)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # Its workers may end later, and the next server may use the same port.
        while is_listening(port):
            time.sleep(0.01)


def is_listening(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((HOST, port)) == 0


INSTALL = """
from django.core.management import call_command
from bench.generate import fill
call_command("migrate", verbosity=0)
fill(20)
call_command("collectstatic", interactive=False, verbosity=0)
"""


def install(folder: Path, **env: str) -> None:
    """Create an installation in a folder: migrate, fill it with a program, and collect static files."""
    copy_tables(folder / DATABASE)
    output(start(folder, INSTALL, **env))


@contextmanager
def serve(folder: Path, workers: int = 1, port: int = 0, /, **env: str) -> Iterator[Site]:
    """Serve the installation in a folder during the block, on a free port or on the given one."""
    port = port or free_port()
    command = [sys.executable, *SERVER, "--port", str(port), "--workers", str(workers), *SERVER_OPTIONS]
    with running(command, port, environment(folder, **env)) as process:
        yield Site(port, process.pid)


def find_program(name: str) -> str:
    """Return the path of an installed program, or "" if it is missing."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), Path("/usr/sbin"), Path("/usr/bin")]
    return shutil.which(name, path=os.pathsep.join(map(str, folders))) or ""


class Cluster:
    """A temporary PostgreSQL server of a test."""

    def __init__(self, folder: Path, primary: "Cluster | None" = None) -> None:
        """Create the files of a server, or of a streaming replica of another."""
        self.folder, self.port = folder, free_port()
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            os.chown(folder, pwd.getpwnam(self.user).pw_uid, -1)
        if primary:
            source = ["-h", HOST, "-p", str(primary.port), "-U", "postgres"]
            self._run("pg_basebackup", *source, "-R", "-c", "fast", "--no-sync")
        else:
            self._run("initdb", "-A", "trust", "-U", "postgres", "--no-sync")

    def _run(self, name: str, *words: str) -> None:
        command = [find_program(name), "-D", str(self.folder / "data"), *words]
        subprocess.run(command, user=self.user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def execute(self, sql: str) -> None:
        """Run a statement, which must not be in a transaction of others."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(sql)

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses={HOST}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it without a checkpoint, as after a power failure."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def address(self, port: int = 0) -> str:
        return f"postgres://postgres@{HOST}:{port or self.port}/postgres"


@contextmanager
def cluster(primary: Cluster | None = None) -> Iterator[Cluster]:
    """Run a temporary PostgreSQL server during the block, or a replica of another."""
    folder = Path(tempfile.mkdtemp(prefix="plenary-cluster-"))
    try:
        server = Cluster(folder, primary)
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class SlowProxy:
    """A TCP proxy that delays each message of the client by `delay` seconds."""

    def __init__(self, port: int) -> None:
        self.target, self.delay = port, 0.0
        self._server = socket.create_server((HOST, 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                database = socket.create_connection((HOST, self.target))
                threading.Thread(target=self._pass, args=(client, database, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(database, client, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_slow: bool) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                if is_slow:
                    time.sleep(self.delay)
                target.sendall(data)

    def close(self) -> None:
        self._server.close()
