"""What a write left unreleased: it is answered with 202 and the change that waits."""

from datetime import datetime

from django.db.models import F, Q
from rest_framework import status
from rest_framework.response import Response

from api.reader import JsonObject
from content.models import Content
from content.unreleased.rows import Releasable
from schedule.models import UnreleasedChange
from schedule.unreleased.models import PART_OWNERS, target_name


def change_since(at: datetime, row: Content) -> UnreleasedChange | None:
    """Return the unreleased change of a row, or else of one of its people, made at that moment or later.

    One query at most.
    """
    if not isinstance(row, Releasable) or row.pk is None:
        return None
    name = target_name(type(row))
    is_of_row = Q(**{name: row.pk})
    for part, owner in PART_OWNERS.items():
        if owner == name:
            is_of_row |= Q(**{f"{part}__{owner}": row.pk})
    changes = UnreleasedChange.objects.filter(is_of_row, at__gte=at)
    return changes.order_by(F(name).asc(nulls_last=True), "pk").first()


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
