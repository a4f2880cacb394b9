"""What the packages below learn of editions and their front matter: roles and menu sections."""

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import NOTHING, SCOPES, Access
from accounts.models import Membership
from accounts.roles import ALL, KEEP, NONE, SEE, grant
from conference.menu_sections import MenuSection, register
from conference.models import Announcement, Conference, Edition, MenuItem, Page, Sponsor


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


SCOPES[Conference] = conference_scope

grant([Edition], KEEP, KEEP, SEE, NONE, SEE)
# Needs all its editions: owners of some may only view it.
grant([Conference], KEEP, SEE, SEE, NONE, SEE)
grant([Announcement, MenuItem, Page, Sponsor], ALL, ALL, ALL, NONE, SEE)
grant([Membership], ALL, ALL, NONE, NONE, NONE)

register(
    MenuSection(10, "home", _("Home"), settings.EDITION_VIEW),
    MenuSection(
        90,
        "sponsors",
        _("Sponsors"),
        "conference:sponsors",
        rows=lambda edition, at: [Sponsor.objects.published(at).filter(edition=edition)],
    ),
)
