"""Inlines with many rows are shown in pages; a save changes the rows of its page alone."""

from typing import Any

import pytest
from django.test import Client

from papers.admin.papers import AuthorInline
from schedule.admin.sessions import PresentationInline, RoleInline
from schedule.models import Presentation, Session
from tests import factories as make
from tests.admin_forms import admin_url
from tests.html_pages import Page
from tests.schedule.form_data import fields_of, resolve_conflicts
from tests.schedule.unreleased import planned_program as program

pytestmark = pytest.mark.django_db

PREFIX = "presentations"


@pytest.fixture
def hall(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Create a session of five posters, p1 to p5, whose form shows two at a time."""
    monkeypatch.setattr(PresentationInline, "rows_per_page", 2)
    edition = make.make_edition()
    session = make.make_session(edition, kind="poster", uid="hall", title="Hall")
    for number in range(1, 6):
        make.make_presentation(session, make.make_paper(edition), kind="poster", uid=f"p{number}")
    return session


def address(session: Session, page: int | str = 1) -> str:
    return f"{admin_url(session, 'change')}?{PREFIX}-page={page}"


def read_form(client: Client, session: Session, page: int | str = 1) -> dict[str, Any]:
    """Return the fields of the form as a browser would submit them."""
    return fields_of(client.get(address(session, page)), "session_form")


def shown_rows(data: dict[str, Any]) -> list[str]:
    count = int(data[f"{PREFIX}-INITIAL_FORMS"])
    keys = [data[f"{PREFIX}-{index}-id"] for index in range(count)]
    return [Presentation.objects.get(pk=key).uid for key in keys]


def save(client: Client, session: Session, page: int, row: int = 0, **fields: Any) -> Any:
    """Open a page of the form and save it with changed fields of a row."""
    data = read_form(client, session, page)
    data |= {f"{PREFIX}-{row}-{name}": value for name, value in fields.items()}
    data[f"{PREFIX}-TOTAL_FORMS"] = max(row + 1, int(data[f"{PREFIX}-TOTAL_FORMS"]))
    return client.post(address(session, page), data)


def order(session: Session) -> list[tuple[str, int]]:
    return [*session.presentations.order_by("position").values_list("uid", "position")]


def numbered(*uids: str) -> list[tuple[str, int]]:
    return [(uid, position) for position, uid in enumerate(uids, start=1)]


@pytest.mark.parametrize(
    ("page", "uids"),
    [(1, ["p1", "p2"]), (2, ["p3", "p4"]), (3, ["p5"]), ("9", ["p5"]), ("x", ["p1", "p2"])],
)
def test_form_shows_the_rows_of_one_page(
    admin_client: Client, hall: Session, page: int | str, uids: list[str]
) -> None:
    assert shown_rows(read_form(admin_client, hall, page)) == uids


def test_form_names_the_page_and_links_to_the_others(admin_client: Client, hall: Session) -> None:
    page = Page(admin_client.get(address(hall, 2)).text)
    (pages,) = page.all("nav", "part-pages")

    assert "Rows 3 to 4 of 5." in pages.text
    assert [(link.text, link.attributes["href"]) for link in pages.inside("a")] == [
        ("1", "?presentations-page=1"),
        ("3", "?presentations-page=3"),
    ]
    buttons = [button for button in page.all("button") if "formaction" in button.attributes]
    assert [(button.text, button.attributes["formaction"]) for button in buttons][:2] == [
        ("Save and show previous rows", "?presentations-page=1"),
        ("Save and show next rows", "?presentations-page=3"),
    ]


def test_enter_presses_the_usual_button(admin_client: Client, hall: Session) -> None:
    page = Page(admin_client.get(address(hall, 2)).text)
    (form,) = page.all("form", id="session_form")
    buttons = [
        element.attributes
        for element in form.elements
        if element.attributes.get("type") == "submit" or "formaction" in element.attributes
    ]

    assert buttons[0].get("name") == "_save"


def test_rows_up_to_the_limit_have_no_pages(admin_client: Client, hall: Session) -> None:
    hall.presentations.exclude(uid__in=["p1", "p2"]).delete()
    data = read_form(admin_client, hall)

    assert shown_rows(data) == ["p1", "p2"]
    assert f"{PREFIX}-PAGE" not in data


def test_save_changes_the_rows_of_its_page_alone(admin_client: Client, hall: Session) -> None:
    response = save(admin_client, hall, 2, board="7")

    assert response.status_code == 302
    assert [*hall.presentations.order_by("position").values_list("uid", "board")] == [
        ("p1", ""), ("p2", ""), ("p3", "7"), ("p4", ""), ("p5", ""),
    ]  # fmt: skip
    assert order(hall) == numbered("p1", "p2", "p3", "p4", "p5")


@pytest.mark.parametrize(
    ("page", "position", "expected"),
    [
        (2, "1", ("p3", "p1", "p2", "p4", "p5")),
        (2, "2", ("p1", "p3", "p2", "p4", "p5")),
        (1, "4", ("p2", "p3", "p4", "p1", "p5")),
        (1, "99", ("p2", "p3", "p4", "p5", "p1")),
        (2, "", ("p1", "p2", "p4", "p5", "p3")),
    ],
)
def test_entered_number_is_the_place_among_all_rows(
    admin_client: Client, hall: Session, page: int, position: str, expected: tuple[str, ...]
) -> None:
    save(admin_client, hall, page, position=position)

    assert order(hall) == numbered(*expected)


def test_deleted_row_closes_the_gap_on_all_pages(admin_client: Client, hall: Session) -> None:
    save(admin_client, hall, 1, row=1, DELETE="on")

    assert order(hall) == numbered("p1", "p3", "p4", "p5")


@pytest.mark.parametrize(("position", "place"), [("", 6), ("3", 3)])
def test_new_row_is_last_of_all_pages_unless_it_has_a_number(
    admin_client: Client, hall: Session, position: str, place: int
) -> None:
    save(admin_client, hall, 1, row=2, title="New", kind="talk", status="draft", position=position)

    assert hall.presentations.get(title="New").position == place
    assert sorted(position for _uid, position in order(hall)) == [1, 2, 3, 4, 5, 6]


def save_board_after_another(client: Client, hall: Session, uid: str) -> int:
    """Change the board of "p3" on page 2 after somebody changed that of this row; return the status."""
    data = read_form(client, hall, 2)
    hall.presentations.filter(uid=uid).update(board="9")
    return client.post(address(hall, 2), data | {f"{PREFIX}-0-board": "7"}).status_code


def test_rows_of_other_pages_may_change_meanwhile(admin_client: Client, hall: Session) -> None:
    assert save_board_after_another(admin_client, hall, "p1") == 302
    assert hall.presentations.get(uid="p1").board == "9"
    assert hall.presentations.get(uid="p3").board == "7"


def test_shown_rows_are_saved_though_their_page_has_changed(admin_client: Client, hall: Session) -> None:
    data = read_form(admin_client, hall, 2) | {f"{PREFIX}-0-board": "7"}
    for uid in ("p1", "p2"):
        hall.presentations.get(uid=uid).delete()
    # The numbers of the shown rows have changed, too.
    versions = admin_client.post(address(hall, 2), data)
    response = admin_client.post(address(hall, 2), resolve_conflicts(versions))

    assert (versions.status_code, response.status_code) == (409, 302)
    assert order(hall) == numbered("p3", "p4", "p5")
    assert hall.presentations.get(uid="p3").board == "7"


def test_other_value_of_a_shown_row_is_a_conflict(admin_client: Client, hall: Session) -> None:
    assert save_board_after_another(admin_client, hall, "p3") == 409
    assert hall.presentations.get(uid="p3").board == "9"


def test_choice_between_two_versions_saves_the_page(admin_client: Client, hall: Session) -> None:
    data = read_form(admin_client, hall, 2)
    hall.presentations.filter(uid="p3").update(board="9")
    conflict = admin_client.post(address(hall, 2), data | {f"{PREFIX}-0-board": "7"})
    choice = resolve_conflicts(conflict, **{f"{PREFIX}-0-board": "mine"})
    response = admin_client.post(address(hall, 2), choice)

    assert response.status_code == 302
    assert hall.presentations.get(uid="p3").board == "7"
    assert order(hall) == numbered("p1", "p2", "p3", "p4", "p5")


def test_invalid_form_shows_its_page_again(admin_client: Client, hall: Session) -> None:
    data = read_form(admin_client, hall, 2)
    response = admin_client.post(address(hall, 3), data | {"title": "", "kind": "", f"{PREFIX}-0-board": "7"})
    again = fields_of(response, "session_form")

    assert response.status_code == 200
    assert shown_rows(again) == ["p3", "p4"]
    assert (again[f"{PREFIX}-0-board"], again[f"{PREFIX}-PAGE"]) == ("7", "2")


def test_save_and_continue_stays_on_the_page(admin_client: Client, hall: Session) -> None:
    response = admin_client.post(address(hall, 2), read_form(admin_client, hall, 2) | {"_continue": "1"})

    assert response.headers["Location"] == address(hall, 2)


def test_save_leads_to_the_page_of_its_button(admin_client: Client, hall: Session) -> None:
    data = read_form(admin_client, hall, 2) | {"_continue": "1", f"{PREFIX}-1-board": "8"}
    response = admin_client.post(address(hall, 3), data)

    assert response.headers["Location"] == address(hall, 3)
    assert hall.presentations.get(uid="p4").board == "8"


def test_unique_values_of_other_pages_are_refused(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RoleInline, "rows_per_page", 1)
    session = make.make_session(make.make_edition())
    ada, bob = make.make_person("Ada"), make.make_person("Bob")
    for person in (ada, bob):
        make.add_role(session, person, "chair")
    url = f"{admin_url(session, 'change')}?roles-page=2"
    data = fields_of(admin_client.get(url), "session_form")
    response = admin_client.post(url, data | {"roles-0-person": ada.pk})

    assert response.status_code == 200
    assert "This person already has that role in the session." in response.text
    assert {role.person for role in session.roles.all()} == {ada, bob}


def test_order_waits_for_the_release_on_a_page_as_in_a_whole_form(
    admin_client: Client, hall: Session
) -> None:
    program.let_changes_wait(hall.edition)
    response = save(admin_client, hall, 2, position="1")
    rows = fields_of(admin_client.get(address(hall)), "session_form")

    assert response.status_code == 302
    assert shown_rows(rows) == ["p3", "p1"]
    assert order(hall) == numbered("p1", "p2", "p3", "p4", "p5")


def test_pages_of_authors_are_those_of_any_inline(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuthorInline, "rows_per_page", 2)
    paper = make.make_paper(make.make_edition(), authors=["Ada", "Bob", "Cleo"])
    url = f"{admin_url(paper, 'change')}?authorships-page=2"
    data = fields_of(admin_client.get(url), "paper_form")
    response = admin_client.post(url, data | {"authorships-0-position": "1"})

    assert response.status_code == 302
    names = [row.person.name for row in paper.authorships.order_by("position")]
    assert names == ["Cleo", "Ada", "Bob"]
