"""Sizes of the admin's forms: two screens for a paper, no horizontal scrolling, visible buttons."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from conference.models import Edition
from papers.models import Authorship, Paper
from schedule.models import Presentation, Room, Session
from tests import factories as make
from tests.admin_forms import admin_url
from tests.browser.axe import PHONE

pytestmark = pytest.mark.browser

SCREEN = ViewportSize(width=1280, height=800)
# Returns the bottom of the row of buttons without its sticky position, in pixels of the page.
FORM_END = """() => {
  const row = document.querySelector(".submit-row");
  row.style.position = "static";
  const end = Math.round(row.getBoundingClientRect().bottom + window.scrollY);
  row.style.position = "";
  return end;
}"""
# Returns by how many pixels the page, or a table of rows, is wider than its visible part.
TOO_WIDE = """() => [document.documentElement, ...document.querySelectorAll(".tabular .wrapper")]
  .map((box) => box.scrollWidth - box.clientWidth).filter((over) => over > 1)"""
OVERFLOW = "box => box.scrollWidth - box.clientWidth"
PAGE_TOO_WIDE = "document.documentElement.scrollWidth - window.innerWidth"


def test_form_of_paper_with_eight_authors_fits_two_screens(page: Page) -> None:
    edition = make.make_edition()
    authors = [make.make_person(f"Wilhelmina Featherstonehaugh-Cholmondeley {n}") for n in range(8)]
    paper = make.make_paper(edition, title="A rather long title of a paper about many things", doi="10.1/a")
    for author in authors:
        make.add_author(paper, author, affiliations="University of Somewhere\nInstitute of Other Studies")
    make.make_material(paper)
    session = make.make_session(edition, title="A session whose title goes on for a while")
    start, end = make.MORNING, make.MORNING + timedelta(minutes=20)
    make.make_presentation(session, paper, start=start, end=end)
    make.make_presentation(session, paper, kind="poster", board="12")
    page.set_viewport_size(SCREEN)
    page.goto(admin_url(paper, "change"))

    assert page.evaluate(FORM_END) <= 2 * SCREEN["height"]
    assert page.evaluate(TOO_WIDE) == []
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_in_viewport()
    # The summary of a collapsed fieldset lists its contents.
    publication = page.locator("summary", has_text="Publication: DOI")
    expect(page.locator("summary", has_text="Materials (1)")).to_be_visible()
    expect(page.locator("#id_doi")).to_be_hidden()
    publication.click()
    page.locator("#id_doi").evaluate("field => { field.maxLength = 9999; field.value = 'x'.repeat(999); }")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errornote")).to_be_visible()
    expect(page.locator("#id_doi")).to_be_visible()


def test_forms_fit_the_width_of_a_desktop_and_a_phone(page: Page) -> None:
    edition = make.make_edition()
    person = make.make_person("Wilhelmina Featherstonehaugh-Cholmondeley")
    paper = make.make_paper(edition, [person], title="A rather long title of a paper about many things")
    session = make.make_session(edition, room=make.make_room(edition), recording_url="https://example.org/r")
    make.add_role(session, person, "chair")
    make.make_presentation(session, paper)
    pixels_by_form = {}
    for row in (paper, person, edition, session):
        page.set_viewport_size(SCREEN)
        page.goto(admin_url(row, "change"))
        for fieldset in page.locator("fieldset > details").all():
            fieldset.evaluate("part => { part.open = true; }")
        desktop_pixels = page.evaluate(TOO_WIDE)
        page.set_viewport_size(PHONE)
        pixels_by_form[row._meta.model_name] = (desktop_pixels, max(0, page.evaluate(PAGE_TOO_WIDE)))
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_in_viewport()

    # The last form is of a session: a fieldset with a link that is set is not collapsed.
    expect(page.locator("summary", has_text="Links")).to_have_count(0)
    expect(page.locator("#id_recording_url")).to_be_visible()
    assert pixels_by_form == dict.fromkeys(("paper", "person", "edition", "session"), ([], 0))


def test_lists_fit_next_to_menu_and_filter(page: Page) -> None:
    edition = make.make_edition(city="San Francisco", timezone="America/Los_Angeles")
    room = make.make_room(edition, "Grand Ballroom of the East Wing")
    session = make.make_session(edition, title="A session whose title goes on for a while", room=room)
    paper = make.make_paper(edition, title="A rather long title of a paper about many things of this world")
    make.make_presentation(session, paper, kind="poster", board="A12-117")
    make.make_material(paper, url=f"https://example.org/{'folder/' * 12}paper.pdf")
    for number in range(4):
        make.add_author(paper, make.make_person(f"Wilhelmina Featherstonehaugh-Cholmondeley {number}"))
    page.set_viewport_size(SCREEN)
    overflow_by_model = {}
    for model in (Edition, Room, Session, Paper, Presentation, Authorship):
        page.goto(admin_url(model, "changelist"))
        overflow_by_model[model] = page.locator("#changelist-form .results").evaluate(OVERFLOW)
    header_row = page.locator("#result_list thead")

    assert {model: overflow for model, overflow in overflow_by_model.items() if overflow} == {}
    page.goto(admin_url(Paper, "changelist"))
    expect(header_row).to_contain_text("Edition", ignore_case=True)
    page.goto(f"{admin_url(Paper, 'changelist')}?edition__id__exact={edition.pk}")
    expect(header_row).to_be_visible()
    expect(header_row).not_to_contain_text("Edition", ignore_case=True)
