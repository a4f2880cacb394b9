"""The search of all years: sections, years and topics, chips, the number of queries."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from operations.indexing.update import refresh
from pagecache.keys import parse_address
from people.models import Person
from search.index import remove_documents
from tests import factories as make
from tests.reading import Page, read

pytestmark = pytest.mark.django_db

URL = "/search/"


@pytest.fixture(scope="module")
def site(made_once: Callable[..., Any]) -> Any:
    return made_once(make_site)


def make_site() -> list[Edition]:
    """Create three years: topics in two spellings, a subtopic, and a person in two years."""
    first, second, third = (make.make_edition(year) for year in (2021, 2022, 2023))
    vision = make.make_topic(first, "Computer vision", slug="cv")
    again = make.make_topic(second, "Computer Vision", slug="vision")
    faces = make.make_topic(second, "Faces", slug="faces", parent=again)
    theory = make.make_topic(second, "Theory", slug="theory")
    ada = make.make_person("Ada Lovelace")
    papers = [
        make.make_paper(edition, [ada] if number < 2 else [], title=title, topic=topic, uid=f"p{number}")
        for number, (edition, title, topic) in enumerate(
            [
                (first, "Graphs", vision),
                (second, "Graphs again", faces),
                (second, "Graphs and more", theory),
                (third, "Graphs once more", None),
                (third, "Looms", None),
            ]
        )
    ]
    room = make.make_room(first, "Hall A")
    session = make.make_session(first, title="Graphs at work", room=room, uid="s1")
    make.make_presentation(session, papers[0], kind="poster", board="7")
    make.make_presentation(session, title="Talk of graphs", speakers=["Alan Turing"], uid="t1")
    make.make_page(first, slug="visit", title="Visit", body="Graphs by tram.")
    make.make_page(None, slug="about", title="About graphs")
    refresh()
    return [first, second, third]


def found(client: Client, words: str, **more: str) -> Page:
    response = client.get(URL, {"q": words, **more})
    assert response.status_code == 200
    return Page(response.content.decode())


def titles(page: Page) -> list[str]:
    return sorted(page.texts("h3", "title"))


def sections(page: Page) -> list[str]:
    return page.texts("h2")


def chips(page: Page) -> dict[str, str]:
    shown = [link for one in page.all("ul", "picked") for link in one.inside("a")]
    return {link.text.removeprefix("Without "): link.attributes["href"] for link in shown}


def offers(page: Page, facet: str) -> dict[str, str]:
    lists = {one.attributes.get("aria-labelledby"): one for one in page.all("ul")}
    shown = lists.get(f"facet-{facet}")
    return {link.text: link.attributes["href"] for link in shown.inside("a")} if shown else {}


def test_results_are_in_sections(client: Client, site: list[Edition]) -> None:
    page = found(client, "graphs")

    assert sorted(sections(page)) == ["Pages 2", "Papers 4", "Sessions 1", "Talks 1"]
    assert titles(page) == [
        "About graphs",
        "Graphs",
        "Graphs again",
        "Graphs and more",
        "Graphs at work",
        "Graphs once more",
        "Talk of graphs",
        "Visit",
    ]
    assert "8 results with “graphs”" in page.main
    links = [link.text for link in page.all("nav", "segments")[0].inside("a")]
    assert links == ["All", "Papers 4", "Sessions 1", "Talks 1", "Pages 2"]


def test_rows_say_year_time_and_place(client: Client, site: list[Edition]) -> None:
    page = found(client, "graphs")

    papers = page.all("ol", "papers")[0].text
    assert "MLSys 2021 Graphs Ada Lovelace" in papers
    assert "Poster · Tue 6 Apr, 08:00 PDT · Hall A · Board 7" in papers
    assert "Oral session MLSys 2021 Graphs at work" in page.main
    assert "Alan Turing Tue 6 Apr, 08:00 to 09:00 PDT · Hall A" in page.main
    # Pages of all years have no stars, because an agenda belongs to an edition.
    assert page.all("button", "star") == []


def test_people_have_a_picture_and_their_next_appearance(client: Client, site: list[Edition]) -> None:
    page = found(client, "lovelace")
    (card,) = page.all("li", "whom")

    assert card.text == "AL Ada Lovelace Poster, Tue 6 Apr, 08:00 PDT · Hall A · MLSys 2021"
    person = Person.objects.get(name="Ada Lovelace")
    assert card.inside("a")[0].attributes["href"] == person.get_absolute_url()
    assert sections(page) == ["People 1", "Papers 2"]


def test_years_and_topics_narrow(client: Client, site: list[Edition]) -> None:
    page = found(client, "graphs")

    # Rows that belong to no year are found in each year.
    assert offers(page, "edition") == {
        "MLSys 2023 2": "?q=graphs&in=2023",
        "MLSys 2022 3": "?q=graphs&in=2022",
        "MLSys 2021 5": "?q=graphs&in=2021",
    }
    assert offers(page, "area") == {
        "Computer Vision 2": "?q=graphs&topic=computer-vision",
        "Theory 1": "?q=graphs&topic=theory",
    }
    year = found(client, "graphs", **{"in": "2022"})
    assert titles(year) == ["About graphs", "Graphs again", "Graphs and more"]
    assert list(offers(year, "area")) == ["Computer Vision 1", "Theory 1"]
    assert [*offers(year, "edition").values()] == ["?q=graphs&in=2023", "?q=graphs", "?q=graphs&in=2021"]
    topic = found(client, "graphs", topic="computer-vision")
    assert titles(topic) == ["Graphs", "Graphs again"]
    assert list(offers(topic, "edition")) == ["MLSys 2022 1", "MLSys 2021 1"]
    both = found(client, "graphs", topic="computer-vision", **{"in": "2022"})
    assert titles(both) == ["Graphs again"]
    assert chips(both) == {
        "Year MLSys 2022": "?q=graphs&topic=computer-vision",
        "Topic Computer Vision": "?q=graphs&in=2022",
    }


@pytest.mark.parametrize(
    ("words", "shown", "chip"),
    [
        ("graphs mlsys 2022", 3, "Year MLSys 2022"),
        ("graphs 2022", 3, "Year MLSys 2022"),
        ("2022 graphs", 3, "Year MLSys 2022"),
        ("graphs edition:2022", 3, "Year MLSys 2022"),
        ("graphs year:2022", 2, ""),
        # The year is only a filter if there are other words.
        ("mlsys 2022", 0, ""),
        ('graphs "2022"', 0, ""),
        ("graphs 2024", 0, ""),
    ],
)
def test_names_of_years_are_understood(
    client: Client, site: list[Edition], words: str, shown: int, chip: str
) -> None:
    page = found(client, words)

    assert (len(titles(page)), [*chips(page)]) == (shown, [chip] if chip else [])


def test_understood_year_can_be_taken_back(client: Client, site: list[Edition]) -> None:
    page = found(client, "graphs 2022")

    assert chips(page) == {"Year MLSys 2022": "?q=graphs"}
    link = page.links()["Search for “2022” as plain words"]
    assert link == "?q=graphs+2022&plain=2022"
    plain = read(client, f"{URL}{link}")
    assert (titles(plain), chips(plain)) == ([], {})


def test_tabs_form_and_pages_keep_what_was_chosen(client: Client, site: list[Edition]) -> None:
    page = found(client, "graphs", kind="paper", **{"in": "2022"})
    hidden = {one.attributes["name"]: one.attributes["value"] for one in page.all("input", type="hidden")}

    assert hidden == {"kind": "paper", "in": "2022"}
    links = {link.text: link.attributes["href"] for link in page.all("nav", "segments")[0].inside("a")}
    assert links["Pages 1"] == "?q=graphs&kind=page&in=2022"
    assert links["All"] == "?q=graphs&in=2022"


def test_typing_error_is_corrected(client: Client, site: list[Edition]) -> None:
    page = found(client, "grpahs", **{"in": "2022"})

    assert "These are results for graphs." in page.main
    assert titles(page) == ["About graphs", "Graphs again", "Graphs and more"]


def test_nothing_found_offers_the_words_without_filters(client: Client, site: list[Edition]) -> None:
    page = found(client, "looms", **{"in": "2022"})
    link = page.links()["Search for “looms” without filters"]

    assert titles(read(client, f"{URL}{link}")) == ["Looms"]


@pytest.mark.parametrize("query", ["in=2024", "topic=cv", "kind=xyz", "page=2", "page=x", "q=graphs&page=2"])
def test_bad_value_is_a_400_that_names_it(client: Client, site: list[Edition], query: str) -> None:
    assert "isn’t a valid value" in read(client, f"{URL}?{query}", status=400).main


@pytest.mark.parametrize("words", ["\0", "!", "-graphs", "", "edition:", "2022"])
def test_any_words_are_answered(client: Client, site: list[Edition], words: str) -> None:
    assert titles(found(client, words)) == []


def test_more_than_the_best_are_counted_and_narrowed(
    client: Client, site: list[Edition], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.hits.MAX_HITS", 2)
    page = found(client, "graphs")

    assert "8 results with “graphs”" in page.main
    assert "Papers 4" in page.main
    assert "The best 2 of 4 are listed." in page.main
    assert [*offers(page, "edition")] == ["MLSys 2023 2", "MLSys 2022 3", "MLSys 2021 5"]
    assert [*offers(page, "area")] == ["Computer Vision 2", "Theory 1"]
    narrowed = found(client, "graphs", topic="theory")
    assert titles(narrowed) == ["Graphs and more"]


def test_program_under_embargo_is_in_no_facet(client: Client, site: list[Edition]) -> None:
    later = timezone.now() + timedelta(days=1)
    Edition.objects.filter(slug="2022").update(papers_public_from=later, schedule_public_from=later)
    page = found(client, "graphs")

    assert [*offers(page, "area")] == []
    assert [*offers(page, "edition")] == ["MLSys 2023 2", "MLSys 2021 5"]


def test_topic_of_drafts_is_unknown(client: Client, site: list[Edition]) -> None:
    topic = make.make_topic(site[0], "Alchemy", slug="alchemy")
    make.make_paper(site[0], topic=topic, status="draft", title="Graphs of gold")

    read(client, f"{URL}?q=graphs&topic=alchemy", status=400)


def test_hit_that_is_no_longer_there_is_left_out(client: Client, site: list[Edition]) -> None:
    remove_documents("paper", [site[1].papers.get(uid="p1").pk])

    assert "Graphs again" not in titles(found(client, "graphs"))


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    ("query", "number"),
    [("", 16), ("&in=2021", 16), ("&kind=paper", 10), ("&kind=person", 8), ("&topic=vision", 10)],
)
def test_queries_do_not_grow(
    client: Client,
    site: list[Edition],
    django_assert_num_queries: DjangoAssertNumQueries,
    times: int,
    query: str,
    number: int,
) -> None:
    for count in range(times):
        edition = site[0]
        session = make.make_session(edition, title=f"Pistons {count}")
        make.add_role(session, f"Pistons Moderator {count}")
        make.make_presentation(session, title="Pistons", speakers=["Pistons Speaker"])
        topic = make.make_topic(edition, "Vision", slug=f"v{count}")
        paper = make.make_paper(edition, [f"Pistons Author {count}"], title=f"Pistons {count}", topic=topic)
        make.make_presentation(session, paper)
        make.make_page(edition, title="Pistons")
    client.get(f"{URL}?q=pistons{query}")

    with django_assert_num_queries(number):
        client.get(f"{URL}?q=pistons{query}")


def test_queries_where_more_is_found_than_ranked(
    client: Client,
    site: list[Edition],
    django_assert_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("search.hits.MAX_HITS", 2)
    client.get(f"{URL}?q=graphs")

    with django_assert_num_queries(14):
        client.get(f"{URL}?q=graphs")


def test_narrowed_searches_are_cached() -> None:
    assert parse_address(URL, "q=graphs&in=2021&topic=theory&kind=paper&page=2").key is not None
    assert parse_address(URL, "q=graphs+2022&plain=2022").query == "plain=2022&q=graphs+2022"
