"""What is told to a Sentry: the error and where it happened, never whom it is about."""

from website.running.reporting import stripped


def test_nothing_personal_is_told() -> None:
    told = stripped(
        {
            "user": {"username": "chair"},
            "request": {"url": "https://x.org/search/?q=ada", "cookies": "sessionid=1"},
            "exception": {"values": [{"type": "ValueError", "value": "no mail to ada@example.org"}]},
            "level": "error",
        },
        {},
    )
    assert told == {
        "exception": {"values": [{"type": "ValueError", "value": "no mail to <e-mail>"}]},
        "level": "error",
    }
