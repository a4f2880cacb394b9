"""The people desk in a browser: from the list of likely duplicates to a merge and back, by keyboard alone."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from people.duplicates import storage
from people.merging import merge
from people.models import Person, PersonPair
from tests.browser.axe import DESK_LOOKS, hindrances
from tests.factories import make_edition, make_institution, make_paper, make_person
from tests.posted import address

pytestmark = pytest.mark.browser


def make_twins() -> tuple[Person, Person]:
    one, other = make_person("Paolo Costantini", affiliation="Milan"), make_person("Costantini Paolo")
    edition = make_edition()
    make_paper(edition, [one, "Zed", other], title="On Engines")
    make_paper(edition, [one], title="On Notes")
    make_institution("MIT")
    make_institution("Massachusetts Institute of Technology")
    storage.search_all()
    return one, other


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} cannot be reached by keyboard")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_merge_to_undo_by_keyboard(open_desk: Callable[..., Page], script: bool) -> None:
    one, other = make_twins()
    page = open_desk(java_script_enabled=script)
    page.goto("/admin/people/personpair/")
    page.locator("td.field-both a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Are these the same person or institution?")
    page.locator(f"input[name='value-name'][value='{other.pk}']").focus()
    page.keyboard.press("Space")
    page.locator("input[name=merge]").focus()
    page.keyboard.press("Enter")

    expect(page.locator(".messagelist .success")).to_contain_text("Costantini Paolo, On Engines")
    assert Person.objects.get(pk=other.pk).merged_into_id == one.pk
    page.get_by_role("link", name="Revert the merge").focus()
    page.keyboard.press("Enter")
    page.locator("input[type=submit]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist .success")).to_contain_text("The merge was reverted")
    stands = [list(row.authorships.values_list("position", flat=True)) for row in (one, other)]
    assert stands == [[1, 1], [3]]
    assert Person.objects.get(pk=one.pk).name == "Paolo Costantini"


def test_everything_to_decide_is_reached_by_tabulator(open_desk: Callable[..., Page]) -> None:
    one, other = make_twins()
    page = open_desk()
    page.goto(f"/admin/people/person/compare/?id={one.pk}&id={other.pk}")

    for selector in ("input[name=keep]", "input[name=hide]", "input[name=merge]", "button[name=distinct]"):
        tab_to(page, selector)
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist .success")).to_contain_text("are not the same")
    assert not PersonPair.objects.exists()


def test_pages_have_nothing_for_axe_to_object_to(open_desk: Callable[..., Page], said: list[str]) -> None:
    one, other = make_twins()
    merged = merge.merge(make_person("Ada Uno"), [make_person("A. Uno")])
    page = open_desk()
    addresses = [
        "/admin/people/personpair/",
        "/admin/people/institutionpair/",
        f"/admin/people/person/compare/?id={one.pk}&id={other.pk}",
        reverse("admin:people_person_split", args=[one.pk]),
        reverse("admin:people_person_merges"),
        reverse("admin:people_person_unmerge", args=[merged.change_set]),
        address(one, "change"),
    ]
    found = {}
    for path in addresses:
        page.goto(path)
        found[path] = hindrances(page, DESK_LOOKS)

    assert {path: ids for path, ids in found.items() if ids} == {}
    assert said == []
