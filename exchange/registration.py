"""What the packages below learn of imports and downloads: roles and a menu section."""

from django.utils.translation import gettext_lazy as _

from accounts.access_scope import SCOPES
from accounts.roles import ALL, NONE, grant
from conference import menu_sections
from conference.menu_sections import MenuSection
from exchange.access_scope import job_scope, provenance_scope
from exchange.models import Conflict, ImportJob, ImportRun, Provenance

SCOPES[ImportJob] = job_scope
SCOPES[Provenance] = provenance_scope

# To add is to import, to delete is to revert.
grant([ImportRun, ImportJob, Conflict, Provenance], ALL, ALL, ALL, NONE, NONE)

menu_sections.register(MenuSection(130, "downloads", _("Downloads"), "exchange:downloads"))
