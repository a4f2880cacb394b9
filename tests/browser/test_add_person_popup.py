"""A person added in the popup that the plus sign of a form opens."""

from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect
from pytest_django.live_server_helper import LiveServer

from accounts.roles import Role
from papers.models import Authorship, Paper
from people.models import CommitteeRole, Person
from tests import factories as make
from tests.access.world import add_member
from tests.admin_forms import admin_url
from tests.browser.visitor import OpenPage, sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def paper_form(page: Page) -> Page:
    """Return the form of a paper, with an empty row for an author."""
    page.goto(admin_url(make.make_paper(make.make_edition(), title="On Engines"), "change"))
    page.get_by_role("button", name="Add another Author").click()
    return page


def open_popup(page: Page, click: Callable[[], None]) -> Page:
    with page.expect_popup() as popup_info:
        click()
    return popup_info.value


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def photo() -> FilePayload:
    buffer = BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    return {"name": "ada.png", "mimeType": "image/png", "buffer": buffer.getvalue()}


def test_error_in_another_field_asks_to_choose_the_photo_again(
    paper_form: Page, console_errors: list[str]
) -> None:
    popup = open_popup(paper_form, paper_form.locator("#add_id_authorships-0-person").click)
    popup.fill("#id_name", "Ada Lovelace")
    popup.set_input_files("#id_photo", photo())
    popup.fill("#id_orcid", "1")
    save(popup)
    expect(popup.locator(".field-photo .errorlist")).to_have_text(
        "The file wasn’t saved because of another error on this form. Choose it again."
    )
    popup.set_input_files("#id_photo", photo())
    popup.fill("#id_orcid", "")
    save(popup)
    expect(paper_form.locator("#id_authorships-0-person option:checked")).to_have_text("Ada Lovelace")

    assert Person.objects.get().photo.name == "people/ada.png"
    assert console_errors == []


def test_affiliation_of_an_added_person_fills_the_empty_field_of_its_row(
    paper_form: Page, console_errors: list[str]
) -> None:
    paper_form.get_by_role("button", name="Add another Author").click()
    for row, name in enumerate(("Ada", "Bob")):
        paper_form.fill(f"#id_authorships-{row}-affiliations", ["", "Printed"][row])
        popup = open_popup(paper_form, paper_form.locator(f"#add_id_authorships-{row}-person").click)
        popup.fill("#id_name", name)
        popup.fill("#id_affiliation", "Analytical Engines")
        save(popup)
        expect(paper_form.locator(f"#id_authorships-{row}-person option:checked")).to_have_text(name)
    save(paper_form)
    expect(paper_form.locator(".messagelist .success")).to_be_visible()

    rows = Authorship.objects.order_by("position").values_list("name", "affiliations")
    assert [*rows] == [("Ada", ["Analytical Engines"]), ("Bob", ["Printed"])]
    assert console_errors == []


def test_affiliation_of_an_added_person_fills_a_form_with_one_person(page: Page) -> None:
    page.goto(f"{admin_url(CommitteeRole, 'add')}?edition={make.make_edition().pk}")
    popup = open_popup(page, page.locator("#add_id_person").click)
    popup.fill("#id_name", "Ada")
    popup.fill("#id_affiliation", "Analytical Engines")
    save(popup)
    expect(page.locator("#id_person option:checked")).to_have_text("Ada")

    assert page.input_value("#id_affiliation") == "Analytical Engines"


def test_person_is_created_from_a_typed_name(paper_form: Page, console_errors: list[str]) -> None:
    make.make_person("Ada Lovelace", affiliation="Analytical Engines")
    person_select, options = (
        paper_form.locator("#id_authorships-0-person"),
        paper_form.locator(".select2-results__option"),
    )
    paper_form.click("#id_authorships-0-person-box")
    paper_form.fill(".select2-search__field", "  Lovelace & Sons=1 ")
    expect(options).to_have_text(["Create “Lovelace & Sons=1”"])
    paper_form.fill(".select2-search__field", "Ada Love")
    expect(options).to_have_text(["Ada Lovelace (Analytical Engines)", "Create “Ada Love”"])
    popup = open_popup(paper_form, options.last.click)
    assert popup.input_value("#id_name") == "Ada Love"
    popup.close()

    paper_form.click("#id_authorships-0-person-box")
    paper_form.fill(".select2-search__field", "Bob & Sons=1")
    expect(options).to_have_text(["Create “Bob & Sons=1”"])
    popup = open_popup(paper_form, lambda: paper_form.keyboard.press("Enter"))
    assert popup.input_value("#id_name") == "Bob & Sons=1"
    save(popup)
    expect(person_select.locator("option:checked")).to_have_text("Bob & Sons=1")
    save(paper_form)
    expect(paper_form.locator(".messagelist .success")).to_be_visible()

    assert [*Authorship.objects.values_list("name", flat=True)] == ["Bob & Sons=1"]
    assert console_errors == []


def test_create_option_is_hidden_without_permission_to_add(
    open_page: OpenPage, live_server: LiveServer, transactional_db: None
) -> None:
    edition, page = make.make_edition(), open_page()
    sign_in(page, live_server.url, add_member("editor", edition, Role.EDITOR))
    page.goto(admin_url(Paper, "add"))
    page.click("#id_edition-box")
    page.fill(".select2-search__field", "MLSys")

    expect(page.locator(".select2-results__option")).to_have_text(["MLSys 2021"])
