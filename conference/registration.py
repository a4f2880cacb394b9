"""Registration of editions and their front matter with lower packages: roles and menu sections."""

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import NO_ROWS, SCOPES, Access
from accounts.models import Membership
from accounts.roles import ALL, CHANGE, NONE, PREVIEW, VIEW, Role, grant
from conference import front_matter_copy  # noqa: F401 # registers the parts of a new edition
from conference.menu_sections import MenuSection, register
from conference.models import Announcement, Conference, Edition, KeyDate, MenuItem, Page, Sponsor


def conference_scope(access: Access, action: str) -> Q:
    """Return the scope of conferences: roles in one edition allow viewing, in all editions changing."""
    editions = access.editions(action, Conference)
    if action not in ("view", "change") or not editions:
        return NO_ROWS
    has_edition = Q(pk__in=Edition.objects.filter(pk__in=editions).values("conference"))
    if action == "view":
        return has_edition
    other_editions = Edition.objects.exclude(pk__in=editions).filter(conference=OuterRef("pk"))
    return has_edition & ~Q(Exists(other_editions))


def membership_scope(access: Access, action: str) -> Q:
    """Return the scope of memberships: of editions, and of conferences that the user owns completely."""
    editions = access.editions(action, Membership)
    owned_editions = {edition for edition in editions if Role.OWNER in access.roles[edition]}
    in_editions = Q(edition__in=editions)
    if not owned_editions:
        return in_editions
    conferences_with_owned = Edition.objects.filter(pk__in=owned_editions).order_by().values("conference")
    conferences_with_others = Edition.objects.exclude(pk__in=owned_editions).order_by().values("conference")
    return in_editions | Q(conference__in=conferences_with_owned) & ~Q(conference__in=conferences_with_others)


SCOPES[Conference] = conference_scope
SCOPES[Membership] = membership_scope

CHANGE, LOOK = CHANGE | PREVIEW, VIEW | PREVIEW
TASKS = {"track_chair": VIEW, "awards": VIEW, "sponsors": VIEW, "importer": VIEW}
grant([Edition], CHANGE, CHANGE, LOOK, NONE, LOOK, **TASKS)
# Owners need all editions of a conference to change it.
grant([Conference], CHANGE, VIEW, VIEW, NONE, VIEW)
grant([Announcement, KeyDate, MenuItem, Page], ALL, ALL, ALL, NONE, VIEW)
grant([Sponsor], ALL, ALL, ALL, NONE, VIEW, sponsors=ALL)
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
