"""What a site says of itself: its name and its committee."""

from typing import Any

from django.utils.translation import gettext

from exchange.files import Context
from exchange.problems import Where
from exchange.reading.findings import Findings
from exchange.reading.gathering import tidy
from exchange.reading.textfiles import scalar
from exchange.records import UNSTATED, CommitteeRecord, EditionRecord, PersonRef


def edition_of(
    config: dict[str, Any], committee: tuple[CommitteeRecord, ...] | None, zone: str, context: Context
) -> EditionRecord:
    """Return what is said of the edition; a zone only where the file itself states one."""
    has_zone = bool(scalar(config.get("timezone")) or scalar(config.get("time_zone")))
    return EditionRecord(
        where=Where("config.yml"),
        slug=context.edition,
        name=tidy(scalar(config.get("name"))) or UNSTATED,
        description=scalar(config.get("tagline")) or UNSTATED,
        timezone=zone if has_zone else UNSTATED,
        committee=UNSTATED if committee is None else committee,
    )


def committee_of(rows: list[Any], file: str, findings: Findings) -> tuple[CommitteeRecord, ...]:
    """Read the members of `committee.yml`: role, name, affiliation."""
    found = []
    for index, row in enumerate(rows):
        where = Where(file, f"committee[{index}]")
        name = tidy(scalar(row.get("name"))) if isinstance(row, dict) else ""
        if not name or "@" in name:
            findings.problem(where, "name", gettext("The name is missing."))
            continue
        role = tidy(scalar(row.get("role"))) or "Committee"
        affiliation = tidy(scalar(row.get("aff")) or scalar(row.get("affiliation")))
        person = PersonRef(where=where, name=name)
        found.append(CommitteeRecord(where=where, person=person, role=role, affiliation=affiliation))
    return tuple(found)
