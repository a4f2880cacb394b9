"""Keeping the search index right: every search asks first whether anything has changed since.

What the index shows of an edition hangs on its revision stamp, as every kept answer does. A stale edition is
compared row by row with what is public, which costs half a second for 6,600 papers; only what differs is
folded and written. So no change needs to know of the index, and an embargo that ends, an import, a withdrawn
paper are all the same.
"""

import logging
import threading

from django.db import DatabaseError, transaction

from conference import replica
from conference.models import Edition
from conference.previewing import seen_as
from search.index import clear
from search.models import Indexed
from website.indexing import reindex
from website.indexstates import read

log = logging.getLogger(__name__)
# Of the threads of a process one brings the index up to date; the others search what is there.
_busy = threading.Lock()


@replica.reading(allowed=False)
def refresh() -> None:
    """Bring the index up to date. One query where it is; where the database is busy, it stays as it is."""
    # The index is everybody's, whoever asks for it.
    with seen_as(None):
        if not read().stale() or not _busy.acquire(blocking=False):
            return
        try:
            for key in read().stale():
                renew(key)
        except DatabaseError:
            log.exception("The search index could not be brought up to date; the next search tries again.")
        finally:
            _busy.release()


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
