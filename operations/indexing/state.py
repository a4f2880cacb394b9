"""On what the search index hangs: for each edition, and for the whole site, the state that it should show and
the state that it does show. One question for all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from conference.models import Edition
from conference.request_edition import SITE_STAMP
from content.invalidation import PAPER_PREFIX, TITLE_PREFIX, papers_tag, tags_between
from content.preview_context import GATES
from content.querysets import public_parts
from content.revision import SiteRevision
from people.models import PersonName
from search.index import FOLDING
from search.models import Indexed

# Another number makes every database compare all rows again, as after a change of `documents`.
VERSION = 1
# The key of the whole site's state beside those of the editions.
SITE = 0


@dataclass(frozen=True, slots=True)
class States:
    """What the index should show and what it shows, by the keys of editions; the site is 0."""

    wanted: Mapping[int, str]
    known: Mapping[int, str]
    slugs: Mapping[int, str]
    # The stamp of the site, and what stands for the hidden names.
    site: int | None
    names: str

    def stale(self) -> list[int]:
        """Return the keys of the editions that changed, or are gone, since they were indexed."""
        keys = self.wanted.keys() | self.known.keys()
        return sorted(key for key in keys if self.wanted.get(key) != self.known.get(key))

    def changed_papers(self) -> dict[int, set[str]] | None:
        """Return by edition the uids of papers whose words changed, if that is all; `None` if it may not be.

        Words decide nothing of who is public: the site stands if it shows the editions as they were.
        """
        editions = {key: state for key, state in self.known.items() if key != SITE}
        as_it_was = state_of_site(self.site, self.names, dict(sorted(editions.items())))
        if editions.keys() != self.slugs.keys() or self.known.get(SITE) != as_it_was:
            return None
        found = {key: self._changed_papers_of(key) for key in self.stale() if key != SITE}
        return {key: uids for key, uids in found.items() if uids} if all(found.values()) else None

    def _changed_papers_of(self, key: int) -> set[str]:
        """Return the uids for a stale edition, none if anything else may have changed."""
        old, _, rest = self.known[key].partition(" ")
        new, _, now = self.wanted[key].partition(" ")
        tags = tags_between(key, int(old), int(new), None) if rest == now else None
        # The tag of a title never comes alone.
        things = {tag for tag in tags or () if not tag.startswith(TITLE_PREFIX)} - {
            papers_tag(self.slugs[key])
        }
        uids = {tag.removeprefix(PAPER_PREFIX) for tag in things if tag.startswith(PAPER_PREFIX)}
        return uids if len(uids) == len(things) else set()


def read() -> States:
    """Return the states. One query, two more after a change of the site or where editions are gone."""
    rows = _editions()
    site = (rows[0].site_revision, rows[0].site_changed_at) if rows else _site()
    names = _names(*site)
    wanted = {row.pk: f"{row.revision} {public_parts(row)} {row.year} {names}" for row in rows}
    known = {row.pk: row.shown for row in rows if row.shown is not None}
    if rows and rows[0].shown_of_site is not None:
        known[SITE] = rows[0].shown_of_site
    if not rows or rows[0].gone:
        known = dict(Indexed.objects.values_list("edition", "state"))
    slugs = {row.pk: row.slug for row in rows}
    whole = {**wanted, SITE: state_of_site(site[0], names, wanted)}
    return States(whole, known, slugs, site[0], names)


def state_of_site(revision: int | None, names: str, editions: Mapping[int, str]) -> str:
    """Return the state of the whole site: anything may be what makes a person public."""
    return f"{revision} {digest(names, *editions.items())}"


def _editions() -> Any:
    shown = Indexed.objects.filter(edition=OuterRef("pk")).values("state")
    gone = Indexed.objects.exclude(edition=SITE).exclude(edition__in=Edition.objects.values("pk"))
    columns = ("pk", "slug", "revision", "year", *GATES)
    asked = {
        "shown": Subquery(shown),
        "shown_of_site": Subquery(Indexed.objects.filter(edition=SITE).values("state")),
        "gone": Exists(gone),
    }
    rows = Edition.objects.order_by("pk").annotate(**SITE_STAMP, **asked)
    return rows.values_list(*columns, *SITE_STAMP, *asked, named=True)


def _site() -> tuple[int | None, datetime | None]:
    return SiteRevision.objects.filter(pk=1).values_list("revision", "changed_at").first() or (None, None)


@lru_cache(maxsize=4)
def _names(revision: int | None, changed_at: datetime | None) -> str:
    """Return what stands for the hidden names: a change of them is one of the site, whose stamp this is."""
    hidden = PersonName.objects.filter(hidden=True).order_by("pk")
    return digest(FOLDING, VERSION, *hidden.values_list("person__name", "name", "person_id"))


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=9).hexdigest()
