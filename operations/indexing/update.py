"""Updating the search index: every search first checks whether anything has changed since the last one.

The documents of an edition depend on its revision, as cached responses do. All documents of a stale edition
are compared with the public rows, which takes half a second for 6,600 papers; only those that differ are
written. So code that changes rows does not need to update the index, and the end of an embargo is detected
like a change. If only texts of papers changed, only these papers are indexed.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Exists, OuterRef, Subquery

from conference.models import Edition
from conference.request_edition import SITE_REVISION
from content import replica
from content.invalidation import PAPER_PREFIX, TITLE_PREFIX, papers_tag, tags_between
from content.preview_context import GATES, preview_as
from content.querysets import public_parts
from content.replica import REPLICA
from content.revision import SiteRevision
from content.unreleased.plan import public_state
from operations.indexing.documents import reindex, reindex_papers
from people.models import PersonName
from search.index import FOLDING_VERSION, clear_edition
from search.models import Indexed

log = logging.getLogger(__name__)
STALE_MESSAGE = "The search index could not be brought up to date; the next search tries again."
# The time that a search waits for another writer, in milliseconds.
BUSY_TIMEOUT_MS = 1000
# One thread of a process updates the index; the others meanwhile search the outdated one.
_busy = threading.Lock()


@replica.read_from_replica(allowed=False)
def refresh() -> bool:
    """Update the index; return whether it is current. One query if nothing changed.

    The index is left unchanged if the database is busy or another process updates it.
    """
    # Index the public rows even in a preview, because all accounts share the index.
    with preview_as(None), public_state():
        if not read_states().stale():
            return True
        if not _busy.acquire(blocking=False):
            return False
        try:
            with short_busy_timeout():
                update_papers()
                for key in read_states().stale():
                    update_edition(key)
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


def refreshed() -> bool:
    """Update the index; return whether it is current for reads, which may use a replica that lags behind."""
    if REPLICA not in settings.DATABASES:
        return refresh()
    with preview_as(None):
        return refresh() and not read_states().stale()


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


def update_papers() -> None:
    """Index only the changed papers, if nothing but texts of papers changed."""
    with transaction.atomic():
        # Lock the states: if another process has locked some, leave the update to it.
        rows = Indexed.objects.select_for_update(skip_locked=True)
        locked = {*rows.values_list("edition", flat=True)}
        states = read_states()
        papers = states.changed_papers()
        if not papers or locked != states.indexed.keys():
            return
        for edition in Edition.objects.filter(pk__in=papers):
            reindex_papers(edition, papers[edition.pk])
        for key in states.stale():
            Indexed.objects.filter(edition=key).update(state=states.current[key])


def update_edition(key: int) -> int:
    """Index the changes of an edition, or of the whole site (0); return their number."""
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
        if locked.state == state:
            return 0
        changed = reindex(Edition.objects.get(pk=key) if key else None)
        Indexed.objects.filter(pk=locked.pk).update(state=state)
    return changed


# Increase it after a change of `documents`, so that all rows are compared again.
VERSION = 3
# The key of the state of the whole site.
SITE = 0


@dataclass(frozen=True, slots=True)
class States:
    """The states that should be indexed and those that are, by keys of editions; the key of the site is 0."""

    current: Mapping[int, str]
    indexed: Mapping[int, str]
    slugs: Mapping[int, str]
    # The revision of the site, and a digest of the hidden names.
    site: int | None
    names: str

    def stale(self) -> list[int]:
        """Return the keys of the editions that changed or were deleted since they were indexed."""
        keys = self.current.keys() | self.indexed.keys()
        return sorted(key for key in keys if self.current.get(key) != self.indexed.get(key))

    def changed_papers(self) -> dict[int, set[str]] | None:
        """Return by edition the uids of papers whose texts changed; `None` if anything else may have changed.

        Texts do not affect which people are public, so the state of the site is compared without them.
        """
        editions = {key: state for key, state in self.indexed.items() if key != SITE}
        expected_site_state = state_of_site(self.site, self.names, dict(sorted(editions.items())))
        if editions.keys() != self.slugs.keys() or self.indexed.get(SITE) != expected_site_state:
            return None
        uids_by_edition = {key: self._changed_papers_of(key) for key in self.stale() if key != SITE}
        return (
            {key: uids for key, uids in uids_by_edition.items() if uids}
            if all(uids_by_edition.values())
            else None
        )

    def _changed_papers_of(self, key: int) -> set[str]:
        """Return the uids of a stale edition, or an empty set if anything else may have changed."""
        old, _, old_state = self.indexed[key].partition(" ")
        new, _, new_state = self.current[key].partition(" ")
        tags = tags_between(key, int(old), int(new), None) if old_state == new_state else None
        # Skip the tags of titles, which only occur together with the tag of a row.
        row_tags = {tag for tag in tags or () if not tag.startswith(TITLE_PREFIX)} - {
            papers_tag(self.slugs[key])
        }
        uids = {tag.removeprefix(PAPER_PREFIX) for tag in row_tags if tag.startswith(PAPER_PREFIX)}
        return uids if len(uids) == len(row_tags) else set()


def read_states() -> States:
    """Return the states. One query; two more after a change of the site or a deletion of editions."""
    rows = _edition_states()
    site = (rows[0].site_revision, rows[0].site_changed_at) if rows else _site_revision()
    names = _hidden_names_digest(*site)
    current = {row.pk: f"{row.revision} {public_parts(row)} {row.year} {names}" for row in rows}
    indexed = {row.pk: row.indexed_state for row in rows if row.indexed_state is not None}
    if rows and rows[0].indexed_state_of_site is not None:
        indexed[SITE] = rows[0].indexed_state_of_site
    if not rows or rows[0].has_deleted:
        indexed = dict(Indexed.objects.values_list("edition", "state"))
    slugs = {row.pk: row.slug for row in rows}
    all_current = {**current, SITE: state_of_site(site[0], names, current)}
    return States(all_current, indexed, slugs, site[0], names)


def state_of_site(revision: int | None, names: str, editions: Mapping[int, str]) -> str:
    """Return the state of the whole site, which depends on all editions, as any may make a person public."""
    return f"{revision} {digest(names, *editions.items())}"


def _edition_states() -> Any:
    indexed_state = Indexed.objects.filter(edition=OuterRef("pk")).values("state")
    deleted = Indexed.objects.exclude(edition=SITE).exclude(edition__in=Edition.objects.values("pk"))
    columns = ("pk", "slug", "revision", "year", *GATES)
    annotations = {
        "indexed_state": Subquery(indexed_state),
        "indexed_state_of_site": Subquery(Indexed.objects.filter(edition=SITE).values("state")),
        "has_deleted": Exists(deleted),
    }
    rows = Edition.objects.order_by("pk").annotate(**SITE_REVISION, **annotations)
    return rows.values_list(*columns, *SITE_REVISION, *annotations, named=True)


def _site_revision() -> tuple[int | None, datetime | None]:
    return SiteRevision.objects.filter(pk=1).values_list("revision", "changed_at").first() or (None, None)


@lru_cache(maxsize=4)
def _hidden_names_digest(revision: int | None, changed_at: datetime | None) -> str:
    """Return a digest of the hidden names. It is cached by the state of the site, which a change advances."""
    hidden = PersonName.objects.filter(hidden=True).order_by("pk")
    return digest(FOLDING_VERSION, VERSION, *hidden.values_list("person__name", "name", "person_id"))


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=9).hexdigest()
