"""The page of boards shows the posters of a large session in pages, and plans those of all."""

from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from schedule.admin import boards
from schedule.models import Session
from tests.factories import make_paper, make_presentation, make_session
from tests.html_pages import Page
from tests.schedule.form_data import fields_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def hall(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Create a session of five posters, P1 to P5, of which a page shows two."""
    monkeypatch.setattr(boards, "ROWS_PER_PAGE", 2)
    session = make_session(edition, kind="poster", title="Posters")
    for number in range(1, 6):
        make_presentation(session, make_paper(edition, title=f"P{number}"), kind="poster", uid=f"p{number}")
    return session


def address(session: Session, page: str = "") -> str:
    return f"/admin/schedule/session/{session.pk}/boards/{page}"


def shown_posters(response: Any) -> list[str]:
    return [row.inside("a")[0].text for row in Page(response.text).all("td", "tt-what")]


def press(client: Client, session: Session, shown: Any, **fields: str) -> Any:
    """Submit the form of a shown page with changed fields."""
    return client.post(address(session), fields_of(shown, "boards") | fields, follow=True)


def stored_boards(session: Session) -> list[str]:
    return [*session.presentations.order_by("position").values_list("board", flat=True)]


@pytest.mark.parametrize(
    ("query", "posters"),
    [("", ["P1", "P2"]), ("?page=2", ["P3", "P4"]), ("?page=9", ["P5"]), ("?page=x", ["P1", "P2"])],
)
def test_page_shows_some_posters(admin_client: Client, hall: Session, query: str, posters: list[str]) -> None:
    assert shown_posters(admin_client.get(address(hall, query))) == posters


def test_other_pages_are_shown_by_buttons(admin_client: Client, hall: Session) -> None:
    (pages,) = Page(admin_client.get(address(hall, "?page=2")).text).all("div", "part-pages")

    assert "Posters 3 to 4 of 5." in pages.text
    assert [button.attributes["value"] for button in pages.inside("button")] == ["1", "3"]


def test_small_session_has_no_pages(admin_client: Client, hall: Session) -> None:
    hall.presentations.exclude(uid__in=["p1", "p2"]).delete()

    assert Page(admin_client.get(address(hall)).text).all("div", "part-pages") == []


def test_entered_boards_are_kept_on_the_way_to_another_page_and_saved(
    admin_client: Client, hall: Session
) -> None:
    first = hall.presentations.get(uid="p1")
    second = press(
        admin_client, hall, admin_client.get(address(hall)), **{f"b{first.pk}-board": "7", "page": "2"}
    )
    assert shown_posters(second) == ["P3", "P4"]
    assert stored_boards(hall) == [""] * 5

    third = hall.presentations.get(uid="p3")
    saved = press(admin_client, hall, second, **{f"b{third.pk}-board": "9", "_save": "1"})

    assert "2 boards were saved." in saved.text
    assert shown_posters(saved) == ["P3", "P4"]
    assert stored_boards(hall) == ["7", "", "9", "", ""]


def test_boards_are_assigned_on_all_pages(admin_client: Client, hall: Session) -> None:
    assigned = press(
        admin_client,
        hall,
        admin_client.get(address(hall, "?page=2")),
        boards="1-5",
        order="current",
        _assign="1",
    )
    assert shown_posters(assigned) == ["P3", "P4"]
    press(admin_client, hall, assigned, _save="1")

    assert stored_boards(hall) == ["1", "2", "3", "4", "5"]


def test_board_that_is_not_fixed_stays_so_on_another_page(admin_client: Client, hall: Session) -> None:
    hall.presentations.filter(uid__in=["p1", "p2"]).update(board="5")
    first, second = (hall.presentations.get(uid=uid) for uid in ("p1", "p2"))
    data = fields_of(admin_client.get(address(hall)), "boards")
    del data[f"b{first.pk}-fixed"]
    other_page = admin_client.post(address(hall), data | {"page": "2"})
    kept = fields_of(other_page, "boards")

    assert kept[f"b{first.pk}-board"] == "5"
    assert f"b{first.pk}-fixed" not in kept
    assert f"b{second.pk}-board" not in kept

    assigned = press(admin_client, hall, other_page, boards="1-5", order="current", _assign="1")
    press(admin_client, hall, assigned, _save="1")
    assert stored_boards(hall) == ["1", "5", "2", "3", "4"]


def test_first_page_with_an_error_is_shown(admin_client: Client, hall: Session) -> None:
    third = hall.presentations.get(uid="p3")
    second = press(
        admin_client,
        hall,
        admin_client.get(address(hall, "?page=2")),
        **{f"b{third.pk}-board": "x" * 61, "page": "1"},
    )

    assert shown_posters(second) == ["P3", "P4"]
    assert "This board name is too long." in second.text
