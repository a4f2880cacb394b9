"""What the packages below learn of editions and their front matter: roles and menu sections."""

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import SCOPES
from accounts.models import Membership
from accounts.roles import ALL, KEEP, NONE, SEE, grant
from conference.access_scope import conference_scope
from conference.menu_sections import MenuSection, register
from conference.models import Announcement, Conference, Edition, MenuItem, Page, Sponsor

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
