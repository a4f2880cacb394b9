"""The search of an edition: words for a day, room, kind or topic; facets; suggestions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from operations.indexing.update import refresh
from pagecache.keys import parse_address
from tests import factories as make
from tests.html_pages import Page, read

pytestmark = pytest.mark.django_db

URL = "/2021/search/"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def edition(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program)


def make_program() -> Edition:
    """Create posters on Tuesday and Wednesday, an oral, a tutorial on Monday, two rooms, two topics."""
    edition = make.make_edition()
    hall, room = (make.make_room(edition, name, slug=slug) for name, slug in (("Hall A", "a"), ("Loft", "l")))
    robots = make.make_topic(edition, "Robotics", slug="robotics")
    theory = make.make_topic(edition, "Theory", slug="theory")
    tuesday = make.make_session(edition, title="Posters 1", kind="poster", room=hall, uid="tue")
    wednesday = make.make_session(
        edition, title="Posters 2", kind="poster", room=hall, uid="wed", start=make.MORNING + DAY
    )
    orals = make.make_session(edition, title="Scaling session", room=room, uid="oral")
    make.make_session(
        edition, title="Robotics in a day", kind="tutorial", room=room, start=make.MORNING - DAY, uid="tut"
    )
    for number, (title, topic, session) in enumerate(
        [
            ("Scaling laws", robots, tuesday),
            ("Scaling laws again", theory, wednesday),
            ("Arms", robots, wednesday),
        ]
    ):
        paper = make.make_paper(edition, ["Ada Lovelace"], title=title, topic=topic, uid=f"p{number}")
        make.make_presentation(session, paper, kind="poster", board=f"{number + 1}")
        if not number:
            make.make_presentation(orals, paper)
            make.make_award(edition, [paper], uid="best", name="Best paper")
    make.make_presentation(orals, title="Opening words on scaling", speakers=["Alan Turing"], uid="t1")
    make.make_page(edition, slug="visit", title="Visit", body="Robotics by tram.")
    refresh()
    return edition


def titles(page: Page) -> list[str]:
    return page.texts("h3", "title")


def chips(page: Page) -> dict[str, str]:
    return {
        link.text.removeprefix("Without "): link.attributes["href"]
        for chip_list in page.all("ul", "picked")
        for link in chip_list.inside("a")
    }


def facet_choices(page: Page, facet: str) -> list[str]:
    lists = {element.attributes.get("aria-labelledby"): element for element in page.all("ul")}
    choice_list = lists.get(f"facet-{facet}")
    return [link.text for link in choice_list.inside("a")] if choice_list else []


def search(client: Client, words: str, **parameters: str) -> Page:
    response = client.get(URL, {"q": words, **parameters})
    assert response.status_code == 200
    return Page(response.content.decode())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("posters on scaling laws wednesday", ["Scaling laws again"]),
        ("posters on scaling", ["Scaling laws", "Scaling laws again"]),
        ("scaling tuesday", ["Opening words on scaling", "Scaling laws", "Scaling session"]),
        ("orals on scaling", ["Scaling laws", "Scaling session"]),
        ('scaling room:"hall a"', ["Scaling laws", "Scaling laws again"]),
        ("scaling loft", ["Opening words on scaling", "Scaling laws", "Scaling session"]),
        ("tutorials", ["Robotics in a day"]),
        ("monday", ["Robotics in a day"]),
        ("posters wednesday", ["Arms", "Posters 2", "Scaling laws again"]),
        ("robotics posters tuesday", ["Scaling laws"]),
        ("topic:robotics", ["Arms", "Scaling laws"]),
        ("topic:robotics scaling", ["Scaling laws"]),
        ("posters -scaling", ["Arms"]),
        ('"scaling laws" wednesday', ["Scaling laws again"]),
        ("award:best", ["Scaling laws"]),
    ],
)
def test_filter_words_narrow_the_results(
    client: Client, edition: Edition, words: str, expected: list[str]
) -> None:
    assert sorted(titles(search(client, words))) == expected


def test_topic_name_also_finds_sessions_and_pages(client: Client, edition: Edition) -> None:
    page = search(client, "robotics")

    assert sorted(titles(page)) == ["Arms", "Robotics in a day", "Scaling laws", "Visit"]
    assert page.texts("mark") == ["Robotics", "Robotics"]


def test_paper_result_shows_star_time_room_and_board(client: Client, edition: Edition) -> None:
    page = search(client, "scaling laws again")

    assert "Poster · Wed 7 Apr, 08:00 PDT · Hall A · Board 2" in page.main
    stars = [button.attributes["aria-label"] for button in page.all("button", "star")]
    assert "Star: Scaling laws again" in stars


def test_chip_links_to_the_search_without_its_filter(client: Client, edition: Edition) -> None:
    page = search(client, "posters on scaling wednesday")

    assert chips(page) == {
        "Kind Poster": "?q=scaling&day=2021-04-07",
        "Day Wed 7 Apr": "?q=scaling&as=poster",
    }
    assert titles(read(client, f"{URL}?q=scaling&day=2021-04-07")) == ["Scaling laws again"]


def test_removed_topic_filter_is_searched_as_words(client: Client, edition: Edition) -> None:
    page = search(client, "robotics tuesday")
    url = chips(page)["Topic Robotics"]
    plain = read(client, f"{URL}{url}")

    assert url == "?q=robotics&plain=robotics&day=2021-04-06"
    assert list(chips(plain)) == ["Day Tue 6 Apr"]
    # The search index also contains the topic of a paper.
    assert titles(plain) == ["Scaling laws"]


def test_all_filter_words_can_be_searched_as_plain_words(client: Client, edition: Edition) -> None:
    page = search(client, "posters tuesday")
    link = page.links()["Search for “posters”, “tuesday” as plain words"]

    assert link == "?q=posters+tuesday&plain=posters%2Ctuesday"
    assert chips(read(client, f"{URL}{link}")) == {}


def test_empty_result_offers_the_search_without_filters(client: Client, edition: Edition) -> None:
    page = search(client, "arms tuesday")
    link = page.links()["Search for “arms” without filters"]

    assert "Nothing matches all of the words and filters." in page.main
    assert titles(read(client, f"{URL}{link}")) == ["Arms"]


def test_paper_facets_narrow_the_results(client: Client, edition: Edition) -> None:
    page = search(client, "scaling")

    assert facet_choices(page, "topic") == ["Robotics 1", "Theory 1"]
    assert facet_choices(page, "day") == ["Tue 6 Apr 1", "Wed 7 Apr 1"]
    assert facet_choices(page, "room") == ["Hall A 2", "Loft 1"]
    assert facet_choices(page, "kind") == ["Oral 1", "Poster 2"]
    narrowed = read(client, f"{URL}{page.links()['Theory 1']}")
    assert titles(narrowed) == ["Scaling laws again"]
    assert list(chips(narrowed)) == ["Topic Theory"]
    assert titles(search(client, "scaling", award="best")) == ["Scaling laws"]


def test_institution_chip_shows_the_name(client: Client, edition: Edition) -> None:
    institution = make.make_institution("ETH", slug="eth")
    edition.papers.get(uid="p0").authorships.get().institutions.add(institution)
    edition.save()

    assert chips(search(client, "scaling", institution="eth")) == {"Institution ETH": "?q=scaling"}


@pytest.mark.parametrize("sort", ["title", "schedule", "board"])
def test_papers_are_sorted_by_the_sort_parameter(client: Client, edition: Edition, sort: str) -> None:
    page = search(client, "scaling laws", kind="paper", sort=sort)

    assert titles(page) == ["Scaling laws", "Scaling laws again"]


@pytest.mark.parametrize("query", ["as=xyz", "day=2021-04-01", "topic=nothing", "sort=random", "room=x"])
def test_unknown_facet_value_is_400(client: Client, edition: Edition, query: str) -> None:
    assert "isn’t a valid value" in read(client, f"{URL}?q=x&{query}", status=400).main


def test_person_result_shows_the_appearance(client: Client, edition: Edition) -> None:
    page = search(client, "turing")

    assert "Alan Turing Talk, Tue 6 Apr, 08:00 PDT · Loft" in page.main


def test_tabs_keep_the_words_and_select_one_kind(client: Client, edition: Edition) -> None:
    page = search(client, "scaling tuesday")
    links = {link.text: link.attributes["href"] for link in page.all("nav", "segments")[0].inside("a")}

    assert links == {
        "All": "?q=scaling+tuesday",
        "Papers 1": "?q=scaling+tuesday&kind=paper",
        "Sessions 1": "?q=scaling+tuesday&kind=session",
        "Talks 1": "?q=scaling+tuesday&kind=talk",
    }
    assert titles(read(client, f"{URL}{links['Sessions 1']}")) == ["Scaling session"]


def test_search_form_keeps_words_kind_and_facets(client: Client, edition: Edition) -> None:
    page = search(client, "scaling wednesday", topic="theory", kind="paper")
    hidden = {
        element.attributes["name"]: element.attributes["value"]
        for element in page.all("input", type="hidden")
    }

    assert hidden == {"kind": "paper", "topic": "theory"}
    assert [element.attributes["value"] for element in page.all("input", id="words")] == ["scaling wednesday"]


def test_typo_is_corrected_in_a_search_with_filters(client: Client, edition: Edition) -> None:
    page = search(client, "posters on scalign wednesday")

    assert "These are results for scaling." in page.main
    assert titles(page) == ["Scaling laws again"]


def test_search_page_without_query_shows_examples(client: Client, edition: Edition) -> None:
    page = read(client, URL)

    (box,) = page.all("input", id="words")
    assert "autofocus" in box.attributes
    links = page.links()
    assert links["posters on robotics Wednesday"] == "?q=posters+on+robotics+Wednesday"
    assert titles(read(client, f"{URL}{links['posters on robotics Wednesday']}")) == ["Arms"]
    assert links["Tue 6 Apr"] == "/2021/schedule/2021-04-06/"
    assert links["Robotics 2"] == "/2021/topics/robotics/"


def test_search_of_an_embargoed_program_reveals_no_names(client: Client, edition: Edition) -> None:
    later = timezone.now() + DAY
    Edition.objects.update(papers_public_from=later, schedule_public_from=later)

    page = read(client, URL)
    for words in ("Robotics", "Tue 6 Apr", "posters on"):
        assert words not in page.main
    for words in ("tuesday", "robotics", 'room:"hall a"', "tutorials"):
        results = search(client, words)
        assert titles(results) in ([], ["Visit"]), words
        assert chips(results) == {}
    assert "Hall A" not in client.get(f"{URL}suggest?q=hall").content.decode()


def test_names_of_drafts_are_not_filters(client: Client, edition: Edition) -> None:
    make.make_session(
        edition, title="Secret", kind="workshop", status="draft", room=make.make_room(edition, "Cellar")
    )
    make.make_topic(edition, "Alchemy", slug="alchemy")
    make.make_paper(edition, topic=edition.topics.get(slug="alchemy"), status="draft")

    for words in ("workshops", "cellar", "alchemy", "topic:alchemy", "room:cellar"):
        assert chips(search(client, words)) == {}, words
        assert suggestion_texts(client, words) == [f"“{words}” All results"]


def test_today_is_a_filter_only_during_the_edition(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chips(search(client, "posters today")) == {"Kind Poster": "?q=today"}

    monkeypatch.setattr(timezone, "now", lambda: datetime(2021, 4, 6, 20, tzinfo=UTC))

    assert list(chips(search(client, "posters today"))) == ["Kind Poster", "Day Tue 6 Apr"]
    assert "Next: Talk, Tue 6 Apr" not in search(client, "turing").main


@pytest.mark.parametrize(("words", "queries"), [("posters wednesday", 10), ("robotics", 13)])
def test_query_count_of_searches_with_filters(
    client: Client,
    edition: Edition,
    words: str,
    queries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    search(client, words)

    with django_assert_num_queries(queries):
        search(client, words)


# Suggestions


def suggestion_texts(client: Client, words: str) -> list[str]:
    page = Page(client.get(f"{URL}suggest", {"q": words}).content.decode())
    return [option.text for option in page.all("a", role="option")]


def test_suggestions_are_filtered_and_link_to_all_results(client: Client, edition: Edition) -> None:
    page = Page(client.get(f"{URL}suggest?q=posters+on+scal+wed").content.decode())

    assert [link.text for link in page.all("a", role="option")] == [
        "“posters on scal wed” Poster Wed 7 Apr",
        "Scaling laws again Paper · Ada Lovelace Wed 7 Apr, 08:00 PDT · Hall A · Board 2",
        "Wednesday 7 April 2021 Schedule",
    ]
    assert page.all("a", "all")[0].attributes["href"] == f"{URL}?q=posters+on+scal+wed"


def test_suggestions_for_filters_alone_are_sessions_and_papers(client: Client, edition: Edition) -> None:
    assert suggestion_texts(client, "posters wed")[1:] == [
        "Posters 2 Poster session Wed 7 Apr, 08:00 to 09:00 PDT · Hall A",
        "Arms Paper · Ada Lovelace Wed 7 Apr, 08:00 PDT · Hall A · Board 3",
        "Scaling laws again Paper · Ada Lovelace Wed 7 Apr, 08:00 PDT · Hall A · Board 2",
        "Wednesday 7 April 2021 Schedule",
    ]


def test_suggested_person_shows_the_appearance(client: Client, edition: Edition) -> None:
    assert "AT Alan Turing Person Talk, Tue 6 Apr, 08:00 PDT · Loft" in suggestion_texts(client, "turing")


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        ("sched", {"Schedule": "/2021/schedule/"}),
        ("agenda", {"My agenda": "/2021/agenda/"}),
        ("downl", {"Downloads": "/2021/downloads/"}),
        ("loft", {"Loft": "/2021/rooms/l/"}),
        ("7 april", {"Wednesday 7 April 2021": "/2021/schedule/2021-04-07/"}),
        ("theory", {"Theory": "/2021/topics/theory/"}),
        ("xyz", {}),
    ],
)
def test_suggestions_include_matching_pages_of_the_site(
    client: Client, edition: Edition, words: str, pages: dict[str, str]
) -> None:
    page = Page(client.get(f"{URL}suggest", {"q": words}).content.decode())
    urls = {link.inside("span")[0].text: link.attributes["href"] for link in page.all("a", "jump")}

    assert pages.items() <= urls.items()
    assert bool(pages) == bool(urls)


def test_pages_starting_with_the_typed_text_come_first(client: Client, edition: Edition) -> None:
    make.make_paper(edition, title="Scheduling")
    refresh()

    assert suggestion_texts(client, "sched") == [
        "Schedule",
        "Scheduling Paper",
        "“sched” All results",
        *(
            f"{day} Schedule"
            for day in ("Monday 5 April 2021", "Tuesday 6 April 2021", "Wednesday 7 April 2021")
        ),
    ]


def test_suggestions_without_words_are_sections_and_days(client: Client, edition: Edition) -> None:
    texts = suggestion_texts(client, "")

    for page in (
        "Home MLSys 2021",
        "Papers",
        "Tuesday 6 April 2021 Schedule",
        "My agenda",
        "Awards of all years",
    ):
        assert page in texts, page


def test_site_search_suggests_editions(client: Client, edition: Edition) -> None:
    page = Page(client.get("/search/suggest?q=mlsys+20").content.decode())

    assert [link.attributes["href"] for link in page.all("a", "jump")] == ["/2021/"]


@pytest.mark.parametrize("query", ["plain=a&q=a", "as=poster&q=a", "day=2021-04-06&q=a", "q=a&sort=title"])
def test_searches_with_filters_are_cached(query: str) -> None:
    assert parse_address(URL, query).key is not None


@pytest.mark.parametrize(
    ("query", "ways_out"),
    [
        # Without its only word, or without the day; no paper or session of Tuesday is about arms.
        ("q=tuesday+zebra", {"zebra": "day=2021-04-06"}),
        ("q=arms+tuesday", {"arms": "day=2021-04-06", "Tue 6 Apr": "q=arms"}),
        ("q=scaling+zebra+laws", {"zebra": "q=scaling+laws"}),
        ("q=arms+laws", {"arms": "q=laws", "laws": "q=arms"}),
        # Talks are found, too.
        ("q=opening+zebra", {"zebra": "q=opening"}),
        ("q=opening+zebra+tuesday", {"zebra": "q=opening&day=2021-04-06"}),
        ("q=zebra", {}),
        ("q=zebra+yak", {}),
    ],
)
def test_without_results_the_words_to_leave_out_are_named(
    client: Client, edition: Edition, query: str, ways_out: dict[str, str]
) -> None:
    page = Page(client.get(f"{URL}?{query}").content.decode())

    found = {
        link.text.removeprefix("Search without “").removesuffix("”"): link.attributes["href"]
        for link in page.all("a", "tool")
        if link.text.startswith("Search without")
    }
    assert found == {name: f"?{address}" for name, address in ways_out.items()}
    for address in found.values():
        assert "Nothing found" not in client.get(f"{URL}{address}").content.decode()


def test_list_of_papers_and_search_of_all_years_name_words_to_leave_out(
    client: Client, edition: Edition
) -> None:
    for url in ("/2021/papers/", "/search/"):
        page = Page(client.get(f"{url}?q=scaling+zebra").content.decode())

        texts = [link.text for link in page.all("a", "tool")]
        assert "Search without “zebra”" in texts, url
        assert "Search without “scaling”" not in texts, url


def test_search_without_results_takes_few_queries(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(f"{URL}?q=zebra+yak+arms+tuesday")

    with django_assert_num_queries(15):
        client.get(f"{URL}?q=zebra+yak+arms+tuesday")


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("GPT-4 at work", "GPT4"),
        ("GPT4 at work", "GPT-4"),
        ("A fast $k$-NN", "kNN"),
        ("A fast kNN", "k-NN"),
        (r"Rényi $\alpha$-divergence", "alpha"),
        (r"Rényi $\alpha$-divergence", "alpha-divergence"),
        (r"Rényi $\alpha$-divergence", "α"),
        ("After COVID-19", "covid19"),
        ("海のモデル", "モデル"),
        ("海のモデル", "ﾓﾃﾞﾙ"),
        ("大規模言語モデルのプロンプト", "プロンプト"),
        ("さくらモデル", "moderu"),
        ("언어모델", "모델"),
        ("การเรียนรู้ด้วยโมเดล", "โมเดล"),
    ],
)
def test_other_spellings_and_words_inside_a_run_of_text_are_found_and_marked(
    client: Client, edition: Edition, title: str, query: str
) -> None:
    make.make_paper(edition, title=title, uid="odd", abstract="x")
    refresh()

    page = client.get(f"{URL}?{urlencode({'q': query})}").content.decode()

    assert "/2021/papers/odd/" in page
    assert "<mark>" in page
