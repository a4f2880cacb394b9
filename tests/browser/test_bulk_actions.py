"""Bulk actions in a browser: from the filter to the preview, the change and its revert."""

import pytest
from playwright.sync_api import expect

from papers.models import Paper
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_paper, make_topic

pytestmark = pytest.mark.browser


def topic_names() -> list[str]:
    return [paper.topic.name if paper.topic else "" for paper in Paper.objects.order_by("pk")]


def test_topic_is_set_on_all_filtered_papers_and_reverted(open_desk: OpenPage) -> None:
    edition = make_edition()
    make_topic(edition, "Compilers")
    for number in range(55):
        make_paper(edition, status="draft" if number else "published")
    page = open_desk()
    page.goto(f"{admin_url(Paper, 'changelist')}?edition__id__exact={edition.pk}&status__exact=draft")
    page.locator("#action-toggle").check()
    page.get_by_text("Select all 54 papers").click()
    page.select_option("select[name=action]", "set_topic")
    page.get_by_role("button", name="Run").click()
    page.get_by_label("Topic").select_option("Compilers")
    issues = display_issues(page, DESK_DISPLAYS)
    page.get_by_role("button", name="Preview changes").click()

    expect(page.get_by_text("– → Compilers")).to_be_visible()
    issues += display_issues(page, DESK_DISPLAYS)
    page.get_by_role("button", name="Set topic of 54 papers").click()
    expect(page.locator(".messagelist")).to_contain_text("Topic set for 54 papers.")
    issues += display_issues(page, DESK_DISPLAYS)
    assert topic_names() == ["", *["Compilers"] * 54]
    page.get_by_role("link", name="Revert").click()
    expect(page.get_by_text("54 papers reverted")).to_be_visible()
    issues += display_issues(page, DESK_DISPLAYS)
    page.get_by_role("button", name="Revert").click()
    expect(page.locator(".messagelist")).to_contain_text("54 rows reverted.")
    assert topic_names() == [""] * 55
    assert issues == []
