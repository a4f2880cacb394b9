"""Tests of fetching a program from a fake site: retries, timeouts and allowed hosts."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from django.core.management import CommandError, call_command

from exchange.formats.openreview import PAGES
from exchange.imports.load import load
from exchange.jobs import fetch as fetching
from exchange.jobs.fetch import FetchPolicy, fetch, fetch_file
from exchange.jobs.public_hosts import is_public
from exchange.problems import ProgramError
from papers.models import Paper
from tests import factories as make
from tests.exchange.fake_site import NOTES, FakeSite
from tests.exchange.programs import program


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with FakeSite() as site:
        yield site


def error_message(site: FakeSite) -> str:
    with pytest.raises(ProgramError) as error:
        fetch(site.url, PAGES, site.policy)
    (problem,) = error.value.problems
    return problem.message


def test_all_pages_are_fetched_with_token_and_progress(site: FakeSite) -> None:
    progress: list[tuple[str, int, int]] = []

    sources = fetch(site.url, PAGES, site.policy, lambda *step: progress.append(step))

    assert [len(json.loads(source.content)["notes"]) for source in sources] == [2, 2, 1]
    assert site.requested_paths == [
        f"/notes?content.venueid=X&limit=2&offset={offset}" for offset in (0, 2, 4)
    ]
    assert site.tokens == ["Bearer secret"] * 3
    assert progress == [("fetched", 2, 5), ("fetched", 4, 5), ("fetched", 5, 5)]


def test_address_is_sent_with_escaped_characters(site: FakeSite) -> None:
    site.responses = [(200, {}, b"photo")]
    url = site.url.replace("/notes", "/Zoë Šmíd 100%25.png")

    assert fetch_file(url, site.policy) == b"photo"
    assert site.requested_paths == ["/Zo%C3%AB%20%C5%A0m%C3%ADd%20100%25.png?content.venueid=X&limit=2"]


def test_empty_page_is_the_last_if_there_is_no_count(site: FakeSite) -> None:
    pages = [{"notes": NOTES[:2]}, {"notes": []}]
    site.responses = [(200, {}, json.dumps(page).encode()) for page in pages]

    assert len(fetch(site.url, PAGES, site.policy)) == 2


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_temporary_errors_are_retried_with_growing_waits(site: FakeSite, status: int) -> None:
    site.responses = [(status, {}, b"")] * 3

    assert len(fetch(site.url, PAGES, site.policy)) == 3
    assert site.waits == [1.0, 2.0, 4.0]


def test_retry_after_header_is_respected(site: FakeSite) -> None:
    site.responses = [
        (429, {"Retry-After": "17"}, b""),
        (503, {"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, b""),
    ]

    fetch(site.url, PAGES, site.policy)

    assert site.waits == [17.0, 0.0]


def test_retry_after_of_hours_is_an_error(site: FakeSite) -> None:
    site.responses = [(429, {"Retry-After": "7200"}, b"")]
    assert error_message(site) == "The site responded with 429. Try again in 7200 seconds."


def test_failing_site_is_tried_five_times(site: FakeSite) -> None:
    site.responses = [(500, {}, b"")] * 9

    assert error_message(site) == "The site responded with 500. Tried 5 times. Try again later."
    assert len(site.requested_paths) == 5


def test_incomplete_response_is_retried(site: FakeSite) -> None:
    site.responses = [(200, {"Content-Length": "999", "Connection": "close"}, b'{"notes": [')]

    assert len(fetch(site.url, PAGES, replace(site.policy, timeout=0.2))) == 3


def test_site_that_does_not_respond_is_an_error(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_TRIES", 2)
    monkeypatch.setattr(site, "page", lambda path: __import__("time").sleep(0.5) or b"{}")
    site.policy = replace(site.policy, timeout=0.1)

    assert error_message(site) == "The site didn’t respond in time. Tried 2 times. Try again later."


def test_response_over_the_time_limit_is_an_error(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_TRIES", 1)
    site.policy = replace(site.policy, page_seconds=-1)

    assert error_message(site).startswith("The site didn’t respond in time.")


SLOW_PARTS = {
    "nothing": b"",
    "status": b"HTTP/1.1 2",
    "headers": b"HTTP/1.1 200 OK\r\nX-Slow: ",
    "body of any length": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
}


@pytest.mark.parametrize("beginning", SLOW_PARTS.values(), ids=SLOW_PARTS)
@pytest.mark.parametrize("limit", ["deadline", "page_seconds"])
def test_site_that_sends_byte_by_byte_is_left_in_time(
    beginning: bytes, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(beginning)
                # Longer than anybody should wait; sending nothing never fails.
                for _ in range(100):
                    time.sleep(0.05)
                    connection.sendall(b"x" if beginning else b"")

        Thread(target=drip, daemon=True).start()
        begin = time.monotonic()
        monkeypatch.setattr(fetching, "MAX_TRIES", 1)
        policy = FetchPolicy(frozenset(["127.0.0.1"]), is_local=True, wait=lambda pause: None)
        by_limit = {"deadline": replace(policy, deadline=begin + 0.4)}
        policy = by_limit.get(limit, replace(policy, page_seconds=0.4))
        with pytest.raises(ProgramError, match="The site didn’t respond in time"):
            fetch_file(f"http://127.0.0.1:{server.getsockname()[1]}/", policy)
        assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1", "127.0.0.1", "169.254.169.254", "100.64.0.1", "192.0.2.1", "224.0.0.1", "239.1.2.3",
        "233.252.0.1", "240.0.0.1", "255.255.255.255", "0.0.0.1", "192.88.99.1", "198.18.0.1",
        "::", "::1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::a00:1", "64:ff9b::808:808",
        "64:ff9b:1::a00:1", "fe80::1", "fe80::1%1", "fec0::1", "fc00::1", "ff02::1", "ff0e::1", "100::1",
        "2001::1", "2002:a00:1::1", "2001:db8::1", "3fff::1", "5f00::1", "4000::1",
    ],
)  # fmt: skip
def test_addresses_that_are_no_public_host_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    public = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))
    infos = [public, (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: infos)
    # A refusal that fails must not reach a real host.
    monkeypatch.setattr(fetching, "_Connection", None)

    with pytest.raises(ProgramError) as error:
        fetch_file("https://example.org/", FetchPolicy(frozenset(["example.org"])))
    message = f"example.org resolves to {address}, which isn’t a public host. Nothing was fetched."
    assert [problem.message for problem in error.value.problems] == [message]


@pytest.mark.parametrize("address", ["8.8.8.8", "151.101.1.69", "2606:4700::1111", "2a00:1450:4001::1"])
def test_public_hosts_are_known(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "Expecting value: line 1 column 1 (char 0)"),
        (b'{"notes": 3}', 'it holds no "notes"'),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe\x00", "'utf-16-le' codec can't decode byte 0x00 in position 2: truncated data"),
    ],
)
def test_invalid_json_is_refused_without_retry(site: FakeSite, body: bytes, reason: str) -> None:
    site.responses = [(200, {}, body)]

    assert error_message(site) == f"The response is not in this format: {reason}."
    assert len(site.requested_paths) == 1


@pytest.mark.parametrize(
    ("status", "beginning"),
    [
        (401, "The site responded with 401: the token is missing"),
        (403, "The site responded with 403: the token is missing"),
        (404, "The site responded with 404. Check the address."),
        (302, "The site redirects, and redirects aren’t followed."),
    ],
)
def test_permanent_error_is_reported_without_retry(site: FakeSite, status: int, beginning: str) -> None:
    site.responses = [(status, {"Location": "http://169.254.169.254/"}, b"")]

    assert error_message(site).startswith(beginning)
    assert len(site.requested_paths) == 1


def test_repeated_page_is_an_error(site: FakeSite) -> None:
    site.responses = [(200, {}, json.dumps({"notes": NOTES[:2], "count": 99}).encode())] * 9
    assert error_message(site).startswith("The site keeps returning the same page.")


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
def test_url_outside_the_allowed_hosts_is_refused(url: str, beginning: str) -> None:
    with pytest.raises(ProgramError) as error:
        fetch(url, PAGES, FetchPolicy(frozenset(["api2.openreview.net", "localhost"])))
    assert error.value.problems[0].message.startswith(beginning)


@pytest.mark.django_db
def test_command_fetches_with_the_token_from_a_file(
    site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(program(), "2021")
    policies: list[FetchPolicy] = []

    def make_local_policy(hosts: frozenset[str], token: str) -> FetchPolicy:
        policies.append(FetchPolicy(hosts, token))
        return replace(site.policy, token=token)

    monkeypatch.setattr("exchange.management.commands.import_program.FetchPolicy", make_local_policy)
    (tmp_path / "token").write_text("s3cret\n")
    options = {"edition": "2021", "from_url": site.url, "token_file": str(tmp_path / "token")}

    out = StringIO()
    for _ in range(2):
        call_command("import_program", "openreview", **options, no_progress=True, stdout=out)

    assert Paper.objects.count() == 5
    assert policies[0] == FetchPolicy(frozenset(["api2.openreview.net", "api.openreview.net"]), "s3cret")
    assert site.tokens[0] == "Bearer s3cret"
    assert out.getvalue().splitlines()[-1] == "Nothing has changed."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fmt", "options", "message"),
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
@pytest.mark.django_db
def test_command_error_starts_with_the_reason(fmt: str, options: dict[str, str], message: str) -> None:
    make.make_edition()
    err = StringIO()
    with pytest.raises(CommandError, match=r"Nothing was imported\."):
        call_command("import_program", fmt, **options, edition="2021", no_progress=True, stderr=err)
    assert err.getvalue().startswith(message)
