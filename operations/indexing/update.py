"""Keeping the search index right: every search asks first whether anything has changed since.

What the index shows of an edition hangs on its revision stamp, as every kept answer does. A stale edition is
compared row by row with what is public, which costs half a second for 6,600 papers; only what differs is
folded and written. So no change needs to know of the index, and an embargo that ends, an import, a withdrawn
paper are all the same. Where the stamp says that words of papers are all that changed, it is these alone.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction

from conference.models import Edition
from content import replica
from content.preview_context import preview_as
from content.replica import REPLICA
from operations.indexing.documents import reindex, reindex_papers
from operations.indexing.state import read
from search.index import clear
from search.models import Indexed

log = logging.getLogger(__name__)
LEFT = "The search index could not be brought up to date; the next search tries again."
# How long a search waits for another writer (milliseconds).
PATIENCE = 1000
# Of the threads of a process one brings the index up to date; the others search what is there.
_busy = threading.Lock()


@replica.reading(allowed=False)
def refresh() -> bool:
    """Bring the index up to date; return whether it is. One query where nothing changed.

    Where the database is busy, or another is at it, the index stays as it is.
    """
    # The index is everybody's, whoever asks for it.
    with preview_as(None):
        if not read().stale():
            return True
        if not _busy.acquire(blocking=False):
            return False
        try:
            with impatient():
                follow_words()
                for key in read().stale():
                    renew(key)
            return not read().stale()
        except OperationalError as error:
            # Another writes, such as a long import on SQLite.
            log.warning("%s (%s)", LEFT, error)
            return False
        except DatabaseError:
            log.exception(LEFT)
            return False
        finally:
            _busy.release()


def refreshed() -> bool:
    """Bring the index up to date; return whether who reads here finds it so: a copy may lag behind."""
    if REPLICA not in settings.DATABASES:
        return refresh()
    with preview_as(None):
        return refresh() and not read().stale()


@contextmanager
def impatient() -> Iterator[None]:
    """Let who searches wait a second for SQLite's one writer, not as long as who saves."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (usual,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {usual}")


def follow_words() -> None:
    """Where nothing changed but words of papers, index these alone."""
    with transaction.atomic():
        # Whoever else is at it has rows of its own: then what is shown changes under way.
        rows = Indexed.objects.select_for_update(skip_locked=True)
        mine = {*rows.values_list("edition", flat=True)}
        states = read()
        papers = states.changed_papers()
        if not papers or mine != states.known.keys():
            return
        for edition in Edition.objects.filter(pk__in=papers):
            reindex_papers(edition, papers[edition.pk])
        for key in states.stale():
            Indexed.objects.filter(edition=key).update(state=states.wanted[key])


def renew(key: int) -> int:
    """Index what changed of an edition, or of the whole site; return how much that was."""
    with transaction.atomic():
        known, _ = Indexed.objects.get_or_create(edition=key)
        # Another process may have been at it meanwhile, or is: then the others search what is there.
        kept = Indexed.objects.select_for_update(skip_locked=True).filter(pk=known.pk).first()
        if kept is None:
            return 0
        wanted = read().wanted.get(key)
        if wanted is None:
            kept.delete()
            return clear(key)
        if kept.state == wanted:
            return 0
        changed = reindex(Edition.objects.get(pk=key) if key else None)
        Indexed.objects.filter(pk=kept.pk).update(state=wanted)
    return changed
