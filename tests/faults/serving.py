"""The site on a server of its own, and what it stands on: a database and a cache that can be taken away."""

import os
import pwd
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

from tests.processes import HOST, ROOT, environment, free_port, make_tables, python, wait_for_port

PATIENCE = 60.0
SERVER = ["-m", "granian", "--interface", "wsgi", "--host", HOST, "--log-level", "critical"]
STRENGTH = ["--blocking-threads", "4", "website.wsgi:application"]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Site:
    """A running server: where it listens, and the process that does the work."""

    port: int
    process: int

    def ask(self, path: str, method: str = "GET", body: str = "") -> Answer:
        """Return an answer and how long it took; none within a minute is an error."""
        began = time.monotonic()
        connection = HTTPConnection(HOST, self.port, timeout=PATIENCE)
        sent = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        connection.request(method, path, body or None, sent)
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        connection.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, text, time.monotonic() - began)

    def until(self, path: str, status: int) -> Answer:
        """Ask until the answer has this status."""
        end = time.monotonic() + PATIENCE
        while (answer := self.ask(path)).status != status and time.monotonic() < end:
            time.sleep(0.1)
        return answer

    def workers(self) -> list[int]:
        """Return the processes in which the site itself runs."""
        said = subprocess.run(["pgrep", "-P", str(self.process)], capture_output=True, text=True, check=False)
        return [self.process, *map(int, said.stdout.split())]


@contextmanager
def running(command: list[str], port: int, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server while the block does; its whole group of processes ends with it."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def install(folder: Path, **more: str) -> None:
    """Make an installation in a folder: migrated, with a program, and its static files."""
    if not more:
        make_tables(folder)
    commands = ["-m bench.generate --papers 20", "manage.py collectstatic --noinput -v 0"]
    for command in ["manage.py migrate -v 0", *commands] if more else commands:
        said = python(folder, *command.split(), **more)
        assert said.returncode == 0, said.stderr


@contextmanager
def serve(folder: Path, workers: int = 1, **more: str) -> Iterator[Site]:
    """Serve the installation in a folder."""
    port = free_port()
    command = [sys.executable, *SERVER, "--port", str(port), "--workers", str(workers), *STRENGTH]
    with running(command, port, environment(folder, **more)) as process:
        yield Site(port, process.pid)


def program(name: str) -> str:
    """Return where a program of Debian's is, or nothing."""
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), Path("/usr/sbin"), Path("/usr/bin")]
    return shutil.which(name, path=os.pathsep.join(map(str, places))) or ""


class Cluster:
    """A PostgreSQL server of a test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            os.chown(folder, pwd.getpwnam(self.user).pw_uid, -1)
        self._run("initdb", "-A", "trust", "-U", "postgres", "--no-sync")

    def _run(self, name: str, *words: str) -> None:
        command = [program(name), "-D", str(self.folder / "data"), *words]
        subprocess.run(command, user=self.user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses={HOST}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Take it away as a power cut does."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def address(self, port: int = 0) -> str:
        return f"postgres://postgres@{HOST}:{port or self.port}/postgres"


@contextmanager
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="plenary-cluster-"))
    try:
        found = Cluster(folder)
        found.start()
        try:
            yield found
        finally:
            with suppress(subprocess.CalledProcessError):
                found.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Slowly:
    """A way to a server on which each message from here takes its time."""

    def __init__(self, port: int) -> None:
        self.target, self.delay = port, 0.0
        self._server = socket.create_server((HOST, 0))
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._server.accept()
                there = socket.create_connection((HOST, self.target))
                threading.Thread(target=self._pass, args=(here, there, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(there, here, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_slow: bool) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                if is_slow:
                    time.sleep(self.delay)
                target.sendall(data)

    def close(self) -> None:
        self._server.close()
