"""Reports to Sentry: they contain the error and its location, but no personal data."""

from pathlib import Path

from operations.monitoring.notes import strip_report
from pagecache import request_log
from tests.processes import output, start


def test_error_reports_have_no_personal_data() -> None:
    report = strip_report(
        {
            "user": {"username": "chair"},
            "request": {"url": "https://x.org/search/?q=ada", "cookies": "sessionid=1"},
            "exception": {"values": [{"type": "ValueError", "value": "no mail to ada@example.org"}]},
            "level": "error",
        },
        {},
    )
    assert report == {
        "exception": {"values": [{"type": "ValueError", "value": "no mail to <e-mail>"}]},
        "level": "error",
    }


def test_report_has_the_request_id_of_the_log() -> None:
    request_log.begin("a-request-1")
    report = strip_report(
        {"logentry": {"message": "%s: %s", "params": ["Error", "/2021/agenda/secret/"]}}, {}
    )
    request_log.end()

    assert report == {"logentry": {"message": "%s: %s"}, "tags": {"request": "a-request-1"}}


def test_sentry_is_set_up_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "sentry_sdk.py").write_text("def init(**options):\n    print(options['dsn'])\n")
    dsns = ["", "https://key@127.0.0.1/1"]
    outputs = [output(start(tmp_path, "", SENTRY_DSN=dsn, PYTHONPATH=str(tmp_path))) for dsn in dsns]

    assert [text.strip() for text in outputs] == dsns
