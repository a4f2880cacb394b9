"""Tests of the statistics of an edition: counts, positions of bars, omitted rows, queries."""

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from content.revision import lock
from pagecache import per_revision
from papers.statistics import Value, bar_chart, basis_sentence, column_chart, shorten_label
from papers.world_map import TILES, tile_of
from people.models import Institution
from tests import factories as make
from tests.html_pages import Page, read

URL = "/2022/statistics/"
db = pytest.mark.django_db


def table_rows(page: Page) -> dict[str, list[str]]:
    """Return the texts of the rows of each table, by the heading of its section."""
    return {
        section.inside("h2")[0].text: [row.text for row in section.inside("tr")[1:]]
        for section in page.all("section")
        if section.inside("table")
    }


@pytest.fixture
@lock()
def editions() -> tuple[Edition, Edition]:
    """Create two papers in 2021, by Ada and Alan, and three in 2022, by Ada, Mia and Zoe."""
    old, new = make.make_edition(2021), make.make_edition(2022)
    ada = make.make_person("Ada")
    make.make_paper(old, [ada])
    make.make_paper(old, [ada, "Alan"])
    vision, theory = make.make_topic(new, "Vision", slug="vision"), make.make_topic(new, "Theory")
    faces = make.make_topic(new, "Faces", parent=vision)
    eth, mit = make.make_institution("ETH", slug="eth"), make.make_institution("MIT", slug="mit")
    rows = ((ada, "", vision, eth), (ada, "Mia", faces, eth), ("Zoe", "", theory, mit))
    for first, second, topic, institution in rows:
        paper = make.make_paper(new, [first, second] if second else [first], topic=topic)
        paper.authorships.get(position=1).institutions.add(institution)
        make.make_presentation(make.make_session(new, start=make.MORNING + timedelta(days=365)), paper)
    last = new.papers.latest("pk")
    make.make_presentation(None, last, kind="poster")
    make.make_presentation(None, last, kind="demo", status="cancelled")
    return old, new


@db
def test_tables_count_public_rows(client: Client, editions: tuple[Edition, Edition]) -> None:
    make.make_paper(editions[1], status="draft")

    page = read(client, URL)

    assert table_rows(page) == {
        "Papers by topic": ["Vision2", "Theory1"],
        "Papers by institution, top 20": ["ETH2", "MIT1"],
        "Authors per paper": ["12", "21"],
        "Presentations by kind": ["Oral3", "Poster1"],
        "Papers by year": ["20212", "20223"],
        "Authors by year": ["20212", "20223"],
    }
    assert page.links()["ETH"] == "/2022/papers/?institution=eth"


@db
def test_map_shows_countries_under_normalized_names(
    client: Client, editions: tuple[Edition, Edition]
) -> None:
    for slug, country in (("eth", "Switzerland"), ("mit", "U.S.A.")):
        Institution.objects.filter(slug=slug).update(country=country)
    paper = make.make_paper(editions[1], ["Ina"])
    paper.authorships.get().institutions.add(make.make_institution("Lab", slug="lab", country="Atlantis"))
    per_revision.clear_caches()

    page = read(client, URL)

    title = "Papers by country of institution"
    assert table_rows(page)[title] == ["Switzerland2", "Atlantis1", "United States1"]
    (world_map,) = page.all("svg", "map")
    assert [element.text for element in world_map.inside("title")] == ["United States: 1", "Switzerland: 2"]
    levels = {
        element.attributes["class"]: element.text
        for element in world_map.inside("g")
        if element.inside("title")
    }
    assert levels == {"level-4": "USUnited States: 1", "level-5": "CHSwitzerland: 2"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Republic of Korea", "KR"),
        ("Türkiye", "TR"),
        ("Turkey", "TR"),
        ("the Netherlands", "NL"),
        ("CÔTE D'IVOIRE", "CI"),
        ("us", "US"),
        ("P.R. China", "CN"),
    ],
)
def test_country_is_found_by_its_variants(name: str, code: str) -> None:
    tile = tile_of(name)
    assert tile
    assert tile.code == code


def test_countries_have_separate_squares_on_the_map() -> None:
    assert (
        len({(tile.column, tile.row) for tile in TILES}) == len({tile.code for tile in TILES}) == len(TILES)
    )
    assert tile_of("Atlantis") is None


@db
def test_charts_state_how_many_papers_they_cover(client: Client, editions: tuple[Edition, Edition]) -> None:
    """Without this line, the numbers would seem to be those of the whole program."""
    make.make_paper(editions[1])

    assert read(client, URL).texts("p", "quiet")[:4] == [
        "Based on 3 of 4 papers.",
        "Based on 3 of 4 papers.",
        "Based on 3 of 4 papers.",
        "Based on 3 of 4 papers.",
    ]
    assert basis_sentence(823, 6628) == "Based on 823 of 6,628 papers."
    assert basis_sentence(6628, 6628) == "Based on all 6,628 papers."


@db
def test_charts_by_year_state_how_many_papers_they_cover(
    client: Client, editions: tuple[Edition, Edition]
) -> None:
    make.make_paper(editions[0])

    page = read(client, URL)

    bases = {
        section.inside("h2")[0].text: section.inside("p")[0].text
        for section in page.all("section")
        if section.inside("p")
    }
    assert bases["Papers by year"] == "Based on all 6 papers."
    assert bases["Authors by year"] == "Based on 5 of 6 papers."


@db
def test_share_of_returning_authors_starts_with_the_second_year(
    client: Client, editions: tuple[Edition, Edition]
) -> None:
    third = make.make_edition(2023)
    for person in ("New", "Newer"):
        make.make_paper(third, [person])

    shares = table_rows(read(client, URL))["Returning authors"]

    assert shares == ["202233 %", "20230 %"]


@db
def test_charts_have_descriptions(client: Client, editions: tuple[Edition, Edition]) -> None:
    page = read(client, URL)

    pictures = page.all("svg", "chart")
    assert {picture.attributes["role"] for picture in pictures} == {"img"}
    assert pictures[0].attributes["aria-labelledby"] == "topics-title topics-text"
    assert page.texts("desc")[0] == "2 values, from 1 (Theory) to 2 (Vision)."
    assert not [element for element in page.elements if "style" in element.attributes]


@db
def test_edition_without_papers_shows_an_empty_state(client: Client) -> None:
    make.make_edition(2022)

    assert len(read(client, URL).all("div", "empty")) == 1


@db
def test_query_count_is_the_same_for_3_and_4_papers(
    client: Client, editions: tuple[Edition, Edition], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_menu_item(editions[1])
    for number in range(2):
        per_revision.clear_caches()
        with django_assert_num_queries(21):
            read(client, URL)
        make.make_paper(editions[1], [f"Ada {number}", "Bea"], topic=make.make_topic(editions[1]))
        make.make_paper(make.make_edition(2030 + number), ["Ada"])


def test_bar_widths_are_proportional_to_values() -> None:
    chart = bar_chart("k", "Title", "Kind", [Value("A", 4), Value("B", 1), Value("C", 0)])

    assert [(mark.y, mark.width) for mark in chart.marks] == [
        ("22", "100.00%"),
        ("64", "25.00%"),
        ("106", "0.00%"),
    ]
    assert chart.height == 126


def test_column_heights_are_proportional_to_values() -> None:
    chart = column_chart("k", "Title", "Year", [Value("2021", 50), Value("2022", 100)])

    assert [(mark.x, mark.y, mark.height) for mark in chart.marks] == [
        ("7.00%", "97.0", "75.0"),
        ("57.00%", "22.0", "150.0"),
    ]


@pytest.mark.parametrize("values", [[], [Value("A", 0)]])
def test_empty_charts_are_drawn_without_error(values: list[Value]) -> None:
    assert bar_chart("k", "T", "H", values).description == column_chart("k", "T", "H", values).description


def test_long_label_is_shortened_between_words() -> None:
    label = "King Abdullah University of Science and Technology"

    assert shorten_label(label) == "King Abdullah University of Science …"
    assert shorten_label("MIT") == "MIT"
