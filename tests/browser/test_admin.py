"""The admin in a browser: no CSP errors, no axe violations, choices by keyboard."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Session
from tests.browser.axe import DESKTOP, PHONE, hindrances, violations
from tests.factories import make_edition, make_presentation, make_room, make_session
from tests.posted import address

pytestmark = pytest.mark.browser


def admin_pages() -> list[str]:
    paper = Paper.objects.get(title__startswith="Cortex")
    session = Session.objects.get(title="ML Compilers & Runtime")
    person = Person.objects.get(name="Tianqi Chen")
    rows = [paper, session, person, session.edition]
    forms = [address(row, "change") for row in rows]
    adds = [address(model, "add") for model in (Paper, Session, type(session.edition))]
    lists = [address(model, "changelist") for model in (Paper, Session, Person)]
    desks = [f"/admin/?edition={edition.pk}" for edition in Edition.objects.all()]
    clashing = Edition.objects.get(slug="2022")
    desks += [f"/admin/schedule/session/clashes/?edition={one.pk}" for one in (session.edition, clashing)]
    forms.append(address(clashing.sessions.get(title="Outstanding Papers"), "change"))
    return [*desks, *lists, *adds, *forms, address(person, "delete"), address(paper, "history")]


@pytest.mark.usefixtures("demo")
def test_admin_has_no_policy_error_and_nothing_for_axe_to_object_to(page: Page, said: list[str]) -> None:
    found = {}
    for path in admin_pages():
        page.goto(path)
        # test_admin_axe checks wide and light, and narrow and dark, for all pages of the admin.
        found[path] = hindrances(page, [(DESKTOP, "dark")])

    assert said == []
    assert {path: ids for path, ids in found.items() if ids} == {}


def test_login_has_nothing_for_axe_to_object_to(
    open_page: Callable[..., Page], transactional_db: None
) -> None:
    page = open_page()
    page.goto("/admin/")

    assert page.title() == "Log in | Plenary"
    assert violations(page) == []


def test_choices_follow_the_edition_that_is_chosen(page: Page) -> None:
    old, new = make_edition(2020), make_edition(2021)
    make_room(old, "Old room")
    make_room(new, "New room")
    page.goto(address(Session, "add"))
    for edition, room in ((old, "Old room"), (new, "New room")):
        pick(page, "id_edition", edition.name)
        page.locator("#id_room-box").click()

        expect(page.locator(".select2-results__option")).to_have_text([room])
        page.keyboard.press("Escape")


def pick(page: Page, field: str, words: str) -> None:
    """Choose an option of an autocomplete field by keyboard alone."""
    page.locator(f"#{field}-box").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".select2-search__field")).to_be_focused()
    page.keyboard.type(words)
    page.wait_for_selector(f".select2-results__option--highlighted:has-text('{words}')")
    page.keyboard.press("Enter")


def test_row_that_was_added_is_labeled_and_saved(page: Page) -> None:
    session = make_session(make_edition())
    Person.objects.create(name="Ada Lovelace")
    page.goto(address(session, "change"))
    page.get_by_role("button", name="Add another Person").click()
    pick(page, "id_roles-0-person", "Ada Lovelace")

    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_selector(".messagelist .success")
    assert [(role.name, role.position) for role in session.roles.all()] == [("Ada Lovelace", 1)]


@pytest.mark.usefixtures("demo")
def test_desk_leads_by_keyboard_to_the_rows_it_counts(page: Page) -> None:
    page.goto(f"/admin/?edition={Edition.objects.get(slug='2022').pk}")
    line = page.locator(".desk-todo a", has_text="papers in no session")
    number = line.locator("b").inner_text()
    line.focus()
    page.keyboard.press("Enter")

    expect(page.locator("#result_list tbody tr")).to_have_count(int(number))
    expect(page.locator("#changelist-filter")).to_contain_text("In no session")


def test_desk_is_good_with_nothing_to_show_or_to_do(page: Page) -> None:
    found = []
    for year in (None, 2020, 2021):
        edition = make_edition(year) if year else None
        if edition and year == 2021:
            make_presentation(make_session(edition, kind="other"))
        page.goto("/admin/")
        heading = page.locator(".desk-begin h2, .desk-done b").last.inner_text()
        found.append((heading, hindrances(page, [(PHONE, "light"), (PHONE, "dark")])))

    assert found == [("Welcome", []), ("First steps", []), ("Everything is done.", [])]
