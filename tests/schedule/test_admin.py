"""Tests of the schedule's admin: times in the edition's zone, order, large forms, choices."""

import re
from datetime import UTC, date, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from schedule.models import Presentation, Session, SessionRole
from tests import factories as make
from tests.posted import address, autocomplete_choices, date_and_time, formset, run_action

pytestmark = pytest.mark.django_db

LIST = "/admin/schedule/session/"


def make_berlin(**fields: Any) -> Edition:
    dates = {"start_date": date(2026, 3, 27), "end_date": date(2026, 3, 29)}
    return make.make_edition(2026, timezone="Europe/Berlin", **{**dates, **fields})


def form_data(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"kind": "oral", "status": "published", "title": "Session", "uid": "s1"}
    values |= date_and_time("start", "2026-03-28", "10:00") | date_and_time("end", "2026-03-28", "11:00")
    values |= formset("roles") | formset("presentations")
    for part in parts:
        values |= part
    return {**values, **fields}


def add_session(client: Client, edition: Edition, day: str, **fields: Any) -> Session:
    times = date_and_time("start", day, "10:00") | date_and_time("end", day, "11:00")
    values = {"edition": edition.pk, "uid": f"s{day}", **times, **fields}
    page = client.post(address(Session, "add"), form_data(**values))
    assert page.status_code == 302, page.context["errors"]
    return Session.objects.get(uid=values["uid"])


def shown_times(client: Client, session: Session) -> list[str]:
    page = client.get(address(session, "change")).text
    return re.findall(r'name="(?:start|end)_\d" value="([^"]*)"', page)


@time_machine.travel(datetime(2026, 1, 15, 9, tzinfo=UTC), tick=False)
def test_trap_1_dst_between_entry_and_event_or_inside_it(admin_client: Client) -> None:
    edition = make_berlin()
    saturday = add_session(admin_client, edition, "2026-03-28")
    sunday = add_session(admin_client, edition, "2026-03-29")
    page = admin_client.get(LIST).text

    assert saturday.start == datetime(2026, 3, 28, 9, tzinfo=UTC)
    assert sunday.start == datetime(2026, 3, 29, 8, tzinfo=UTC)
    assert shown_times(admin_client, saturday) == ["2026-03-28", "10:00", "2026-03-28", "11:00"]
    assert shown_times(admin_client, sunday) == ["2026-03-29", "10:00", "2026-03-29", "11:00"]
    assert "Sat 28 Mar, 10:00 to 11:00 CET" in page
    assert "Sun 29 Mar, 10:00 to 11:00 CEST" in page


def test_form_names_the_zone_beside_the_time(admin_client: Client) -> None:
    session = make.make_session(make_berlin())
    make.make_presentation(session)
    page = admin_client.get(address(session, "change")).text

    # The session, its presentation and the empty row each have a start and an end.
    assert page.count("Time (Europe/Berlin):") == 6
    assert 'data-admin-server-timezone="Europe/Berlin"' in page


def test_add_form_works_in_the_zone_of_the_edition_asked_for(admin_client: Client) -> None:
    berlin = make_berlin()
    make.make_edition(2027)
    newest = admin_client.get(address(Session, "add")).text
    asked = admin_client.get(address(Session, "add"), {"edition": berlin.pk}).text
    filtered = {"_changelist_filters": f"edition__id__exact={berlin.pk}"}

    assert "Time (America/Los_Angeles):" in newest
    assert "Time (Europe/Berlin):" in asked
    assert "Time (Europe/Berlin):" in admin_client.get(address(Session, "add"), filtered).text
    assert "are in the time zone of the edition chosen here" in newest


def test_time_is_read_in_the_zone_of_the_edition_chosen(admin_client: Client) -> None:
    make.make_edition(2027)
    seoul = make.make_edition(2026, timezone="Asia/Seoul")
    session = add_session(admin_client, seoul, "2026-07-08")

    assert session.start == datetime(2026, 7, 8, 1, tzinfo=UTC)


def test_list_shows_each_row_in_its_own_zone(admin_client: Client) -> None:
    start = datetime(2026, 7, 8, 1, tzinfo=UTC)
    for zone, year in (("Asia/Seoul", 2026), ("America/Los_Angeles", 2025)):
        make.make_session(make.make_edition(year, timezone=zone), start=start)
    page = admin_client.get(LIST).text

    assert "Wed 8 Jul, 10:00 to 11:00 GMT+9" in page or "Wed 8 Jul, 10:00 to 11:00 KST" in page
    assert "Tue 7 Jul, 18:00 to 19:00 PDT" in page


@pytest.mark.parametrize(
    ("day", "words"),
    [
        ("2026-03-29", "Clocks in Europe/Berlin go forward on 29 March 2026 and skip 02:30."),
        (
            "2026-10-25",
            "Clocks in Europe/Berlin go back on 25 October 2026, so 02:30 occurs twice.",
        ),
    ],
)
def test_time_that_the_zone_lacks_or_has_twice_is_an_error(
    day: str, words: str, admin_client: Client
) -> None:
    values = {
        "edition": make_berlin().pk,
        **date_and_time("start", day, "02:30"),
        **date_and_time("end", day, "12:00"),
    }
    page = admin_client.post(address(Session, "add"), form_data(**values))

    assert words in page.text
    assert not Session.objects.exists()


def test_imported_time_that_comes_twice_stays_as_it_is(admin_client: Client) -> None:
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 for the second time
    session = make.make_session(make_berlin(), start=second)
    times = date_and_time("start", "2026-10-25", "02:30") | date_and_time("end", "2026-10-25", "03:30")
    response = admin_client.post(address(session, "change"), form_data(title="Renamed", **times))
    session.refresh_from_db()

    assert response.status_code == 302
    assert (session.title, session.start) == ("Renamed", second)


def talk_row(presentation: Presentation, **fields: Any) -> dict[str, Any]:
    row = {
        "id": presentation.pk,
        "session": presentation.session_id,
        "kind": presentation.kind,
        "title": presentation.title,
        "paper": presentation.paper_id or "",
        "position": presentation.position,
        "status": presentation.status,
    }
    return {**row, **fields}


def test_presentations_swap_go_and_come_in_one_post(admin_client: Client) -> None:
    edition = make_berlin()
    session = make.make_session(edition)
    first, second, third = (make.make_presentation(session, title=title) for title in "ABC")
    stored = [talk_row(first, position=2), talk_row(second, position=1), talk_row(third, DELETE="on")]
    paper = make.make_paper(edition, title="D")
    times = date_and_time("start", "2026-03-28", "10:15") | date_and_time("end", "2026-03-28", "10:30")
    new = {"kind": "oral", "paper": paper.pk, "position": 2, "status": "published", **times}
    admin_client.post(address(session, "change"), form_data(formset("presentations", stored, [new])))
    order = session.presentations.order_by("position")

    assert [(one.position, str(one)) for one in order] == [(1, "B"), (2, "D"), (3, "A")]
    assert order[1].edition == edition
    assert order[1].start == datetime(2026, 3, 28, 9, 15, tzinfo=UTC)


def test_form_with_150_papers_saves_with_the_queries_of_three(admin_client: Client) -> None:
    edition = make_berlin()
    asked = []
    for number in (3, 3, 150):
        session = make.make_session(edition)
        rows = [talk_row(make.make_presentation(session, make.make_paper(edition))) for _ in range(number)]
        rows[-1]["board"] = "B7"
        values = form_data(formset("presentations", rows))
        with CaptureQueriesContext(connection) as queries:
            admin_client.post(address(session, "change"), values)
        asked.append(len(queries))

        assert session.presentations.get(board="B7").pk == rows[-1]["id"]
    assert asked[1] == asked[2]


def test_form_asks_as_much_for_one_row_as_for_three(admin_client: Client) -> None:
    edition = make_berlin()
    session = make.make_session(edition, room=make.make_room(edition), parent=make.make_session(edition))
    asked = {}
    for rows in (1, 2, 3):
        make.add_role(session, f"Ada {rows}")
        make.make_presentation(session, make.make_paper(edition))
        # Request the page once first, because Django then caches content types.
        admin_client.get(address(session, "change"))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(address(session, "change"))
        asked[rows] = len(queries)

    assert asked[1] == asked[3] <= 21


def test_roles_keep_their_order(admin_client: Client) -> None:
    session = make.make_session(make_berlin())
    ada, bob = make.add_role(session, "Ada"), make.add_role(session, "Bob")
    stored = [
        {"id": role.pk, "session": session.pk, "role": role.role, "person": role.person_id, "position": place}
        for role, place in ((ada, 2), (bob, 1))
    ]
    new = {"role": "chair", "person": make.make_person("Eve").pk}
    admin_client.post(address(session, "change"), form_data(formset("roles", stored, [new])))

    assert list(session.roles.values_list("position", "name")) == [(1, "Bob"), (2, "Ada"), (3, "Eve")]


def test_appearance_that_goes_to_another_session_stands_last_there(admin_client: Client) -> None:
    edition = make_berlin()
    paper = make.make_paper(edition)
    moving = make.make_presentation(make.make_session(edition), paper)
    full = make.make_session(edition)
    make.make_presentation(full)
    row = {"id": moving.pk, "paper": paper.pk, "kind": "oral", "session": full.pk, "status": "published"}
    values = {"title": paper.title, "status": "published", **formset("authorships"), **formset("materials")}
    admin_client.post(address(paper, "change"), {**values, **formset("presentations", [row])})
    moving.refresh_from_db()

    assert (moving.session, moving.position) == (full, 2)


def test_session_is_found_by_its_people_and_papers_without_accents(admin_client: Client) -> None:
    edition = make_berlin()
    session = make.make_session(edition, title="Systems")
    make.make_session(edition, title="Other")
    make.add_role(session, "Václav Šimek")
    make.make_presentation(session, make.make_paper(edition, title="Łódź at night"))
    found = [admin_client.get(LIST, {"q": term}).context["cl"].result_list for term in ("simek", "lodz")]

    assert [[row.title for row in rows] for rows in found] == [["Systems"], ["Systems"]]


def test_days_are_program_days_of_the_edition(admin_client: Client) -> None:
    edition = make_berlin()
    make.make_session(edition, start=datetime(2026, 3, 27, 23, 30, tzinfo=UTC), title="After midnight")
    make.make_session(edition, start=datetime(2026, 3, 28, 9, 0, tzinfo=UTC), title="Next morning")
    asked: dict[str, Any] = {"edition__id__exact": edition.pk, "day": "2026-03-27"}
    rows = admin_client.get(LIST, asked).context["cl"].result_list

    assert [row.title for row in rows] == ["After midnight"]


def test_choices_are_those_of_the_edition_and_tell_sessions_apart(admin_client: Client) -> None:
    old, new = make.make_edition(2020), make_berlin()
    make.make_room(old, "Old room")
    make.make_room(new, "New room")
    make.make_session(new, start=datetime(2026, 3, 28, 9, tzinfo=UTC), title="Talks")
    make.make_session(old, title="Old talks")

    assert autocomplete_choices(admin_client, Session, "room", new) == ["New room"]
    assert autocomplete_choices(admin_client, Presentation, "session", new) == [
        "Talks, Sat 28 Mar 2026, 10:00 CET"
    ]
    assert autocomplete_choices(admin_client, SessionRole, "person", new) == []


def test_room_of_another_edition_is_refused(admin_client: Client) -> None:
    room = make.make_room(make.make_edition(2020))
    page = admin_client.post(address(Session, "add"), form_data(edition=make_berlin().pk, room=room.pk))

    assert "The room belongs to another edition." in page.text


def test_actions_publish_cancel_and_take_back(admin_client: Client) -> None:
    session = make.make_session(make_berlin(), status="draft")
    said = []
    for action in ("publish", "cancel", "back_to_draft"):
        given = {"reason": "Storm."} if action == "cancel" else {}
        page = run_action(admin_client, action, [session], **given)
        said.append(re.findall(r'class="success">([^<]+) <a', page))

    assert said == [["1 session published."], ["1 session canceled."], ["1 session returned to draft."]]


@pytest.mark.parametrize("way", ["form", "list"])
def test_page_that_deletes_a_session_says_what_loses_it(admin_client: Client, way: str) -> None:
    edition = make.make_edition()
    workshop = make.make_session(edition, kind="workshop", title="Workshop")
    hall = make.make_session(edition, kind="poster", title="Posters", parent=workshop)
    other = make.make_session(edition, kind="poster")
    for _ in range(12):
        make.make_presentation(hall, kind="poster")
    make.make_presentation(workshop, kind="talk")
    make.make_presentation(other, kind="demo")
    if way == "form":
        page = admin_client.get(address(workshop, "delete")).text
    else:
        chosen = {"action": "delete_selected", "_selected_action": [workshop.pk, hall.pk]}
        page = admin_client.post(LIST, chosen).text

    words = "13 presentations stay, without a session: Poster (12), Talk (1)."
    assert f'class="warning">{words}</li>' in page
    assert page.count(words) == 1


def test_page_that_deletes_an_empty_session_speaks_of_no_presentations(admin_client: Client) -> None:
    page = admin_client.get(address(make.make_session(make.make_edition()), "delete")).text

    assert "without a session" not in page
