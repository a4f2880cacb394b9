"""Content lines of RFC 5545: escaped, folded, in UTF-8.

For events alone, of which a calendar of all talks has thousands: `icalendar` folds letter by letter and makes
ten objects for a line. It writes what stands around them, and reads everything in the tests.
"""

from collections.abc import Mapping
from datetime import datetime

END, FOLD = b"\r\n", b"\r\n "
# Octets of a line: 75 with the space that the next ones begin with.
MAX_LINE_BYTES = 74
ESCAPES = (("\\", r"\\"), (";", r"\;"), (",", r"\,"), ("\r\n", r"\n"), ("\n", r"\n"), ("\r", r"\n"))
# What stands in an event, in the order in which `icalendar` writes it.
ORDER = (
    *("summary", "dtstart", "dtend", "dtstamp", "uid", "sequence", "categories"),
    *("description", "last-modified", "location", "status", "url"),
)


def event(fields: Mapping[str, object]) -> bytes:
    """Return an event with these fields."""
    said = [line(name, fields[name]) for name in ORDER if name in fields]
    return b"".join((b"BEGIN:VEVENT\r\n", *said, b"END:VEVENT\r\n"))


def line(name: str, value: object) -> bytes:
    """Return one line: a text, a web address ("url"), several texts, a number, or a moment in its zone."""
    shown = name.upper()
    if isinstance(value, datetime):
        return folded(f"{shown}{_moment(value)}")
    if isinstance(value, list):
        return folded(f"{shown}:{','.join(map(escaped, value))}")
    return folded(f"{shown}:{value if name == 'url' else escaped(str(value))}")


def _moment(value: datetime) -> str:
    written = value.isoformat(timespec="seconds")[:19].replace("-", "").replace(":", "")
    zone = str(value.tzinfo)
    return f":{written}Z" if zone == "UTC" else f";TZID={zone}:{written}"


def escaped(text: str) -> str:
    """Return a text as a value."""
    for sign, shown in ESCAPES:
        text = text.replace(sign, shown)
    return text


def folded(text: str) -> bytes:
    """Return a line in pieces; no letter and no escape is cut."""
    octets, pieces = text.encode(), []
    while len(octets) > MAX_LINE_BYTES:
        end = MAX_LINE_BYTES
        while octets[end] & 0xC0 == 0x80:
            end -= 1
        end -= (end - len(octets[:end].rstrip(b"\\"))) % 2
        pieces.append(octets[:end])
        octets = octets[end:]
    return FOLD.join((*pieces, octets)) + END
