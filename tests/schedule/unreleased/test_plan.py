"""Planned values in queries."""

import pytest

from conference.models import Edition
from content.unreleased.plan import planned
from schedule.models import Session
from tests import factories as make
from tests.schedule.unreleased.waiting import open_plan

pytestmark = pytest.mark.django_db


def test_rows_are_found_by_their_planned_status(edition: Edition) -> None:
    canceled, _other = (make.make_session(edition, uid=uid, title=uid) for uid in ("s1", "s2"))
    open_plan(edition)
    canceled.status = "cancelled"
    canceled.save()
    with planned(edition):
        found = [
            [row.uid for row in Session.objects.order_by("uid").matching(**lookups)]
            for lookups in ({"status": "cancelled"}, {"status__in": ["published"]})
        ]

    assert found == [["s1"], ["s2"]]
    assert not Session.objects.matching(status="cancelled").exists()
