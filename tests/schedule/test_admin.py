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
from content.revision import lock
from schedule.models import Presentation, Session, SessionRole
from tests import factories as make
from tests.admin_forms import admin_url, autocomplete_choices, date_and_time, formset, run_action

pytestmark = pytest.mark.django_db

LIST = "/admin/schedule/session/"


def make_berlin_edition(**fields: Any) -> Edition:
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
    page = client.post(admin_url(Session, "add"), form_data(**values))
    assert page.status_code == 302, page.context["errors"]
    return Session.objects.get(uid=values["uid"])


def form_times(client: Client, session: Session) -> list[str]:
    page = client.get(admin_url(session, "change")).text
    return re.findall(r'name="(?:start|end)_\d" value="([^"]*)"', page)


@time_machine.travel(datetime(2026, 1, 15, 9, tzinfo=UTC), tick=False)
def test_trap_1_dst_between_entry_and_event_or_inside_it(admin_client: Client) -> None:
    edition = make_berlin_edition()
    saturday = add_session(admin_client, edition, "2026-03-28")
    sunday = add_session(admin_client, edition, "2026-03-29")
    page = admin_client.get(LIST).text

    assert saturday.start == datetime(2026, 3, 28, 9, tzinfo=UTC)
    assert sunday.start == datetime(2026, 3, 29, 8, tzinfo=UTC)
    assert form_times(admin_client, saturday) == ["2026-03-28", "10:00", "2026-03-28", "11:00"]
    assert form_times(admin_client, sunday) == ["2026-03-29", "10:00", "2026-03-29", "11:00"]
    assert "Sat 28 Mar, 10:00 to 11:00 CET" in page
    assert "Sun 29 Mar, 10:00 to 11:00 CEST" in page


def test_form_labels_times_with_the_time_zone(admin_client: Client) -> None:
    session = make.make_session(make_berlin_edition())
    make.make_presentation(session)
    page = admin_client.get(admin_url(session, "change")).text

    # The session, its presentation and the empty row each have a start and an end.
    assert page.count("Time (Europe/Berlin):") == 6
    assert 'data-admin-server-timezone="Europe/Berlin"' in page


def test_add_form_uses_the_time_zone_of_the_requested_edition(admin_client: Client) -> None:
    berlin = make_berlin_edition()
    make.make_edition(2027)
    default_page = admin_client.get(admin_url(Session, "add")).text
    requested_page = admin_client.get(admin_url(Session, "add"), {"edition": berlin.pk}).text
    filter_query = {"_changelist_filters": f"edition__id__exact={berlin.pk}"}

    assert "Time (America/Los_Angeles):" in default_page
    assert "Time (Europe/Berlin):" in requested_page
    assert "Time (Europe/Berlin):" in admin_client.get(admin_url(Session, "add"), filter_query).text
    assert "are in the time zone of the edition chosen here" in default_page


def test_times_are_parsed_in_the_zone_of_the_chosen_edition(admin_client: Client) -> None:
    make.make_edition(2027)
    seoul = make.make_edition(2026, timezone="Asia/Seoul")
    session = add_session(admin_client, seoul, "2026-07-08")

    assert session.start == datetime(2026, 7, 8, 1, tzinfo=UTC)


def test_list_shows_times_in_the_zone_of_each_edition(admin_client: Client) -> None:
    start = datetime(2026, 7, 8, 1, tzinfo=UTC)
    for zone, year in (("Asia/Seoul", 2026), ("America/Los_Angeles", 2025)):
        make.make_session(make.make_edition(year, timezone=zone), start=start)
    page = admin_client.get(LIST).text

    assert "Wed 8 Jul, 10:00 to 11:00 GMT+9" in page or "Wed 8 Jul, 10:00 to 11:00 KST" in page
    assert "Tue 7 Jul, 18:00 to 19:00 PDT" in page


@pytest.mark.parametrize(
    ("day", "message"),
    [
        ("2026-03-29", "Clocks in Europe/Berlin go forward on 29 March 2026 and skip 02:30."),
        (
            "2026-10-25",
            "Clocks in Europe/Berlin go back on 25 October 2026, so 02:30 occurs twice.",
        ),
    ],
)
def test_nonexistent_or_ambiguous_local_time_is_refused(day: str, message: str, admin_client: Client) -> None:
    values = {
        "edition": make_berlin_edition().pk,
        **date_and_time("start", day, "02:30"),
        **date_and_time("end", day, "12:00"),
    }
    page = admin_client.post(admin_url(Session, "add"), form_data(**values))

    assert message in page.text
    assert not Session.objects.exists()


def test_saving_keeps_the_second_occurrence_of_an_ambiguous_time(admin_client: Client) -> None:
    second_occurrence = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 CET, an hour after 02:30 CEST
    session = make.make_session(make_berlin_edition(), start=second_occurrence)
    times = date_and_time("start", "2026-10-25", "02:30") | date_and_time("end", "2026-10-25", "03:30")
    response = admin_client.post(admin_url(session, "change"), form_data(title="Renamed", **times))
    session.refresh_from_db()

    assert response.status_code == 302
    assert (session.title, session.start) == ("Renamed", second_occurrence)


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


def test_presentations_are_reordered_deleted_and_added_in_one_post(admin_client: Client) -> None:
    edition = make_berlin_edition()
    session = make.make_session(edition)
    first, second, third = (make.make_presentation(session, title=title) for title in "ABC")
    stored_rows = [talk_row(first, position=2), talk_row(second, position=1), talk_row(third, DELETE="on")]
    paper = make.make_paper(edition, title="D")
    times = date_and_time("start", "2026-03-28", "10:15") | date_and_time("end", "2026-03-28", "10:30")
    new_row = {"kind": "oral", "paper": paper.pk, "position": 2, "status": "published", **times}
    admin_client.post(
        admin_url(session, "change"), form_data(formset("presentations", stored_rows, [new_row]))
    )
    ordered = session.presentations.order_by("position")

    assert [(row.position, str(row)) for row in ordered] == [(1, "B"), (2, "D"), (3, "A")]
    assert ordered[1].edition == edition
    assert ordered[1].start == datetime(2026, 3, 28, 9, 15, tzinfo=UTC)


def test_saving_150_presentations_makes_as_many_queries_as_3(admin_client: Client) -> None:
    edition = make_berlin_edition()
    query_counts = []
    for row_count in (3, 3, 150):
        session = make.make_session(edition)
        with lock():
            papers = [make.make_paper(edition) for _ in range(row_count)]
            rows = [talk_row(make.make_presentation(session, paper)) for paper in papers]
        rows[-1]["board"] = "B7"
        values = form_data(formset("presentations", rows))
        with CaptureQueriesContext(connection) as queries:
            admin_client.post(admin_url(session, "change"), values)
        query_counts.append(len(queries))

        assert session.presentations.get(board="B7").pk == rows[-1]["id"]
    assert query_counts[1] == query_counts[2]


def test_form_query_count_is_the_same_for_1_and_3_rows(admin_client: Client) -> None:
    edition = make_berlin_edition()
    session = make.make_session(edition, room=make.make_room(edition), parent=make.make_session(edition))
    query_counts = {}
    for rows in (1, 2, 3):
        make.add_role(session, f"Ada {rows}")
        make.make_presentation(session, make.make_paper(edition))
        # Request the page once first, because Django then caches content types.
        admin_client.get(admin_url(session, "change"))
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(admin_url(session, "change"))
        query_counts[rows] = len(queries)

    assert query_counts[1] == query_counts[3] <= 33


def test_roles_are_stored_in_the_entered_order(admin_client: Client) -> None:
    session = make.make_session(make_berlin_edition())
    ada, bob = make.add_role(session, "Ada"), make.add_role(session, "Bob")
    stored_rows = [
        {"id": row.pk, "session": session.pk, "role": row.role, "person": row.person_id, "position": position}
        for row, position in ((ada, 2), (bob, 1))
    ]
    new_row = {"role": "chair", "person": make.make_person("Eve").pk}
    admin_client.post(admin_url(session, "change"), form_data(formset("roles", stored_rows, [new_row])))

    assert list(session.roles.values_list("position", "name")) == [(1, "Bob"), (2, "Ada"), (3, "Eve")]


def test_presentation_moved_to_another_session_is_placed_last(admin_client: Client) -> None:
    edition = make_berlin_edition()
    paper = make.make_paper(edition)
    moving = make.make_presentation(make.make_session(edition), paper)
    target = make.make_session(edition)
    make.make_presentation(target)
    row = {"id": moving.pk, "paper": paper.pk, "kind": "oral", "session": target.pk, "status": "published"}
    values = {"title": paper.title, "status": "published", **formset("authorships"), **formset("materials")}
    admin_client.post(admin_url(paper, "change"), {**values, **formset("presentations", [row])})
    moving.refresh_from_db()

    assert (moving.session, moving.position) == (target, 2)


def test_search_finds_sessions_by_people_and_papers_without_accents(admin_client: Client) -> None:
    edition = make_berlin_edition()
    session = make.make_session(edition, title="Systems")
    make.make_session(edition, title="Other")
    make.add_role(session, "Václav Šimek")
    make.make_presentation(session, make.make_paper(edition, title="Łódź at night"))
    results = [admin_client.get(LIST, {"q": term}).context["cl"].result_list for term in ("simek", "lodz")]

    assert [[row.title for row in rows] for rows in results] == [["Systems"], ["Systems"]]


def test_day_filter_uses_program_days_of_the_edition(admin_client: Client) -> None:
    edition = make_berlin_edition()
    make.make_session(edition, start=datetime(2026, 3, 27, 23, 30, tzinfo=UTC), title="After midnight")
    make.make_session(edition, start=datetime(2026, 3, 28, 9, 0, tzinfo=UTC), title="Next morning")
    query: dict[str, Any] = {"edition__id__exact": edition.pk, "day": "2026-03-27"}
    rows = admin_client.get(LIST, query).context["cl"].result_list

    assert [row.title for row in rows] == ["After midnight"]


def test_autocomplete_offers_rows_of_the_edition_and_sessions_with_times(admin_client: Client) -> None:
    old, new = make.make_edition(2020), make_berlin_edition()
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
    data = form_data(edition=make_berlin_edition().pk, room=room.pk)
    page = admin_client.post(admin_url(Session, "add"), data)

    assert "The room belongs to another edition." in page.text


def test_publish_cancel_and_back_to_draft_actions_report_the_count(admin_client: Client) -> None:
    session = make.make_session(make_berlin_edition(), status="draft")
    messages = []
    for action in ("publish", "cancel", "back_to_draft"):
        fields = {"reason": "Storm."} if action == "cancel" else {}
        page = run_action(admin_client, action, [session], **fields)
        messages.append(re.findall(r'class="success">([^<]+) <a', page))

    assert messages == [["1 session published."], ["1 session canceled."], ["1 session returned to draft."]]


@pytest.mark.parametrize("method", ["form", "list"])
def test_delete_page_counts_presentations_left_without_a_session(admin_client: Client, method: str) -> None:
    edition = make.make_edition()
    workshop = make.make_session(edition, kind="workshop", title="Workshop")
    poster_session = make.make_session(edition, kind="poster", title="Posters", parent=workshop)
    other = make.make_session(edition, kind="poster")
    for _ in range(12):
        make.make_presentation(poster_session, kind="poster")
    make.make_presentation(workshop, kind="talk")
    make.make_presentation(other, kind="demo")
    if method == "form":
        page = admin_client.get(admin_url(workshop, "delete")).text
    else:
        data = {"action": "delete_selected", "_selected_action": [workshop.pk, poster_session.pk]}
        page = admin_client.post(LIST, data).text

    warning = "13 presentations stay, without a session: Poster (12), Talk (1)."
    assert f'class="warning">{warning}</li>' in page
    assert page.count(warning) == 1


def test_delete_page_of_an_empty_session_mentions_no_presentations(admin_client: Client) -> None:
    page = admin_client.get(admin_url(make.make_session(make.make_edition()), "delete")).text

    assert "without a session" not in page
