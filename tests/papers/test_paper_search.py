"""Tests that the list of papers finds the same as the search of its edition, in the same order."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from conference.models import Edition
from operations.indexing.update import refresh
from pagecache.keys import parse_address
from people.models import PersonName
from tests import factories as make
from tests.html_pages import Page, read

pytestmark = pytest.mark.django_db

URL = "/2021/papers/"
DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def edition(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program)


def make_program() -> Edition:
    """Create posters on Tuesday and Wednesday, an oral, a tutorial on Monday without papers, two topics."""
    edition = make.make_edition()
    hall, loft = make.make_room(edition, "Hall A", slug="a"), make.make_room(edition, "Loft", slug="l")
    robots = make.make_topic(edition, "Robotics", slug="robotics")
    theory = make.make_topic(edition, "Theory", slug="theory")
    tuesday = make.make_session(edition, title="Posters 1", kind="poster", room=hall)
    wednesday = make.make_session(
        edition, title="Posters 2", kind="poster", room=hall, start=make.MORNING + DAY
    )
    orals = make.make_session(edition, title="Scaling session", room=loft)
    make.make_session(edition, title="Robotics", kind="tutorial", start=make.MORNING - DAY)
    eva = make.make_person("Eva Šimek")
    PersonName.objects.create(person=eva, name="Eva Quetzal")
    PersonName.objects.create(person=eva, name="Eva Secret", hidden=True)
    for uid, title, topic, session, abstract in (
        ("a", "Zebras and scaling laws", robots, tuesday, "Of steam."),
        ("b", "Scaling laws", theory, wednesday, "Of sails."),
        ("c", "Arms", robots, wednesday, "The scaling of laws, and Straßenbahnen."),
        ("d", "深度学习 for arms", theory, wednesday, "Skalierung von Pumpen."),
    ):
        authors = [eva] if uid == "c" else [f"Ada {uid.upper()}"]
        paper = make.make_paper(edition, authors, uid=uid, title=title, topic=topic, abstract=abstract)
        make.make_presentation(session, paper, kind="poster", board=f"{ord(uid)}")
        if uid == "a":
            make.make_presentation(orals, paper)
    refresh()
    return edition


def list_results(client: Client, words: str, language: str = "", **parameters: str) -> list[str]:
    return [
        link.attributes["href"].split("/papers/")[1].partition("/")[0]
        for title in fetch_list(client, words, language, **parameters).all("h2", "title")
        for link in title.inside("a")
    ]


def fetch_list(client: Client, words: str, language: str = "", **parameters: str) -> Page:
    response = client.get(f"{language}{URL}", {"q": words, **parameters})
    assert response.status_code == 200
    return Page(response.content.decode())


def edition_search_results(client: Client, words: str, language: str = "") -> list[str]:
    response = client.get(f"{language}/2021/search/", {"q": words, "kind": "paper"})
    return [
        link.attributes["href"].split("/papers/")[1].partition("/")[0]
        for title in Page(response.content.decode()).all("h3", "title")
        for link in title.inside("a")
    ]


SEARCHES = [
    # The title counts more than the abstract.
    ("scaling", "", ["b", "a", "c"]),
    ("steam", "", ["a"]),
    ("strassenbahn", "", ["c"]),
    ("Straßenbahn", "", ["c"]),
    ("SIMEK", "", ["c"]),
    ("šimek arms", "", ["c"]),
    ("  Zébras ", "", ["a"]),
    ('author:"ada d"', "", ["d"]),
    # A name of an author that no paper has.
    ("quetzal", "", ["c"]),
    ("secret", "", []),
    ("steam absent", "", []),
    ("学习", "", ["d"]),
    ("深度", "", ["d"]),
    ("习学", "", []),
    ('"scaling laws"', "", ["b", "a"]),
    ("laws -sails", "", ["a", "c"]),
    ("-scaling", "", []),
    ("%", "", []),
    ("_", "", []),
    ("scalign", "", ["b", "a", "c"]),
    # Words that name kinds, days, rooms or topics.
    ("posters wednesday", "", ["c", "b", "d"]),
    ("posters on scaling wednesday", "", ["b", "c"]),
    ("posters -scaling", "", ["d"]),
    ('scaling day:tuesday room:"hall a"', "", ["a"]),
    ("scaling loft", "", ["a"]),
    ("topic:theory", "", ["b", "d"]),
    ("robotics", "", ["a", "c"]),
    ("arms robotics", "", ["c"]),
    ("monday", "", []),
    ("tutorials", "", []),
    ("Poster über Skalierung Mittwoch", "/de", ["d"]),
    ("Poster am Dienstag", "/de", ["a"]),
    ("posters on scaling wednesday", "/de", ["b", "c"]),
]


def test_list_and_edition_search_find_the_same_papers_in_order(
    client: Client, edition: Edition, subtests: pytest.Subtests
) -> None:
    for words, language, expected in SEARCHES:
        with subtests.test(words=words, language=language):
            assert (
                list_results(client, words, language)
                == edition_search_results(client, words, language)
                == expected
            )


def test_filter_words_become_chips_and_stay_in_the_search_box(client: Client, edition: Edition) -> None:
    page = fetch_list(client, "posters on scaling wednesday", topic="theory")
    chips = {link.text: link.attributes["href"] for link in page.all("ul", "picked")[0].inside("a")}

    assert chips == {
        "Without Words scaling": "?topic=theory&kind=poster&day=2021-04-07",
        "Without Topic Theory": "?q=scaling&kind=poster&day=2021-04-07",
        "Without Presented as Poster": "?q=scaling&topic=theory&day=2021-04-07",
        "Without Day Wed 7 Apr": "?q=scaling&topic=theory&kind=poster",
        "Clear all": URL,
    }
    assert [box.attributes["value"] for box in page.all("input", id="q")] == ["posters on scaling wednesday"]
    hidden = {
        element.attributes["name"]: element.attributes["value"]
        for element in page.all("input", type="hidden")
    }
    assert hidden == {"topic": "theory"}
    plain = page.links()["Search for “posters”, “wednesday” as plain words"]
    assert plain == "?q=posters+on+scaling+wednesday&plain=posters%2Cwednesday&topic=theory"
    assert read(client, f"{URL}{plain}").texts("h2", "title") == []


def test_facets_are_counted_over_search_results(client: Client, edition: Edition) -> None:
    page = fetch_list(client, "scaling")
    lists = {element.attributes.get("aria-labelledby"): element for element in page.all("ul")}

    def facet_choices(name: str) -> list[str]:
        return [link.text for link in lists[f"facet-{name}"].inside("a")]

    assert page.outline[0] == "1 Papers 3"
    assert facet_choices("topic") == ["Robotics 2", "Theory 1"]
    assert facet_choices("day") == ["Tue 6 Apr 1", "Wed 7 Apr 2"]


def test_order_is_relevance_unless_another_is_chosen(client: Client, edition: Edition) -> None:
    order_labels = [link.text for link in fetch_list(client, "scaling").all("nav", "segments")[0].inside("a")]

    assert order_labels == ["Best match", "Title", "Time", "Board", "Random"]
    assert list_results(client, "scaling", sort="title") == ["c", "b", "a"]
    assert list_results(client, "scaling", sort="board") == ["a", "b", "c"]
    grouped = fetch_list(client, "scaling", by="topic")
    assert grouped.outline[1:] == [
        "2 Robotics",
        "3 Zebras and scaling laws",
        "3 Arms",
        "2 Theory",
        "3 Scaling laws",
    ]
    assert [link.text for link in read(client, URL).all("nav", "segments")[0].inside("a")] == order_labels[1:]


def test_list_without_results_says_so(client: Client, edition: Edition) -> None:
    assert fetch_list(client, "absent").outline == ["1 Papers 0", "2 No matching papers"]


def test_typo_is_corrected_and_reported(client: Client, edition: Edition) -> None:
    sentence = "Nothing was found for “scalign”. These are results for scaling."

    assert sentence in fetch_list(client, "scalign").main


def test_changed_papers_are_found_immediately(client: Client, edition: Edition) -> None:
    make.make_paper(edition, uid="e", title="Pistons")
    assert list_results(client, "pistons") == ["e"]

    edition.papers.filter(uid="e").update(status="withdrawn")
    assert list_results(client, "pistons") == []


def test_bibtex_of_a_filtered_list_has_its_papers(client: Client, edition: Edition) -> None:
    page = fetch_list(client, "posters on scaling wednesday")
    response: Any = client.get(page.links()["BibTeX"])
    bibtex = response.getvalue().decode()

    assert sorted(entry.split(",\n")[0] for entry in bibtex.split("@")[1:]) == [
        "inproceedings{mlsys2021.b",
        "inproceedings{mlsys2021.c",
    ]


def test_search_parameters_are_known_to_the_page_cache() -> None:
    query = "q=robotics&plain=robotics&as=poster"

    assert parse_address("/2021/search/", query).query == "as=poster&plain=robotics&q=robotics"
    assert parse_address(URL, query).key is None
