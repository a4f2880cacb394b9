"""Log lines: complete in JSON, and without personal data."""

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from conference.logs import JsonFormatter, PlainFormatter
from pagecache import request_log


@pytest.fixture(autouse=True)
def _request_entry() -> Iterator[None]:
    entry = request_log.begin("0123456789abcdef")
    entry.route = "<key:edition>/agenda/<str:token>/"
    yield
    request_log.end()


def make_record(
    message: str, *args: object, name: str = "django.request", **attributes: object
) -> logging.LogRecord:
    log_record = logging.LogRecord(name, logging.ERROR, __file__, 1, message, args, None)
    log_record.__dict__.update(attributes)
    return log_record


def make_failure_record(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        return make_record("Failed", exc_info=sys.exc_info())


def test_json_line_is_one_object() -> None:
    line = json.loads(JsonFormatter().format(make_record("Two\nlines", fields={"status": 500})))

    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "error",
        "logger": "django.request",
        "message": "Two\nlines",
        "request": "0123456789abcdef",
        "status": 500,
    }


def test_path_in_a_message_is_replaced_by_its_route() -> None:
    line = JsonFormatter().format(make_record("%s: %s", "Internal Server Error", "/2021/agenda/secret/"))

    assert json.loads(line)["message"] == "Internal Server Error: <key:edition>/agenda/<str:token>/"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("mail to ada@example.org failed", "mail to <e-mail> failed"),
        ("GET /search/?q=ada+lovelace HTTP", "GET /search/?… HTTP"),
        ("token " + "aB3-" * 10, "token <secret>"),
        ("refused\nDETAIL:  Key (orcid)=(0000-0002-1825-0097) already exists.", "refused\n"),
    ],
)
@pytest.mark.parametrize("formatter", [JsonFormatter(), PlainFormatter()])
def test_personal_data_and_secrets_are_not_logged(
    formatter: logging.Formatter, text: str, redacted: str
) -> None:
    for log_record in (make_record(text, name="plenary"), make_failure_record(ValueError(text))):
        line = formatter.format(log_record)
        fields = json.loads(line) if isinstance(formatter, JsonFormatter) else {"all": line}

        assert text not in "".join(map(str, fields.values()))
        assert redacted in "".join(map(str, fields.values()))
