"""Duplicate people in a browser: the list of pairs, comparison, merge and its revert, by keyboard."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from people.duplicates import storage
from people.merging import merge
from people.models import Person, PersonPair
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_institution, make_paper, make_person

pytestmark = pytest.mark.browser


def make_duplicates() -> tuple[Person, Person]:
    person, duplicate = make_person("Paolo Costantini", affiliation="Milan"), make_person("Costantini Paolo")
    edition = make_edition()
    make_paper(edition, [person, "Zed", duplicate], title="On Engines")
    make_paper(edition, [person], title="On Notes")
    make_institution("MIT")
    make_institution("Massachusetts Institute of Technology")
    storage.search_all()
    return person, duplicate


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} cannot be reached by keyboard")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_people_are_merged_and_the_merge_is_reverted_by_keyboard(open_desk: OpenPage, script: bool) -> None:
    person, duplicate = make_duplicates()
    page = open_desk(java_script_enabled=script)
    page.goto("/admin/people/personpair/")
    page.locator("td.field-both a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Are these the same person or institution?")
    page.locator(f"input[name='value-name'][value='{duplicate.pk}']").focus()
    page.keyboard.press("Space")
    page.locator("input[name=merge]").focus()
    page.keyboard.press("Enter")

    expect(page.locator(".messagelist .success")).to_contain_text("Costantini Paolo, On Engines")
    assert Person.objects.get(pk=duplicate.pk).merged_into_id == person.pk
    page.get_by_role("link", name="Revert the merge").focus()
    page.keyboard.press("Enter")
    page.locator("input[type=submit]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist .success")).to_contain_text("The merge was reverted")
    positions = [list(row.authorships.values_list("position", flat=True)) for row in (person, duplicate)]
    assert positions == [[1, 1], [3]]
    assert Person.objects.get(pk=person.pk).name == "Paolo Costantini"


def test_all_choices_of_a_comparison_are_reached_with_tab(open_desk: OpenPage) -> None:
    person, duplicate = make_duplicates()
    page = open_desk()
    page.goto(f"/admin/people/person/compare/?id={person.pk}&id={duplicate.pk}")

    for selector in ("input[name=keep]", "input[name=hide]", "input[name=merge]", "button[name=distinct]"):
        tab_to(page, selector)
    page.keyboard.press("Enter")
    expect(page.locator(".messagelist .success")).to_contain_text("are not the same")
    assert not PersonPair.objects.exists()


def test_people_pages_have_no_axe_violations(open_desk: OpenPage, console_errors: list[str]) -> None:
    person, duplicate = make_duplicates()
    merged = merge.merge(make_person("Ada Uno"), [make_person("A. Uno")])
    page = open_desk()
    urls = [
        "/admin/people/personpair/",
        "/admin/people/institutionpair/",
        f"/admin/people/person/compare/?id={person.pk}&id={duplicate.pk}",
        reverse("admin:people_person_split", args=[person.pk]),
        reverse("admin:people_person_merges"),
        reverse("admin:people_person_unmerge", args=[merged.change_set]),
        admin_url(person, "change"),
    ]
    issues_by_url = {}
    for url in urls:
        page.goto(url)
        issues_by_url[url] = display_issues(page, DESK_DISPLAYS)

    assert {url: issues for url, issues in issues_by_url.items() if issues} == {}
    assert console_errors == []
