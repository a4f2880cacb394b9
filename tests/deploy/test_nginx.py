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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import itemgetter
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
    request_counts: ClassVar[dict[str, int]] = {}
    request_headers: ClassVar[dict[str, str]] = {}
    SLOW_SECONDS = 0.8
    status: ClassVar[int] = 200
    # For how many seconds caches may serve a response while they renew it, or while no process answers.
    STALE_SECONDS = 3

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.request_counts[path] = self.request_counts.get(path, 0) + 1
        self.request_headers.update(self.headers.items())
        is_fresh = self.headers.get("If-None-Match") == '"tag"' and path != "/changing/"
        if path == "/slow/":
            time.sleep(self.SLOW_SECONDS)
        body = b"" if is_fresh else f"{path} {self.request_counts[path]}".encode()
        self.send_response(304 if is_fresh and self.status == 200 else self.status)
        control = {"/private/": "private", "/static/a.css": "public, max-age=31536000, immutable"}
        if path.startswith("/media/"):
            control[path] = "public, max-age=0, s-maxage=1, must-revalidate"
        self.send_header("Cache-Control", control.get(path, cache_control(1, self.STALE_SECONDS)))
        self.send_header("ETag", '"tag"')
        self.send_header("Process", str(self.connection.getsockname()[1]))
        # Without open connections, the application stops at once.
        self.send_header("Connection", "close")
        self.send_header("Content-Length", str(len(body)))
        if path == "/cookie/":
            self.send_header("Set-Cookie", "csrftoken=x")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, to keep the output of tests clean."""


def test_upload_limit_allows_the_largest_import() -> None:
    conf = (DEPLOY / "nginx" / "locations.conf").read_text("utf-8")
    limit = re.search(r"client_max_body_size (\d+)m;", conf)

    assert limit
    assert int(limit[1]) == settings.IMPORT_MEGABYTES + 5


def make_certificate(folder: Path) -> None:
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)


def write_configuration(folder: Path, processes: Sequence[int], ports: tuple[int, int]) -> Path:
    """Copy the shipped files into a folder, with its paths and free ports instead of the system's.

    `processes`: the ports of the two processes of the application.
    """
    plenary = folder / "plenary"
    (plenary / "certificates").mkdir(parents=True)
    make_certificate(plenary / "certificates")
    for name in ("logs.conf", "locations.conf", "away.html"):
        shutil.copy(DEPLOY / "nginx" / name, plenary)
    upstream = (DEPLOY / "nginx" / "upstream.conf").read_text("utf-8")
    for shipped, port in zip(("8000", "8001"), processes, strict=True):
        upstream = upstream.replace(f":{shipped} ", f":{port} ")
    (plenary / "upstream.conf").write_text(upstream)
    replacements = {
        "/etc/nginx/plenary": str(plenary),
        "/var/cache/nginx": str(folder / "cache"),
        "/var/log/nginx": str(folder),
        "listen 80 default_server": f"listen 127.0.0.1:{ports[0]} default_server",
        "listen 443 ssl http2 default_server": f"listen 127.0.0.1:{ports[1]} ssl http2 default_server",
    }
    for name in ("plenary.conf", "logs.conf", "locations.conf"):
        text = (DEPLOY / "nginx" / name).read_text("utf-8")
        lines = [line for line in text.splitlines() if "[::]" not in line]
        for old, new in replacements.items():
            lines = [line.replace(old, new) for line in lines]
        (plenary / name).write_text("\n".join(lines))
    temp_paths = [
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "fastcgi", "scgi", "uwsgi", "proxy")
    ]
    (folder / "cache").mkdir()
    config_file = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    config_file.write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ {' '.join(temp_paths)} include {plenary}/plenary.conf; }}"
    )
    return config_file


class Process(ThreadingHTTPServer):
    # As many connections may wait to be accepted as a process of the application lets wait.
    request_queue_size = 128


def start_process(port: int = 0) -> ThreadingHTTPServer:
    process = Process(("127.0.0.1", port), Application)
    threading.Thread(target=process.serve_forever, args=(0.01,), daemon=True).start()
    return process


def stop_process(process: ThreadingHTTPServer) -> None:
    process.shutdown()
    process.server_close()


class Proxy:
    """A running nginx, and the folder of its files."""

    def __init__(self, folder: Path, configuration: Path, ports: tuple[int, int]) -> None:
        self.folder, self.ports = folder, ports
        self.command = [NGINX, "-c", str(configuration)]
        self.start()

    def start(self) -> None:
        """Start nginx, and wait until it listens."""
        self.nginx = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
        wait_for_port(self.ports[1], self.nginx, self.folder / "error.log")

    def stop(self) -> None:
        self.nginx.terminate()
        self.nginx.wait(timeout=10)

    def restart(self) -> None:
        self.stop()
        self.start()

    def connect(self) -> http.client.HTTPSConnection:
        context = ssl._create_unverified_context()  # noqa: S323  a certificate of our own, on loopback
        connection = http.client.HTTPSConnection("127.0.0.1", self.ports[1], context=context, timeout=20)
        connection.connect()
        return connection

    def request(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        connection = self.connect()
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def log(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.folder / "plenary.log").read_text().splitlines()]


class Site(Proxy):
    """A running nginx with two processes of the application behind it."""

    def __init__(self, folder: Path) -> None:
        Application.request_counts.clear()
        Application.request_headers.clear()
        Application.status = 200
        self.processes = [start_process(), start_process()]
        ports = free_port(), free_port()
        conf = write_configuration(folder, [process.server_port for process in self.processes], ports)
        super().__init__(folder, conf, ports)

    def stop_application(self) -> None:
        for process in self.processes:
            stop_process(process)

    def close(self) -> None:
        self.stop()
        self.stop_application()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def test_nginx_accepts_the_configuration(tmp_path: Path) -> None:
    conf = write_configuration(tmp_path, [8000, 8001], (free_port(), free_port()))
    result = subprocess.run([NGINX, "-t", "-c", str(conf)], capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stderr
    # Since 1.25.1, nginx prefers a directive that Debian 12's nginx does not know.
    known_warning = 'the "listen ... http2" directive is deprecated'
    warnings = [line for line in result.stderr.splitlines() if "[warn]" in line]
    assert [line for line in warnings if known_warning not in line] == []


# nginx counts whole seconds: it caches for less than two instead of one, and serves stale for as many more.
CACHE_SECONDS, STALE_SECONDS = 2, Application.STALE_SECONDS


def test_pages_are_cached_renewed_and_served_while_the_application_is_down(site: Site) -> None:
    # One test for all of it, because the waiting takes most of the time.
    upload = "/media/material/slides.pdf"
    first_bodies = {site.request("/2021/")[2] for _ in range(5)}
    for path in ("/changing/", "/2023/", upload, "/static/a.css?v=1"):
        site.request(path)
    time.sleep(CACHE_SECONDS + 0.1)
    site.request(upload)
    upload_requests = Application.request_counts[upload]
    time.sleep(STALE_SECONDS)
    renewed, changed = site.request("/2021/"), site.request("/changing/")
    for path in ("/static/a.css?v=2", "/2023/"):
        site.request(path)
    site.stop_application()
    cached, css = site.request("/2023/"), site.request("/static/a.css?v=2")
    uncached = site.request("/2022/")

    assert first_bodies == {"/2021/ 1"}
    assert (renewed[0], Application.request_counts["/2021/"]) == (200, 2)
    # A page beyond the stale period is not served.
    assert changed[2] == "/changing/ 2"
    assert upload_requests == 2
    # A static file is requested once, whatever its query.
    assert (css[0], Application.request_counts["/static/a.css"]) == (200, 1)
    assert (cached[0], cached[2]) == (200, "/2023/ 1")
    assert (uncached[0], uncached[1]["Retry-After"], uncached[1]["Cache-Control"]) == (503, "30", "no-store")
    assert "Back in a moment" in uncached[2]
    assert "unsafe" not in uncached[1]["Content-Security-Policy"]


@pytest.mark.parametrize("status", [403, 404, 410, 503])
def test_stored_page_never_replaces_an_answer_of_the_application(site: Site, status: int) -> None:
    site.request("/2021/")
    time.sleep(CACHE_SECONDS + STALE_SECONDS + 0.1)
    Application.status = status
    assert site.request("/2021/")[0] == status


def test_stored_page_is_served_without_the_application_for_seconds_only(site: Site) -> None:
    for path in ("/2021/", "/2022/"):
        site.request(path)
    time.sleep(CACHE_SECONDS + 0.1)
    site.stop_application()
    at_first = site.request("/2021/")[0]
    time.sleep(STALE_SECONDS)
    later = site.request("/2021/")[0]
    # Stored pages survive a restart of nginx.
    site.restart()
    after_restart = site.request("/2022/")

    assert (at_first, later, after_restart[0]) == (200, 503, 503)
    assert "Back in a moment" in after_restart[2]


def test_stored_page_is_served_over_a_restart_while_it_is_renewed(site: Site) -> None:
    # nginx counts whole seconds, so let the response arrive early in a second.
    time.sleep((1.1 - Application.SLOW_SECONDS - time.time()) % 1)
    site.request("/slow/")
    time.sleep(CACHE_SECONDS + STALE_SECONDS - 1.5)
    ports = [process.server_port for process in site.processes]
    site.stop_application()
    site.processes = [start_process(port) for port in ports]
    start = time.monotonic()
    response = site.request("/slow/")
    duration = time.monotonic() - start
    for _ in range(100):
        if Application.request_counts["/slow/"] == 2:
            break
        time.sleep(0.02)

    assert response[2] == "/slow/ 1"
    assert duration < Application.SLOW_SECONDS
    assert Application.request_counts["/slow/"] == 2


def test_more_requests_than_the_processes_answer_soon_are_told_at_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Application, "SLOW_SECONDS", 6)
    upstream = (DEPLOY / "nginx" / "upstream.conf").read_text("utf-8")
    limit, more = sum(map(int, re.findall(r"max_conns=(\d+)", upstream))), 20
    site.request("/2021/")
    all_connected = threading.Barrier(limit + more)

    def request(number: int) -> tuple[int, float]:
        connection = site.connect()
        all_connected.wait(60)
        started = time.monotonic()
        connection.request("GET", f"/slow/?number={number}")
        response = connection.getresponse()
        seconds = time.monotonic() - started
        body = response.read().decode()
        connection.close()
        assert response.status == 200 or (response.headers["Retry-After"] and "Back in a moment" in body)
        return response.status, seconds

    with ThreadPoolExecutor(limit + more) as pool:
        answers = list(pool.map(request, range(limit + more)))

    assert [status for status, _ in sorted(answers, key=itemgetter(1))] == [503] * more + [200] * limit
    assert site.request("/2022/")[0] == 200


def test_address_goes_to_one_process_and_to_the_other_while_that_is_replaced(site: Site) -> None:
    # An odd number, so that taking turns would swap the processes.
    paths = [f"/{year}/" for year in range(2000, 2021)]

    def answers() -> list[tuple[int, str]]:
        """Return status and process of each path, requested with a cookie, so that it is not cached."""
        responses = [site.request(path, Cookie="agenda=abc") for path in paths]
        return [(status, headers.get("Process", "")) for status, headers, _ in responses]

    first, second = site.processes
    at_start = answers()
    assert {*at_start} == {(200, str(first.server_port)), (200, str(second.server_port))}
    assert answers() == at_start
    stop_process(first)
    assert {*answers()} == {(200, str(second.server_port))}
    # The first one is used again at once.
    site.processes[0] = start_process(first.server_port)
    stop_process(second)
    assert {*answers()} == {(200, str(first.server_port))}
    site.processes[1] = start_process(second.server_port)
    assert answers() == at_start


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
    bodies = [site.request(path, **headers)[2] for _ in range(3)]

    assert bodies == [f"{path} {number}" for number in (1, 2, 3)]


def test_other_cookies_share_the_cached_page(site: Site) -> None:
    bodies = {site.request("/2021/", Cookie=f"theme={theme}")[2] for theme in ("dark", "light")}

    assert bodies == {"/2021/ 1"}


def test_application_receives_forwarded_headers(site: Site) -> None:
    response = site.request("/2021/", **{"X-Forwarded-For": "198.51.100.7", "X-Request-ID": "mine"})

    assert Application.request_headers["X-Forwarded-Proto"] == "https"
    assert Application.request_headers["X-Forwarded-For"] == "198.51.100.7, 127.0.0.1"
    assert Application.request_headers["X-Request-ID"] == response[1]["X-Request-ID"] != "mine"


OWN_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Strict-Transport-Security": "max-age=31536000",
    "Cache-Control": "no-store",
}


def own_headers(headers: dict[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in OWN_HEADERS if name in headers}


@pytest.mark.parametrize(
    ("status", "path", "method", "headers"),
    [
        (404, "/metrics", "GET", {}),
        (404, "/readyz", "POST", {}),
        (405, "/2021/", "TRACE", {}),
        (413, "/2021/", "POST", {"Content-Length": str(200_000_000)}),
        (414, "/" + 9_000 * "a", "GET", {}),
        (400, "/2021/", "GET", {"Cookie": 9_000 * "a"}),
        (400, "/2021/", "GET", {"Host": "a b"}),
    ],
)
def test_own_answers_of_nginx_carry_the_headers(
    site: Site, status: int, path: str, method: str, headers: dict[str, str]
) -> None:
    response = site.request(path, method, **headers)

    assert (response[0], own_headers(response[1])) == (status, OWN_HEADERS)


def test_headers_of_the_application_are_not_doubled(site: Site) -> None:
    answers = [site.request("/2021/") for _ in range(2)]
    Application.status = 404
    answers.append(site.request("/missing/"))

    assert [own_headers(headers).keys() for _, headers, _ in answers] == [{"Cache-Control"}] * 3
    # Without the seconds that are meant for nginx.
    assert [headers["Cache-Control"] for _, headers, _ in answers] == ["public, max-age=0, s-maxage=1"] * 3
    Application.status = 200
    others = {path: site.request(path)[1]["Cache-Control"] for path in ("/private/", "/static/a.css")}
    assert others == {"/private/": "private", "/static/a.css": "public, max-age=31536000, immutable"}


def test_form_that_is_sent_while_the_application_is_down_is_answered(site: Site) -> None:
    site.stop_application()
    status, headers, body = site.request("/2021/agenda/stars/", "POST", **{"Content-Length": "0"})

    assert (status, headers["Retry-After"], own_headers(headers)) == (503, "30", OWN_HEADERS)
    assert "Back in a moment" in body


def test_metrics_and_readiness_are_not_public(site: Site) -> None:
    assert [site.request(path)[0] for path in ("/metrics", "/readyz", "/healthz")] == [404, 404, 200]


def test_http_redirects_to_https(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.ports[0], timeout=10)
    connection.request("GET", "/2021/?a=b", headers={"Host": "program.example.org"})
    response = connection.getresponse()

    assert (response.status, response.getheader("Location")) == (301, "https://program.example.org/2021/?a=b")


def test_missing_acme_challenge_logs_no_ip_address(site: Site) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.ports[0], timeout=10)
    connection.request("GET", "/.well-known/acme-challenge/none")

    response = connection.getresponse()
    assert response.status == 404
    plain = {*OWN_HEADERS} - {"Strict-Transport-Security", "Cache-Control"}
    assert {*own_headers(dict(response.getheaders()))} == plain
    logs = [path.read_text() for path in site.folder.glob("*.log")]
    assert [text for text in logs if "127.0.0.1" in text] == []


def test_log_contains_no_personal_data_and_no_secret(site: Site) -> None:
    site.request("/2021/agenda/s3cr3t/?q=ada", **{"User-Agent": "Reader/1", "Referer": "https://x.example/"})
    site.stop()
    (line,) = site.log()

    assert line["path"] == "/2021/agenda/…"
    assert {*line} == {"time", "request", "method", "path", "status", "bytes", "seconds", "cache"}
    assert "127.0.0.1" not in str(line)
