"""The front door and the frame of every page: homes, menus, links, answers to what cannot be read."""

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.menu_sections import SECTIONS
from conference.models import Edition
from conference.request_edition import current_edition
from pagecache import per_revision
from tests import factories as make
from tests.reading import Page, read

pytestmark = pytest.mark.django_db

NINE = datetime(2021, 4, 6, 16, 0, tzinfo=UTC)  # 09:00 in Los Angeles


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(venue="Hall", country="USA", description="Welcome *all*.")


def menu(page: Page) -> list[tuple[str, str]]:
    """The edition's menu, nested lines too, as labels and addresses."""
    bars = page.all("nav", "menu")
    links = bars[0].inside("a") if bars else []
    return [(link.text, link.attributes["href"]) for link in links]


# Homes


def test_home_names_dates_place_and_zone(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/")

    assert page.title == "MLSys 2021, Hall, San Jose, USA"
    assert page.description == "MLSys 2021, 5 to 9 April 2021, Hall, San Jose, USA. Welcome all."
    assert page.texts("p", "place") == ["5 to 9 April 2021 Hall, San Jose, USA Los Angeles time (PDT)"]
    assert "Conference on Machine Learning and Systems" in page.main
    assert page.texts("em") == ["all"]


def test_home_shows_now_and_next(client: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    make.make_session(edition, title="Running", minutes=90, room=room)
    make.make_session(edition, title="Over", minutes=60)
    make.make_session(edition, title="Off", minutes=90, status="cancelled")
    make.make_session(edition, title="Coming", start=NINE + timedelta(hours=1))
    make.make_session(edition, title="Much later", start=NINE + timedelta(hours=2))

    with time_machine.travel(NINE, tick=False):
        page = read(client, "/2021/")

    assert [section.text for section in page.all("div", "now")[0].inside("section")] == [
        "NowRunninguntil 09:30 PDT · Hall A",
        "NextComing10:00 PDT",
    ]


def test_home_shows_announcements_pinned_first(client: Client, edition: Edition) -> None:
    make.make_announcement(edition, title="Old", published_at=NINE)
    make.make_announcement(edition, title="New", published_at=NINE + timedelta(hours=1))
    make.make_announcement(edition, title="Pinned", pinned=True)
    make.make_announcement(edition, title="Future", published_at=datetime(2999, 1, 1, tzinfo=UTC))

    page = read(client, "/2021/")

    assert page.texts("h3") == ["Pinned", "New", "Old"]
    assert page.texts("li", "pinned") == ["Tue 31 Dec, 16:00 PST Pinned We begin."]


def test_home_counts_the_ways_in(client: Client, edition: Edition) -> None:
    papers = [make.make_paper(edition) for _ in range(2)]
    make.make_paper(edition, status="draft")
    session = make.make_session(edition)
    make.make_session(edition, kind="invited_talk", start=make.MORNING + timedelta(days=1))
    make.make_presentation(session, papers[0], kind="poster")
    make.make_award(edition, papers)

    page = read(client, "/2021/")

    assert page.texts("nav", "days") == ["All days Tue 6 Wed 7"]
    assert [link.text for link in page.all("ul", "ways")[0].inside("a")] == [
        "Schedule2 sessions",
        "Papers2 papers",
        "Invited talks1 invited talk",
        "Posters1 poster",
        "Awards1 award",
        "PeopleAuthors and speakers, A to Z",
    ]


def test_home_without_a_program_says_so(client: Client, edition: Edition) -> None:
    assert read(client, "/2021/").texts("div", "empty") == [
        "The program is not public yet Schedule, papers and people appear here as soon as they are announced."
    ]


def test_front_page_is_the_current_editions_home(client: Client, edition: Edition) -> None:
    make.make_edition(2020)
    make.make_edition(2022, public_from=None)

    page = read(client, "/")

    assert page.texts("h1") == ["MLSys 2021"]
    assert page.canonical == "http://127.0.0.1:8000/2021/"


@pytest.mark.parametrize(
    ("day", "slug"),
    [
        (date(2019, 1, 1), "2020"),
        (date(2020, 4, 9), "2020"),
        (date(2020, 4, 10), "2021"),
        (date(2021, 4, 7), "2021"),
        (date(2030, 1, 1), "2021"),
    ],
)
def test_current_edition_runs_or_comes_next_else_was_last(edition: Edition, day: date, slug: str) -> None:
    make.make_edition(2020)
    noon = datetime(day.year, day.month, day.day, 20, tzinfo=UTC)

    current = current_edition(list(Edition.objects.all()), noon)

    assert current is not None
    assert current.slug == slug


def test_front_page_lists_several_conferences(client: Client, edition: Edition) -> None:
    other = make.make_conference(slug="icml", name="ICML", full_name="")
    make.make_edition(2021, conference=other, slug="icml-2021", name="ICML 2021")

    page = read(client, "/")

    assert page.outline == ["1 Plenary", "2 ICML", "2 MLSys"]
    assert [e.attributes["href"] for e in page.all("ul", "ways")[0].inside("a")] == ["/icml-2021/"]


def test_front_page_without_a_public_edition_is_friendly(client: Client) -> None:
    make.make_edition(public_from=None)

    assert read(client, "/").outline == ["1 Plenary", "2 No program is public yet"]


def test_edition_that_is_not_public_has_no_home(client: Client) -> None:
    make.make_edition(public_from=None)

    assert read(client, "/2021/", 404).all("nav", "menu") == []


# The frame


def test_year_menu_holds_the_conferences_public_editions_newest_first(
    client: Client, edition: Edition
) -> None:
    make.make_edition(2023)
    make.make_edition(2022)
    make.make_edition(2024, public_from=None)
    other = make.make_conference(slug="icml", name="ICML")
    make.make_edition(2025, conference=other, slug="icml-2025")

    years = read(client, "/2021/papers/").all("details", "years")[0]

    assert [(e.text, e.attributes["href"]) for e in years.inside("a")] == [
        ("MLSys 2023", "/2023/"),
        ("MLSys 2022", "/2022/"),
        ("MLSys 2021", "/2021/"),
        ("People", "/people/"),
        ("Awards", "/awards/"),
    ]


def test_menu_is_the_editions_own_in_order(client: Client, edition: Edition) -> None:
    page = make.make_page(edition, slug="guide")
    draft = make.make_page(edition, slug="draft", status="draft")
    make.make_menu_item(edition, "Program", section="schedule")
    top = make.make_menu_item(edition, "Help", page=page)
    make.make_menu_item(edition, "Hidden", page=draft)
    make.make_menu_item(edition, "Chat", url="https://example.org/chat", parent=top)
    make.make_menu_item(edition, "Everybody", section="people")

    assert menu(read(client, "/2021/")) == [
        ("Program", "/2021/schedule/"),
        ("Help", "/2021/pages/guide/"),
        ("Chat", "https://example.org/chat"),
        ("Everybody", "/people/"),
    ]


@pytest.mark.parametrize("section", [*SECTIONS])
def test_menu_leads_to_every_section(client: Client, edition: Edition, section: str) -> None:
    session = make.make_session(edition)
    make.make_presentation(session, make.make_paper(edition, ["Ada"]), kind="poster")
    make.make_menu_item(edition, "There", section=section)

    (line,) = menu(read(client, "/2021/"))

    assert line[0] == "There"
    assert client.get(line[1]).status_code == 200


def test_menu_without_lines_of_its_own_holds_what_has_content(client: Client, edition: Edition) -> None:
    assert menu(read(client, "/2021/")) == [("Home", "/2021/")]
    make.make_presentation(make.make_session(edition), make.make_paper(edition, ["Ada"]), kind="poster")
    make.make_page(edition, slug="guide", title="Guide")

    assert menu(read(client, "/2021/")) == [
        ("Home", "/2021/"),
        ("Schedule", "/2021/schedule/"),
        ("Papers", "/2021/papers/"),
        ("Posters", "/2021/posters/"),
        ("People", "/people/"),
        ("Guide", "/2021/pages/guide/"),
    ]


def test_menu_marks_where_the_reader_is(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    make.make_menu_item(edition, "Home", section="home")
    make.make_menu_item(edition, "Papers")

    page = read(client, paper.get_absolute_url())

    assert [e.text for e in page.all("nav", "menu")[0].inside("a") if "aria-current" in e.attributes] == [
        "Papers"
    ]


def test_frame_of_a_missing_page_is_its_editions(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/nothing/here/", 404)

    assert page.texts("title") == ["There is no page here"]
    assert page.links()["MLSys 2021"] == "/2021/"
    assert page.all("link", rel="canonical") == []


@pytest.mark.parametrize(("path", "queries"), [("/2021/", 9), ("/", 9), ("/people/", 4)])
def test_queries_of_a_home_do_not_grow(
    client: Client,
    edition: Edition,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    page = make.make_page(edition)
    for labels in (["One"], ["Two", "Three"]):
        for label in labels:
            make.make_menu_item(edition, label, page=page)
            make.make_announcement(edition, title=label)
            make.make_sponsor(edition, label)
        per_revision.clear()
        with django_assert_num_queries(queries):
            read(client, path)


def test_healthz_is_plain(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = client.get("/healthz")

    assert (response.content, response.headers["Content-Type"]) == (b"ok\n", "text/plain; charset=utf-8")


def test_500_page_needs_no_context(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.raise_request_exception = False
    monkeypatch.setattr("website.context_processors.published_editions", lambda request: 1 / 0)

    assert read(client, "/people/", 500).texts("h1") == ["Something went wrong here"]
