"""Tests of the pages of institutions: the list, papers by year, people, queries."""

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from papers.models import Paper
from people.models import Institution
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def eth() -> Institution:
    return make.make_institution("ETH Zürich", slug="eth", country="Switzerland", aliases=["ETHZ"])


def make_paper_at(institution: Institution, edition: Edition, author: object, **fields: object) -> Paper:
    paper = make.make_paper(edition, [author], **fields)  # type: ignore[list-item]
    paper.authorships.get().institutions.add(institution)
    return paper


def test_list_shows_institutions_with_their_paper_counts_of_all_years(
    client: Client, edition: Edition
) -> None:
    mit, eth = make.make_institution("MIT"), make.make_institution("École normale", country="France")
    make_paper_at(mit, edition, "Ada")
    for year, author in ((2022, "Alan"), (2023, "Mia")):
        make_paper_at(eth, make.make_edition(year), author)
    make.make_institution("Nowhere")

    page = read(client, "/institutions/")

    assert page.outline == ["1 Institutions 2", "2 By name"]
    assert page.texts("ul", "names") == ["École normaleFrance · 2 papers MIT1 paper"]
    assert read(client, "/institutions/?letter=M").texts("ul", "names") == ["MIT1 paper"]


def test_page_shows_papers_by_year_newest_first(client: Client, edition: Edition, eth: Institution) -> None:
    ada = make.make_person("Ada")
    make_paper_at(eth, edition, ada, title="B")
    make_paper_at(eth, edition, "Alan", title="A")
    make_paper_at(eth, make.make_edition(2022), ada, title="C")
    make_paper_at(eth, edition, "Mia", title="Draft", status="draft")

    page = read(client, "/institutions/eth/")

    assert page.outline == ["1 ETH Zürich 3 papers", "2 MLSys 2022", "3 C", "2 MLSys 2021", "3 A", "3 B"]
    assert page.texts("ul", "chips") == ["MLSys 2022 1MLSys 2021 2"]
    assert page.links()["MLSys 2021 2"] == "/2021/papers/?institution=eth"
    assert page.texts("p", "quiet")[0] == "Switzerland · also ETHZ"


def test_page_shows_people_by_family_name(client: Client, edition: Edition, eth: Institution) -> None:
    for name in ("Mia Zorn", "Zoe Abel"):
        make_paper_at(eth, edition, name)
    make_paper_at(eth, edition, "Eve Draft", status="draft")

    page = read(client, "/institutions/eth/?show=people")

    assert page.texts("ul", "names") == ["Zoe AbelMia Zorn"]
    assert page.canonical == "http://127.0.0.1:8000/institutions/eth/?show=people"


def test_institution_with_only_drafts_has_no_page(client: Client, edition: Edition, eth: Institution) -> None:
    make_paper_at(eth, edition, "Ada", status="draft")

    assert client.get("/institutions/eth/").status_code == 404
    assert len(read(client, "/institutions/").all("div", "empty")) == 1


def test_invalid_parameter_is_refused_with_a_message(
    client: Client, edition: Edition, eth: Institution
) -> None:
    make_paper_at(eth, edition, "Ada")

    for path, name in (("/institutions/eth/?show=x", "show"), ("/institutions/?letter=x", "letter")):
        assert f"“x” isn’t a valid value for “{name}”" in read(client, path, 400).texts("p", "lead")[0]


@pytest.mark.parametrize(
    ("path", "queries"),
    [("/institutions/", 6), ("/institutions/eth/", 11), ("/institutions/eth/?show=people", 7)],
)
def test_query_count_is_the_same_for_1_and_3_papers(
    client: Client,
    edition: Edition,
    eth: Institution,
    django_assert_num_queries: DjangoAssertNumQueries,
    path: str,
    queries: int,
) -> None:
    for years in ([2022], [2023, 2024]):
        for year in years:
            paper = make_paper_at(eth, make.make_edition(year), f"Ada {year}")
            make.make_presentation(make.make_session(paper.edition), paper)
            make.make_award(paper.edition, [paper])
        with django_assert_num_queries(queries):
            read(client, path)
