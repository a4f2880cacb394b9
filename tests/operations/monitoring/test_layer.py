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
from tests.connections import keep_connections_open

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-many-characters"


def get(application: Any, path: str, **headers: str) -> tuple[str, dict[str, str], bytes]:
    environ: dict[str, Any] = {"PATH_INFO": path, "HTTP_HOST": "127.0.0.1", **headers}
    setup_testing_defaults(environ)
    started: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        started[:] = [status, dict(headers)]

    body = b"".join(application(environ, start_response))
    return started[0], started[1], body


@pytest.fixture
def site() -> Iterator[MonitoringLayer]:
    make.make_edition()
    with keep_connections_open():
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


def test_each_response_has_a_unique_request_id(site: MonitoringLayer) -> None:
    request_ids = [get(site, "/2021/")[1]["X-Request-ID"] for _ in range(3)]

    assert len({*request_ids}) == 3
    assert [len(request_id) for request_id in request_ids] == [16] * 3


@pytest.mark.parametrize(
    ("is_behind_proxy", "request_id", "is_kept"),
    [(True, "0123456789abcdef", True), (True, "x\ny: z", False), (False, "0123456789abcdef", False)],
)
def test_request_id_of_a_trusted_proxy_is_kept(
    site: MonitoringLayer, settings: Settings, is_behind_proxy: bool, request_id: str, is_kept: bool
) -> None:
    settings.BEHIND_PROXY = is_behind_proxy

    assert (get(site, "/healthz", HTTP_X_REQUEST_ID=request_id)[1]["X-Request-ID"] == request_id) == is_kept


def test_cached_responses_are_counted_and_not_logged(
    site: MonitoringLayer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plenary.requests")
    settings.METRICS_TOKEN = TOKEN
    for _ in range(3):
        get(site, "/2021/")
    metrics = get(site, "/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")[2].decode()

    routes = [record.__dict__["fields"]["route"] for record in caplog.records]
    assert routes == ["<key:edition>/", "metrics"]
    assert 'plenary_page_cache_total{outcome="hit"} 2.0' in metrics
    assert 'plenary_page_cache_total{outcome="miss"} 1.0' in metrics
    assert 'plenary_view_seconds_count{view="website:edition"} 1.0' in metrics
    assert 'plenary_revision{edition="2021"}' in metrics
    assert "plenary_queue_waiting 0.0" in metrics


def test_log_line_contains_no_personal_data_and_no_secret(site: MonitoringLayer, log: io.StringIO) -> None:
    secret = "s3cr3t" * 6
    get(site, f"/2021/agenda/{secret}/", REMOTE_ADDR="203.0.113.9", QUERY_STRING="q=ada@example.org")
    text = log.getvalue()

    line = json.loads(text)
    assert line["route"] == "<key:edition>/agenda/<str:token>/"
    assert line["status"] == 404
    assert {*line} == {
        "time", "level", "logger", "message", "request", "method", "route", "view", "status", "milliseconds",
    }  # fmt: skip
    assert [word for word in (secret, "203.0.113.9", "ada") if word in text] == []


def test_error_outside_of_django_is_raised_and_ends_the_log_note() -> None:
    def raise_error(environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        get(MonitoringLayer(raise_error), "/")
    assert request_log.current_note() is None


@pytest.mark.parametrize("header", ["", "Bearer wrong", f"Bearer {TOKEN}x", TOKEN[:-1]])
def test_metrics_need_the_token(client: Client, settings: Settings, header: str) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert client.get("/metrics", headers={"Authorization": header}).status_code == 404

    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
