"""Copying the roles of a committee to a new edition."""

from conference.edition_copy import EditionCopy
from conference.models import Edition


def offices_of(edition: Edition) -> list[str]:
    """Return the roles of an edition's committee: the listed ones, then others that people have."""
    used = edition.committee_roles.values_list("role", flat=True)
    return list(dict.fromkeys([*edition.committee_offices, *used]))


def copy_offices(copying: EditionCopy) -> None:
    copying.target.committee_offices = offices_of(copying.source)
    copying.target.save()
