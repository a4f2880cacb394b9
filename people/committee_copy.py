"""How a new edition takes the committee of an earlier one: its roles, with or without the people."""

from conference.edition_copy import EditionCopy
from conference.models import Edition


def offices_of(edition: Edition) -> list[str]:
    """Return the roles of an edition's committee: those it names, then those that people have."""
    used = edition.committee_roles.values_list("role", flat=True)
    return list(dict.fromkeys([*edition.committee_offices, *used]))


def copy_offices(copying: EditionCopy) -> None:
    copying.target.committee_offices = offices_of(copying.source)
    copying.target.save()


def copy_committee(copying: EditionCopy) -> None:
    copying.rows(copying.source.committee_roles.all())
