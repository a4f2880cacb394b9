"""Short ways for tests to let changes wait, to look at the planned state, and to release."""

from typing import Any

from django.utils import timezone

from conference.models import Edition
from content.unreleased.plan import planned
from schedule.models import ReleasePlan, UnreleasedChange
from schedule.unreleased.new_clashes import NewClashesError
from schedule.unreleased.releasing import Released, let_changes_wait, release


def open_plan(edition: Edition) -> ReleasePlan:
    """Let changes of an edition wait."""
    return let_changes_wait(edition, None, timezone.now())


def release_all(edition: Edition) -> Released:
    plan, confirmed = ReleasePlan.objects.get(edition=edition), list[str]()
    while True:
        try:
            return release(plan, None, timezone.now(), confirmed=confirmed)
        except NewClashesError as error:
            confirmed = [*error.keys]


def waiting_fields() -> list[set[str]]:
    """Return the fields that wait, and `status` for a status or a removal, of each change in order."""
    return [
        {*change.values, *(["status"] if change.on_release else [])}
        for change in UnreleasedChange.objects.order_by("pk")
    ]


def planned_rows(edition: Edition, model: Any, **lookups: Any) -> list[Any]:
    """Return rows as they are after the next release, with those that are removed then."""
    with planned(edition):
        return [*model._default_manager.filter(**lookups).order_by("pk")]
