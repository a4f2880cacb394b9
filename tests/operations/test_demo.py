"""The demo command: one call sets up everything, a second loses no data, a busy port is an error."""

import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from django.core.management import CommandError

from operations.management.commands.demo import refuse_busy_port
from tests.processes import HOST, PYTHON, ROOT, environment, free_port, manage

pytestmark = pytest.mark.anywhere


def test_demo_on_a_busy_port_is_a_one_line_error(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as server:
        busy_port = server.getsockname()[1]
        result = manage(tmp_path, "demo", "--port", str(busy_port))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert f"Port {busy_port}" in result.stderr
    assert "--port" in result.stderr


def test_invalid_port_is_an_error() -> None:
    with pytest.raises(CommandError, match="Port 99999 on"):
        refuse_busy_port(99_999)


def test_free_port_is_accepted() -> None:
    refuse_busy_port(free_port())


def fetch(url: str, seconds: float = 30) -> str:
    """Return a page; retry until the server has started."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310  our own server
                return str(response.read().decode())
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def test_demo_is_set_up_once_and_served_with_granian(tmp_path: Path) -> None:
    first = manage(tmp_path, "demo --no-serve")
    assert first.returncode == 0, first.stderr
    second_output = serve_demo(tmp_path, free_port())
    assert len(re.findall(r"with the password: \S{12,}", first.stdout)) == 1
    assert "Importing" in first.stdout
    assert [word for word in ("Importing", "password") if word in second_output] == []
    years = [(str(year), f"MLSys {year}") for year in (2023, 2022, 2021)]
    for output in (first.stdout, second_output):
        assert re.findall(r"/(\d{4})/  (.+)", output) == years
        assert re.findall(r"/(scrc-\d+)/", output) == ["scrc-13", "scrc-12"]

    # Files are only compressed under the hashed names that pages use.
    static = tmp_path / "static"
    assert not (static / "rest_framework").exists()
    assert len([*static.glob("css/plenary.*.css.br")]) == 1
    assert (static / "css" / "plenary.css").exists()
    assert not (static / "css" / "plenary.css.br").exists()


def serve_demo(folder: Path, port: int) -> str:
    """Serve the demo, check a page and its stylesheet, and return the output of the command."""
    command = [*PYTHON, "manage.py", "demo", "--port", str(port)]
    with (folder / "output.txt").open("w+") as output:
        server = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdout=output)
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
        output.seek(0)
        return output.read()
