"""Which imports, and what they remember, a role reaches: those of its editions."""

from django.db.models import Model, Q

from accounts.access_scope import NOTHING, Access
from exchange.models import ImportJob, Provenance


def job_scope(access: Access, action: str) -> Q:
    """Limit uploads to the account's editions; no role reaches an upload that creates an edition."""
    return of_editions(ImportJob, access, action)


def of_editions(model: type[Model], access: Access, action: str) -> Q:
    return Q(edition__in=access.editions(action, model))


def provenance_scope(access: Access, action: str) -> Q:
    """Reach what an edition's rows came in with, and what came into the whole site with its imports."""
    editions = access.editions(action, Provenance)
    here = Q(edition__isnull=True, run__edition__in=editions)
    return of_editions(Provenance, access, action) | here if editions else NOTHING
