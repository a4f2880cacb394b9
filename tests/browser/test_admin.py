"""The admin in a browser: no CSP errors, no axe violations, choices by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Session
from tests.admin_forms import admin_url
from tests.browser.axe import DESKTOP, PHONE, display_issues, violations
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_presentation, make_room, make_session

pytestmark = pytest.mark.browser


def admin_urls() -> list[str]:
    paper = Paper.objects.get(title__startswith="Cortex")
    session = Session.objects.get(title="ML Compilers & Runtime")
    person = Person.objects.get(name="Tianqi Chen")
    rows = [paper, session, person, session.edition]
    form_urls = [admin_url(row, "change") for row in rows]
    add_urls = [admin_url(model, "add") for model in (Paper, Session, type(session.edition))]
    list_urls = [admin_url(model, "changelist") for model in (Paper, Session, Person)]
    desk_urls = [f"/admin/?edition={edition.pk}" for edition in Edition.objects.all()]
    edition_with_clashes = Edition.objects.get(slug="2022")
    desk_urls += [
        f"/admin/schedule/session/clashes/?edition={edition.pk}"
        for edition in (session.edition, edition_with_clashes)
    ]
    form_urls.append(admin_url(edition_with_clashes.sessions.get(title="Outstanding Papers"), "change"))
    return [
        *desk_urls,
        *list_urls,
        *add_urls,
        *form_urls,
        admin_url(person, "delete"),
        admin_url(paper, "history"),
    ]


@pytest.mark.usefixtures("demo")
def test_admin_pages_have_no_console_errors_and_no_axe_violations(
    page: Page, console_errors: list[str]
) -> None:
    issues_by_path = {}
    for path in admin_urls():
        page.goto(path)
        # test_admin_axe checks wide and light, and narrow and dark, for all pages of the admin.
        issues_by_path[path] = display_issues(page, [(DESKTOP, "dark")])

    assert console_errors == []
    assert {path: issues for path, issues in issues_by_path.items() if issues} == {}


def test_login_page_has_no_axe_violations(open_page: OpenPage, transactional_db: None) -> None:
    page = open_page()
    page.goto("/admin/")

    assert page.title() == "Log in | Plenary"
    assert violations(page) == []


def test_room_choices_are_those_of_the_selected_edition(page: Page) -> None:
    old, new = make_edition(2020), make_edition(2021)
    make_room(old, "Old room")
    make_room(new, "New room")
    page.goto(admin_url(Session, "add"))
    for edition, room in ((old, "Old room"), (new, "New room")):
        select_by_keyboard(page, "id_edition", edition.name)
        page.locator("#id_room-box").click()

        expect(page.locator(".select2-results__option")).to_have_text([room])
        page.keyboard.press("Escape")


def select_by_keyboard(page: Page, field_id: str, text: str) -> None:
    """Choose an option of an autocomplete field by keyboard alone."""
    page.locator(f"#{field_id}-box").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".select2-search__field")).to_be_focused()
    page.keyboard.type(text)
    page.wait_for_selector(f".select2-results__option--highlighted:has-text('{text}')")
    page.keyboard.press("Enter")


def test_added_inline_row_is_labeled_and_saved(page: Page) -> None:
    session = make_session(make_edition())
    Person.objects.create(name="Ada Lovelace")
    page.goto(admin_url(session, "change"))
    page.get_by_role("button", name="Add another Person").click()
    select_by_keyboard(page, "id_roles-0-person", "Ada Lovelace")

    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_selector(".messagelist .success")
    assert [(role.name, role.position) for role in session.roles.all()] == [("Ada Lovelace", 1)]


@pytest.mark.usefixtures("demo")
def test_desk_count_links_by_keyboard_to_a_list_of_the_counted_rows(page: Page) -> None:
    page.goto(f"/admin/?edition={Edition.objects.get(slug='2022').pk}")
    link = page.locator(".desk-todo a", has_text="papers in no session")
    number = link.locator("b").inner_text()
    link.focus()
    page.keyboard.press("Enter")

    expect(page.locator("#result_list tbody tr")).to_have_count(int(number))
    expect(page.locator("#changelist-filter")).to_contain_text("In no session")


def test_empty_and_finished_desk_have_no_axe_violations(page: Page) -> None:
    results = []
    for year in (None, 2020, 2021):
        edition = make_edition(year) if year else None
        if edition and year == 2021:
            make_presentation(make_session(edition, kind="other"))
        page.goto("/admin/")
        heading = page.locator(".desk-begin h2, .desk-done b").last.inner_text()
        results.append((heading, display_issues(page, [(PHONE, "light"), (PHONE, "dark")])))

    assert results == [("Welcome", []), ("First steps", []), ("Everything is done.", [])]
