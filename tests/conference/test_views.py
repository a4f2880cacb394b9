"""Views of free pages and sponsors."""

import pytest
import time_machine
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from pagecache import per_revision
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def test_page_shows_rendered_markdown(client: Client, edition: Edition) -> None:
    make.make_page(
        edition, slug="guide", title="Getting started", body="Bring *a badge*.\n\n## Food\n\nLunch."
    )

    page = read(client, "/2021/pages/guide/")

    assert page.title == "Getting started · MLSys 2021"
    assert page.description == "Bring a badge. Food Lunch."
    assert page.outline == ["1 Getting started", "2 Food"]
    assert page.texts("em") == ["a badge"]


def test_site_page_belongs_to_no_edition(client: Client, edition: Edition) -> None:
    make.make_page(None, slug="conduct", title="Code of conduct", body="Be kind.")

    page = read(client, "/pages/conduct/")

    assert page.title == "Code of conduct · Plenary"
    assert page.links()["Code of conduct"] == "/pages/conduct/"
    assert client.get("/2021/pages/conduct/").status_code == 404


@pytest.mark.parametrize("path", ["/2021/pages/draft/", "/pages/draft/", "/2021/pages/none/"])
def test_page_that_is_not_public_is_not_found(client: Client, edition: Edition, path: str) -> None:
    make.make_page(edition, slug="draft", status="draft")
    make.make_page(None, slug="draft", status="draft")

    assert read(client, path, 404).texts("h1") == ["Page not found"]


def test_sponsors_are_grouped_by_tier_in_the_entered_order(client: Client, edition: Edition) -> None:
    for name, tier in (("Zed", "Platinum"), ("Abe", "Gold"), ("Mia", "Platinum"), ("Lone", "")):
        make.make_sponsor(edition, name, tier=tier, url="https://example.org/" if name == "Zed" else "")

    page = read(client, "/2021/sponsors/")

    assert page.outline == ["1 Sponsors", "2 Platinum", "2 Gold", "2 Sponsors"]
    assert [[item.text for item in logos.inside("li")] for logos in page.all("ul", "logos")] == [
        ["Zed", "Mia"],
        ["Abe"],
        ["Lone"],
    ]
    assert page.all("a", href="https://example.org/")[0].attributes["rel"] == "sponsored noopener"


def test_sponsors_page_without_sponsors_shows_a_message(client: Client, edition: Edition) -> None:
    make.make_sponsor(edition, status="draft")

    assert read(client, "/2021/sponsors/").texts("p", "none") == ["No sponsors were published."]
    with time_machine.travel("2021-04-01T12:00:00Z", tick=False):
        assert read(client, "/2021/sponsors/").texts("p", "none") == [
            "Sponsors will appear here once they are announced."
        ]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("awards", "No awards yet", "No awards were announced"),
        ("papers", "No papers yet", "No papers were published"),
        ("statistics", "No statistics yet", "No papers were published"),
        ("committee", "No committee yet", "No committee members were announced"),
    ],
)
@pytest.mark.usefixtures("edition")
def test_empty_pages_of_ended_editions_are_in_the_past_tense(
    client: Client, path: str, before: str, after: str
) -> None:
    texts = []
    for day in ("2021-04-01", "2021-06-01"):
        with time_machine.travel(f"{day}T12:00:00Z", tick=False):
            texts.append(read(client, f"/2021/{path}/").main)

    assert [before in texts[0], after in texts[1], before in texts[1]] == [True, True, False]


@pytest.mark.parametrize("path", ["/2021/sponsors/", "/2021/pages/page/"])
def test_query_count_is_the_same_for_1_and_3_rows(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries, path: str
) -> None:
    make.make_menu_item(edition)
    make.make_page(edition, slug="page")
    for names in (["One"], ["Two", "Three"]):
        for name in names:
            make.make_sponsor(edition, name)
        per_revision.clear_caches()
        with django_assert_num_queries(7):
            read(client, path)


def test_post_to_a_public_page_is_refused(client: Client, edition: Edition) -> None:
    assert client.post("/2021/sponsors/").status_code == 405
