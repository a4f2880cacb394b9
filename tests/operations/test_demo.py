"""The demo command: one call makes everything ready, a second loses nothing, a busy port is one line."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from operations.management.commands.demo import refuse_busy_port

pytestmark = pytest.mark.anywhere

ROOT = Path(settings.BASE_DIR)


def environment(folder: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DATABASE_URL", "PYTEST_CURRENT_TEST", "SITE_URL"}
    }
    return {**kept, "PLENARY_VAR_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "conference.settings"}


def demo(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "demo", *options]
    return subprocess.run(
        command, cwd=ROOT, env=environment(folder), capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh installation, with the demo made ready once."""
    var = tmp_path_factory.mktemp("var")
    first = demo(var, "--no-serve")
    assert first.returncode == 0, first.stderr
    assert len(re.findall(r"with the password: \S{12,}", first.stdout)) == 1
    assert re.findall(r"/(\d{4})/  (.+)", first.stdout) == [
        ("2023", "MLSys 2023"),
        ("2022", "MLSys 2022"),
        ("2021", "MLSys 2021"),
    ]
    return var


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_demo_again_imports_nothing_and_shows_no_password(folder: Path) -> None:
    again = demo(folder, "--no-serve")
    assert again.returncode == 0
    assert "Importing" not in again.stdout
    assert "password" not in again.stdout
    assert "MLSys 2021" in again.stdout


def test_demo_on_a_busy_port_is_a_one_line_error(folder: Path, busy_port: int) -> None:
    refused = demo(folder, "--port", str(busy_port))
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert f"Port {busy_port}" in refused.stderr
    assert "--port" in refused.stderr


def test_demo_refuses_a_port_that_cannot_be(folder: Path) -> None:
    refused = demo(folder, "--port", "99999")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1


def test_free_port_is_not_refused() -> None:
    refuse_busy_port(free_port())


def fetch(address: str, seconds: float = 30) -> str:
    """Return the page, waiting for the server to come up."""
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310  our own server
                return str(answer.read().decode())
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def test_files_are_compressed_under_the_names_that_pages_ask_for(folder: Path) -> None:
    static = folder / "static"

    assert not (static / "rest_framework").exists()
    assert len([*static.glob("css/plenary.*.css.br")]) == 1
    assert (static / "css" / "plenary.css").exists()
    assert not (static / "css" / "plenary.css.br").exists()


def test_demo_serves_pages_and_static_files_with_granian(folder: Path) -> None:
    port = free_port()
    command = [sys.executable, "manage.py", "demo", "--port", str(port)]
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
