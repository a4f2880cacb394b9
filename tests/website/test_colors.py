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


def lines(edition: Edition) -> list[str]:
    return build_stylesheet(edition, timezone.now()).splitlines()


def shown_topic(edition: Edition, slug: str, **fields: object) -> Topic:
    topic = make.make_topic(edition, slug.capitalize(), slug=slug, **fields)
    make.make_paper(edition, topic=topic)
    return topic


def linked(client: Client, path: str = "/2021/") -> str:
    found = re.search(r'href="(/2021/colors-[0-9a-f]{10}\.css)"', client.get(path).text)
    assert found
    return found[1]


def test_page_links_a_stylesheet_that_lasts_a_year(edition: Edition, client: Client) -> None:
    answer = client.get(linked(client))

    assert answer.text == ":root{--accent:#a1b2c3}\n"
    assert answer.headers["Content-Type"] == "text/css; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_address_follows_the_colors_and_earlier_ones_lead_to_it(edition: Edition, client: Client) -> None:
    earlier = linked(client)
    make.make_session_kind(edition.conference, "Feathers", slug="bof", color="#0b6b62")
    later = linked(client)

    assert earlier != later
    assert client.get(earlier).headers["Location"] == later
    assert client.get("/2021/colors-0123456789.css").headers["Location"] == later
    assert [client.get(f"/2021/colors-{name}.css").status_code for name in ("0", "}body{012345")] == [
        404,
        404,
    ]


def test_other_changes_leave_the_address(edition: Edition, client: Client) -> None:
    earlier = linked(client)
    make.make_paper(edition)

    assert linked(client) == earlier


def test_kinds_have_their_color_or_that_of_what_they_count_as(edition: Edition) -> None:
    make.make_session_kind(edition.conference, "Feathers", slug="bof", color="#0b6b62")
    make.make_session_kind(edition.conference, "Slam", slug="slam", counts_as="poster")
    make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    make.make_session_kind(make.make_conference(slug="other"), "Hackathon", color="#445566")

    assert lines(edition) == [
        ":root{--accent:#a1b2c3}",
        ".kind-bof{--hue:#0b6b62}",
        ".kind-slam{--hue:var(--kind-poster)}",
        ":root{--kind-oral:#112233}",
    ]


def test_topics_have_their_color_that_of_the_topic_above_or_one_of_the_palette(edition: Edition) -> None:
    first = shown_topic(edition, "first")
    second = shown_topic(edition, "second", color="#0b6b62")
    shown_topic(edition, "under-first", parent=first)
    middle = shown_topic(edition, "under-second", parent=second)
    shown_topic(edition, "deep", parent=middle)
    shown_topic(edition, "own", parent=first, color="#112233")
    shown_topic(edition, "third")
    make.make_topic(edition, "Hidden", slug="hidden")

    assert lines(edition)[1:] == [
        ".topic-first,.topic-under-first{--hue:var(--topic-1)}",
        ".topic-second,.topic-under-second,.topic-deep{--hue:#0b6b62}",
        ".topic-own{--hue:#112233}",
        ".topic-third{--hue:var(--topic-3)}",
    ]


def test_palette_begins_anew_after_its_last_hue(edition: Edition) -> None:
    for number in range(PALETTE_TOPICS + 1):
        shown_topic(edition, f"t{number}")

    assert lines(edition)[1] == ".topic-t0,.topic-t12{--hue:var(--topic-1)}"


def test_warm_process_asks_nothing(
    edition: Edition, rf: RequestFactory, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    at = timezone.now()
    (held,) = published_editions(rf.get("/"))
    with django_assert_num_queries(1):
        address = colors_url(held, at)
    with django_assert_num_queries(0):
        assert colors_url(held, at) == address


def test_change_of_a_kind_renders_pages_anew(edition: Edition, client: Client) -> None:
    kind = make.make_session_kind(edition.conference, "Oral", slug="oral", color="#112233")
    earlier = linked(client)
    kind.color = "#445566"
    kind.save()

    assert linked(client) != earlier
