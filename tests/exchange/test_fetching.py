"""Tests of fetching a program from another site, here a fake: retries, timeouts and allowed hosts."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import CommandError, call_command

from exchange.formats.openreview import PAGES
from exchange.imports.load import load
from exchange.jobs import fetch as fetching
from exchange.jobs.fetch import FetchPolicy, fetch
from exchange.problems import ProgramError
from papers.models import Paper
from tests.exchange.formats.test_openreview import note
from tests.exchange.programs import program

ALL = [note(f"n{number}") for number in range(5)]


class Site:
    """HTTP server of OpenReview notes. It first sends the (status, headers, body) responses in `script`."""

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str], bytes | None]] = []
        self.asked: list[str] = []
        self.tokens: list[str | None] = []
        self.waited: list[float] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.tokens.append(self.headers["Authorization"])
                status, headers, body = site.script.pop(0) if site.script else (200, {}, None)
                content = site.page(self.path) if body is None else body
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/notes?content.venueid=X&limit=2"
        self.policy = FetchPolicy(
            frozenset(["127.0.0.1"]), is_local=True, timeout=0.5, wait=self.waited.append, token="secret"
        )

    def page(self, path: str) -> bytes:
        query = parse_qs(urlsplit(path).query)
        offset, limit = int(query["offset"][0]), int(query["limit"][0])
        return json.dumps({"notes": ALL[offset : offset + limit], "count": len(ALL)}).encode()

    def refusal(self) -> str:
        with pytest.raises(ProgramError) as error:
            fetch(self.url, PAGES, self.policy)
        (problem,) = error.value.problems
        return problem.message


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_all_pages_are_fetched_with_token_and_progress(site: Site) -> None:
    shown: list[tuple[str, int, int]] = []

    sources = fetch(site.url, PAGES, site.policy, lambda *step: shown.append(step))

    assert [len(json.loads(source.content)["notes"]) for source in sources] == [2, 2, 1]
    assert site.asked == [f"/notes?content.venueid=X&limit=2&offset={offset}" for offset in (0, 2, 4)]
    assert site.tokens == ["Bearer secret"] * 3
    assert shown == [("fetched", 2, 5), ("fetched", 4, 5), ("fetched", 5, 5)]


def test_without_a_count_the_empty_page_is_the_last(site: Site) -> None:
    pages = [{"notes": ALL[:2]}, {"notes": []}]
    site.script = [(200, {}, json.dumps(page).encode()) for page in pages]

    assert len(fetch(site.url, PAGES, site.policy)) == 2


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_passing_failures_are_asked_again_later_each_time(site: Site, status: int) -> None:
    site.script = [(status, {}, b"")] * 3

    assert len(fetch(site.url, PAGES, site.policy)) == 3
    assert site.waited == [1.0, 2.0, 4.0]


def test_retry_after_is_obeyed(site: Site) -> None:
    site.script = [
        (429, {"Retry-After": "17"}, b""),
        (503, {"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, b""),
    ]

    fetch(site.url, PAGES, site.policy)

    assert site.waited == [17.0, 0.0]


def test_retry_after_of_hours_ends_the_import(site: Site) -> None:
    site.script = [(429, {"Retry-After": "7200"}, b"")]
    assert site.refusal() == "The site responded with 429. Try again in 7200 seconds."


def test_a_site_that_stays_down_is_asked_five_times(site: Site) -> None:
    site.script = [(500, {}, b"")] * 9

    assert site.refusal() == "The site responded with 500. Tried 5 times. Try again later."
    assert len(site.asked) == 5


def test_an_answer_that_breaks_off_is_asked_again(site: Site) -> None:
    site.script = [(200, {"Content-Length": "999", "Connection": "close"}, b'{"notes": [')]

    assert len(fetch(site.url, PAGES, replace(site.policy, timeout=0.2))) == 3


def test_a_site_that_does_not_answer_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_TRIES", 2)
    monkeypatch.setattr(site, "page", lambda path: __import__("time").sleep(0.5) or b"{}")
    site.policy = replace(site.policy, timeout=0.1)

    assert site.refusal() == "The site didn’t respond in time. Tried 2 times. Try again later."


def test_an_answer_that_drips_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_TRIES", 1)
    site.policy = replace(site.policy, page_seconds=-1)

    assert site.refusal().startswith("The site didn’t respond in time.")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"notes": 3}', 'it holds no "notes"'),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe\x00", "'utf-16-le' codec can't decode byte 0x00 in position 2: truncated data"),
    ],
)
def test_wrong_json_is_refused_at_once(site: Site, body: bytes, reason: str) -> None:
    site.script = [(200, {}, body)]

    assert site.refusal() == f"The response is not in this format: {reason}."
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("status", "beginning"),
    [
        (401, "The site responded with 401: the token is missing"),
        (403, "The site responded with 403: the token is missing"),
        (404, "The site responded with 404. Check the address."),
        (302, "The site redirects, and redirects aren’t followed."),
    ],
)
def test_final_answers_are_one_sentence(site: Site, status: int, beginning: str) -> None:
    site.script = [(status, {"Location": "http://169.254.169.254/"}, b"")]

    assert site.refusal().startswith(beginning)
    assert len(site.asked) == 1


def test_the_same_page_again_and_again_ends(site: Site) -> None:
    site.script = [(200, {}, json.dumps({"notes": ALL[:2], "count": 99}).encode())] * 9
    assert site.refusal().startswith("The site keeps returning the same page.")


@pytest.mark.parametrize(
    ("url", "beginning"),
    [
        ("http://api2.openreview.net/notes", "The address must begin with https://."),
        ("https://example.org/notes", "Programs are fetched only from: api2.openreview.net, localhost."),
        ("https://api2.openreview.net.example.org/x", "Programs are fetched only from: "),
        ("https://api2.openreview.net@example.org/x", "The address must not contain a password."),
        ("https://localhost/notes", "localhost resolves to "),
        ("file:///etc/passwd", "The address must begin with https://."),
    ],
)
def test_only_allowed_hosts_outside_of_networks_are_asked(url: str, beginning: str) -> None:
    with pytest.raises(ProgramError) as error:
        fetch(url, PAGES, FetchPolicy(frozenset(["api2.openreview.net", "localhost"])))
    assert error.value.problems[0].message.startswith(beginning)


@pytest.mark.django_db
def test_command_fetches_with_the_token_of_a_file(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(program(), "2021")
    made: list[FetchPolicy] = []

    def local(hosts: frozenset[str], token: str) -> FetchPolicy:
        made.append(FetchPolicy(hosts, token))
        return replace(site.policy, token=token)

    monkeypatch.setattr("exchange.management.commands.import_program.FetchPolicy", local)
    (tmp_path / "token").write_text("s3cret\n")
    options = {"edition": "2021", "from_url": site.url, "token_file": str(tmp_path / "token")}

    out = StringIO()
    for _ in range(2):
        call_command("import_program", "openreview", **options, no_progress=True, stdout=out)

    assert Paper.objects.count() == 5
    assert made[0] == FetchPolicy(frozenset(["api2.openreview.net", "api.openreview.net"]), "s3cret")
    assert site.tokens[0] == "Bearer s3cret"
    assert out.getvalue().splitlines()[-1] == "Nothing has changed."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fmt", "options", "sentence"),
    [
        ("openreview", {}, "Give files, or an address with --from-url: one of them."),
        (
            "tables",
            {"from_url": "https://x.org"},
            "tables cannot be fetched. Save the file and give its name.",
        ),
        ("openreview", {"from_url": "https://x.org"}, "https://x.org: Programs are fetched only from: "),
    ],
)
def test_command_refuses_in_one_sentence(fmt: str, options: dict[str, str], sentence: str) -> None:
    err = StringIO()
    with pytest.raises(CommandError, match=r"Nothing was imported\."):
        call_command("import_program", fmt, **options, edition="2021", no_progress=True, stderr=err)
    assert err.getvalue().startswith(sentence)
