"""What is noted of the current request, for the log and the metrics: never the reader or the exact address.

`operations.monitoring.wsgi` opens a note; the page cache and Django fill it in.
"""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from random import getrandbits

# What a proxy may send as a request id.
REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


@dataclass(slots=True)
class RequestNote:
    """One request: its name in the logs, the view and the pattern of its address, what the page cache did."""

    request: str
    view: str = ""
    # Such as "<key:edition>/papers/": the address itself may hold a secret, or words that somebody typed.
    route: str = ""
    # "hit", "stale" (an old response while the new one is rendered), "miss", or empty: not cacheable.
    cache: str = ""

    @property
    def is_cold(self) -> bool:
        """Whether Django answered."""
        return self.cache in ("", "miss")


_note: ContextVar[RequestNote | None] = ContextVar("request_note", default=None)


def begin(given: str = "") -> RequestNote:
    """Open the note of a request, with the proxy's request id if that is valid."""
    note = RequestNote(given if given and REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}")
    _note.set(note)
    return note


def end() -> None:
    _note.set(None)


def current_note() -> RequestNote | None:
    """Return the note of the current request; `None` outside of any."""
    return _note.get()
