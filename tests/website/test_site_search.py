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
from tests.html_pages import Page, read

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


def search(client: Client, words: str, **parameters: str) -> Page:
    response = client.get(URL, {"q": words, **parameters})
    assert response.status_code == 200
    return Page(response.content.decode())


def titles(page: Page) -> list[str]:
    return sorted(page.texts("h3", "title"))


def section_headings(page: Page) -> list[str]:
    return page.texts("h2")


def chips(page: Page) -> dict[str, str]:
    links = [link for chip_list in page.all("ul", "picked") for link in chip_list.inside("a")]
    return {link.text.removeprefix("Without "): link.attributes["href"] for link in links}


def facet_urls(page: Page, facet: str) -> dict[str, str]:
    lists = {element.attributes.get("aria-labelledby"): element for element in page.all("ul")}
    choice_list = lists.get(f"facet-{facet}")
    return {link.text: link.attributes["href"] for link in choice_list.inside("a")} if choice_list else {}


def test_results_are_grouped_by_kind(client: Client, site: list[Edition]) -> None:
    page = search(client, "graphs")

    assert sorted(section_headings(page)) == ["Pages 2", "Papers 4", "Sessions 1", "Talks 1"]
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


def test_results_show_edition_time_and_room(client: Client, site: list[Edition]) -> None:
    page = search(client, "graphs")

    papers = page.all("ol", "papers")[0].text
    assert "MLSys 2021 Graphs Ada Lovelace" in papers
    assert "Poster · Tue 6 Apr, 08:00 PDT · Hall A · Board 7" in papers
    assert "Oral session MLSys 2021 Graphs at work" in page.main
    assert "Alan Turing Tue 6 Apr, 08:00 to 09:00 PDT · Hall A" in page.main
    # Pages of all years have no stars, because an agenda belongs to an edition.
    assert page.all("button", "star") == []


def test_person_result_shows_initials_and_appearance(client: Client, site: list[Edition]) -> None:
    page = search(client, "lovelace")
    (card,) = page.all("li", "whom")

    assert card.text == "AL Ada Lovelace Poster, Tue 6 Apr, 08:00 PDT · Hall A · MLSys 2021"
    person = Person.objects.get(name="Ada Lovelace")
    assert card.inside("a")[0].attributes["href"] == person.get_absolute_url()
    assert section_headings(page) == ["People 1", "Papers 2"]


def test_edition_and_topic_facets_narrow_the_results(client: Client, site: list[Edition]) -> None:
    page = search(client, "graphs")

    # Rows that belong to no year are found in each year.
    assert facet_urls(page, "edition") == {
        "MLSys 2023 2": "?q=graphs&in=2023",
        "MLSys 2022 3": "?q=graphs&in=2022",
        "MLSys 2021 5": "?q=graphs&in=2021",
    }
    assert facet_urls(page, "area") == {
        "Computer Vision 2": "?q=graphs&topic=computer-vision",
        "Theory 1": "?q=graphs&topic=theory",
    }
    in_2022 = search(client, "graphs", **{"in": "2022"})
    assert titles(in_2022) == ["About graphs", "Graphs again", "Graphs and more"]
    assert list(facet_urls(in_2022, "area")) == ["Computer Vision 1", "Theory 1"]
    assert [*facet_urls(in_2022, "edition").values()] == [
        "?q=graphs&in=2023",
        "?q=graphs",
        "?q=graphs&in=2021",
    ]
    topic = search(client, "graphs", topic="computer-vision")
    assert titles(topic) == ["Graphs", "Graphs again"]
    assert list(facet_urls(topic, "edition")) == ["MLSys 2022 1", "MLSys 2021 1"]
    both = search(client, "graphs", topic="computer-vision", **{"in": "2022"})
    assert titles(both) == ["Graphs again"]
    assert chips(both) == {
        "Year MLSys 2022": "?q=graphs&topic=computer-vision",
        "Topic Computer Vision": "?q=graphs&in=2022",
    }


@pytest.mark.parametrize(
    ("words", "title_count", "chip"),
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
def test_edition_names_in_the_words_become_filters(
    client: Client, site: list[Edition], words: str, title_count: int, chip: str
) -> None:
    page = search(client, words)

    assert (len(titles(page)), [*chips(page)]) == (title_count, [chip] if chip else [])


def test_edition_filter_can_be_searched_as_plain_words(client: Client, site: list[Edition]) -> None:
    page = search(client, "graphs 2022")

    assert chips(page) == {"Year MLSys 2022": "?q=graphs"}
    link = page.links()["Search for “2022” as plain words"]
    assert link == "?q=graphs+2022&plain=2022"
    plain = read(client, f"{URL}{link}")
    assert (titles(plain), chips(plain)) == ([], {})


def test_tabs_and_form_keep_the_filters(client: Client, site: list[Edition]) -> None:
    page = search(client, "graphs", kind="paper", **{"in": "2022"})
    hidden = {
        element.attributes["name"]: element.attributes["value"]
        for element in page.all("input", type="hidden")
    }

    assert hidden == {"kind": "paper", "in": "2022"}
    links = {link.text: link.attributes["href"] for link in page.all("nav", "segments")[0].inside("a")}
    assert links["Pages 1"] == "?q=graphs&kind=page&in=2022"
    assert links["All"] == "?q=graphs&in=2022"


def test_typo_is_corrected_in_a_search_with_filters(client: Client, site: list[Edition]) -> None:
    page = search(client, "grpahs", **{"in": "2022"})

    assert "These are results for graphs." in page.main
    assert titles(page) == ["About graphs", "Graphs again", "Graphs and more"]


def test_empty_result_offers_the_search_without_filters(client: Client, site: list[Edition]) -> None:
    page = search(client, "looms", **{"in": "2022"})
    link = page.links()["Search for “looms” without filters"]

    assert titles(read(client, f"{URL}{link}")) == ["Looms"]


@pytest.mark.parametrize("query", ["in=2024", "topic=cv", "kind=xyz", "page=2", "page=x", "q=graphs&page=2"])
def test_invalid_parameter_is_400_with_an_explanation(
    client: Client, site: list[Edition], query: str
) -> None:
    assert "isn’t a valid value" in read(client, f"{URL}?{query}", status=400).main


@pytest.mark.parametrize("words", ["\0", "!", "-graphs", "", "edition:", "2022"])
def test_unusual_words_have_no_results(client: Client, site: list[Edition], words: str) -> None:
    assert titles(search(client, words)) == []


def test_hits_beyond_max_hits_are_counted_and_filtered(
    client: Client, site: list[Edition], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("search.hits.MAX_HITS", 2)
    page = search(client, "graphs")

    assert "8 results with “graphs”" in page.main
    assert "Papers 4" in page.main
    assert "The best 2 of 4 are listed." in page.main
    assert [*facet_urls(page, "edition")] == ["MLSys 2023 2", "MLSys 2022 3", "MLSys 2021 5"]
    assert [*facet_urls(page, "area")] == ["Computer Vision 2", "Theory 1"]
    narrowed = search(client, "graphs", topic="theory")
    assert titles(narrowed) == ["Graphs and more"]


def test_embargoed_program_is_not_counted_in_facets(client: Client, site: list[Edition]) -> None:
    later = timezone.now() + timedelta(days=1)
    Edition.objects.filter(slug="2022").update(papers_public_from=later, schedule_public_from=later)
    page = search(client, "graphs")

    assert [*facet_urls(page, "area")] == []
    assert [*facet_urls(page, "edition")] == ["MLSys 2023 2", "MLSys 2021 5"]


def test_topic_with_drafts_alone_is_400(client: Client, site: list[Edition]) -> None:
    topic = make.make_topic(site[0], "Alchemy", slug="alchemy")
    make.make_paper(site[0], topic=topic, status="draft", title="Graphs of gold")

    read(client, f"{URL}?q=graphs&topic=alchemy", status=400)


def test_paper_removed_from_the_index_is_not_found(client: Client, site: list[Edition]) -> None:
    remove_documents("paper", [site[1].papers.get(uid="p1").pk])

    assert "Graphs again" not in titles(search(client, "graphs"))


@pytest.mark.parametrize("row_count", [1, 3])
@pytest.mark.parametrize(
    ("query", "queries"),
    [("", 16), ("&in=2021", 16), ("&kind=paper", 10), ("&kind=person", 8), ("&topic=vision", 10)],
)
def test_query_count_is_the_same_for_1_and_3_hits_of_each_kind(
    client: Client,
    site: list[Edition],
    django_assert_num_queries: DjangoAssertNumQueries,
    row_count: int,
    query: str,
    queries: int,
) -> None:
    for index in range(row_count):
        edition = site[0]
        session = make.make_session(edition, title=f"Pistons {index}")
        make.add_role(session, f"Pistons Moderator {index}")
        make.make_presentation(session, title="Pistons", speakers=["Pistons Speaker"])
        topic = make.make_topic(edition, "Vision", slug=f"v{index}")
        paper = make.make_paper(edition, [f"Pistons Author {index}"], title=f"Pistons {index}", topic=topic)
        make.make_presentation(session, paper)
        make.make_page(edition, title="Pistons")
    client.get(f"{URL}?q=pistons{query}")

    with django_assert_num_queries(queries):
        client.get(f"{URL}?q=pistons{query}")


def test_query_count_with_more_hits_than_are_ranked(
    client: Client,
    site: list[Edition],
    django_assert_num_queries: DjangoAssertNumQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("search.hits.MAX_HITS", 2)
    client.get(f"{URL}?q=graphs")

    with django_assert_num_queries(14):
        client.get(f"{URL}?q=graphs")


def test_searches_with_filters_are_cached() -> None:
    assert parse_address(URL, "q=graphs&in=2021&topic=theory&kind=paper&page=2").key is not None
    assert parse_address(URL, "q=graphs+2022&plain=2022").query == "plain=2022&q=graphs+2022"
