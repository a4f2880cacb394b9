"""Keeping the search index right: every search asks first whether anything has changed since.

What the index shows of an edition hangs on its revision stamp, as every kept answer does. A stale edition is
compared row by row with what is public, which costs half a second for 6,600 papers; only what differs is
folded and written. So no change needs to know of the index, and an embargo that ends, an import, a withdrawn
paper are all the same.
"""

import logging
import threading
from hashlib import blake2b

from django.db import DatabaseError, transaction

from conference import replica
from conference.models import Edition
from conference.previewing import seen_as
from conference.querysets import public_parts
from conference.revision import SiteRevision
from people.models import PersonName
from search.index import FOLDING, clear
from search.models import Indexed
from website.indexing import reindex

log = logging.getLogger(__name__)
# Of the threads of a process one brings the index up to date; the others search what is there.
_busy = threading.Lock()

# Another number makes every database compare all rows anew, as after a change of `website.indexing`.
VERSION = 1
# The key of the whole site's state beside those of the editions.
SITE = 0


@replica.reading(allowed=False)
def refresh() -> None:
    """Bring the index up to date. Four queries where it is; where the database is busy, it stays as it is."""
    if not _busy.acquire(blocking=False):
        return
    try:
        # The index is everybody's, whoever asks for it.
        with seen_as(None):
            for key in stale():
                renew(key)
    except DatabaseError:
        log.exception("The search index could not be brought up to date; the next search tries again.")
    finally:
        _busy.release()


def stale() -> list[int]:
    """Return the keys of the editions that changed, or are gone, since they were indexed; the site is 0."""
    wanted, known = states(), dict(Indexed.objects.values_list("edition", "state"))
    return sorted(key for key in wanted.keys() | known.keys() if wanted.get(key) != known.get(key))


def renew(key: int) -> int:
    """Index what changed of an edition, or of the whole site; return how much that was."""
    with transaction.atomic():
        known, _ = Indexed.objects.get_or_create(edition=key)
        # Another process may have been at it meanwhile, or is: then the others search what is there.
        kept = Indexed.objects.select_for_update(skip_locked=True).filter(pk=known.pk).first()
        if kept is None:
            return 0
        wanted = states().get(key)
        if wanted is None:
            kept.delete()
            return clear(key)
        if kept.state == wanted:
            return 0
        changed = reindex(Edition.objects.get(pk=key) if key else None)
        Indexed.objects.filter(pk=kept.pk).update(state=wanted)
    return changed


def states() -> dict[int, str]:
    """Return on what the documents of each edition, and of the whole site, hang. Three queries."""
    hidden = PersonName.objects.filter(hidden=True).order_by("pk")
    names = digest(FOLDING, VERSION, *hidden.values_list("person__name", "name", "person_id"))
    found = {
        edition.pk: f"{edition.revision} {public_parts(edition)} {edition.year} {names}"
        for edition in Edition.objects.order_by("pk")
    }
    site = SiteRevision.objects.filter(pk=1).values_list("revision", flat=True).first()
    # Anything may be what makes a person public.
    return found | {SITE: f"{site} {digest(names, *found.items())}"}


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=9).hexdigest()
