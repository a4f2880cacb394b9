"""Two chairs with one form open, in a browser: the second save is refused and merged; pages of history."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from conference.history import ChangeSet, RowChange
from exchange.models import ImportRun
from papers.models import Paper
from tests.factories import make_edition, make_paper
from tests.posted import address

pytestmark = pytest.mark.browser

PHONE, DESKTOP = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)


@pytest.fixture
def opened(
    browser: Browser, live_server: LiveServer, transactional_db: None
) -> Iterator[Callable[..., Page]]:
    """Open a page as a chair."""
    user = get_user_model().objects.create_superuser("chair", "chair@example.org", "secret")
    client = Client()
    client.force_login(user)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    contexts = []

    def new_page(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
        contexts.append(context)
        return context.new_page()

    yield new_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_second_save_is_refused_and_merged(opened: Callable[..., Page], script: bool) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="First", track="Old", abstract="Two\nlines")
    page = opened(viewport=DESKTOP, java_script_enabled=script)
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


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]
)
def test_pages_have_nothing_for_axe_to_object_to(
    opened: Callable[..., Page], size: ViewportSize, scheme: str
) -> None:
    paper = make_paper(make_edition(), ["Ada"], title="A title that is long enough to be compared by words")
    first = ChangeSet.objects.latest("pk")
    page = opened(viewport=size, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(address(paper, "change"))
    Paper.objects.update(title="Another title that is long enough to be compared by words")
    make_paper(paper.edition, title="Gone").delete()
    gone = RowChange.objects.gone().get()
    run = ImportRun.objects.create(edition=paper.edition)
    page.fill("#id_title", "Mine is different")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errornote")).to_be_visible()
    found = {"stale": violations(page)}
    addresses = [
        address(paper, "history"),
        reverse("admin:papers_paper_restore", args=[paper.pk, first.pk]),
        reverse("admin:papers_paper_deleted"),
        reverse("admin:papers_paper_bring_back", args=[gone.pk]),
        reverse("admin:exchange_importrun_undo", args=[run.pk]),
    ]
    for path in addresses:
        page.goto(path)
        found[path] = violations(page)

    assert {path: ids for path, ids in found.items() if ids} == {}
    assert [line for line in said if "409" not in line] == []


def violations(page: Page) -> list[str]:
    """Return what axe objects to, and a page that is wider than its window."""
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    wide = [f"{width} px too wide"] if width > 0 else []
    return [one["id"] for one in Axe().run(page).response["violations"]] + wide
