"""On what the search index hangs: for each edition, and for the whole site, the state that it should show and
the state that it does show. One question for all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from django.db.models import Exists, OuterRef, Subquery

from conference.addressed import SITE_STAMP
from conference.models import Edition
from conference.prepared import prepared
from conference.querysets import public_parts
from conference.revision import SiteRevision
from people.models import PersonName
from search.index import FOLDING
from search.models import Indexed

# Another number makes every database compare all rows anew, as after a change of `website.indexing`.
VERSION = 1
# The key of the whole site's state beside those of the editions.
SITE = 0


@dataclass(frozen=True, slots=True)
class States:
    """What the index should show and what it shows, by the keys of editions; the site is 0."""

    wanted: Mapping[int, str] = field(default_factory=dict)
    known: Mapping[int, str] = field(default_factory=dict)

    def stale(self) -> list[int]:
        """Return the keys of the editions that changed, or are gone, since they were indexed."""
        keys = self.wanted.keys() | self.known.keys()
        return sorted(key for key in keys if self.wanted.get(key) != self.known.get(key))


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
    # Anything may be what makes a person public.
    return States(wanted | {SITE: f"{site[0]} {digest(names, *wanted.items())}"}, known)


@prepared
def _editions() -> Any:
    shown = Indexed.objects.filter(edition=OuterRef("pk")).values("state")
    gone = Indexed.objects.exclude(edition=SITE).exclude(edition__in=Edition.objects.values("pk"))
    columns = ("pk", "revision", "year", "public_from", "papers_public_from", "schedule_public_from")
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
