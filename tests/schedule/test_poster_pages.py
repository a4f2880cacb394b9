"""Tests of sessions with many posters: pagination, filters, rows of boards, links to a board."""

import pytest
from django.test import Client

from conference.models import Edition
from content.revision import lock
from schedule.models import Presentation, Session
from schedule.poster_pages import board_row_name
from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def hall(edition: Edition, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Create eight posters in two rows of four, with three on a page."""
    monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", 2)
    monkeypatch.setattr("schedule.poster_pages.POSTERS_PER_PAGE", 3)
    session = make.make_session(edition, kind="poster", title="Wall")
    topics = [make.make_topic(edition, name, slug=name.lower()) for name in ("Vision", "Theory")]
    with lock():
        for index, board in enumerate(("A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4")):
            author = "Émile Borel" if index % 2 else "Ada Lovelace"
            paper = make.make_paper(edition, [author], title=f"Paper {board}", topic=topics[index // 4])
            make.make_presentation(session, paper, kind="poster", board=board, uid=f"on-{board}")
    return session


def listed_boards(client: Client, session: Session, query: str = "") -> list[str]:
    page = read(client, f"{session.get_absolute_url()}{query}")
    return [title.removeprefix("Paper ") for title in page.texts("h3", "title")]


def test_first_page_has_the_first_boards_and_links_to_the_rows(client: Client, hall: Session) -> None:
    page = read(client, hall.get_absolute_url())

    assert listed_boards(client, hall) == ["A1", "A2", "A3"]
    assert page.texts("h2", "label") == ["Boards A1 – A3"]
    assert [
        (link.text, link.attributes["href"]) for link in page.all("nav", "board-rows")[0].inside("a")
    ] == [
        ("Row A", "?page=1#row-a"),
        ("Row B", "?page=2#row-b"),
    ]
    assert page.texts("nav", "pages")[0].startswith("1 to 3 of 8")


def test_page_has_the_end_of_a_row_and_the_start_of_the_next(client: Client, hall: Session) -> None:
    assert read(client, f"{hall.get_absolute_url()}?page=2").texts("h2", "label") == [
        "Boards A4",
        "Boards B1 – B2",
    ]
    assert listed_boards(client, hall, "?page=3") == ["B3", "B4"]


POSTER_FILTERS = [
    ("q=borel+a", ["A2", "A4", "B2"]),
    ("q=b3", ["B3"]),
    ("topic=theory&q=ada", ["B1", "B3"]),
    ("starred=on-A2~on-B4", ["A2", "B4"]),
    ("q=nothing", []),
]


def test_posters_are_filtered_by_words_topic_board_and_stars(
    client: Client, hall: Session, subtests: pytest.Subtests
) -> None:
    for query, boards in POSTER_FILTERS:
        with subtests.test(query=query):
            assert listed_boards(client, hall, f"?{query}") == boards


def test_filter_shows_its_count_and_is_kept_on_the_next_page(client: Client, hall: Session) -> None:
    page = read(client, f"{hall.get_absolute_url()}?topic=vision")

    assert "4 of 8 posters" in page.main
    assert "?topic=vision&page=2" in [link.attributes["href"] for link in page.all("a", rel="next")]


@pytest.mark.parametrize("board", ["B3", "b 3", "b-3"])
def test_board_query_redirects_to_its_poster(client: Client, hall: Session, board: str) -> None:
    response = client.get(hall.get_absolute_url(), {"board": board})

    assert response.headers["Location"] == f"{hall.get_absolute_url()}?page=3#talk-on-B3"


def test_unknown_board_is_reported(client: Client, hall: Session) -> None:
    assert "There is no board C9 in this list." in read(client, f"{hall.get_absolute_url()}?board=C9").main


def test_filter_without_matches_says_so(client: Client, hall: Session) -> None:
    assert "No matching posters" in read(client, f"{hall.get_absolute_url()}?q=nothing").main


def test_unknown_topic_or_page_is_400(client: Client, hall: Session) -> None:
    for query in ("topic=cooking", "page=4", "page=x"):
        assert client.get(f"{hall.get_absolute_url()}?{query}").status_code == 400


@pytest.mark.parametrize(
    ("board", "row"),
    [
        ("A12", "A"),
        ("Hall B - 7", "Hall B"),
        ("0", "1"),
        ("1", "1"),
        ("20", "1"),
        ("21", "21"),
        ("", ""),
        ("East", "East"),
    ],
)
def test_board_row_is_the_prefix_or_a_group_of_20_numbers(board: str, row: str) -> None:
    assert board_row_name(board) == row


def test_posters_without_a_session_are_collapsed(client: Client, edition: Edition) -> None:
    Presentation.objects.create(edition=edition, paper=make.make_paper(edition, title="Late"), kind="poster")
    page = read(client, "/2021/posters/")

    assert "1 poster" in page.texts("summary")[-1]
    assert [title.text for title in page.all("h3", "title")] == ["Late"]
