"""Data of the current request for the log and the metrics, without the client and the exact address.

`operations.monitoring.wsgi` creates the note; the page cache and Django set its fields.
"""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from random import getrandbits

# Request ids that are accepted from a proxy.
REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")


@dataclass(slots=True)
class RequestNote:
    """One request: its id in the logs, its view, its URL pattern, and what the page cache did."""

    request: str
    view: str = ""
    # Such as "<key:edition>/papers/". The address itself may contain a secret, or words that a visitor typed.
    route: str = ""
    # "hit", "stale" (an old response while the new one is rendered), "miss", or empty: not cacheable.
    cache: str = ""

    @property
    def is_cold(self) -> bool:
        """Whether Django rendered the response."""
        return self.cache in ("", "miss")


_note: ContextVar[RequestNote | None] = ContextVar("request_note", default=None)


def begin(request_id: str = "") -> RequestNote:
    """Start the note of a request, with the request id from the proxy if that is valid."""
    note = RequestNote(
        request_id if request_id and REQUEST_ID.fullmatch(request_id) else f"{getrandbits(64):016x}"
    )
    _note.set(note)
    return note


def end() -> None:
    _note.set(None)


def current_note() -> RequestNote | None:
    """Return the note of the current request; `None` outside of any."""
    return _note.get()
