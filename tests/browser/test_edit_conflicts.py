"""Edit conflicts and pages of history in a browser: the second save is refused and merged."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from content.history import ChangeSet, RowChange
from exchange.models import ImportRun
from papers.models import Paper
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.factories import make_edition, make_paper

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_conflicting_save_is_refused_and_merged(open_desk: OpenPage, script: bool) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="First", track="Old", abstract="Two\nlines")
    page = open_desk(java_script_enabled=script)
    page.goto(admin_url(paper, "change"))
    Paper.objects.update(title="By A", track="By A")
    page.fill("#id_title", "By B")
    page.fill("#id_lay_summary", "By B")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator(".errornote")).to_contain_text("Not saved")
    assert page.locator("fieldset.choice legend").count() == 3
    assert Paper.objects.get().title == "By A"
    page.locator("input[name='_choose-title'][value=mine]").check()
    page.get_by_role("button", name="Save with these choices").click()
    expect(page.locator(".messagelist .success")).to_be_visible()
    paper_after = Paper.objects.get()
    assert (paper_after.title, paper_after.track, paper_after.lay_summary) == ("By B", "By A", "By B")


def test_conflict_and_history_pages_have_no_axe_violations(
    open_desk: OpenPage, console_errors: list[str]
) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="A title that is long enough to be compared by words")
    first_change = ChangeSet.objects.latest("pk")
    page = open_desk()
    page.goto(admin_url(paper, "change"))
    Paper.objects.update(title="Another title that is long enough to be compared by words")
    make_paper(paper.edition, title="Gone").delete()
    deleted = RowChange.objects.deleted_directly().get()
    run = ImportRun.objects.create(edition=paper.edition)
    page.fill("#id_title", "Mine is different")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errornote")).to_be_visible()
    issues_by_page = {"stale": display_issues(page, DESK_DISPLAYS)}
    urls = [
        admin_url(paper, "history"),
        reverse("admin:papers_paper_restore", args=[paper.pk, first_change.pk]),
        reverse("admin:papers_paper_deleted"),
        reverse("admin:papers_paper_bring_back", args=[deleted.pk]),
        reverse("admin:exchange_importrun_undo", args=[run.pk]),
    ]
    for url in urls:
        page.goto(url)
        issues_by_page[url] = display_issues(page, DESK_DISPLAYS)

    assert {url: issues for url, issues in issues_by_page.items() if issues} == {}
    assert [message for message in console_errors if "409" not in message] == []
