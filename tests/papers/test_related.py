"""Tests of related papers: neighbors in sessions, similar papers, similar posters of the day."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from pagecache import per_revision
from papers.models import Paper
from papers.related import find_related, most_similar, similar_papers
from search.index import DocumentRecord, index_documents
from tests import factories as make
from tests.html_pages import Page, read

pytestmark = pytest.mark.django_db


def neighbor_links(page: Page) -> list[list[str]]:
    """Return the texts of the links of each bar of neighbors."""
    bars = [
        element
        for element in page.all("nav", "section")
        if "Previous and next" in element.attributes["aria-label"]
    ]
    return [[link.text for link in bar.inside("a")] for bar in bars]


def related_titles(page: Page) -> list[str]:
    return page.texts("h3", "title")


def test_neighbors_are_in_order_of_board(client: Client, edition: Edition) -> None:
    hall = make.make_session(edition, title="Hall", kind="poster")
    for title, board in (("Ten", "10"), ("Nine", "9"), ("Two", "2")):
        make.make_presentation(hall, make.make_paper(edition, title=title), kind="poster", board=board)
    nine = Paper.objects.get(title="Nine")
    oral = make.make_session(edition, title="Oral")
    make.make_presentation(oral, nine)
    make.make_presentation(oral, make.make_paper(edition, title="Last"))

    page = read(client, nine.get_absolute_url())

    assert sorted(neighbor_links(page)) == [["Next Last"], ["Previous Two", "Next Ten"]]


def test_neighbors_with_equal_positions_are_in_order_of_creation(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    papers = [make.make_paper(edition, title=title) for title in ("One", "Two", "Three")]
    talks = [make.make_presentation(session, paper) for paper in papers]
    type(talks[0]).objects.update(position=1)
    # Among rows with equal positions, PostgreSQL returns the row that was updated last after the others.
    type(talks[0]).objects.filter(pk=talks[0].pk).update(kind="talk")

    assert neighbor_links(read(client, papers[1].get_absolute_url())) == [["Previous One", "Next Three"]]


def test_neighbors_omit_drafts_and_cancelled_talks(client: Client, edition: Edition) -> None:
    hall = make.make_session(edition)
    one, *others = (make.make_paper(edition, title=title) for title in ("One", "Off", "Draft"))
    for paper in (one, *others):
        make.make_presentation(hall, paper)
    others[0].presentations.update(status="cancelled")
    others[1].status = "draft"
    others[1].save()

    assert neighbor_links(read(client, one.get_absolute_url())) == []


def test_related_papers_share_an_author_or_the_topic(client: Client, edition: Edition) -> None:
    topic, ada = make.make_topic(edition), make.make_person("Ada")
    paper = make.make_paper(edition, [ada], title="Sparse attention", topic=topic, keywords=["Kernels"])
    make.make_paper(make.make_edition(2020), [ada], title="By Ada")
    make.make_paper(edition, title="On kernels", topic=topic, keywords=["kernels"])
    make.make_paper(edition, title="Attention", topic=topic)
    make.make_paper(edition, title="Attention elsewhere")
    make.make_paper(edition, [ada], title="Draft", topic=topic, status="draft")

    page = read(client, paper.get_absolute_url())

    assert related_titles(page) == ["By Ada", "On kernels", "Attention"]


def test_related_papers_share_words_of_the_search_index(client: Client, edition: Edition) -> None:
    texts = {
        "One": "sparse attention kernels",
        "Other": "sparse kernels",
        "Far": "steam",
        "Draft": "sparse kernels",
    }
    papers = [make.make_paper(edition, title=title, abstract=text) for title, text in texts.items()]
    papers.append(
        make.make_paper(make.make_edition(2020), title="Older", abstract="attention kernels; sparse")
    )
    index_documents(
        DocumentRecord(
            "paper", paper.pk, paper.uid, paper.title, edition=paper.edition_id, body=paper.abstract
        )
        for paper in papers
    )
    papers[3].status = "draft"
    papers[3].save()

    assert related_titles(read(client, papers[0].get_absolute_url())) == ["Older", "Other"]


@pytest.mark.parametrize(("similar_count", "expected_count"), [(1, 1), (5, 5), (6, 5)])
def test_at_most_five_similar_papers_are_found(
    edition: Edition, similar_count: int, expected_count: int
) -> None:
    titles = ["Garbage collection for databases"] * (1 + similar_count) + ["Speech"] * 9
    papers = [make.make_paper(edition, ["Ada"], title=title) for title in titles]
    index_documents(DocumentRecord("paper", paper.pk, paper.uid, paper.title) for paper in papers)
    similar = similar_papers(edition.papers.published(), papers[0])

    assert len(similar) == expected_count
    assert {*similar} <= {paper.pk for paper in papers[1 : 1 + similar_count]}


def test_most_similar_papers_are_in_a_stable_order() -> None:
    paper = Paper(pk=1, keywords=[], sort_title="quantised kernels")
    rows: list[tuple[int, list[str], str]] = [(key, [], "kernels") for key in (9, 3, 7, 5, 2, 8)]

    assert most_similar(paper, [], rows) == [2, 3, 5, 7, 8]


def test_query_count_is_the_same_for_3_and_6_related_papers(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_menu_item(edition)
    topic, hall = make.make_topic(edition), make.make_session(edition)
    for number in range(6):
        paper = make.make_paper(edition, [f"Ada {number}"], title="Kernels", topic=topic, uid=f"p{number}")
        make.make_presentation(hall, paper)
        if number in {2, 5}:
            per_revision.clear_caches()
            with django_assert_num_queries(16):
                read(client, "/2021/papers/p1/kernels/")


# Similar posters


def make_posters() -> dict[str, Any]:
    """Create a poster with a topic and keywords, others in the same session, and one on the next day."""
    edition = make.make_edition()
    topic = make.make_topic(edition)
    evening = make.make_session(edition, kind="poster", title="Evening")
    next_day = make.make_session(edition, kind="poster", start=make.MORNING + timedelta(days=1))
    posters: dict[str, Any] = {"edition": edition}
    for name, session, fields in (
        ("own", evening, {"topic": topic, "keywords": ["Caches", "TPU"]}),
        ("keywords", evening, {"keywords": ["caches", "tpu", "disks"]}),
        ("keyword", evening, {"keywords": ["TPU"]}),
        ("both", evening, {"topic": topic, "keywords": ["caches"]}),
        ("neither", evening, {"keywords": ["disks"]}),
        ("next day", next_day, {"topic": topic}),
        ("draft", evening, {"topic": topic, "status": "draft"}),
    ):
        posters[name] = make.make_paper(edition, ["Ada"], title=name, uid=name.replace(" ", "-"), **fields)
        make.make_presentation(session, posters[name], kind="poster", board="7")
    return posters


def with_details(paper: Any) -> Paper:
    detailed: Paper = Paper.objects.with_details().get(pk=paper.pk)
    return detailed


def similar_titles(paper: Any) -> list[str]:
    return [poster.paper.title for poster in find_related(with_details(paper)).posters]


def test_most_similar_posters_come_first_and_other_days_are_omitted() -> None:
    posters = make_posters()

    assert similar_titles(posters["own"]) == ["both", "keywords", "keyword"]
    assert similar_titles(posters["neither"]) == ["keywords"]
    assert similar_titles(posters["next day"]) == []


def test_equally_similar_posters_are_in_order_of_time_with_each_paper_once() -> None:
    edition, later = make.make_edition(), make.MORNING + timedelta(hours=1)
    session = make.make_session(edition, kind="poster", title="Evening")
    papers = {name: make.make_paper(edition, title=name, keywords=["TPU"]) for name in ("Own", "C", "B", "A")}
    make.make_presentation(session, papers["Own"], kind="poster")
    rows = [("C", later, 1), ("B", make.MORNING, 2), ("A", make.MORNING, 2), ("A", make.MORNING, 1)]
    for name, starts, position in rows:
        talk = make.make_presentation(session, papers[name], kind="poster", start=starts)
        type(talk).objects.filter(pk=talk.pk).update(position=position)

    assert similar_titles(papers["Own"]) == ["A", "B", "C"]


def test_paper_without_poster_or_keywords_has_no_similar_posters() -> None:
    edition = make.make_edition()
    talk_paper = make.make_paper(edition, keywords=["caches"])
    make.make_presentation(make.make_session(edition), talk_paper)
    plain_paper = make.make_paper(edition)
    make.make_presentation(make.make_session(edition, kind="poster"), plain_paper, kind="poster")
    papers = [with_details(talk_paper), with_details(plain_paper)]

    assert [find_related(paper).posters for paper in papers] == [[], []]


def test_query_count_is_the_same_for_2_and_3_similar_posters(django_assert_num_queries: Any) -> None:
    posters = make_posters()
    for number in (1, 3):
        Paper.objects.filter(title="keyword").update(status="published" if number == 3 else "draft")
        paper = with_details(posters["own"])
        per_revision.clear_caches()
        with django_assert_num_queries(7):
            find_related(paper)


def test_paper_page_lists_similar_posters(client: Client) -> None:
    page = read(client, make_posters()["own"].get_absolute_url())

    assert "2 Similar posters on the same day" in page.outline
    start = page.outline.index("2 Similar posters on the same day")
    assert page.outline[start + 1 : start + 4] == ["3 both", "3 keywords", "3 keyword"]


def test_posters_of_a_two_day_session_are_related_within_their_day() -> None:
    edition, next_day = make.make_edition(), make.MORNING + timedelta(days=1)
    two_day_session = make.make_session(edition, kind="poster", end=next_day + timedelta(days=1))
    for title, start in (("One", None), ("Two", next_day), ("Three", next_day)):
        paper = make.make_paper(edition, title=title, keywords=["TPU"])
        make.make_presentation(two_day_session, paper, kind="poster", start=start)
    paper = make.make_paper(edition, title="Four", keywords=["TPU"])
    make.make_presentation(make.make_session(edition, kind="poster", start=next_day), paper, kind="poster")

    titles_by_paper = {paper.title: sorted(similar_titles(paper)) for paper in edition.papers.all()}
    assert titles_by_paper == {"One": [], "Two": ["Four", "Three"], "Three": ["Four", "Two"], "Four": []}
