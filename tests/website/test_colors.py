"""The stylesheet of an edition: its accent color, and the chosen colors of kinds and topics."""

import re

import pytest
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from conference.request_edition import published_editions
from papers.models import Topic
from tests import factories as make
from website.colors import PALETTE_TOPICS, build_stylesheet, colors_url

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(accent="#a1b2c3")


def stylesheet_lines(edition: Edition) -> list[str]:
    return build_stylesheet(edition, timezone.now()).splitlines()


def make_topic_with_paper(edition: Edition, slug: str, **fields: object) -> Topic:
    topic = make.make_topic(edition, slug.capitalize(), slug=slug, **fields)
    make.make_paper(edition, topic=topic)
    return topic


def stylesheet_url(client: Client, path: str = "/2021/") -> str:
    match = re.search(r'href="(/2021/colors-[0-9a-f]{10}\.css)"', client.get(path).text)
    assert match
    return match[1]


def test_page_links_a_stylesheet_cached_for_a_year(edition: Edition, client: Client) -> None:
    response = client.get(stylesheet_url(client))

    assert response.text == ":root{--accent:#a1b2c3}\n"
    assert response.headers["Content-Type"] == "text/css; charset=utf-8"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_url_changes_with_the_colors_and_old_urls_redirect(edition: Edition, client: Client) -> None:
    old_url = stylesheet_url(client)
    make.make_session_kind(edition.conference, "Feathers", slug="bof", color="#0b6b62")
    new_url = stylesheet_url(client)

    assert old_url != new_url
    assert client.get(old_url).headers["Location"] == new_url
    assert client.get("/2021/colors-0123456789.css").headers["Location"] == new_url
    assert [client.get(f"/2021/colors-{name}.css").status_code for name in ("0", "}body{012345")] == [
        404,
        404,
    ]


def test_url_is_unchanged_by_other_changes(edition: Edition, client: Client) -> None:
    old_url = stylesheet_url(client)
    make.make_paper(edition)

    assert stylesheet_url(client) == old_url


def test_kind_has_its_own_color_or_that_of_the_kind_it_counts_as(edition: Edition) -> None:
    make.make_session_kind(edition.conference, "Feathers", slug="bof", color="#0b6b62")
    make.make_session_kind(edition.conference, "Slam", slug="slam", counts_as="poster")
    make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    make.make_session_kind(make.make_conference(slug="other"), "Hackathon", color="#445566")

    assert stylesheet_lines(edition) == [
        ":root{--accent:#a1b2c3}",
        ".kind-bof{--hue:#0b6b62}",
        ".kind-slam{--hue:var(--kind-poster)}",
        ":root{--kind-oral:#112233}",
    ]


def test_topic_has_its_own_color_or_its_parents_or_one_of_the_palette(edition: Edition) -> None:
    first = make_topic_with_paper(edition, "first")
    second = make_topic_with_paper(edition, "second", color="#0b6b62")
    make_topic_with_paper(edition, "under-first", parent=first)
    middle = make_topic_with_paper(edition, "under-second", parent=second)
    make_topic_with_paper(edition, "deep", parent=middle)
    make_topic_with_paper(edition, "own", parent=first, color="#112233")
    make_topic_with_paper(edition, "third")
    make.make_topic(edition, "Hidden", slug="hidden")

    assert stylesheet_lines(edition)[1:] == [
        ".topic-first,.topic-under-first{--hue:var(--topic-1)}",
        ".topic-second,.topic-under-second,.topic-deep{--hue:#0b6b62}",
        ".topic-own{--hue:#112233}",
        ".topic-third{--hue:var(--topic-3)}",
    ]


def test_palette_repeats_after_its_last_hue(edition: Edition) -> None:
    for number in range(PALETTE_TOPICS + 1):
        make_topic_with_paper(edition, f"t{number}")

    assert stylesheet_lines(edition)[1] == ".topic-t0,.topic-t12{--hue:var(--topic-1)}"


def test_url_takes_no_query_the_second_time(
    edition: Edition, rf: RequestFactory, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    at = timezone.now()
    (request_edition,) = published_editions(rf.get("/"))
    with django_assert_num_queries(1):
        url = colors_url(request_edition, at)
    with django_assert_num_queries(0):
        assert colors_url(request_edition, at) == url


def test_url_changes_with_the_color_of_a_kind(edition: Edition, client: Client) -> None:
    kind = make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    old_url = stylesheet_url(client)
    kind.color = "#445566"
    kind.save()

    assert stylesheet_url(client) != old_url
