"""Copying the roles of a committee to a new edition."""

from conference.edition_copy import EditionCopy
from conference.models import Edition


def offices_of(edition: Edition) -> list[str]:
    """Return the roles of an edition's committee: the listed ones, then others that people have."""
    assigned_roles = edition.committee_roles.values_list("role", flat=True)
    return list(dict.fromkeys([*edition.committee_offices, *assigned_roles]))


def copy_offices(edition_copy: EditionCopy) -> None:
    edition_copy.target.committee_offices = offices_of(edition_copy.source)
    edition_copy.target.save()
