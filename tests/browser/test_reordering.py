"""Reordering rows in a browser: by keyboard, by dragging, by buttons; in a form and in a list."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from papers.models import Paper
from schedule.models import Room
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.factories import make_edition, make_paper, make_room

pytestmark = pytest.mark.browser


def open_paper_form(page: Page) -> Paper:
    paper = make_paper(make_edition(), ["Zed Zu", "Abe Ba", "Mia Moe"])
    page.goto(admin_url(paper, "change"))
    return paper


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist .success")).to_be_visible()


def names_by_position(rows: Any) -> list[tuple[int, str]]:
    return list(rows.order_by("position").values_list("position", "name"))


def drag_handle(page: Page, name: str) -> Any:
    return page.get_by_role("button", name=f"Move {name}: drag, or press the arrow keys")


def test_authors_are_reordered_by_keyboard(page: Page) -> None:
    paper = open_paper_form(page)
    drag_handle(page, "Mia Moe").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)

    expect(drag_handle(page, "Mia Moe")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Mia Moe is the first of 3.")
    drag_handle(page, "Zed Zu").press("End")
    expect(page.get_by_role("status")).to_have_text("Zed Zu: now 3 of 3. Not saved yet.")
    save(page)
    assert names_by_position(paper.authorships) == [(1, "Mia Moe"), (2, "Abe Ba"), (3, "Zed Zu")]


def test_authors_are_reordered_by_dragging(page: Page) -> None:
    paper = open_paper_form(page)
    drag_handle(page, "Mia Moe").scroll_into_view_if_needed()
    source_box, target_box = (
        drag_handle(page, "Zed Zu").bounding_box(),
        drag_handle(page, "Mia Moe").bounding_box(),
    )
    assert source_box
    assert target_box
    page.mouse.move(source_box["x"] + 10, source_box["y"] + 10)
    page.mouse.down()
    page.mouse.move(source_box["x"] + 14, source_box["y"] + 60, steps=4)
    page.mouse.move(target_box["x"] + 10, target_box["y"] + 40, steps=8)
    page.mouse.up()

    expect(page.get_by_role("status")).to_have_text("Zed Zu: now 3 of 3. Not saved yet.")
    save(page)
    assert names_by_position(paper.authorships) == [(1, "Abe Ba"), (2, "Mia Moe"), (3, "Zed Zu")]


def test_drag_canceled_with_escape_changes_nothing(page: Page) -> None:
    open_paper_form(page)
    drag_handle(page, "Mia Moe").scroll_into_view_if_needed()
    source_box = drag_handle(page, "Mia Moe").bounding_box()
    assert source_box
    page.mouse.move(source_box["x"] + 10, source_box["y"] + 10)
    page.mouse.down()
    page.mouse.move(source_box["x"] + 10, source_box["y"] - 400, steps=6)
    page.keyboard.press("Escape")
    page.mouse.up()

    position_inputs = page.locator("#authorships-group tr.has_original td.field-position input")
    assert [box.input_value() for box in position_inputs.all()] == ["1", "2", "3"]


def test_removing_an_added_and_moved_row_leaves_the_other_rows(page: Page) -> None:
    paper = open_paper_form(page)
    for _ in range(2):
        page.get_by_role("link", name="Add another Author").or_(
            page.get_by_role("button", name="Add another Author")
        ).click()
    drag_handle(page, "this row").first.press("Home")
    page.get_by_role("button", name="Move Abe Ba up").click()
    page.locator("#authorships-group .inline-deletelink").first.click()
    page.locator("#authorships-group .inline-deletelink").first.click()
    save(page)

    assert names_by_position(paper.authorships) == [(1, "Abe Ba"), (2, "Zed Zu"), (3, "Mia Moe")]


def test_form_with_150_authors_is_reordered_and_saved(page: Page) -> None:
    paper = make_paper(make_edition(), [f"Author {n:03}" for n in range(150)])
    page.goto(f"{admin_url(paper, 'change')}?authorships-page=2")
    drag_handle(page, "Author 149").press("Home")
    expect(page.locator("#authorships-49 td.field-position input")).to_have_value("101")
    page.locator("#authorships-48 td.field-position input").fill("1")
    save(page)

    names = [name for _position, name in names_by_position(paper.authorships)]
    assert names[:2] == ["Author 148", "Author 000"]
    assert names[100:102] == ["Author 099", "Author 149"]
    assert [position for position, _ in names_by_position(paper.authorships)] == list(range(1, 151))


def test_rooms_are_reordered_in_their_list(page: Page) -> None:
    edition = make_edition()
    for name in ("Hall A", "Hall B", "Hall C"):
        make_room(edition, name)
    page.goto(f"{admin_url(Room, 'changelist')}?edition__id__exact={edition.pk}")
    page.get_by_role("button", name="Move Hall A down").click()

    assert display_issues(page, DESK_DISPLAYS) == []
    save(page)
    assert names_by_position(Room.objects) == [(1, "Hall B"), (2, "Hall A"), (3, "Hall C")]
