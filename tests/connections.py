"""Database connections: requests that do not close the test's own, and work over a second one."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections

# Timeout of locks and threads, so that no test hangs.
LOCK_TIMEOUT_SECONDS = 20


@contextmanager
def keep_connections_open() -> Iterator[None]:
    """Close no connection around requests while the block runs. Django's test client does so itself."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def run_over_another_connection(function: Callable[[], Any]) -> tuple[threading.Thread, list[BaseException]]:
    """Run a function in a thread with its own connection; return the thread and the list of its errors."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'")
            function()
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def wait_for_a_lock(thread: threading.Thread) -> None:
    with connection.cursor() as cursor:
        while thread.is_alive():
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
