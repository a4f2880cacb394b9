"""Connections to the database: requests that leave the test's own open, work over another one beside it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections

# Waits, so that no test hangs.
SECONDS = 20


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


def over_another_connection(work: Callable[[], Any]) -> tuple[threading.Thread, list[BaseException]]:
    """Do something over another connection."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{SECONDS}s'")
            work()
        except Exception as error:
            failed.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, failed


def until_somebody_waits(thread: threading.Thread) -> None:
    with connection.cursor() as cursor:
        while thread.is_alive():
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
