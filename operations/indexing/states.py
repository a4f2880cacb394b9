"""The states of editions that are indexed, and those that should be."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from conference.models import Edition
from conference.request_edition import SITE_REVISION
from content.history.changed_rows import Changes
from content.preview_context import GATES
from content.querysets import public_parts
from content.revision import SiteRevision
from people.models import PersonName
from search.index import FOLDING_VERSION
from search.models import Indexed

# Increase it after a change of `documents`, so that all rows are compared again.
VERSION = 4
# The key of the state of the whole site.
SITE = 0
# The models whose rows are part of the digest of hidden names.
NAMES = frozenset(("people.person", "people.personname"))


def is_site(key: int) -> bool:
    return key == SITE


@dataclass(frozen=True, slots=True)
class States:
    """The states that should be indexed and those that are, by keys of editions; the key of the site is 0.

    A state is the revision and what else the documents depend on, separated by a space.
    """

    current: Mapping[int, str]
    indexed: Mapping[int, str]

    @property
    def is_outdated(self) -> bool:
        """Whether all documents may be wrong: because of hidden names, or a new version of the index."""
        return _names_of(self.current[SITE]) != _names_of(self.indexed.get(SITE, ""))

    def stale(self) -> list[int]:
        """Return the keys of the editions that changed or were deleted since they were indexed."""
        keys = self.current.keys() | self.indexed.keys()
        if self.is_outdated:
            return sorted(keys)
        return sorted(key for key in keys if self.current.get(key) != self.indexed.get(key))

    def after(self, changes: Changes) -> dict[int, str]:
        """Return the new states after changes whose documents were indexed.

        A state stays if other changes are not indexed, or if publication dates have changed.
        """
        states: dict[int, str] = {}
        # Changes of an edition itself advance the site.
        editions = changes.rows.get("conference.edition", {})
        for key in (changes.revisions.keys() | editions.keys()) - {SITE}:
            new, own = self.current.get(key, ""), changes.revisions.get(key, set())
            is_new = key in editions and key in self.current and key not in self.indexed
            if is_new or _is_continued(self.indexed.get(key, ""), new, own):
                states[key] = new
        old_site, new_site = self.indexed.get(SITE, ""), self.current[SITE]
        names = _names_of(new_site)
        is_known = names == _names_of(old_site) or not NAMES.isdisjoint(changes.rows)
        _, old_parts = _split(old_site)
        parts = self._site_parts(names, {})
        own = changes.revisions.get(SITE, set())
        if is_known and old_parts.partition(" ")[2] == parts.partition(" ")[2]:
            revision, _ = _split(new_site)
            if own.issuperset(range(_split(old_site)[0] + 1, revision + 1)):
                states[SITE] = f"{revision} {self._site_parts(names, states)}"
        return states

    def opened(self, keys: Iterable[int]) -> set[int]:
        """Return those of these editions of which other parts are public than those that are indexed."""
        editions = {*keys} & self.current.keys() & self.indexed.keys() - {SITE}
        return {key for key in editions if _split(self.indexed[key])[1] != _split(self.current[key])[1]}

    def _site_parts(self, names: str, changed: Mapping[int, str]) -> str:
        """Return the state of the site, without its revision, for editions as they are indexed."""
        editions = {key: state for key, state in self.indexed.items() if key != SITE}
        return parts_of_site(names, {**editions, **changed})


def _split(state: str) -> tuple[int, str]:
    revision, _, parts = state.partition(" ")
    return int(revision) if revision.isdecimal() else 0, parts


def _names_of(state_of_site: str) -> str:
    return " ".join(state_of_site.split(" ")[1:2])


def _is_continued(old: str, new: str, revisions: Collection[int]) -> bool:
    """Return whether these revisions alone lead from the old state to the new one."""
    (old_revision, old_parts), (new_revision, new_parts) = _split(old), _split(new)
    return old_parts == new_parts and {*revisions}.issuperset(range(old_revision + 1, new_revision + 1))


def read_states() -> States:
    """Return the states. One query; two more after a change of the site or a deletion of editions."""
    rows = _edition_states()
    site = (rows[0].site_revision, rows[0].site_changed_at) if rows else _site_revision()
    current = {row.pk: f"{row.revision} {public_parts(row)} {row.year}" for row in rows}
    indexed = {row.pk: row.indexed_state for row in rows if row.indexed_state is not None}
    if rows and rows[0].indexed_state_of_site is not None:
        indexed[SITE] = rows[0].indexed_state_of_site
    if not rows or rows[0].has_deleted:
        indexed = dict(Indexed.objects.values_list("edition", "state"))
    state_of_site = f"{site[0] or 0} {parts_of_site(_hidden_names_digest(*site), current)}"
    return States({**current, SITE: state_of_site}, indexed)


def parts_of_site(names: str, editions: Mapping[int, str]) -> str:
    """Return what documents of the whole site depend on: any edition may make a person public."""
    return f"{names} {digest(*sorted(editions.items()))}"


def _edition_states() -> Any:
    indexed_state = Indexed.objects.filter(edition=OuterRef("pk")).values("state")
    deleted = Indexed.objects.exclude(edition=SITE).exclude(edition__in=Edition.objects.values("pk"))
    columns = ("pk", "revision", "year", *GATES)
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
