"""What the packages below learn of editions and their front matter: roles and menu sections."""

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import NOTHING, SCOPES, Access
from accounts.models import Membership
from accounts.roles import ALL, KEEP, NONE, PREVIEW, SEE, Role, grant
from conference import front_matter_copy  # noqa: F401 # registers the parts of a new edition
from conference.menu_sections import MenuSection, register
from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor


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


def membership_scope(access: Access, action: str) -> Q:
    """Members of editions, and those of the series all of whose editions one owns."""
    editions = access.editions(action, Membership)
    owned = {edition for edition in editions if Role.OWNER in access.roles[edition]}
    found = Q(edition__in=editions)
    if not owned:
        return found
    here = Edition.objects.filter(pk__in=owned).order_by().values("conference")
    others = Edition.objects.exclude(pk__in=owned).order_by().values("conference")
    return found | Q(conference__in=here) & ~Q(conference__in=others)


SCOPES[Conference] = conference_scope
SCOPES[Membership] = membership_scope

CHANGE, LOOK = KEEP | PREVIEW, SEE | PREVIEW
TASKS = {"track_chair": SEE, "awards": SEE, "sponsors": SEE, "importer": SEE}
grant([Edition], CHANGE, CHANGE, LOOK, NONE, LOOK, **TASKS)
# Needs all its editions: owners of some may only view it.
grant([Conference], KEEP, SEE, SEE, NONE, SEE)
grant([Announcement, KeyDate, MenuItem, Page], ALL, ALL, ALL, NONE, SEE)
grant([Sponsor], ALL, ALL, ALL, NONE, SEE, sponsors=ALL)
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
