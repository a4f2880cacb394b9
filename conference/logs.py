"""Log formatters: JSON or plain text, with the id of the request, and without personal data.

They remove e-mail addresses, secrets in links, and rows that database errors quote.
"""

import json
import logging
import re
from datetime import UTC, datetime

from pagecache.request_log import current_note

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# PostgreSQL quotes values of refused rows: `DETAIL:  Key (orcid)=(...) already exists.`
DETAIL = re.compile(r"(?m)^\s*(DETAIL|CONTEXT|HINT):.*$")
QUERY = re.compile(r"\?[^\s\"']+")
SECRET = re.compile(r"(?<![\w-])[A-Za-z0-9_-]{32,}(?![\w-])")
# Loggers with the requested path in their arguments.
PATH_LOGGERS = ("django.request", "django.security", "django.server")


def redact(text: str) -> str:
    """Return a text without details that may identify people."""
    for pattern, replacement in ((DETAIL, ""), (EMAIL, "<e-mail>"), (QUERY, "?…"), (SECRET, "<secret>")):
        text = pattern.sub(replacement, text)
    return text


def format_message(record: logging.LogRecord) -> str:
    """Return the redacted message, with the URL pattern in place of a path."""
    note = current_note()
    if record.name.startswith(PATH_LOGGERS) and record.args:
        args = record.args if isinstance(record.args, tuple) else (record.args,)
        pattern = note.route if note and note.route else "…"
        args = tuple(pattern if isinstance(arg, str) and arg.startswith("/") else arg for arg in args)
        return redact(str(record.msg) % args)
    return redact(record.getMessage())


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": format_message(record),
        }
        note = current_note()
        if note:
            line["request"] = note.request
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


class PlainFormatter(logging.Formatter):
    """Formats log records as plain text, for terminals."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in getattr(record, "fields", {}).items())
        text = f"{record.levelname} {format_message(record)}{fields}"
        return f"{text}\n{redact(self.formatException(record.exc_info))}" if record.exc_info else text


def logging_settings(log_format: str) -> dict[str, object]:
    """Return the setting `LOGGING`: all loggers write to standard error in the given format."""
    is_json = log_format == "json"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": {"()": JsonFormatter if is_json else PlainFormatter}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "chosen"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            # Do not log warnings about 404s, which are not errors of the site.
            "django.request": {"level": "ERROR"},
            # One line for each request that was not served from the page cache.
            "plenary.requests": {"level": "INFO" if is_json else "WARNING"},
        },
    }
