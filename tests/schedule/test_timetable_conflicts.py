"""Tests of concurrent moves of a session: the second chair chooses a version; saves are atomic."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from schedule.models import Session
from tests.factories import MORNING, make_room, make_session
from tests.schedule.form_data import fields_of, resolve_conflicts
from tests.schedule.test_timetable_admin import PAGE, move_fields, page_fields, save, stored_placement

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
TEN, NOON = {"start": "10:00", "end": "11:00"}, {"start": "12:00", "end": "13:00"}


@pytest.fixture
def sessions(edition: Edition) -> list[Session]:
    return [make_session(edition, title=title, room=make_room(edition, title)) for title in ("One", "Two")]


def move_meanwhile(session: Session, hours: int, **fields: Any) -> None:
    """Move the session in the meantime, as another chair would."""
    start = MORNING + hours * HOUR
    Session.objects.filter(pk=session.pk).update(**{"start": start, "end": start + HOUR, **fields})


def conflicts_on(page: Any) -> list[tuple[str, str, str]]:
    """Return name and both values of each conflict on the page."""
    return [(row["name"], row["theirs"], row["mine"]) for row in page.context["differences"]]


def test_concurrent_move_is_refused_with_both_versions(admin_client: Client, sessions: list[Session]) -> None:
    first, second = sessions
    data = page_fields(admin_client) | move_fields(first, **TEN) | move_fields(second, **NOON)
    move_meanwhile(first, 5)
    page = save(admin_client, data)

    assert page.status_code == 409
    theirs, mine = "Tue 6 Apr, 13:00 to 14:00 PDT, One", "Tue 6 Apr, 10:00 to 11:00 PDT, One"
    assert conflicts_on(page) == [(f"_choose-s{first.pk}", theirs, mine)]
    assert [stored_placement(session)[0] for session in sessions] == ["06 13:00", "06 08:00"]


@pytest.mark.parametrize(("choice", "start"), [("mine", "06 10:00"), ("theirs", "06 13:00")])
def test_chosen_version_and_the_other_moves_are_saved(
    admin_client: Client, sessions: list[Session], choice: str, start: str
) -> None:
    first, second = sessions
    data = page_fields(admin_client) | move_fields(first, **TEN) | move_fields(second, **NOON)
    move_meanwhile(first, 5)
    conflict_page = save(admin_client, data)
    choices = resolve_conflicts(conflict_page, **{f"s{first.pk}": choice})
    page = admin_client.post(PAGE, choices, follow=True)

    assert page.status_code == 200
    assert [stored_placement(session)[0] for session in sessions] == [start, "06 12:00"]


def test_conflict_is_shown_again_after_another_concurrent_move(
    admin_client: Client, sessions: list[Session]
) -> None:
    session = sessions[0]
    data = page_fields(admin_client) | move_fields(session, **TEN)
    move_meanwhile(session, 5)
    conflict_page = save(admin_client, data)
    move_meanwhile(session, 6)
    choices = resolve_conflicts(conflict_page, **{f"s{session.pk}": "mine"})
    page = admin_client.post(PAGE, choices, follow=True)

    assert (page.status_code, page.context["again"]) == (409, True)
    assert stored_placement(session)[0] == "06 14:00"


def test_changes_of_different_fields_are_no_conflict(admin_client: Client, sessions: list[Session]) -> None:
    first, second = sessions
    data = page_fields(admin_client) | move_fields(first, **TEN)
    Session.objects.filter(pk=first.pk).update(room=second.room)
    move_meanwhile(second, 7)
    page = save(admin_client, data)

    assert page.status_code == 200
    assert stored_placement(first) == ("06 10:00", "06 11:00", "Two")
    assert stored_placement(second)[0] == "06 15:00"


def test_same_move_by_both_is_no_conflict(admin_client: Client, sessions: list[Session]) -> None:
    data = page_fields(admin_client) | move_fields(sessions[0], **TEN)
    move_meanwhile(sessions[0], 2)
    assert "There were no moves to save" in save(admin_client, data).text
    assert stored_placement(sessions[0])[0] == "06 10:00"


def test_check_reports_a_concurrent_move_before_saving(admin_client: Client, sessions: list[Session]) -> None:
    session = sessions[0]
    data = page_fields(admin_client) | move_fields(session, **TEN)
    move_meanwhile(session, 5)
    page = admin_client.post(PAGE, {**data, "_check": "1"})
    assert "changed by someone else in the meantime" in page.text
    assert admin_client.post(f"{PAGE}clashes/", data).json()["stale"] == [session.pk]
    # The values that the page showed first are still compared after it was rendered again.
    assert save(admin_client, fields_of(page)).status_code == 409


def test_deleted_session_stops_only_the_first_save(admin_client: Client, sessions: list[Session]) -> None:
    first, second = sessions
    data = page_fields(admin_client) | move_fields(first, **TEN) | move_fields(second, **NOON)
    first.delete()
    page = save(admin_client, data)
    assert "a session you moved has been deleted" in page.text
    assert stored_placement(second)[0] == "06 08:00"
    assert save(admin_client, fields_of(page)).status_code == 200
    assert stored_placement(second)[0] == "06 12:00"


def test_forged_values_seen_are_ignored(admin_client: Client, sessions: list[Session]) -> None:
    data = page_fields(admin_client) | move_fields(sessions[0], **TEN) | {"_seen": "forged"}
    assert save(admin_client, data).status_code == 200
    assert stored_placement(sessions[0])[0] == "06 10:00"
