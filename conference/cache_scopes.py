"""The revisions of all editions as the page cache reads them, and how long pages may be cached.

Pages say what is on now, and what is dated ahead comes: nothing may stay as it is for ever although nothing
was edited. What does not depend on the time of day is cached longer while nothing comes soon.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q

from conference.models import Announcement, Edition
from content.invalidation import SITE_KEY
from content.revision import FIRST_REVISION, SiteRevision
from pagecache.revisions import SITE, CacheScope

LIFETIME = timedelta(minutes=5).total_seconds()
LIFETIME_WHILE_RUNNING = timedelta(seconds=15).total_seconds()
LIFETIME_OF_STEADY = timedelta(hours=1).total_seconds()
# What has come is on every page after so long.
SETTLED = timedelta(minutes=2)
# What comes out at the moment in its `published_at`; upper packages add theirs.
DATED_MODELS: list[type[Model]] = [Announcement]
GATES = ("public_from", "papers_public_from", "schedule_public_from")


def read_scopes(at: datetime) -> dict[str, CacheScope]:
    """Return the scopes of all editions by slug, and of the site. Two queries."""
    site = SiteRevision.objects.filter(pk=1).first() or SiteRevision(changed_at=FIRST_REVISION)
    rows = [*_editions(*has_upcoming_release(at))]
    is_turning_soon = any(is_turning(row, at) for row in rows)
    scopes = {row["slug"]: _scope(row, site, at, is_turning_soon) for row in rows}
    every = scopes.values()
    scopes[SITE] = CacheScope(
        SITE_KEY,
        site.revision,
        site.changed_at,
        max([site.changed_at, *(scope.shown_at for scope in every)]),
        min([LIFETIME, *(scope.lifetime for scope in every)]),
        min([LIFETIME_OF_STEADY, *(scope.steady for scope in every)]),
        min([float("inf"), *(scope.next_gate for scope in every)]),
    )
    return scopes


def _scope(row: dict[str, Any], site: SiteRevision, at: datetime, is_turning_soon: bool) -> CacheScope:
    today = at.astimezone(UTC).date()
    is_near = row["start_date"] - timedelta(days=1) <= today <= row["end_date"] + timedelta(days=1)
    gates = [row[name] for name in GATES if row[name] is not None]
    return CacheScope(
        row["pk"],
        row["revision"],
        row["changed_at"],
        max([row["changed_at"], site.changed_at, *(gate for gate in gates if gate <= at)]),
        LIFETIME_WHILE_RUNNING if is_near else LIFETIME,
        LIFETIME if is_turning_soon or row["is_to_come"] else LIFETIME_OF_STEADY,
        min([float("inf"), *((gate - at).total_seconds() for gate in gates if gate > at)]),
    )


def _editions(first: datetime, last: datetime) -> Any:
    fields = ("pk", "slug", "revision", "changed_at", "start_date", "end_date", *GATES)
    rows = Edition._base_manager.annotate(is_to_come=upcoming_releases(first, last))
    return rows.order_by("slug").values(*fields, "is_to_come")


def upcoming_releases(first: datetime, last: datetime) -> Q:
    """Whether something dated of an edition, such as news, comes or came between these moments."""
    dated = {"edition": OuterRef("pk"), "published_at__gte": first, "published_at__lte": last}
    found = Q()
    for model in DATED_MODELS:
        found |= Q(Exists(model._base_manager.filter(**dated)))
    return found


def has_upcoming_release(at: datetime) -> tuple[datetime, datetime]:
    """Return between which moments something changes while a page is cached that is rendered now."""
    return at - SETTLED, at + timedelta(seconds=LIFETIME_OF_STEADY)


def is_turning(row: dict[str, Any], at: datetime) -> bool:
    """Whether a part of an edition becomes public soon, or it ends: other editions may show that, too."""
    first, last = has_upcoming_release(at)
    opens = any(row[name] is not None and first <= row[name] <= last for name in GATES)
    return opens or timedelta(0) <= at.astimezone(UTC).date() - row["end_date"] <= timedelta(days=1)
