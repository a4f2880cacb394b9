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
    window_start, window_end = at - SETTLED, at + timedelta(seconds=LIFETIME_OF_STEADY)
    in_window = {
        "edition": OuterRef("pk"),
        "published_at__gte": window_start,
        "published_at__lte": window_end,
    }
    has_dated_rows = reduce(
        or_, (Q(Exists(model._base_manager.filter(**in_window))) for model in DATED_MODELS)
    )
    fields = ("pk", "slug", "revision", "changed_at", "start_date", "end_date", *GATES)
    editions = Edition._base_manager.annotate(has_dated_rows=has_dated_rows)
    banners = Announcement._base_manager.filter(edition=OuterRef("pk"), banner_until__isnull=False).order_by()
    ended_banners, current_banners = banners.filter(banner_until__lte=at), banners.filter(banner_until__gt=at)
    editions = editions.annotate(
        banner_ended=Subquery(of_edition(ended_banners, Max("banner_until"))),
        banner_ends=Subquery(of_edition(current_banners, Min("banner_until"))),
    )
    rows = list(editions.order_by("slug").values(*fields, "has_dated_rows", "banner_ended", "banner_ends"))
    # Other editions may show a part that becomes public soon, or an edition that ends.
    today = at.astimezone(UTC).date()
    is_turning_soon = any(
        timedelta(0) <= today - row["end_date"] <= timedelta(days=1)
        or any(row[name] is not None and window_start <= row[name] <= window_end for name in GATES)
        for row in rows
    )
    states = {row["slug"]: _edition_cache_state(row, site, at, is_turning_soon) for row in rows}
    edition_states = states.values()
    states[SITE] = CacheState(
        SITE_KEY,
        site.revision,
        site.changed_at,
        max([site.changed_at, *(state.shown_at for state in edition_states)]),
        min([LIFETIME, *(state.lifetime for state in edition_states)]),
        min([LIFETIME_OF_STEADY, *(state.steady for state in edition_states)]),
        min([float("inf"), *(state.next_gate for state in edition_states)]),
    )
    return states


def of_edition(rows: QuerySet[Announcement], aggregate: Min | Max) -> QuerySet[Announcement, Any]:
    return rows.values("edition").annotate(moment=aggregate).values("moment")


def _edition_cache_state(
    row: dict[str, Any], site: SiteRevision, at: datetime, is_turning_soon: bool
) -> CacheState:
    today = at.astimezone(UTC).date()
    is_near = row["start_date"] - timedelta(days=1) <= today <= row["end_date"] + timedelta(days=1)
    # Treat the end of a banner like a gate, because it changes pages, too.
    columns = (*GATES, "banner_ended", "banner_ends")
    moments = [row[column] for column in columns if row[column] is not None]
    return CacheState(
        row["pk"],
        row["revision"],
        row["changed_at"],
        max([row["changed_at"], site.changed_at, *(moment for moment in moments if moment <= at)]),
        LIFETIME_WHILE_RUNNING if is_near else LIFETIME,
        LIFETIME if is_turning_soon or row["has_dated_rows"] else LIFETIME_OF_STEADY,
        min([float("inf"), *((moment - at).total_seconds() for moment in moments if moment > at)]),
    )
