"""An action over a list in a browser: from the filter over the page that asks to the way back."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from papers.models import Paper
from tests.browser.axe import violations
from tests.factories import make_edition, make_paper, make_topic
from tests.posted import address

pytestmark = pytest.mark.browser

PHONE, DESKTOP = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)
LOOKS = {"light": (DESKTOP, "light"), "dark": (DESKTOP, "dark"), "phone dark": (PHONE, "dark")}


@pytest.fixture(params=LOOKS.values(), ids=list(LOOKS))
def page(
    request: pytest.FixtureRequest, browser: Browser, live_server: LiveServer, transactional_db: None
) -> Iterator[Page]:
    """A page as a chair sees it."""
    size, scheme = request.param
    user = get_user_model().objects.create_superuser("chair", "chair@example.org", "secret")
    client = Client()
    client.force_login(user)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context = browser.new_context(viewport=size, color_scheme=scheme, base_url=live_server.url)
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    yield context.new_page()
    context.close()


def topics() -> list[str]:
    return [paper.topic.name if paper.topic else "" for paper in Paper.objects.order_by("pk")]


def test_all_papers_of_a_filter_get_a_topic_and_lose_it_again(page: Page) -> None:
    edition = make_edition()
    make_topic(edition, "Compilers")
    for number in range(55):
        make_paper(edition, status="draft" if number else "published")
    page.goto(f"{address(Paper, 'changelist')}?edition__id__exact={edition.pk}&status__exact=draft")
    page.locator("#action-toggle").check()
    page.get_by_text("Select all 54 papers").click()
    page.select_option("select[name=action]", "set_topic")
    page.get_by_role("button", name="Run").click()
    page.get_by_label("Topic").select_option("Compilers")
    found = violations(page)
    page.get_by_role("button", name="Show what would change").click()

    expect(page.get_by_text("– → Compilers")).to_be_visible()
    found += violations(page)
    page.get_by_role("button", name="Set topic of 54 papers").click()
    expect(page.locator(".messagelist")).to_contain_text("54 papers got the topic.")
    found += violations(page)
    assert topics() == ["", *["Compilers"] * 54]
    page.get_by_role("link", name="Take back").click()
    expect(page.get_by_text("54 papers go back to what they were")).to_be_visible()
    found += violations(page)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".messagelist")).to_contain_text("54 rows taken back.")
    assert topics() == [""] * 55
    assert found == []
