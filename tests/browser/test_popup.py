"""A person added in the window that the plus sign of a paper's form opens."""

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
from tests.browser.visitor import sign_in
from tests.posted import address

pytestmark = pytest.mark.browser


@pytest.fixture
def authors(page: Page) -> Page:
    """Return the form of a paper, with an empty row for an author."""
    page.goto(address(make.make_paper(make.make_edition(), title="On Engines"), "change"))
    page.get_by_role("button", name="Add another Author").click()
    return page


def opened(page: Page, click: Callable[[], None]) -> Page:
    with page.expect_popup() as opening:
        click()
    return opening.value


def saved(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def photo() -> FilePayload:
    written = BytesIO()
    Image.new("RGB", (2, 2)).save(written, "PNG")
    return {"name": "ada.png", "mimeType": "image/png", "buffer": written.getvalue()}


def test_photo_lost_with_another_fields_error_is_asked_for_again(authors: Page, said: list[str]) -> None:
    window = opened(authors, authors.locator("#add_id_authorships-0-person").click)
    window.fill("#id_name", "Ada Lovelace")
    window.set_input_files("#id_photo", photo())
    window.fill("#id_orcid", "1")
    saved(window)
    expect(window.locator(".field-photo .errorlist")).to_have_text(
        "The file wasn’t saved because of another error on this form. Choose it again."
    )
    window.set_input_files("#id_photo", photo())
    window.fill("#id_orcid", "")
    saved(window)
    expect(authors.locator("#id_authorships-0-person option:checked")).to_have_text("Ada Lovelace")

    assert Person.objects.get().photo.name == "people/ada.png"
    assert said == []


def test_affiliation_reaches_the_row_it_was_added_in(authors: Page, said: list[str]) -> None:
    authors.get_by_role("button", name="Add another Author").click()
    for row, name in enumerate(("Ada", "Bob")):
        authors.fill(f"#id_authorships-{row}-affiliations", ["", "Printed"][row])
        window = opened(authors, authors.locator(f"#add_id_authorships-{row}-person").click)
        window.fill("#id_name", name)
        window.fill("#id_affiliation", "Analytical Engines")
        saved(window)
        expect(authors.locator(f"#id_authorships-{row}-person option:checked")).to_have_text(name)
    saved(authors)
    expect(authors.locator(".messagelist .success")).to_be_visible()

    rows = Authorship.objects.order_by("position").values_list("name", "affiliations")
    assert [*rows] == [("Ada", ["Analytical Engines"]), ("Bob", ["Printed"])]
    assert said == []


def test_affiliation_reaches_a_form_of_one_person(page: Page) -> None:
    page.goto(f"{address(CommitteeRole, 'add')}?edition={make.make_edition().pk}")
    window = opened(page, page.locator("#add_id_person").click)
    window.fill("#id_name", "Ada")
    window.fill("#id_affiliation", "Analytical Engines")
    saved(window)
    expect(page.locator("#id_person option:checked")).to_have_text("Ada")

    assert page.input_value("#id_affiliation") == "Analytical Engines"


def test_name_that_was_typed_can_be_created(authors: Page, said: list[str]) -> None:
    make.make_person("Ada Lovelace", affiliation="Analytical Engines")
    row, offered = authors.locator("#id_authorships-0-person"), authors.locator(".select2-results__option")
    authors.click("#id_authorships-0-person-box")
    authors.fill(".select2-search__field", "  Lovelace & Sons=1 ")
    expect(offered).to_have_text(["Create “Lovelace & Sons=1”"])
    authors.fill(".select2-search__field", "Ada Love")
    expect(offered).to_have_text(["Ada Lovelace (Analytical Engines)", "Create “Ada Love”"])
    window = opened(authors, offered.last.click)
    assert window.input_value("#id_name") == "Ada Love"
    window.close()

    authors.click("#id_authorships-0-person-box")
    authors.fill(".select2-search__field", "Bob & Sons=1")
    expect(offered).to_have_text(["Create “Bob & Sons=1”"])
    window = opened(authors, lambda: authors.keyboard.press("Enter"))
    assert window.input_value("#id_name") == "Bob & Sons=1"
    saved(window)
    expect(row.locator("option:checked")).to_have_text("Bob & Sons=1")
    saved(authors)
    expect(authors.locator(".messagelist .success")).to_be_visible()

    assert [*Authorship.objects.values_list("name", flat=True)] == ["Bob & Sons=1"]
    assert said == []


def test_nothing_is_offered_to_those_who_may_not_add_it(
    open_page: Callable[..., Page], live_server: LiveServer, transactional_db: None
) -> None:
    edition, page = make.make_edition(), open_page()
    sign_in(page, live_server.url, add_member("editor", edition, Role.EDITOR))
    page.goto(address(Paper, "add"))
    page.click("#id_edition-box")
    page.fill(".select2-search__field", "MLSys")

    expect(page.locator(".select2-results__option")).to_have_text(["MLSys 2021"])
