"""Tests of the timetable editor without JavaScript: moves, shifts, clashes, saving, reverting."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from conference.models import Edition
from content.history import ChangeSet
from schedule.models import Presentation, Room, Session
from tests.access.world import add_member
from tests.api.writing import make_staff
from tests.factories import (
    MORNING,
    add_role,
    make_edition,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_session_kind,
)
from tests.pseudolocale import pseudolocale, untranslated
from tests.schedule.form_data import fields_of

pytestmark = pytest.mark.django_db
PAGE = "/admin/schedule/session/timetable/"
HOUR = timedelta(hours=1)


@pytest.fixture
def hall(edition: Edition) -> Room:
    return make_room(edition, "Hall A")


@pytest.fixture
def session(edition: Edition, hall: Room) -> Session:
    return make_session(edition, title="First", room=hall)


def page_fields(client: Client, **query: Any) -> dict[str, Any]:
    """Return the form data of the page of the day."""
    return fields_of(client.get(PAGE, {"day": "2021-04-06", **query}))


def move_fields(session: Session, **values: Any) -> dict[str, Any]:
    return {f"s{session.pk}-{name}": str(value) for name, value in values.items()}


def save(client: Client, data: dict[str, Any], **more: Any) -> Any:
    return client.post(PAGE, {**data, "_save": "1"}, follow=True, **more)


def stored_placement(session: Session) -> tuple[str, str, str]:
    """Return the stored start, end and room of a session, in the edition's zone."""
    session.refresh_from_db()
    zone = session.edition.zone
    start, end = (f"{moment.astimezone(zone):%d %H:%M}" for moment in (session.start, session.end))
    return start, end, session.room.name if session.room else ""


# The page


def test_page_shows_the_day_in_the_editions_zone(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client)
    assert data.keys() >= {"csrfmiddlewaretoken", "_seen"}
    assert {name: value for name, value in data.items() if name not in ("csrfmiddlewaretoken", "_seen")} == {
        "edition": str(session.edition_id),
        "day": "2021-04-06",
        "minutes": "",
        **move_fields(session, day="2021-04-06", start="08:00", end="09:00", room=session.room_id),
    }


def test_session_after_midnight_is_on_the_previous_program_day(
    admin_client: Client, edition: Edition
) -> None:
    night = make_session(edition, title="Night", start=datetime(2021, 4, 7, 7, 30, tzinfo=UTC))
    rows = admin_client.get(PAGE, {"day": "2021-04-06"}).context["rows"]
    assert [row.session for row in rows] == [night]
    assert rows[0].values["start"] == "00:30"


def test_page_opens_at_the_first_day_with_sessions(admin_client: Client, session: Session) -> None:
    page = admin_client.get(PAGE)
    assert str(page.context["day"]) == "2021-04-06"
    assert [row.session for row in page.context["rows"]] == [session]


def test_page_lists_drafts_and_cancelled_sessions_with_their_state(
    admin_client: Client, edition: Edition
) -> None:
    make_session(edition, title="Draft", status="draft")
    make_session(edition, title="Off", status="cancelled")
    rows = admin_client.get(PAGE).context["rows"]
    states = {(row.session.title, row.state, row.room) for row in rows}
    assert states == {("Draft", "Draft", None), ("Off", "Canceled", None)}


def test_grid_without_scripts_has_the_rooms_side_by_side(admin_client: Client, session: Session) -> None:
    make_session(session.edition, title="Then", start=MORNING + HOUR, room=make_room(session.edition))
    page = admin_client.get(PAGE)

    assert [(slot.row, slot.rows, slot.column) for slot in page.context["grid"].slots] == [
        (1, 12, 1),
        (13, 12, 2),
    ]
    assert 'class="tt-column c1 w1">Hall A</p>' in page.text
    assert re.findall(r'class="tt-moment r\d+">([^<]+)<', page.text) == ["08:00", "09:00"]


def test_page_without_editions_says_so(admin_client: Client) -> None:
    assert "There are no editions yet." in admin_client.get(PAGE).text


@pytest.mark.parametrize("rows", [1, 3])
def test_page_query_count_is_the_same_for_1_and_3_rows(
    admin_client: Client, edition: Edition, rows: int, django_assert_num_queries: Any
) -> None:
    for hour in range(rows):
        room = make_room(edition)
        workshop = make_session(edition, kind="workshop", room=room, start=MORNING + hour * HOUR)
        part = make_session(edition, parent=workshop, room=room, start=MORNING + hour * HOUR)
        add_role(part, make_person(), "chair")
        make_presentation(part, start=part.start)
    admin_client.get(PAGE)
    with django_assert_num_queries(11):
        assert admin_client.get(PAGE).status_code == 200


# Moves


def test_moves_are_saved_as_one_change_set(admin_client: Client, session: Session, hall: Room) -> None:
    other, foyer = make_session(session.edition, title="Other"), make_room(session.edition, "Foyer")
    data = page_fields(admin_client)
    data |= move_fields(session, start="10:30", end="11:15", room=foyer.pk)
    data |= move_fields(other, day="2021-04-07", room=hall.pk)
    before = ChangeSet.objects.count()
    page = save(admin_client, data)

    assert stored_placement(session) == ("06 10:30", "06 11:15", "Foyer")
    assert stored_placement(other) == ("07 08:00", "07 09:00", "Hall A")
    assert ChangeSet.objects.count() == before + 1
    last = ChangeSet.objects.latest("pk")
    assert (last.origin, last.user_name, last.rows.count()) == ("action", "admin", 2)
    assert "2 sessions moved." in page.text


def test_presentations_with_own_times_move_with_their_session(admin_client: Client, session: Session) -> None:
    timed = make_presentation(session, start=MORNING + HOUR / 4, end=MORNING + HOUR / 2)
    untimed = make_presentation(session)
    save(
        admin_client,
        page_fields(admin_client) | move_fields(session, day="2021-04-07", start="09:00", end="10:00"),
    )
    timed.refresh_from_db()
    untimed.refresh_from_db()

    shift = timedelta(hours=25)
    assert (timed.start, timed.end) == (MORNING + HOUR / 4 + shift, MORNING + HOUR / 2 + shift)
    assert (untimed.start, untimed.end) == (None, None)


def test_later_end_of_a_session_does_not_move_its_presentations(
    admin_client: Client, session: Session
) -> None:
    talk = make_presentation(session, start=MORNING, end=MORNING + HOUR / 2)
    save(admin_client, page_fields(admin_client) | move_fields(session, end="10:00"))
    talk.refresh_from_db()

    assert stored_placement(session) == ("06 08:00", "06 10:00", "Hall A")
    assert (talk.start, talk.end) == (MORNING, MORNING + HOUR / 2)


def test_parts_move_with_their_session_if_checked(admin_client: Client, session: Session, hall: Room) -> None:
    part = make_session(session.edition, parent=session, room=hall, minutes=30, start=MORNING + HOUR / 2)
    foyer = make_room(session.edition, "Foyer")
    data = page_fields(admin_client) | move_fields(session, day="2021-04-08", room=foyer.pk)
    assert data[f"s{session.pk}-parts"] == "on"
    save(admin_client, data)
    assert stored_placement(part) == ("08 08:30", "08 09:00", "Foyer")
    data = page_fields(admin_client, day="2021-04-08") | move_fields(session, start="10:00", end="11:00")
    del data[f"s{session.pk}-parts"]
    save(admin_client, data)
    assert (stored_placement(session)[0], stored_placement(part)[0]) == ("08 10:00", "08 08:30")


def test_page_includes_parts_on_other_days(admin_client: Client, session: Session, hall: Room) -> None:
    part = make_session(session.edition, parent=session, room=hall, start=MORNING + timedelta(days=1))
    page = admin_client.get(PAGE)
    save(admin_client, fields_of(page) | move_fields(session, day="2021-04-07"))

    assert [row.session for row in page.context["elsewhere"]] == [part]
    assert stored_placement(part)[:2] == ("08 08:00", "08 09:00")


def test_unsaved_moves_are_kept_when_the_day_changes(admin_client: Client, session: Session) -> None:
    other = make_session(session.edition, title="Other", start=MORNING + timedelta(days=1))
    page = admin_client.post(
        PAGE,
        page_fields(admin_client)
        | move_fields(session, start="11:00", end="12:00")
        | {"_show": "2021-04-07"},
    )
    assert [row.session for row in page.context["rows"]] == [other]
    assert [row.session for row in page.context["elsewhere"]] == [session]
    save(admin_client, fields_of(page) | move_fields(other, start="07:00"))
    assert (stored_placement(session)[0], stored_placement(other)[0]) == ("06 11:00", "07 07:00")


def test_selected_sessions_are_shifted_with_their_parts(admin_client: Client, session: Session) -> None:
    part = make_session(session.edition, parent=session, minutes=30)
    other = make_session(session.edition, title="Other")
    data = page_fields(admin_client) | {"pick": [str(session.pk)], "minutes": "-45", "_shift": "1"}
    page = admin_client.post(PAGE, data)
    assert page.context["moved_count"] == 2
    save(admin_client, fields_of(page))
    assert [stored_placement(row)[0] for row in (session, part, other)] == [
        "06 07:15",
        "06 07:15",
        "06 08:00",
    ]


def test_shift_over_midnight_goes_to_the_next_day(admin_client: Client, session: Session) -> None:
    data = page_fields(admin_client) | {"pick": [str(session.pk)], "minutes": "1200", "_shift": "1"}
    page = admin_client.post(PAGE, data)
    assert page.context["elsewhere"][0].values["day"] == "2021-04-07"
    save(admin_client, fields_of(page))
    assert stored_placement(session)[:2] == ("07 04:00", "07 05:00")


def test_shift_requires_sessions_and_minutes(admin_client: Client, session: Session) -> None:
    for fields in ({}, {"pick": [str(session.pk)]}, {"minutes": "5"}, {"pick": ["x"], "minutes": "99999"}):
        page = admin_client.post(PAGE, {**page_fields(admin_client), **fields, "_shift": "1"})
        assert "Choose sessions, and enter the number of minutes to shift them." in page.text


def test_unsaved_move_can_be_reset(admin_client: Client, session: Session) -> None:
    page = admin_client.post(
        PAGE, {**page_fields(admin_client), **move_fields(session, start="07:00"), "_check": "1"}
    )
    assert page.context["moved_count"] == 1
    page = admin_client.post(PAGE, {**fields_of(page), "_reset": str(session.pk)})
    assert page.context["moved_count"] == 0
    assert "There were no moves to save" in save(admin_client, fields_of(page)).text


# Invalid input


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"end": "07:00"}, "The end is before the start."),
        ({"start": ""}, "This field is required."),
        ({"start": "25:00"}, "Enter a valid time."),
        ({"room": "999999"}, "This room no longer exists."),
        ({"day": "soon"}, "Enter a valid date."),
        ({"day": "0001-01-01", "start": "00:00"}, "The year must be between 1900 and 2200."),
        ({"day": "9999-12-31", "start": "23:00", "end": "23:30"}, "The year must be between 1900 and 2200."),
    ],
)
def test_nothing_is_saved_if_one_move_is_invalid(
    admin_client: Client, session: Session, values: Any, message: str
) -> None:
    other = make_session(session.edition, title="Other")
    before = stored_placement(session), stored_placement(other)
    data = page_fields(admin_client) | move_fields(other, start="07:00") | move_fields(session, **values)
    page = save(admin_client, data)

    assert message in page.text
    assert "1 session can’t be moved there. Nothing was saved" in page.text
    assert (stored_placement(session), stored_placement(other)) == before
    assert page.context["moved_count"] == 1


def test_room_of_another_edition_is_refused(admin_client: Client, session: Session) -> None:
    foreign = make_room(make_edition(2022))
    data = page_fields(admin_client, edition=session.edition_id) | move_fields(session, room=foreign.pk)
    assert "This room no longer exists." in save(admin_client, data).text
    assert stored_placement(session)[2] == "Hall A"


def test_nonexistent_dst_time_is_refused(admin_client: Client) -> None:
    edition = make_edition(timezone="Europe/Berlin", start_date="2027-03-27", end_date="2027-03-28")
    session = make_session(edition, start=datetime(2027, 3, 27, 20, tzinfo=UTC), minutes=30)
    data = page_fields(admin_client, day="2027-03-27") | move_fields(session, start="02:15", end="03:30")
    assert "and skip" in save(admin_client, data).text


def test_moving_requires_permission_to_change_sessions(client: Client, session: Session) -> None:
    client.force_login(make_staff("view_session", "view_edition"))
    page = client.get(PAGE)
    assert [row.is_fixed for row in page.context["rows"]] == [True]
    assert (
        save(client, {"edition": session.edition_id} | move_fields(session, start="07:00")).status_code == 403
    )
    assert stored_placement(session)[0] == "06 08:00"


def test_session_chair_cannot_move_sessions(client: Client, session: Session) -> None:
    client.force_login(add_member("chairs", session.edition, Role.SESSION_CHAIR))
    assert client.get(PAGE).status_code == 403
    assert (
        save(client, {"edition": session.edition_id} | move_fields(session, start="07:00")).status_code == 404
    )
    assert stored_placement(session)[0] == "06 08:00"


def test_editor_moves_only_sessions_of_the_own_edition(client: Client, session: Session) -> None:
    foreign = make_session(make_edition(2022), start=MORNING)
    client.force_login(add_member("editor", session.edition, Role.EDITOR))
    assert client.get(PAGE, {"edition": foreign.edition_id}).status_code == 404
    data = page_fields(client) | move_fields(session, start="07:00")
    data |= move_fields(foreign, day="2021-04-06", start="07:00", end="09:00", room="")
    assert "has been deleted" in save(client, data).text
    save(client, page_fields(client) | move_fields(session, start="07:00"))
    assert (stored_placement(session)[0], stored_placement(foreign)[0]) == ("06 07:00", "06 08:00")


def test_page_requires_permission_to_view_sessions(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("helper", is_staff=True))
    assert client.get(PAGE).status_code == 403
    assert client.post(f"{PAGE}clashes/").status_code == 403


# Saving


@pytest.mark.parametrize("rows", [1, 3])
def test_save_query_count_is_the_same_for_1_and_3_rows(
    admin_client: Client, edition: Edition, rows: int, django_assert_num_queries: Any
) -> None:
    sessions = [make_session(edition, room=make_room(edition)) for _ in range(rows)]
    for session in sessions:
        make_presentation(session, start=session.start)
    data = page_fields(admin_client)
    for session in sessions:
        data |= move_fields(session, start="10:00", end="11:00")
    with django_assert_num_queries(39):
        admin_client.post(PAGE, {**data, "_save": "1"})
    assert [stored_placement(session)[0] for session in sessions] == ["06 10:00"] * rows


def test_saved_moves_and_talk_times_are_reverted(admin_client: Client, session: Session) -> None:
    talk = make_presentation(session, start=MORNING)
    page = save(
        admin_client, page_fields(admin_client) | move_fields(session, start="10:00", end="11:00", room="")
    )
    assert stored_placement(session) == ("06 10:00", "06 11:00", "")
    undo_address = page.context["saved"]["undo"]
    assert "reverted" in admin_client.get(undo_address).text
    reverted_page = admin_client.post(undo_address, follow=True)
    talk.refresh_from_db()

    assert stored_placement(session) == ("06 08:00", "06 09:00", "Hall A")
    assert talk.start == MORNING
    assert reverted_page.redirect_chain == [(f"{PAGE}?edition={session.edition_id}", 302)]
    assert "2 rows reverted." in reverted_page.text
    assert ChangeSet.objects.latest("pk").origin == "undo"


def test_revert_leaves_sessions_that_were_changed_since(admin_client: Client, session: Session) -> None:
    other = make_session(session.edition, title="Other")
    data = page_fields(admin_client) | move_fields(session, start="10:00", end="11:00")
    page = save(admin_client, data | move_fields(other, start="12:00", end="13:00"))
    Session.objects.filter(pk=session.pk).update(end=MORNING + 5 * HOUR)
    reverted_page = admin_client.post(page.context["saved"]["undo"], follow=True)
    assert (stored_placement(session)[0], stored_placement(other)[0]) == ("06 10:00", "06 08:00")
    assert "1 row reverted. 1 stays unchanged." in reverted_page.text


def test_other_change_sets_are_not_shown_as_saved_moves(admin_client: Client, session: Session) -> None:
    session.edition.name = "Renamed"
    session.edition.save()
    change_set = ChangeSet.objects.latest("pk")
    assert admin_client.get(PAGE, {"saved": change_set.pk}).context["saved"] is None


# Clashes while editing


def test_check_lists_new_and_solved_clashes(admin_client: Client, session: Session) -> None:
    ada = make_person("Ada")
    other = make_session(session.edition, title="Other", start=MORNING + 2 * HOUR)
    third = make_session(session.edition, title="Third")
    for row in (session, other):
        add_role(row, ada, "chair")
    add_role(third, ada, "chair")
    data = page_fields(admin_client) | move_fields(session, start="10:00", end="11:00")
    page = admin_client.post(PAGE, {**data, "_check": "1"})
    listed = [(row["clash"].message, row["is_new"]) for row in page.context["clashes"]]

    message = "Ada: in two places at once: Oral session “{}”, and Oral session “{}”."
    assert listed == [(message.format("First", "Other"), True)]
    assert [row["clash"].message for row in page.context["solved"]] == [message.format("First", "Third")]
    assert {row.pk: row.clash_count for row in page.context["rows"]} == {
        session.pk: 1,
        other.pk: 1,
        third.pk: 0,
    }
    assert stored_placement(session)[0] == "06 08:00"


def test_clash_endpoint_returns_counts_html_and_errors(admin_client: Client, session: Session) -> None:
    talk = make_presentation(session, title="Late", start=MORNING, end=MORNING + HOUR)
    before = Presentation.objects.values().get(pk=talk.pk)
    data = page_fields(admin_client) | move_fields(session, end="08:30")
    response = admin_client.post(f"{PAGE}clashes/", data).json()
    assert response["sessions"] == {str(session.pk): 1}
    assert "ends before its last talk does" in response["html"]
    assert (response["errors"], response["stale"]) == ({}, [])
    assert Presentation.objects.values().get(pk=talk.pk) == before
    invalid = admin_client.post(
        f"{PAGE}clashes/", page_fields(admin_client) | move_fields(session, end="")
    ).json()
    assert invalid["errors"] == {str(session.pk): [["This field is required."]]}
    assert admin_client.get(f"{PAGE}clashes/").headers["Location"] == PAGE


def test_clash_endpoint_moves_talks_with_their_session(admin_client: Client, session: Session) -> None:
    make_presentation(session, start=MORNING, end=MORNING + HOUR)
    data = page_fields(admin_client) | move_fields(session, start="12:00", end="13:00")
    assert admin_client.post(f"{PAGE}clashes/", data).json()["sessions"] == {}


# Messages


def test_editor_pages_have_no_untranslated_text(admin_client: Client, session: Session) -> None:
    posters = make_session(session.edition, kind="poster", title="Posters", start=MORNING + 2 * HOUR)
    paper = make_paper(session.edition, title="Engine")
    for row, kind in ((session, "oral"), (posters, "poster")):
        make_presentation(row, paper, kind=kind)
    entered_texts = ["First", "Posters", "Engine", "Hall A", "MLSys 2021", "Plenary", "admin", "PDT"]
    entered_texts += ["Mon 5 Apr", "Tue 6 Apr", "Wed 7 Apr", "Thu 8 Apr", "Fri 9 Apr"]
    paths = [PAGE, "/admin/schedule/session/posters/"]
    paths += [
        f"/admin/schedule/session/{row.pk}/{page}/" for row, page in ((session, "talks"), (posters, "boards"))
    ]
    for path in paths:
        with pseudolocale():
            assert untranslated(admin_client.get(path).text, entered_texts) == [], path


def test_kinds_have_their_configured_colors(admin_client: Client, edition: Edition, session: Session) -> None:
    make_session_kind(edition.conference, "Feathers", slug="bof", color="#0b6b62")
    make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    Session.objects.filter(pk=session.pk).update(kind="bof", counts_as="oral")
    Edition.objects.filter(pk=edition.pk).update(public_from=None)

    page = admin_client.get(PAGE, {"day": "2021-04-06"}).text
    colors = admin_client.get(f"{PAGE}colors/?edition={edition.pk}")

    assert f'href="{PAGE}colors/?edition={edition.pk}"' in page
    assert page.index("css/admin.css") < page.index(f"{PAGE}colors/")
    assert f'class="tt-row kind-bof" id="s{session.pk}"' in page
    assert colors.headers["Content-Type"] == "text/css; charset=utf-8"
    assert colors.text == ".kind-bof{--hue:#0b6b62}\n:root{--kind-oral:#112233}\n"
