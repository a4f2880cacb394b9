"""Registration of imports and downloads with lower-level packages: permissions, scopes and a menu section."""

from functools import partial

from django.db.models import Model, Q
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import NO_ROWS, SCOPES, Access
from accounts.roles import ALL, NONE, grant
from conference import menu_sections
from conference.menu_sections import MenuSection
from conference.models import Edition
from exchange.models import ColumnMapping, Conflict, ImportJob, ImportRun, Provenance


def edition_scope(model: type[Model], access: Access, action: str) -> Q:
    return Q(edition__in=access.editions(action, model))


def provenance_scope(access: Access, action: str) -> Q:
    """Return the scope of provenances: those of an edition's rows, and site-wide ones of its imports."""
    editions = access.editions(action, Provenance)
    is_site_wide = Q(edition__isnull=True, run__edition__in=editions)
    return edition_scope(Provenance, access, action) | is_site_wide if editions else NO_ROWS


def mapping_scope(access: Access, action: str) -> Q:
    """Return the scope of column mappings: conferences with an edition that the account may import into."""
    keys = access.editions(action, ColumnMapping)
    return Q(conference__in=Edition.objects.filter(pk__in=keys).order_by().values("conference"))


# An upload that creates an edition is in the scope of no role.
SCOPES[ImportJob] = partial(edition_scope, ImportJob)
SCOPES[Provenance] = provenance_scope
SCOPES[ColumnMapping] = mapping_scope

# Permission to add is needed for importing, permission to delete for reverting.
grant([ImportRun, ImportJob, ColumnMapping, Conflict, Provenance], ALL, ALL, ALL, NONE, NONE, importer=ALL)

menu_sections.register(MenuSection(130, "downloads", _("Downloads"), "exchange:downloads"))
