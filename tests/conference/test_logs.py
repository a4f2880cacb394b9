"""Log lines: complete in JSON, and without personal data."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from conference.logs import JsonFormatter, PlainFormatter
from pagecache import request_log


@pytest.fixture(autouse=True)
def _note() -> Iterator[None]:
    note = request_log.begin("0123456789abcdef")
    note.route = "<key:edition>/agenda/<str:token>/"
    yield
    request_log.end()


def record(message: str, *args: object, name: str = "django.request", **more: object) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.ERROR, __file__, 1, message, args, None)
    made.__dict__.update(more)
    return made


def failed(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        return record("Failed", exc_info=sys.exc_info())


def test_a_line_is_one_object() -> None:
    line = json.loads(JsonFormatter().format(record("Two\nlines", fields={"status": 500})))

    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "error",
        "logger": "django.request",
        "message": "Two\nlines",
        "request": "0123456789abcdef",
        "status": 500,
    }


def test_an_address_is_told_by_its_pattern() -> None:
    line = JsonFormatter().format(record("%s: %s", "Internal Server Error", "/2021/agenda/secret/"))

    assert json.loads(line)["message"] == "Internal Server Error: <key:edition>/agenda/<str:token>/"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("mail to ada@example.org failed", "mail to <e-mail> failed"),
        ("GET /search/?q=ada+lovelace HTTP", "GET /search/?… HTTP"),
        ("token " + "aB3-" * 10, "token <secret>"),
        ("refused\nDETAIL:  Key (orcid)=(0000-0002-1825-0097) already exists.", "refused\n"),
    ],
)
@pytest.mark.parametrize("formatter", [JsonFormatter(), PlainFormatter()])
def test_persons_and_secrets_stay_out(formatter: logging.Formatter, text: str, bare: str) -> None:
    for made in (record(text, name="plenary"), failed(ValueError(text))):
        line = formatter.format(made)
        said = json.loads(line) if isinstance(formatter, JsonFormatter) else {"all": line}

        assert text not in "".join(map(str, said.values()))
        assert bare in "".join(map(str, said.values()))
