"""Two chairs with one form open, in a browser: the second save is refused and merged; pages of history."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from content.history import ChangeSet, RowChange
from exchange.models import ImportRun
from papers.models import Paper
from tests.browser.axe import DESK_LOOKS, hindrances
from tests.factories import make_edition, make_paper
from tests.posted import address

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_second_save_is_refused_and_merged(open_desk: Callable[..., Page], script: bool) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="First", track="Old", abstract="Two\nlines")
    page = open_desk(java_script_enabled=script)
    page.goto(address(paper, "change"))
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
    saved = Paper.objects.get()
    assert (saved.title, saved.track, saved.lay_summary) == ("By B", "By A", "By B")


def test_pages_have_nothing_for_axe_to_object_to(open_desk: Callable[..., Page], said: list[str]) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="A title that is long enough to be compared by words")
    first = ChangeSet.objects.latest("pk")
    page = open_desk()
    page.goto(address(paper, "change"))
    Paper.objects.update(title="Another title that is long enough to be compared by words")
    make_paper(paper.edition, title="Gone").delete()
    gone = RowChange.objects.deleted_directly().get()
    run = ImportRun.objects.create(edition=paper.edition)
    page.fill("#id_title", "Mine is different")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errornote")).to_be_visible()
    found = {"stale": hindrances(page, DESK_LOOKS)}
    addresses = [
        address(paper, "history"),
        reverse("admin:papers_paper_restore", args=[paper.pk, first.pk]),
        reverse("admin:papers_paper_deleted"),
        reverse("admin:papers_paper_bring_back", args=[gone.pk]),
        reverse("admin:exchange_importrun_undo", args=[run.pk]),
    ]
    for path in addresses:
        page.goto(path)
        found[path] = hindrances(page, DESK_LOOKS)

    assert {path: ids for path, ids in found.items() if ids} == {}
    assert [line for line in said if "409" not in line] == []
