"""All columns of inline rows in the admin's forms fit a window of 1280 pixels."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page

from tests import factories as make
from tests.admin_forms import admin_url
from tests.browser.axe import DESKTOP

pytestmark = pytest.mark.browser

# Returns the class of each cell beyond the visible part of a table, and by how many pixels.
CELLS_OUTSIDE = """() => [...document.querySelectorAll(".tabular .wrapper")].flatMap((wrapper) => {
  const edge = wrapper.getBoundingClientRect().right;
  const group = wrapper.closest(".inline-group").id;
  const beyond = (cell) => Math.round(cell.getBoundingClientRect().right - edge);
  return [...wrapper.querySelectorAll("th, td, td > *")]
    .filter((cell) => cell.checkVisibility() && beyond(cell) > 1)
    .map((cell) => `${group} ${cell.className || cell.localName} ${beyond(cell)}`);
})"""
ROW_COUNT = "document.querySelectorAll('.tabular .wrapper tr.form-row:not(.empty-form)').length"


@pytest.mark.parametrize("form", ["paper", "session", "presentation", "person", "award", "edition"])
def test_last_columns_of_inline_rows_are_visible(page: Page, form: str) -> None:
    edition = make.make_edition()
    ada = make.make_person("Wilhelmina Featherstonehaugh-Cholmondeley")
    paper = make.make_paper(edition, [ada], title="A rather long title of a paper about many things")
    make.make_material(paper, url="https://example.org/papers/2021/a-rather-long-address.pdf")
    session = make.make_session(edition, title="A session whose title goes on for a while")
    make.add_role(session, ada, "chair")
    start, end = make.MORNING, make.MORNING + timedelta(minutes=20)
    make.make_presentation(session, paper, board="Position 12", start=start, end=end)
    talk = make.make_presentation(session, title="Talk without a paper")
    talk.speakers.create(person=ada, name=ada.name)
    ada.identifiers.create(scheme="orcid", value="0000-0002-1825-0097")
    make.make_menu_item(edition, "Call for papers")
    award = make.make_award(edition, [paper, ada])
    make.make_room(edition, "A hall with a long name")
    rows = {"paper": paper, "session": session, "presentation": talk, "person": ada, "award": award}
    kind = make.make_session_kind(
        edition.conference, "Demonstration with questions", applies_to="presentation"
    )
    session.presentations.update(kind=kind.slug)
    page.goto(admin_url(rows.get(form, edition), "change"))

    assert page.viewport_size == DESKTOP
    assert page.evaluate(ROW_COUNT) > 0
    assert page.evaluate(CELLS_OUTSIDE) == []

    page.set_viewport_size({"width": 1024, "height": 800})
    assert [cell for cell in page.evaluate(CELLS_OUTSIDE) if " delete " in cell] == []
