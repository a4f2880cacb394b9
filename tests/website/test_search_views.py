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
from tests.reading import Page, read

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


def marked(page: Page) -> list[str]:
    return page.texts("mark")


def test_search_of_an_edition_finds_all_kinds(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=graphs")

    assert sorted(titles(page)) == ["Graphs at work", "Graphs for all", "On n graphs & nets", "Visit"]
    assert {word.lower() for word in marked(page)} == {"graphs"}
    assert "4 results with “graphs” · MLSys 2021 · Search all years" in page.main
    assert [link.text for link in page.all("nav", "segments")[0].inside("a")] == [
        "All", "Papers 1", "Sessions 1", "Talks 1", "Pages 1",
    ]  # fmt: skip


def test_search_of_all_years_names_the_edition(client: Client, edition: Edition) -> None:
    page = read(client, "/search/?q=title:graphs+again")

    assert titles(page) == ["Graphs again"]
    assert page.texts("p", "kind") == ["MLSys 2022"]


def test_finding_shows_people_award_time_and_the_passage(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=simek+steam")

    assert marked(page) == ["Šimek", "steam"]
    for words in ("Eva Šimek", "Of steam engines.", "Best Paper", "Tue 6 Apr, 08:00 PDT"):
        assert words in page.main, words
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
def test_kind_narrows(client: Client, edition: Edition, kind: str, expected: list[str]) -> None:
    page = read(client, f"/2021/search/?q=graphs&kind={kind}")

    assert titles(page) == expected
    assert [link.text for link in page.all("a", **{"aria-current": "page"})] != ["All"]


def test_typing_error_is_corrected_and_reported(client: Client, edition: Edition) -> None:
    page = read(client, "/2021/search/?q=grpahs")

    assert "Nothing was found for “grpahs”. These are results for graphs." in page.main
    assert len(titles(page)) == 4


def test_hidden_name_corrects_nothing(client: Client, edition: Edition) -> None:
    person = Paper.objects.get(uid="p1").authorships.get().person
    PersonName.objects.create(person=person, name="Eva Quetzalcoatl", hidden=True)

    assert "Nothing found" in read(client, "/2021/search/?q=quetzalcoatk").main


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Papers, people, sessions, talks and pages of MLSys 2021."),
        ("?q=zzz", "Nothing found"),
        ("?q=-graphs", "Add at least one word to search for."),
        ("?q=!", "Add at least one word to search for."),
    ],
)
def test_empty_result_says_what_to_do(client: Client, edition: Edition, query: str, words: str) -> None:
    page = read(client, f"/2021/search/{query}")

    assert words in page.main
    assert titles(page) == []


@pytest.mark.parametrize("query", ["page=2", "page=x", "page=0", "kind=xyz", "q=graphs&page=2&kind=paper"])
def test_bad_value_is_a_400_that_names_it(client: Client, edition: Edition, query: str) -> None:
    page = read(client, f"/2021/search/?{query}", status=400)

    assert "isn’t a valid value" in page.main


@pytest.mark.parametrize(
    "words", ["%00", '"', "author:", "a" * 5000, "%F0%9F%98%80", "(a OR b) NEAR *", "'; --"]
)
def test_any_words_are_answered(client: Client, edition: Edition, words: str) -> None:
    assert client.get(f"/2021/search/?q={words}").status_code == 200
    assert client.get(f"/2021/search/suggest?q={words}").status_code == 200


def test_result_pages_are_numbered(client: Client, edition: Edition) -> None:
    for number in range(45):
        make.make_paper(edition, title=f"Pistons {number}")

    page = read(client, "/2021/search/?q=pistons&kind=paper&page=3")

    assert len(titles(page)) == 5
    assert page.links()["Previous"] == "?q=pistons&kind=paper&page=2"
    assert page.all("ol", "papers")[0].attributes["start"] == "41"


def test_papers_of_an_edition_are_all_counted_and_narrowed(
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


def test_result_page_is_for_no_search_engine(client: Client, edition: Edition) -> None:
    response = client.get("/2021/search/?q=graphs")

    assert Page(response.content.decode()).all("meta", name="robots", content="noindex")


def test_titles_and_words_are_escaped(client: Client, edition: Edition) -> None:
    make.make_page(edition, title="A <b>bold</b> page")
    found = client.get("/2021/search/?q=bold").content.decode()
    typed = client.get("/2021/search/?q=<i>bold").content.decode()

    assert "A &lt;b&gt;<mark>bold</mark>&lt;/b&gt; page" in found
    assert 'value="&lt;i&gt;bold"' in typed
    assert "<i>" not in typed


def test_suggestions_are_options_with_links(client: Client, edition: Edition) -> None:
    page = Page(client.get("/2021/search/suggest?q=grap").content.decode())

    assert sorted(option.text for option in page.all("a", role="option")) == [
        "Graphs at work Invited talk · Grace Hopper Tue 6 Apr, 08:00 to 09:00 PDT",
        "Graphs for all Talk · Alan Turing Tue 6 Apr, 08:00 to 09:00 PDT",
        "On n graphs & nets Paper · Eva Šimek Tue 6 Apr, 08:00 PDT",
        "“grap” All results",
    ]
    assert all(link.attributes["href"].startswith("/2021/") for link in page.all("a"))


def test_box_on_every_page_asks_where_the_page_is(client: Client, edition: Edition) -> None:
    make.make_edition(2023)

    def actions(path: str) -> list[str]:
        return [form.attributes["action"] for form in read(client, path).all("form", "search")]

    # Pages of all years have the header of the current edition, if the site has a single conference.
    assert actions("/2021/papers/") == ["/2021/search/"]
    assert actions("/people/") == ["/2023/search/"]
    make.make_edition(2022, conference=make.make_conference(slug="icml", name="ICML"), slug="icml-2022")
    assert actions("/people/") == ["/search/"]


def test_hit_that_is_no_longer_there_is_left_out(client: Client, edition: Edition) -> None:
    read(client, "/2021/search/?q=graphs")
    Document.objects.filter(kind="paper", key="p1").update(object_id=999_999)

    assert "On n graphs & nets" not in titles(read(client, "/2021/search/?q=graphs"))


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(("path", "number_of_queries"), [("/2021/search/", 16), ("/search/", 16)])
def test_queries_do_not_grow_with_hits(
    client: Client,
    edition: Edition,
    path: str,
    times: int,
    number_of_queries: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(times):
        session = make.make_session(edition, title=f"Pistons {number}")
        make.add_role(session, f"Pistons Moderator {number}")
        make.make_presentation(session, title="Pistons", speakers=["Pistons Speaker"])
        paper = make.make_paper(edition, [f"Pistons Author {number}"], title=f"Pistons {number}")
        make.make_presentation(session, paper)
        make.make_page(edition, title="Pistons")
    client.get(f"{path}?q=pistons")

    with django_assert_num_queries(number_of_queries):
        client.get(f"{path}?q=pistons")


def test_browsers_can_read_where_to_search(client: Client, edition: Edition) -> None:
    response = client.get("/opensearch.xml")
    tree = ElementTree.fromstring(response.content)  # noqa: S314  our own answer
    url = tree.find("{*}Url")

    assert response.headers["Content-Type"] == "application/opensearchdescription+xml; charset=utf-8"
    assert url is not None
    assert url.attrib["template"] == "http://127.0.0.1:8000/search/?q={searchTerms}"
    links = Page(client.get("/2021/").content.decode()).all("link", rel="search")
    assert [link.attributes["href"] for link in links] == ["/opensearch.xml"]
