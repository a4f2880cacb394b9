"""What a write left unreleased: it is answered with 202 and the change that waits."""

from datetime import datetime

from rest_framework import status
from rest_framework.response import Response

from api.reader import JsonObject
from content.models import Content
from content.unreleased.rows import Releasable
from schedule.models import UnreleasedChange


def change_since(at: datetime, row: Content) -> UnreleasedChange | None:
    """Return the unreleased change of a row that was made at that moment or later. One query at most."""
    if not isinstance(row, Releasable):
        return None
    return UnreleasedChange.objects.of_rows([row]).filter(at__gte=at).first()


def describe(change: UnreleasedChange) -> JsonObject:
    """Return a change as JSON: its fields with the public and the unreleased value, its author and time."""
    fields = {
        name: {"before": change.began.get(name), "after": value} for name, value in change.values.items()
    }
    return {
        "id": change.pk,
        "on_release": change.on_release or None,
        "fields": fields,
        "by": change.by_name,
        "at": change.at.isoformat(),
    }


def add_unreleased(response: Response, change: UnreleasedChange | None) -> Response:
    """Say in the response to a write what waits for a release."""
    if change is not None:
        response.status_code = status.HTTP_202_ACCEPTED
        response.data["unreleased"] = describe(change)
    return response
