"""Tests of sessions with many presentations, which their form omits without deleting them."""

from typing import Any

import pytest
from django.test import Client

from schedule.admin import sessions
from schedule.models import Session
from tests import factories as make
from tests.admin_forms import admin_url, date_and_time, formset

pytestmark = pytest.mark.django_db


@pytest.fixture
def hall(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Create a session with one presentation more than the limit of a form."""
    monkeypatch.setattr(sessions, "MAX_INLINE_ROWS", 2)
    edition = make.make_edition()
    session = make.make_session(edition, kind="poster", uid="hall")
    for number in range(3):
        make.make_presentation(session, make.make_paper(edition), kind="poster", uid=f"x{number}")
    return session


def form_data(**fields: Any) -> dict[str, Any]:
    times = date_and_time("start", "2021-04-06", "09:00") | date_and_time("end", "2021-04-06", "10:00")
    defaults = {"kind": "poster", "status": "published", "title": "Renamed", "uid": "hall"}
    return {**defaults, **times, **formset("roles"), **fields}


def test_form_over_the_limit_links_to_other_pages_instead_of_rows(
    admin_client: Client, hall: Session
) -> None:
    page = admin_client.get(admin_url(hall, "change")).text

    assert sessions.FORMSET_FIELD not in page
    for page_name in ("talks/", "boards/"):
        assert f'href="/admin/schedule/session/{hall.pk}/{page_name}"' in page
    list_address = f"/admin/schedule/presentation/?session__id__exact={hall.pk}"
    assert f'href="{list_address}">List of 3</a>' in page
    assert admin_client.get(list_address).context["cl"].result_count == 3


def test_form_up_to_the_limit_has_its_presentations(admin_client: Client, hall: Session) -> None:
    hall.presentations.filter(uid="x2").delete()
    page = admin_client.get(admin_url(hall, "change")).text

    assert f'name="{sessions.FORMSET_FIELD}" value="2"' in page
    assert "List of" not in page


def test_saving_without_the_rows_keeps_the_presentations(admin_client: Client, hall: Session) -> None:
    response = admin_client.post(admin_url(hall, "change"), form_data(edition=hall.edition_id))
    hall.refresh_from_db()

    assert (response.status_code, hall.title, hall.presentations.count()) == (302, "Renamed", 3)


def test_posted_rows_are_saved_though_the_limit_was_exceeded_meanwhile(
    admin_client: Client, hall: Session
) -> None:
    common = {"kind": "poster", "status": "published"}
    rows = [
        {"id": row.pk, "position": 4 - row.position, "paper": row.paper_id, **common}
        for row in hall.presentations.order_by("position")
    ]
    inline = formset("presentations", rows)
    response = admin_client.post(admin_url(hall, "change"), form_data(edition=hall.edition_id) | inline)

    assert response.status_code == 302
    assert [*hall.presentations.order_by("position").values_list("uid", flat=True)] == ["x2", "x1", "x0"]
