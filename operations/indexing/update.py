"""Updating the search index: it follows each change of rows (`follow`), in its transaction or in a task.

The documents of an edition depend on its revision, as cached responses do, so that a reader sees whether
they are current. `refresh` compares all documents of a stale edition with the public rows, which takes half a
second for 6,600 papers, and writes only those that differ. That is needed after large changes and after
those that nobody made: the end of an embargo, a restore, a new version of the index.
"""

import logging
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.tasks import default_task_backend, task

from conference.models import Edition
from content import replica, revision
from content.history.changed_rows import Changes
from content.preview_context import preview_as
from content.unreleased.plan import public_state
from operations.indexing.changes import affected_documents
from operations.indexing.documents import reindex, reindex_rows
from operations.indexing.states import SITE, States, is_site, read_states
from search.index import clear_edition
from search.models import Indexed

log = logging.getLogger(__name__)
STALE_MESSAGE = "The search index could not be brought up to date; this is tried again."
# The time that an update waits for another writer, in milliseconds.
BUSY_TIMEOUT_MS = 1000
# A change that affects more documents is followed in a task, if there is a worker.
MAX_DOCUMENTS_IN_TRANSACTION = 200
# How often a process without a worker tries to update an index that no change has brought up to date.
RETRY_SECONDS = 5.0
# One thread of a process updates the index; the others meanwhile search the outdated one.
_busy = threading.Lock()
_tried_at = float("-inf")


def is_current() -> bool:
    """Return whether the index holds every change. One query; nothing is written and nobody waits."""
    with preview_as(None), public_state():
        if not read_states().stale():
            return True
        return update_elsewhere()


def update_elsewhere() -> bool:
    """Without a worker, which looks for itself, start a thread that updates the index; return `False`."""
    global _tried_at
    if not has_worker() and time.monotonic() - _tried_at > RETRY_SECONDS:
        _tried_at = time.monotonic()
        threading.Thread(target=refresh_in_thread, name="search-index", daemon=True).start()
    return False


def has_worker() -> bool:
    return default_task_backend.supports_defer


def refresh_in_thread() -> None:
    try:
        refresh()
    finally:
        connections.close_all()


@task
def refresh_index() -> None:
    """Compare the documents of changed editions with their rows."""
    refresh()


def follow(changes: Changes) -> None:
    """Index what changes affect, at the end of their transaction, or later in a task if that is much."""
    if not changes.revisions:
        return
    with preview_as(None), public_state(), replica.read_from_replica(allowed=False):
        # One transaction after the other, so that each sees the rows of the one before.
        list(Indexed.objects.select_for_update().filter(edition=SITE).values_list("pk"))
        documents = affected_documents(changes.rows)
        if has_worker() and sum(map(len, documents.values())) > MAX_DOCUMENTS_IN_TRANSACTION:
            transaction.on_commit(refresh_index.enqueue)
            return
        reindex_rows(documents)
        states = read_states()
        new_states = states.after(changes)
        store_states(states, new_states)
        if opened := states.opened(changes.rows.get("conference.edition", ())):
            if has_worker():
                transaction.on_commit(refresh_index.enqueue)
            else:
                compare({*opened, SITE}, states)


def store_states(states: States, new_states: Mapping[int, str]) -> None:
    """Store what is indexed. One query for each state."""
    for key, state in new_states.items():
        if key in states.indexed:
            Indexed.objects.filter(edition=key).update(state=state)
        else:
            Indexed.objects.create(edition=key, state=state)


@replica.read_from_replica(allowed=False)
def refresh() -> bool:
    """Update the index by comparing all documents of stale editions; return whether it is current.

    One query if it is.

    The index is left unchanged if the database is busy or another process updates it.
    """
    # Index the public rows even in a preview, because all accounts share the index.
    with preview_as(None), public_state():
        states = read_states()
        if not states.stale():
            return True
        if not _busy.acquire(blocking=False):
            return False
        try:
            with short_busy_timeout():
                compare({*states.stale()}, states)
            return not read_states().stale()
        except OperationalError as error:
            # Another transaction holds the write lock, such as a long import on SQLite.
            log.warning("%s (%s)", STALE_MESSAGE, error)
            return False
        except DatabaseError:
            log.exception(STALE_MESSAGE)
            return False
        finally:
            _busy.release()


@contextmanager
def short_busy_timeout() -> Iterator[None]:
    """Reduce the time that searches wait for the write lock of SQLite to a second."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (default_timeout,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {default_timeout}")


def compare(keys: Collection[int], states: States) -> None:
    """Compare the documents of these editions with their rows, the site last.

    If other parts of an edition are public than before, so may be what it gives to others, such as awards.
    """
    opened = states.opened(keys)
    editions = Edition.objects.filter(revision.editions_showing(opened)) if opened else Edition.objects.none()
    showing = {*editions.values_list("pk", flat=True)}
    for key in sorted({*keys, *showing}, key=lambda key: (is_site(key), key)):
        update_edition(key, is_outdated=states.is_outdated or key in showing)


def update_edition(key: int, *, is_outdated: bool = False) -> int:
    """Index the changes of an edition, or of the whole site (0); return their number.

    If its state is current, it is compared only if the index `is_outdated`.
    """
    with transaction.atomic():
        indexed, _ = Indexed.objects.get_or_create(edition=key)
        # Skip the edition if another process is updating it, or has done so.
        locked = Indexed.objects.select_for_update(skip_locked=True).filter(pk=indexed.pk).first()
        if locked is None:
            return 0
        state = read_states().current.get(key)
        if state is None:
            locked.delete()
            return clear_edition(key)
        if locked.state == state and not is_outdated:
            return 0
        changed = reindex(Edition.objects.get(pk=key) if key else None)
        Indexed.objects.filter(pk=locked.pk).update(state=state)
    return changed
