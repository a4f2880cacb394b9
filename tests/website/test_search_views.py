"""The search page and its suggestions."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from conference.models import Edition
from operations.indexing.update import refresh
from papers.models import Paper
from people.models import PersonName
from search.models import Document
from tests import factories as make
from tests.html_pages import Page, read

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def edition(made_once: Callable[..., Any]) -> Any:
    return made_once(make_indexed_program)


def make_indexed_program() -> Edition:
    edition = make.make_edition()
    paper = make.make_paper(
        edition, ["Eva Šimek"], uid="p1", title="On $n$ graphs & nets", abstract="Of *steam* engines."
    )
    make.make_award(edition, [paper], name="Best Paper")
    session = make.make_session(edition, uid="s1", title="Graphs at work", kind="invited_talk")
    make.add_role(session, "Grace Hopper", "speaker")
    make.make_presentation(session, paper)
    make.make_presentation(session, title="Graphs for all", speakers=["Alan Turing"], uid="t1")
    make.make_page(edition, slug="visit", title="Visit", body="Trams and graphs.")
    make.make_paper(make.make_edition(2022), uid="p2", title="Graphs again")
    refresh()
    return edition


def titles(page: Page) -> list[str]:
    return page.texts("h2", "title") + page.texts("h3", "title")


def marked_words(page: Page) -> list[str]:
    return page.texts("mark")


def test_edition_search_finds_rows_of_all_kinds(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=graphs")

    assert sorted(titles(page)) == ["Graphs at work", "Graphs for all", "On n graphs & nets", "Visit"]
    assert {word.lower() for word in marked_words(page)} == {"graphs"}
    assert "4 results with “graphs” · MLSys 2021 · Search all years" in page.main
    assert [link.text for link in page.all("nav", "segments")[0].inside("a")] == [
        "All", "Papers 1", "Sessions 1", "Talks 1", "Pages 1",
    ]  # fmt: skip


def test_site_search_shows_the_edition_of_a_result(client: Client, edition: Edition) -> None:
    page = read(client, "/search/?q=title:graphs+again")

    assert titles(page) == ["Graphs again"]
    assert page.texts("p", "kind") == ["MLSys 2022"]


def test_result_shows_authors_award_time_and_excerpt(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=simek+steam")

    assert marked_words(page) == ["Šimek", "steam"]
    for text in ("Eva Šimek", "Of steam engines.", "Best Paper", "Tue 6 Apr, 08:00 PDT"):
        assert text in page.main, text
    paper = Paper.objects.get(uid="p1")
    assert page.links()["On n graphs & nets"] == paper.get_absolute_url()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("paper", ["On n graphs & nets"]),
        ("session", ["Graphs at work"]),
        ("talk", ["Graphs for all"]),
        ("page", ["Visit"]),
        ("person", []),
    ],
)
def test_kind_parameter_filters_the_results(
    client: Client, edition: Edition, kind: str, expected: list[str]
) -> None:
    page = read(client, f"/2021/search/?q=graphs&kind={kind}")

    assert titles(page) == expected
    assert [link.text for link in page.all("a", **{"aria-current": "page"})] != ["All"]


def test_typo_is_corrected_and_reported(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=grpahs")

    assert "Nothing was found for “grpahs”. These are results for graphs." in page.main
    assert len(titles(page)) == 4


def test_hidden_name_is_no_spelling_correction(client: Client, edition: Edition) -> None:
    person = Paper.objects.get(uid="p1").authorships.get().person
    PersonName.objects.create(person=person, name="Eva Quetzalcoatl", hidden=True)

    assert "Nothing found" in read(client, "/2021/search/?q=quetzalcoatk").main


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("", "Papers, people, sessions, talks and pages of MLSys 2021."),
        ("?q=zzz", "Nothing found"),
        ("?q=-graphs", "Add at least one word to search for."),
        ("?q=!", "Add at least one word to search for."),
    ],
)
def test_page_without_results_explains_what_to_do(
    client: Client, edition: Edition, query: str, text: str
) -> None:
    page = read(client, f"/2021/search/{query}")

    assert text in page.main
    assert titles(page) == []


@pytest.mark.parametrize("query", ["page=2", "page=x", "page=0", "kind=xyz", "q=graphs&page=2&kind=paper"])
def test_invalid_parameter_is_400_with_an_explanation(client: Client, edition: Edition, query: str) -> None:
    page = read(client, f"/2021/search/?{query}", status=400)

    assert "isn’t a valid value" in page.main


@pytest.mark.parametrize(
    "words", ["%00", '"', "author:", "a" * 5000, "%F0%9F%98%80", "(a OR b) NEAR *", "'; --"]
)
def test_unusual_words_cause_no_error(client: Client, edition: Edition, words: str) -> None:
    assert client.get(f"/2021/search/?q={words}").status_code == 200
    assert client.get(f"/2021/search/suggest?q={words}").status_code == 200


def test_results_are_paginated(client: Client, edition: Edition) -> None:
    for number in range(45):
        make.make_paper(edition, title=f"Pistons {number}")

    page = read(client, "/2021/search/?q=pistons&kind=paper&page=3")

    assert len(titles(page)) == 5
    assert page.links()["Previous"] == "?q=pistons&kind=paper&page=2"
    assert page.all("ol", "papers")[0].attributes["start"] == "41"


def test_papers_beyond_max_hits_are_counted_and_filtered(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        make.make_paper(edition, title=f"Graphs {number}", track="Main" if number else "")
    refresh()
    monkeypatch.setattr("search.hits.MAX_HITS", 3)

    page = read(client, "/2021/search/?q=graphs")

    assert len(titles(page)) == 9
    assert "Papers 6" in page.main
    assert len(titles(read(client, "/2021/search/?q=graphs&track=Main"))) == 4


def test_result_page_is_noindex(client: Client, edition: Edition) -> None:
    response = client.get("/2021/search/?q=graphs")

    assert Page(response.content.decode()).all("meta", name="robots", content="noindex")


def test_titles_and_search_words_are_escaped(client: Client, edition: Edition) -> None:
    make.make_page(edition, title="A <b>bold</b> page")
    result_page = client.get("/2021/search/?q=bold").content.decode()
    form_page = client.get("/2021/search/?q=<i>bold").content.decode()

    assert "A &lt;b&gt;<mark>bold</mark>&lt;/b&gt; page" in result_page
    assert 'value="&lt;i&gt;bold"' in form_page
    assert "<i>" not in form_page


def test_suggestions_are_options_with_links(client: Client, edition: Edition) -> None:
    page = Page(client.get("/2021/search/suggest?q=grap").content.decode())

    assert sorted(option.text for option in page.all("a", role="option")) == [
        "Graphs at work Invited talk · Grace Hopper Tue 6 Apr, 08:00 to 09:00 PDT",
        "Graphs for all Talk · Alan Turing Tue 6 Apr, 08:00 to 09:00 PDT",
        "On n graphs & nets Paper · Eva Šimek Tue 6 Apr, 08:00 PDT",
        "“grap” All results",
    ]
    assert all(link.attributes["href"].startswith("/2021/") for link in page.all("a"))


def test_search_form_in_the_header_searches_the_edition_of_the_page(client: Client, edition: Edition) -> None:
    make.make_edition(2023)

    def actions(path: str) -> list[str]:
        return [form.attributes["action"] for form in read(client, path).all("form", "search")]

    # Pages of all years have the header of the current edition, if the site has a single conference.
    assert actions("/2021/papers/") == ["/2021/search/"]
    assert actions("/people/") == ["/2023/search/"]
    make.make_edition(2022, conference=make.make_conference(slug="icml", name="ICML"), slug="icml-2022")
    assert actions("/people/") == ["/search/"]


def test_hit_whose_row_is_missing_is_omitted(client: Client, edition: Edition) -> None:
    read(client, "/2021/search/?q=graphs")
    Document.objects.filter(kind="paper", key="p1").update(object_id=999_999)

    assert "On n graphs & nets" not in titles(read(client, "/2021/search/?q=graphs"))


@pytest.mark.parametrize("path", ["/2021/search/suggest", "/search/suggest"])
def test_other_rows_are_suggested_in_place_of_missing_ones(
    client: Client, edition: Edition, path: str
) -> None:
    for number in range(20):
        make.make_paper(edition, uid=f"n{number}", title=f"Nets {number}")
    refresh()
    documents = Document.objects.filter(kind="paper", key__startswith="n").order_by("-pk")
    for number, key in enumerate(documents.values_list("pk", flat=True)[:10]):
        Document.objects.filter(pk=key).update(object_id=999_000 + number)

    page = Page(client.get(f"{path}?q=title:nets").text)

    # The last option leads to all results.
    assert len(page.all("a", role="option")) == 8 + 1


@pytest.mark.parametrize("row_count", [1, 3])
@pytest.mark.parametrize(("path", "queries"), [("/2021/search/", 16), ("/search/", 16)])
def test_query_count_is_the_same_for_1_and_3_hits_of_each_kind(
    client: Client,
    edition: Edition,
    path: str,
    row_count: int,
    queries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(row_count):
        session = make.make_session(edition, title=f"Pistons {number}")
        make.add_role(session, f"Pistons Moderator {number}")
        make.make_presentation(session, title="Pistons", speakers=["Pistons Speaker"])
        paper = make.make_paper(edition, [f"Pistons Author {number}"], title=f"Pistons {number}")
        make.make_presentation(session, paper)
        make.make_page(edition, title="Pistons")
    client.get(f"{path}?q=pistons")

    with django_assert_num_queries(queries):
        client.get(f"{path}?q=pistons")


def test_opensearch_description_is_valid_and_linked(client: Client, edition: Edition) -> None:
    response = client.get("/opensearch.xml")
    tree = ElementTree.fromstring(response.content)  # noqa: S314  our own answer
    url = tree.find("{*}Url")

    assert response.headers["Content-Type"] == "application/opensearchdescription+xml; charset=utf-8"
    assert url is not None
    assert url.attrib["template"] == "http://127.0.0.1:8000/search/?q={searchTerms}"
    links = Page(client.get("/2021/").content.decode()).all("link", rel="search")
    assert [link.attributes["href"] for link in links] == ["/opensearch.xml"]
