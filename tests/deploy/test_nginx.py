"""nginx with the shipped configuration, on loopback, in front of an application that counts requests."""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from django.conf import settings

from pagecache.entries import cache_control
from tests.processes import free_port, wait_for_port

DEPLOY = Path(settings.BASE_DIR) / "deploy"
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
pytestmark = pytest.mark.skipif(
    not Path(NGINX).exists(), reason="nginx is not installed (apt-get install nginx)"
)


class Application(BaseHTTPRequestHandler):
    """Application that responds with its number of requests to a path, and with headers by path."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[dict[str, int]] = {}
    seen: ClassVar[dict[str, str]] = {}
    SLOW_SECONDS = 0.8

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked[path] = self.asked.get(path, 0) + 1
        self.seen.update(self.headers.items())
        fresh = self.headers.get("If-None-Match") == '"tag"' and path != "/changing/"
        if path == "/slow/":
            time.sleep(self.SLOW_SECONDS)
        body = b"" if fresh else f"{path} {self.asked[path]}".encode()
        self.send_response(304 if fresh else 200)
        control = {"/private/": "private", "/static/a.css": "public, max-age=31536000, immutable"}
        if path.startswith("/media/"):
            control[path] = "public, max-age=3600, s-maxage=1"
        self.send_header("Cache-Control", control.get(path, cache_control(1)))
        self.send_header("ETag", '"tag"')
        # Without open connections, the application stops at once.
        self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        if path == "/cookie/":
            self.send_header("Set-Cookie", "csrftoken=x")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, to keep the output of tests clean."""


def test_uploads_of_imports_pass_by_default() -> None:
    conf = (DEPLOY / "nginx" / "locations.conf").read_text("utf-8")
    limit = re.search(r"client_max_body_size (\d+)m;", conf)

    assert limit
    assert int(limit[1]) == settings.IMPORT_MEGABYTES + 5


def certificate(folder: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    names = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)


def configured(folder: Path, upstream: int, ports: tuple[int, int]) -> Path:
    """Copy the shipped files into a folder, with its paths and free ports instead of the system's."""
    plenary = folder / "plenary"
    (plenary / "certificates").mkdir(parents=True)
    certificate(plenary / "certificates")
    for name in ("logs.conf", "locations.conf", "away.html"):
        shutil.copy(DEPLOY / "nginx" / name, plenary)
    (plenary / "upstream.conf").write_text(f"server 127.0.0.1:{upstream};")
    moved = {
        "/etc/nginx/plenary": str(plenary),
        "/var/cache/nginx": str(folder / "cache"),
        "/var/log/nginx": str(folder),
        "listen 80 default_server": f"listen 127.0.0.1:{ports[0]} default_server",
        "listen 443 ssl http2 default_server": f"listen 127.0.0.1:{ports[1]} ssl http2 default_server",
    }
    for name in ("plenary.conf", "logs.conf", "locations.conf"):
        text = (DEPLOY / "nginx" / name).read_text("utf-8")
        lines = [line for line in text.splitlines() if "[::]" not in line]
        for old, new in moved.items():
            lines = [line.replace(old, new) for line in lines]
        (plenary / name).write_text("\n".join(lines))
    temporary = [
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "fastcgi", "scgi", "uwsgi", "proxy")
    ]
    (folder / "cache").mkdir()
    whole = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    whole.write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ {' '.join(temporary)} include {plenary}/plenary.conf; }}"
    )
    return whole


class Site:
    """A running nginx, the application behind it, and the folder of its files."""

    def __init__(self, folder: Path) -> None:
        Application.asked.clear()
        Application.seen.clear()
        self.folder = folder
        self.behind = ThreadingHTTPServer(("127.0.0.1", 0), Application)
        threading.Thread(target=self.behind.serve_forever, daemon=True).start()
        self.ports = free_port(), free_port()
        self.conf = configured(folder, self.behind.server_port, self.ports)
        self.nginx = subprocess.Popen([NGINX, "-c", str(self.conf)], stderr=subprocess.DEVNULL)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        context = ssl._create_unverified_context()  # noqa: S323  a certificate of our own, on loopback
        connection = http.client.HTTPSConnection("127.0.0.1", self.ports[1], context=context, timeout=20)
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def log(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.folder / "plenary.log").read_text().splitlines()]

    def stop_application(self) -> None:
        self.behind.shutdown()
        self.behind.server_close()

    def close(self) -> None:
        self.nginx.terminate()
        self.nginx.wait(timeout=10)
        self.stop_application()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    wait_for_port(site.ports[1], site.nginx, tmp_path / "error.log")
    yield site
    site.close()


def test_the_configuration_is_right(tmp_path: Path) -> None:
    conf = configured(tmp_path, 8000, (free_port(), free_port()))
    tested = subprocess.run([NGINX, "-t", "-c", str(conf)], capture_output=True, text=True, check=False)

    assert tested.returncode == 0, tested.stderr
    assert "[warn]" not in tested.stderr, tested.stderr


# nginx counts whole seconds, so it caches for less than two instead of one, and serves stale for one more.
KEPT_SECONDS, STALE_SECONDS = 2, 1


def test_page_is_cached_for_a_second(site: Site) -> None:
    first = {site.ask("/2021/")[2] for _ in range(5)}
    time.sleep(KEPT_SECONDS + STALE_SECONDS + 0.1)
    again = site.ask("/2021/")

    assert first == {"/2021/ 1"}
    assert Application.asked["/2021/"] == 2
    assert again[0] == 200


def test_a_page_is_renewed_in_the_background_while_readers_get_the_old_one(site: Site) -> None:
    # nginx counts whole seconds, so let the response arrive early in a second.
    time.sleep((1.1 - Application.SLOW_SECONDS - time.time()) % 1)
    site.ask("/slow/")
    time.sleep(KEPT_SECONDS + 0.1)
    began = time.monotonic()
    old = site.ask("/slow/")
    took = time.monotonic() - began
    for _ in range(100):
        if Application.asked["/slow/"] == 2:
            break
        time.sleep(0.02)

    assert old[2] == "/slow/ 1"
    assert took < Application.SLOW_SECONDS
    assert Application.asked["/slow/"] == 2


def test_unrequested_page_is_not_shown_stale(site: Site) -> None:
    site.ask("/changing/")
    time.sleep(KEPT_SECONDS + STALE_SECONDS + 0.1)

    assert site.ask("/changing/")[2] == "/changing/ 2"


def test_upload_is_cached_for_a_second(site: Site) -> None:
    first = site.ask("/media/material/slides.pdf")[2]
    time.sleep(KEPT_SECONDS + 0.1)
    site.ask("/media/material/slides.pdf")

    assert first == "/media/material/slides.pdf 1"
    assert Application.asked["/media/material/slides.pdf"] == 2


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/2021/", {"Cookie": "theme=dark; sessionid=abc"}),
        ("/2021/", {"Cookie": "agenda=abc"}),
        ("/2021/", {"Authorization": "Bearer abc"}),
        ("/private/", {}),
        ("/media/material/slides.pdf", {"Cookie": "sessionid=abc"}),
        ("/cookie/", {}),
    ],
)
def test_personal_pages_are_never_cached(site: Site, path: str, headers: dict[str, str]) -> None:
    said = [site.ask(path, **headers)[2] for _ in range(3)]

    assert said == [f"{path} {number}" for number in (1, 2, 3)]


def test_other_cookies_share_the_page(site: Site) -> None:
    said = {site.ask("/2021/", Cookie=f"theme={theme}")[2] for theme in ("dark", "light")}

    assert said == {"/2021/ 1"}


def test_the_application_knows_who_and_how(site: Site) -> None:
    answer = site.ask("/2021/", **{"X-Forwarded-For": "198.51.100.7", "X-Request-ID": "mine"})

    assert Application.seen["X-Forwarded-Proto"] == "https"
    assert Application.seen["X-Forwarded-For"] == "198.51.100.7, 127.0.0.1"
    assert Application.seen["X-Request-ID"] == answer[1]["X-Request-ID"] != "mine"


def test_cached_pages_are_served_while_no_process_answers(site: Site) -> None:
    site.ask("/2021/")
    site.ask("/static/a.css")
    site.stop_application()
    time.sleep(KEPT_SECONDS + STALE_SECONDS + 0.1)
    kept, css, new = site.ask("/2021/"), site.ask("/static/a.css"), site.ask("/2022/")

    assert (kept[0], kept[2]) == (200, "/2021/ 1")
    assert css[0] == 200
    assert (new[0], new[1]["Retry-After"], new[1]["Cache-Control"]) == (503, "30", "no-store")
    assert "Back in a moment" in new[2]
    assert "unsafe" not in new[1]["Content-Security-Policy"]


def test_static_files_are_requested_once(site: Site) -> None:
    site.ask("/static/a.css?v=1")
    time.sleep(1.1)
    site.ask("/static/a.css?v=2")

    assert Application.asked["/static/a.css"] == 1


def test_the_machines_own_pages_are_not_outside(site: Site) -> None:
    assert [site.ask(path)[0] for path in ("/metrics", "/readyz", "/healthz")] == [404, 404, 200]


def test_http_leads_to_https(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.ports[0], timeout=10)
    connection.request("GET", "/2021/?a=b", headers={"Host": "program.example.org"})
    response = connection.getresponse()

    assert (response.status, response.getheader("Location")) == (301, "https://program.example.org/2021/?a=b")


def test_missing_acme_challenge_logs_no_address(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.ports[0], timeout=10)
    connection.request("GET", "/.well-known/acme-challenge/none")

    assert connection.getresponse().status == 404
    logs = [path.read_text() for path in site.folder.glob("*.log")]
    assert [text for text in logs if "127.0.0.1" in text] == []


def test_the_log_names_no_reader_and_no_secret(site: Site) -> None:
    site.ask("/2021/agenda/s3cr3t/?q=ada", **{"User-Agent": "Reader/1", "Referer": "https://x.example/"})
    site.nginx.terminate()
    site.nginx.wait(timeout=10)
    (line,) = site.log()

    assert line["path"] == "/2021/agenda/…"
    assert {*line} == {"time", "request", "method", "path", "status", "bytes", "seconds", "cache"}
    assert "127.0.0.1" not in str(line)
