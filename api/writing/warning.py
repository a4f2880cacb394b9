"""What gets in each other's way after a change of the timetable: told with the answer, never a block."""

from typing import Any

from api.shapes import RESOURCES
from papers.models import Paper
from schedule import clashes
from schedule.clashes import Clash
from schedule.models import Presentation, Room, Session

KINDS = {"session": "sessions", "presentation": "presentations", "room": "rooms", "person": "people"}


def warnings(row: Any) -> list[dict[str, Any]]:
    """Return the clashes that concern a row that was written. Seven queries at most."""
    if isinstance(row, (Session, Presentation)):
        found = clashes.touching([row])
    elif isinstance(row, Paper):
        # Its authors are whom it needs in one place at a time.
        found = clashes.touching(row.presentations.select_related("edition"))
    elif isinstance(row, Room):
        key = ("room", row.pk)
        found = [one for one in clashes.of(row.edition) if key in {subject.key for subject in one.subjects}]
    else:
        return []
    return [told(clash, row.edition.slug) for clash in found]


def told(clash: Clash, edition: str) -> dict[str, Any]:
    rows = []
    for subject in clash.subjects:
        resource = RESOURCES[KINDS[subject.model]]
        url = resource.url(edition if resource.edition else None, subject.uid)
        rows.append({"kind": resource.name, "id": subject.uid, "url": url, "name": str(subject)})
    return {
        "kind": clash.kind.value,
        "severity": clash.severity.value,
        "message": clash.message,
        "when": clash.when,
        "rows": rows,
    }
