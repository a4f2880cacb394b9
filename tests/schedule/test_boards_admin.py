"""Tests of assigning poster boards, and of adding posters for papers with a talk."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content import revision
from content.history import ChangeSet
from schedule.models import Presentation, Session
from tests.factories import (
    MORNING,
    add_author,
    make_edition,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
    make_topic,
)
from tests.schedule.form_data import fields_of, resolve_conflicts

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
POSTERS = "/admin/schedule/session/posters/"


@pytest.fixture
def hall(edition: Edition) -> Session:
    """Create a poster session with four posters of two topics; the one about vision is first in order."""
    hall = make_session(edition, kind="poster", title="Posters")
    vision, logic = make_topic(edition, "Vision"), make_topic(edition, "Logic")
    for title, topic in (("P1", logic), ("P2", vision), ("P3", None), ("P4", vision)):
        make_presentation(hall, make_paper(edition, title=title, topic=topic), kind="poster")
    return hall


def address(session: Session) -> str:
    return f"/admin/schedule/session/{session.pk}/boards/"


def page_fields(client: Client, session: Session) -> dict[str, Any]:
    return fields_of(client.get(address(session)), "boards")


def press_button(client: Client, session: Session, data: dict[str, Any], button: str, **more: Any) -> Any:
    return client.post(address(session), {**data, f"_{button}": "1", **more}, follow=True)


def boards_by_poster(session: Session) -> dict[str, str]:
    rows = session.presentations.select_related("paper").order_by("position")
    return {str(row): row.board for row in rows}


def poster(session: Session, title: str) -> Presentation:
    return session.presentations.get(paper__title=title)


@pytest.mark.parametrize(
    ("order", "boards"),
    [
        ("topic", {"P1": "A1", "P2": "9", "P3": "A2", "P4": "10"}),
        ("current", {"P1": "9", "P2": "10", "P3": "A1", "P4": "A2"}),
        ("title", {"P1": "9", "P2": "10", "P3": "A1", "P4": "A2"}),
    ],
)
def test_boards_are_assigned_previewed_and_saved(
    admin_client: Client, hall: Session, order: str, boards: dict[str, str]
) -> None:
    data = page_fields(admin_client, hall) | {"boards": "9-10, A1-A9", "order": order}
    page = press_button(admin_client, hall, data, "assign")
    assert set(boards_by_poster(hall).values()) == {""}
    change_set_count = ChangeSet.objects.count()
    saved = press_button(admin_client, hall, fields_of(page, "boards"), "save")
    assert boards_by_poster(hall) == boards
    assert ChangeSet.objects.count() == change_set_count + 1
    assert "4 boards were saved." in saved.text
    admin_client.post(saved.context["saved"]["undo"])
    assert set(boards_by_poster(hall).values()) == {""}


def test_fixed_posters_keep_their_board(admin_client: Client, hall: Session) -> None:
    Presentation.objects.filter(pk__in=[poster(hall, "P1").pk, poster(hall, "P3").pk]).update(board="2")
    data = page_fields(admin_client, hall) | {"boards": "1-5", "order": "current"}
    assert data[f"b{poster(hall, 'P1').pk}-fixed"] == "on"
    del data[f"b{poster(hall, 'P3').pk}-fixed"]
    page = press_button(admin_client, hall, data, "assign")
    press_button(admin_client, hall, fields_of(page, "boards"), "save")
    assert boards_by_poster(hall) == {"P1": "2", "P2": "1", "P3": "3", "P4": "4"}


@pytest.mark.parametrize(
    ("boards", "message"),
    [
        ("1-3", "3 boards are free and 4 posters need a board: 1 is missing."),
        ("1-3, 2", "Board 2 is listed twice."),
        ("", "This field is required."),
    ],
)
def test_unusable_board_list_is_reported(
    admin_client: Client, hall: Session, boards: str, message: str
) -> None:
    page = press_button(admin_client, hall, page_fields(admin_client, hall) | {"boards": boards}, "assign")
    assert message in page.text
    assert page.context["moved_count"] == 0


def test_board_used_twice_is_reported_before_saving(admin_client: Client, hall: Session) -> None:
    data = page_fields(admin_client, hall)
    data |= {f"b{poster(hall, title).pk}-board": "7" for title in ("P1", "P2")}
    page = press_button(admin_client, hall, data, "check")
    assert "Board 7 is used 2 times in" in page.text
    press_button(admin_client, hall, data, "save")
    assert [board for board in boards_by_poster(hall).values() if board] == ["7", "7"]


def test_hall_with_too_few_boards_is_reported(admin_client: Client, hall: Session) -> None:
    hall.room = make_room(hall.edition, capacity=3)
    hall.save()
    page = admin_client.get(address(hall))
    assert "has 4 posters at once" in page.text
    assert fields_of(page, "boards")["boards"].strip() == "1-3"


def test_concurrent_board_changes_offer_both_boards(admin_client: Client, hall: Session) -> None:
    data = page_fields(admin_client, hall) | {f"b{poster(hall, 'P1').pk}-board": "1"}
    data |= {f"b{poster(hall, 'P2').pk}-board": "2"}
    Presentation.objects.filter(pk=poster(hall, "P1").pk).update(board="9")
    page = press_button(admin_client, hall, data, "save")
    assert page.status_code == 409
    (difference,) = page.context["differences"]
    assert (difference["theirs"], difference["mine"]) == ("9", "1")
    assert boards_by_poster(hall)["P2"] == ""
    admin_client.post(address(hall), resolve_conflicts(page, **{f"b{poster(hall, 'P1').pk}": "theirs"}))
    assert (boards_by_poster(hall)["P1"], boards_by_poster(hall)["P2"]) == ("9", "2")


@pytest.mark.parametrize("rows", [1, 3])
def test_query_counts_are_the_same_for_1_and_3_rows(
    admin_client: Client, edition: Edition, rows: int
) -> None:
    hall = make_session(edition, kind="poster", start=MORNING + HOUR)
    talks = make_session(edition)
    for _ in range(rows):
        paper = make_paper(edition, topic=make_topic(edition))
        make_presentation(hall, paper, kind="poster")
        make_presentation(talks, make_paper(edition))
    query_counts = []
    for path in (address(hall), POSTERS):
        admin_client.get(path)
        with CaptureQueriesContext(connection) as queries:
            assert admin_client.get(path).status_code == 200
        query_counts.append(len(queries))
    assert query_counts == [8, 9]


def test_invalid_poster_is_reported_and_nothing_is_saved(admin_client: Client, hall: Session) -> None:
    foreign_paper = make_paper(make_edition(2020), title="P2")
    Presentation.objects.filter(pk=poster(hall, "P2").pk).update(paper=foreign_paper)
    data = page_fields(admin_client, hall) | {"boards": "1-9", "order": "current"}
    page = press_button(
        admin_client, hall, fields_of(press_button(admin_client, hall, data, "assign"), "boards"), "save"
    )

    assert page.context["wrong_count"] == 1
    assert "The paper belongs to another edition." in page.text
    assert set(boards_by_poster(hall).values()) == {""}
    assert fields_of(page, "boards")[f"b{poster(hall, 'P1').pk}-board"] == "1"


def test_board_list_is_taken_from_the_board_plan_of_the_room(admin_client: Client, hall: Session) -> None:
    hall.room = make_room(hall.edition, capacity=99, poster_boards="A1-2\n\nB1-2")
    hall.save()
    data = page_fields(admin_client, hall)
    assert data["boards"].strip().splitlines() == ["A1-2", "", "B1-2"]
    page = press_button(admin_client, hall, data | {"order": "current", "back_and_forth": "on"}, "assign")
    press_button(admin_client, hall, fields_of(page, "boards"), "save")
    assert boards_by_poster(hall) == {"P1": "A1", "P2": "A2", "P3": "B2", "P4": "B1"}


def test_posters_of_one_presenter_are_kept_together_if_chosen(admin_client: Client, hall: Session) -> None:
    busy, other = make_person("Busy"), make_person("Other")
    for title, person, presenting in (("P1", busy, False), ("P2", other, False), ("P4", busy, True)):
        paper = poster(hall, title).paper
        assert paper is not None
        add_author(paper, person, presenting=presenting)
    data = page_fields(admin_client, hall) | {"boards": "1-4", "order": "current"}
    without_choice = {name: value for name, value in data.items() if name != "together"}
    for form_data, boards in ((data, ["1", "3", "4", "2"]), (without_choice, ["1", "2", "3", "4"])):
        page = press_button(admin_client, hall, form_data, "assign")
        proposed = fields_of(page, "boards")
        assert [proposed[f"b{row.pk}-board"] for row in hall.presentations.order_by("position")] == boards


def test_room_refuses_a_board_plan_with_a_duplicate(edition: Edition) -> None:
    with pytest.raises(ValidationError) as error:
        make_room(edition, poster_boards="A1-A3\nA2").full_clean()
    assert error.value.message_dict == {"poster_boards": ["Board A2 is listed twice."]}


@pytest.mark.parametrize("rows", [1, 3])
def test_labels_are_in_the_order_of_the_boards(admin_client: Client, edition: Edition, rows: int) -> None:
    hall = make_session(edition, kind="poster", title="Posters")
    for number in range(rows):
        paper = make_paper(edition, title=f"Poster {number}")
        add_author(paper, make_person(f"Author {number}"))
        make_presentation(hall, paper, kind="poster", board=f"A{rows - number}")
    make_presentation(hall, make_paper(edition, title="Without"), kind="poster")
    path = f"{address(hall)}labels/"
    admin_client.get(path)
    with CaptureQueriesContext(connection) as queries:
        page = admin_client.get(path)
    assert [row.board for row in page.context["posters"]] == [f"A{n}" for n in range(1, rows + 1)]
    assert f"Author {rows - 1}" in page.text
    assert "1 poster has no board and no label." in page.text
    assert "Without" not in page.text
    assert len(queries) == 8


POSTER_COUNT = 800


def test_boards_of_800_posters_are_assigned_and_saved(admin_client: Client, hall: Session) -> None:
    admin_client.get(address(hall))
    # Clashes are cached for each revision.
    revision.advance([hall.edition_id])
    with CaptureQueriesContext(connection) as queries_of_4:
        admin_client.get(address(hall))
    posters = [
        Presentation(edition=hall.edition, session=hall, kind="poster", title=f"Q{n}", position=n)
        for n in range(5, POSTER_COUNT + 1)
    ]
    Presentation.objects.bulk_create(posters)
    with CaptureQueriesContext(connection) as queries_of_800:
        data = page_fields(admin_client, hall)
    page = press_button(
        admin_client, hall, data | {"boards": f"1-{POSTER_COUNT}", "order": "current"}, "assign"
    )
    proposed = fields_of(page, "boards")
    with CaptureQueriesContext(connection) as save_queries:
        admin_client.post(address(hall), {**proposed, "_save": "1"})

    assert len(queries_of_4) == len(queries_of_800)
    # If all boards were fixed, each poster would send one more input.
    assert POSTER_COUNT < len(proposed) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS - POSTER_COUNT
    assert list(boards_by_poster(hall).values()) == [str(n) for n in range(1, POSTER_COUNT + 1)]
    # Rows and their history are written in batches of 200.
    assert len(save_queries) < 60


# Posters for papers with a talk


@pytest.fixture
def talks(edition: Edition) -> Session:
    """Create a session with papers that have a poster, a poster without a session, and no poster."""
    talks = make_session(edition, title="Talks")
    papers = [make_paper(edition, title=title) for title in ("Hung", "Waits", "New", "Draft")]
    for paper in papers:
        status = "draft" if paper.title == "Draft" else "published"
        make_presentation(talks, paper, kind="oral", status=status)
    early = make_session(edition, kind="poster", title="Early", start=MORNING - HOUR)
    make_presentation(early, papers[0], kind="poster")
    make_presentation(None, papers[1], kind="poster")
    return talks


def test_papers_get_posters_in_the_session_after_their_talk(
    admin_client: Client, talks: Session, hall: Session
) -> None:
    Session.objects.filter(pk=hall.pk).update(start=MORNING + HOUR, end=MORNING + 2 * HOUR)
    data = fields_of(admin_client.get(POSTERS), "posters")
    assert data[f"p{talks.pk}"] == str(hall.pk)
    page = admin_client.post(POSTERS, {**data, "pick": [talks.pk], "_preview": "1"})
    assert [str(row.paper) for row in page.context["plan"].posters] == ["Waits", "New", "Draft"]
    assert [str(row.paper) for row in page.context["plan"].skipped] == ["Hung"]
    assert hall.presentations.count() == 4
    saved = admin_client.post(POSTERS, {**data, "pick": [talks.pk], "_save": "1"}, follow=True)
    rows = hall.presentations.order_by("position")[4:]

    assert [(str(row), row.kind, row.position, row.status) for row in rows] == [
        ("Waits", "poster", 5, "published"),
        ("New", "poster", 6, "published"),
        ("Draft", "poster", 7, "draft"),
    ]
    repeated = admin_client.post(POSTERS, {**data, "pick": [talks.pk], "_save": "1"}, follow=True)
    assert "All of these papers already have a poster." in repeated.text
    admin_client.post(saved.context["saved"]["undo"])
    assert (hall.presentations.count(), Presentation.objects.filter(session=None).count()) == (4, 1)


def test_talks_without_a_later_poster_session_need_a_choice(admin_client: Client, talks: Session) -> None:
    data = fields_of(admin_client.get(POSTERS), "posters")
    assert data[f"p{talks.pk}"] == ""
    page = admin_client.post(POSTERS, {**data, "pick": [talks.pk], "_preview": "1"})
    assert "“Talks” has no poster session. Choose one." in page.text
    early = Session.objects.get(title="Early")
    admin_client.post(POSTERS, {**data, f"p{talks.pk}": early.pk, "pick": [talks.pk], "_save": "1"})
    assert early.presentations.count() == 4


def test_poster_that_cannot_be_created_is_reported(
    admin_client: Client, talks: Session, hall: Session
) -> None:
    Session.objects.filter(pk=hall.pk).update(start=MORNING + HOUR, end=MORNING + 2 * HOUR)
    Presentation.objects.filter(session=None).update(room=make_room(make_edition(2020)))
    data = fields_of(admin_client.get(POSTERS), "posters")
    page = admin_client.post(POSTERS, {**data, "pick": [talks.pk], "_save": "1"})

    assert "Waits: The room belongs to another edition." in page.text
    assert hall.presentations.count() == 4


def test_posters_page_reports_missing_rows(admin_client: Client) -> None:
    assert "There are no editions yet." in admin_client.get(POSTERS).text
    edition = make_edition()
    assert "There is no poster session. Add one first." in admin_client.get(POSTERS).text
    make_session(edition, kind="poster")
    assert "No session has talks about papers yet." in admin_client.get(POSTERS).text
