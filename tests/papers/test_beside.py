"""What stands beside a paper: its neighbors in each session, papers like it, its address to share."""

import pytest
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from pagecache import per_revision
from papers.models import Paper
from papers.related import most_similar
from search.index import DocumentRecord, index
from tests import factories as make
from tests.reading import Page, read

pytestmark = pytest.mark.django_db


def ways(page: Page) -> list[list[str]]:
    """The links of each bar of neighbors."""
    bars = [one for one in page.all("nav", "section") if "Previous and next" in one.attributes["aria-label"]]
    return [[link.text for link in bar.inside("a")] for bar in bars]


def related(page: Page) -> list[str]:
    return page.texts("h3", "title")


def test_neighbors_stand_in_the_order_in_which_one_walks(client: Client, edition: Edition) -> None:
    hall = make.make_session(edition, title="Hall", kind="poster")
    for title, board in (("Ten", "10"), ("Nine", "9"), ("Two", "2")):
        make.make_presentation(hall, make.make_paper(edition, title=title), kind="poster", board=board)
    nine = Paper.objects.get(title="Nine")
    oral = make.make_session(edition, title="Oral")
    make.make_presentation(oral, nine)
    make.make_presentation(oral, make.make_paper(edition, title="Last"))

    page = read(client, nine.get_absolute_url())

    assert sorted(ways(page)) == [["Next Last"], ["Previous Two", "Next Ten"]]


def test_neighbors_of_one_position_stand_as_they_came(client: Client, edition: Edition) -> None:
    session = make.make_session(edition)
    papers = [make.make_paper(edition, title=title) for title in ("One", "Two", "Three")]
    talks = [make.make_presentation(session, paper) for paper in papers]
    type(talks[0]).objects.update(position=1)
    # PostgreSQL puts a row that was written last behind the others.
    type(talks[0]).objects.filter(pk=talks[0].pk).update(kind="talk")

    assert ways(read(client, papers[1].get_absolute_url())) == [["Previous One", "Next Three"]]


def test_neighbors_leave_out_drafts_and_what_is_called_off(client: Client, edition: Edition) -> None:
    hall = make.make_session(edition)
    one, *others = (make.make_paper(edition, title=title) for title in ("One", "Off", "Draft"))
    for paper in (one, *others):
        make.make_presentation(hall, paper)
    others[0].presentations.update(status="cancelled")
    others[1].status = "draft"
    others[1].save()

    assert ways(read(client, one.get_absolute_url())) == []


def test_related_papers_share_authors_of_any_year_topic_and_words(client: Client, edition: Edition) -> None:
    topic, ada = make.make_topic(edition), make.make_person("Ada")
    paper = make.make_paper(edition, [ada], title="Sparse attention", topic=topic, keywords=["Kernels"])
    make.make_paper(make.make_edition(2020), [ada], title="By Ada")
    make.make_paper(edition, title="On kernels", topic=topic, keywords=["kernels"])
    make.make_paper(edition, title="Attention", topic=topic)
    make.make_paper(edition, title="Attention elsewhere")
    make.make_paper(edition, [ada], title="Draft", topic=topic, status="draft")

    page = read(client, paper.get_absolute_url())

    assert related(page) == ["By Ada", "On kernels", "Attention"]


def test_related_papers_share_words_where_they_are_indexed(client: Client, edition: Edition) -> None:
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
    index(
        DocumentRecord(
            "paper", paper.pk, paper.uid, paper.title, edition=paper.edition_id, body=paper.abstract
        )
        for paper in papers
    )
    papers[3].status = "draft"
    papers[3].save()

    assert related(read(client, papers[0].get_absolute_url())) == ["Older", "Other"]


def test_likest_is_the_same_each_time() -> None:
    paper = Paper(pk=1, keywords=[], sort_title="quantised kernels")
    rows: list[tuple[int, list[str], str]] = [(key, [], "kernels") for key in (9, 3, 7, 5, 2, 8)]

    assert most_similar(paper, [], rows) == [2, 3, 5, 7, 8]


def test_address_is_there_to_share_and_as_a_code(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="p1", title="Notes")

    page = read(client, f"{paper.get_absolute_url()}?utm_source=mail")

    address = "http://127.0.0.1:8000/2021/papers/p1/notes/"
    assert page.links()[address] == address
    assert len(page.all("svg", "qr")) == 1
    assert page.all("button", **{"data-copy": "share"})[0].text == "Copy link"


def test_links_name_the_host_and_load_nothing(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition)
    make.make_material(paper, "video", url="https://www.video.example/v/1")

    page = read(client, paper.get_absolute_url())

    assert page.links()["Video video.example"] == "https://www.video.example/v/1"
    assert page.all("iframe") == page.all("video") == page.all("img") == []


def test_queries_are_the_same_among_few_and_many(
    client: Client, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.make_menu_item(edition)
    topic, hall = make.make_topic(edition), make.make_session(edition)
    for number in range(6):
        paper = make.make_paper(edition, [f"Ada {number}"], title="Kernels", topic=topic, uid=f"p{number}")
        make.make_presentation(hall, paper)
        if number in {2, 5}:
            per_revision.clear()
            with django_assert_num_queries(16):
                read(client, "/2021/papers/p1/kernels/")
