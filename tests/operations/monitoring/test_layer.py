"""Monitoring of requests: an id in every response, a log line, metrics, and no personal data."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.wsgi import get_wsgi_application
from django.test import Client
from pytest_django import Settings

from conference.logs import JsonFormatter
from operations.monitoring.wsgi import MonitoringLayer
from pagecache import request_log
from pagecache.middleware import PageCache
from tests import factories as make
from tests.connections import left_open

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-many-characters"


def ask(application: Any, path: str, **headers: str) -> tuple[str, dict[str, str], bytes]:
    environ: dict[str, Any] = {"PATH_INFO": path, "HTTP_HOST": "127.0.0.1", **headers}
    setup_testing_defaults(environ)
    begun: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        begun[:] = [status, dict(headers)]

    body = b"".join(application(environ, start))
    return begun[0], begun[1], body


@pytest.fixture
def site() -> Iterator[MonitoringLayer]:
    make.make_edition()
    with left_open():
        yield MonitoringLayer(PageCache(get_wsgi_application()))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Yield the stream of the request log in JSON."""
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("plenary.requests")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler.stream
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_each_answer_has_a_name_of_its_own(site: MonitoringLayer) -> None:
    names = [ask(site, "/2021/")[1]["X-Request-ID"] for _ in range(3)]

    assert len({*names}) == 3
    assert [len(name) for name in names] == [16] * 3


@pytest.mark.parametrize(
    ("is_behind", "given", "is_kept"),
    [(True, "0123456789abcdef", True), (True, "x\ny: z", False), (False, "0123456789abcdef", False)],
)
def test_request_id_of_a_proxy_is_used(
    site: MonitoringLayer, settings: Settings, is_behind: bool, given: str, is_kept: bool
) -> None:
    settings.BEHIND_PROXY = is_behind

    assert (ask(site, "/healthz", HTTP_X_REQUEST_ID=given)[1]["X-Request-ID"] == given) == is_kept


def test_cached_responses_are_counted_and_not_logged(
    site: MonitoringLayer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plenary.requests")
    settings.METRICS_TOKEN = TOKEN
    for _ in range(3):
        ask(site, "/2021/")
    page = ask(site, "/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")[2].decode()

    routes = [record.__dict__["fields"]["route"] for record in caplog.records]
    assert routes == ["<key:edition>/", "metrics"]
    assert 'plenary_page_cache_total{outcome="hit"} 2.0' in page
    assert 'plenary_page_cache_total{outcome="miss"} 1.0' in page
    assert 'plenary_view_seconds_count{view="website:edition"} 1.0' in page
    assert 'plenary_revision{edition="2021"}' in page
    assert "plenary_queue_waiting 0.0" in page


def test_a_line_names_no_reader_and_no_secret(site: MonitoringLayer, log: io.StringIO) -> None:
    secret = "s3cr3t" * 6
    ask(site, f"/2021/agenda/{secret}/", REMOTE_ADDR="203.0.113.9", QUERY_STRING="q=ada@example.org")
    text = log.getvalue()

    line = json.loads(text)
    assert line["route"] == "<key:edition>/agenda/<str:token>/"
    assert line["status"] == 404
    assert {*line} == {
        "time", "level", "logger", "message", "request", "method", "route", "view", "status", "milliseconds",
    }  # fmt: skip
    assert [word for word in (secret, "203.0.113.9", "ada") if word in text] == []


def test_an_error_outside_of_django_is_counted_too(settings: Settings) -> None:
    def failing(environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        ask(MonitoringLayer(failing), "/")
    assert request_log.current_note() is None


@pytest.mark.parametrize("given", ["", "Bearer wrong", f"Bearer {TOKEN}x", TOKEN[:-1]])
def test_metrics_need_the_token(client: Client, settings: Settings, given: str) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics", headers={"Authorization": given}).status_code == 404

    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
