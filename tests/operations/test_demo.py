"""The demo command: one call sets up everything, a second loses no data, a busy port is an error."""

import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from operations.management.commands.demo import refuse_busy_port
from tests.processes import HOST, PYTHON, ROOT, environment, free_port, manage

pytestmark = pytest.mark.anywhere


def test_demo_on_a_busy_port_is_a_one_line_error(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        busy_port = server.getsockname()[1]
        refused = manage(tmp_path, "demo", "--port", str(busy_port))
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert f"Port {busy_port}" in refused.stderr
    assert "--port" in refused.stderr


def test_demo_refuses_a_port_that_cannot_be(tmp_path: Path) -> None:
    refused = manage(tmp_path, "demo --port 99999")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


def test_free_port_is_not_refused() -> None:
    refuse_busy_port(free_port())


def fetch(address: str, seconds: float = 30) -> str:
    """Return a page; retry until the server has started."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  our own server
                return str(answer.read().decode())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_demo_is_made_ready_once_and_served_with_granian(tmp_path: Path) -> None:
    first, again = (manage(tmp_path, "demo --no-serve") for _ in range(2))
    assert (first.returncode, again.returncode) == (0, 0), first.stderr
    assert len(re.findall(r"with the password: \S{12,}", first.stdout)) == 1
    assert "Importing" in first.stdout
    assert [word for word in ("Importing", "password") if word in again.stdout] == []
    years = [(str(year), f"MLSys {year}") for year in (2023, 2022, 2021)]
    for said in (first, again):
        assert re.findall(r"/(\d{4})/  (.+)", said.stdout) == years
        assert re.findall(r"/(scrc-\d+)/", said.stdout) == ["scrc-13", "scrc-12"]

    # Files are only compressed under the hashed names that pages use.
    static = tmp_path / "static"
    assert not (static / "rest_framework").exists()
    assert len([*static.glob("css/plenary.*.css.br")]) == 1
    assert (static / "css" / "plenary.css").exists()
    assert not (static / "css" / "plenary.css.br").exists()
    assert_is_served(tmp_path, free_port())


def assert_is_served(folder: Path, port: int) -> None:
    command = [*PYTHON, "manage.py", "demo", "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdout=subprocess.DEVNULL)
    try:
        page = fetch(f"http://127.0.0.1:{port}/2021/")
        assert f'<link rel="canonical" href="http://127.0.0.1:{port}/2021/">' in page
        assert "MLSys 2021" in page
        stylesheet = re.search(r'href="(/static/css/plenary\.[0-9a-f]+\.css)"', page)
        assert stylesheet, "the stylesheet has no hash in its name"
        assert "--accent" in fetch(f"http://127.0.0.1:{port}{stylesheet[1]}")
    finally:
        server.terminate()
        server.wait(timeout=20)
