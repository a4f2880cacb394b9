"""Requests that leave the test's own connection to the database open, as those of Django's client do."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.signals import request_finished, request_started
from django.db import close_old_connections


@contextmanager
def left_open() -> Iterator[None]:
    """Close no connection after a request while the block runs. Django's client ends that with its own."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
