"""The revisions of all editions for the page cache, and how long it may cache pages.

Pages also change without edits: the current session changes, rows become public, and banners end.
Pages that do not depend on the time of day are cached longer, unless rows become public soon.
"""

from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, Max, Min, Model, OuterRef, Q, QuerySet, Subquery

from conference.models import Announcement, Edition
from content.invalidation import SITE_KEY
from content.preview_context import GATES
from content.revision import FIRST_REVISION, SiteRevision
from pagecache.revisions import SITE, CacheState

LIFETIME = timedelta(minutes=5).total_seconds()
LIFETIME_WHILE_RUNNING = timedelta(seconds=15).total_seconds()
LIFETIME_OF_STEADY = timedelta(hours=1).total_seconds()
# After this period, all pages show the rows that became public.
SETTLED = timedelta(minutes=2)
# Models of rows that become public at their `published_at`; higher packages add theirs.
DATED_MODELS: list[type[Model]] = [Announcement]


def read_cache_states(at: datetime) -> dict[str, CacheState]:
    """Return the states of all editions by slug, and of the site. Two queries."""
    site = SiteRevision.objects.filter(pk=1).first() or SiteRevision(changed_at=FIRST_REVISION)
    # A change in this period affects a page that is rendered now and cached.
    first, last = at - SETTLED, at + timedelta(seconds=LIFETIME_OF_STEADY)
    dated = {"edition": OuterRef("pk"), "published_at__gte": first, "published_at__lte": last}
    is_to_come = reduce(or_, (Q(Exists(model._base_manager.filter(**dated))) for model in DATED_MODELS))
    fields = ("pk", "slug", "revision", "changed_at", "start_date", "end_date", *GATES)
    annotated = Edition._base_manager.annotate(is_to_come=is_to_come)
    banners = Announcement._base_manager.filter(edition=OuterRef("pk"), banner_until__isnull=False).order_by()
    ended, shown = banners.filter(banner_until__lte=at), banners.filter(banner_until__gt=at)
    annotated = annotated.annotate(
        banner_ended=Subquery(of_edition(ended, Max("banner_until"))),
        banner_ends=Subquery(of_edition(shown, Min("banner_until"))),
    )
    rows = list(annotated.order_by("slug").values(*fields, "is_to_come", "banner_ended", "banner_ends"))
    # Other editions may show a part that becomes public soon, or an edition that ends.
    today = at.astimezone(UTC).date()
    is_turning_soon = any(
        timedelta(0) <= today - row["end_date"] <= timedelta(days=1)
        or any(row[name] is not None and first <= row[name] <= last for name in GATES)
        for row in rows
    )
    states = {row["slug"]: _state(row, site, at, is_turning_soon) for row in rows}
    every = states.values()
    states[SITE] = CacheState(
        SITE_KEY,
        site.revision,
        site.changed_at,
        max([site.changed_at, *(state.shown_at for state in every)]),
        min([LIFETIME, *(state.lifetime for state in every)]),
        min([LIFETIME_OF_STEADY, *(state.steady for state in every)]),
        min([float("inf"), *(state.next_gate for state in every)]),
    )
    return states


def of_edition(rows: QuerySet[Announcement], value: Min | Max) -> QuerySet[Announcement, Any]:
    return rows.values("edition").annotate(found=value).values("found")


def _state(row: dict[str, Any], site: SiteRevision, at: datetime, is_turning_soon: bool) -> CacheState:
    today = at.astimezone(UTC).date()
    is_near = row["start_date"] - timedelta(days=1) <= today <= row["end_date"] + timedelta(days=1)
    # Treat the end of a banner like a gate, because it changes pages, too.
    moments = (*GATES, "banner_ended", "banner_ends")
    gates = [row[name] for name in moments if row[name] is not None]
    return CacheState(
        row["pk"],
        row["revision"],
        row["changed_at"],
        max([row["changed_at"], site.changed_at, *(gate for gate in gates if gate <= at)]),
        LIFETIME_WHILE_RUNNING if is_near else LIFETIME,
        LIFETIME if is_turning_soon or row["is_to_come"] else LIFETIME_OF_STEADY,
        min([float("inf"), *((gate - at).total_seconds() for gate in gates if gate > at)]),
    )
