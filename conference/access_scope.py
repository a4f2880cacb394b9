"""Which conferences a role reaches."""

from django.db.models import Exists, OuterRef, Q

from accounts.access_scope import NOTHING, Access
from conference.models import Conference, Edition


def conference_scope(access: Access, action: str) -> Q:
    """Conferences are seen with any of their editions, and changed by those who own all of them."""
    editions = access.editions(action, Conference)
    if action not in ("view", "change") or not editions:
        return NOTHING
    here = Q(pk__in=Edition.objects.filter(pk__in=editions).values("conference"))
    if action == "view":
        return here
    others = Edition.objects.exclude(pk__in=editions).filter(conference=OuterRef("pk"))
    return here & ~Q(Exists(others))
