"""Pages of a session with hundreds of posters: filters by words, topic and stars, and rows of boards."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.core.paginator import Page
from django.http import HttpRequest
from django.utils.translation import gettext

from content.pagination import base_query, paginate
from markup import fold
from papers.models import Topic
from papers.rows import TalkRow
from schedule.schedule_filters import read_slug

POSTERS_PER_PAGE = 60
# The number of boards in a row, for boards that are plain numbers.
BOARDS_PER_ROW = 20
MAX_SEARCH_CHARS = 100
MAX_STARRED = 100
LETTERS = re.compile(r"[^\d]*")


@dataclass(frozen=True, slots=True)
class BoardRow:
    """The posters of a row of boards; `name` is empty for those without a board."""

    name: str
    talks: list[TalkRow]

    @property
    def label(self) -> str:
        """Return the first and the last board: "A1 to A20"."""
        first, last = self.talks[0].board, self.talks[-1].board
        return first if first == last else f"{first} – {last}"


@dataclass(frozen=True, slots=True)
class PosterChoice:
    """The options in the query string; `total` is the number of posters in the session."""

    search_text: str
    topic: Topic | None
    starred: frozenset[str]
    board: str
    topics: Sequence[Topic]
    total: int

    def __bool__(self) -> bool:
        return bool(self.search_text or self.topic or self.starred)

    @property
    def query(self) -> str:
        topic = self.topic.slug if self.topic else ""
        return base_query({"q": self.search_text, "topic": topic, "starred": "~".join(sorted(self.starred))})


@dataclass(frozen=True, slots=True)
class PosterPage:
    """A page of posters, and links to rows of boards: name and page of the first poster."""

    page: Page[TalkRow]
    rows: list[BoardRow]
    jumps: list[tuple[str, int, bool]]


def read_poster_choice(request: HttpRequest, topics: Sequence[Topic], total: int) -> PosterChoice:
    """Return the options in the query string, in which a script lists starred posters."""
    topic = read_slug(request, "topic", topics, gettext("Choose a topic from the list."))
    starred = frozenset(request.GET.get("starred", "").split("~")[:MAX_STARRED]) - {""}
    search_text, board = (
        " ".join(request.GET.get(name, "").split())[:MAX_SEARCH_CHARS] for name in ("q", "board")
    )
    return PosterChoice(search_text, topic, starred, board, topics, total)


def filter_posters(talks: Iterable[TalkRow], choice: PosterChoice) -> list[TalkRow]:
    """Return the posters with all words in title, authors or board, limited to starred ones if requested."""
    query_words = fold(choice.search_text).split()
    candidates = [talk for talk in talks if not choice.starred or talk.uid in choice.starred]
    return [talk for talk in candidates if all(word in _searchable_text(talk) for word in query_words)]


def _searchable_text(talk: TalkRow) -> str:
    people = [*(talk.paper.shown_authors if talk.paper else ()), *talk.shown_speakers]
    return fold(" ".join([str(talk), talk.board, *(person.shown_name for person in people)]))


def board_row_name(board: str) -> str:
    """Return the name of the row that a board is in: "A" for "A12", "21" for "37"."""
    letters = LETTERS.match(board)
    name = letters[0].strip(" -.") if letters else ""
    if name or not board.isdecimal():
        return name
    return str(max(int(board) - 1, 0) // BOARDS_PER_ROW * BOARDS_PER_ROW + 1)


def poster_page(request: HttpRequest, talks: Sequence[TalkRow]) -> PosterPage:
    """Return the requested page of posters, which are in the order of boards."""
    page = paginate(request, talks, POSTERS_PER_PAGE)
    jumps: dict[str, int] = {}
    for index, talk in enumerate(talks):
        if name := board_row_name(talk.board):
            jumps.setdefault(name, index // POSTERS_PER_PAGE + 1)
    names_on_page = {board_row_name(talk.board) for talk in page.object_list}
    links = [(name, page_number, name in names_on_page) for name, page_number in jumps.items()]
    groups = groupby(page.object_list, lambda talk: board_row_name(talk.board))
    rows = [BoardRow(name, list(row)) for name, row in groups]
    return PosterPage(page, rows, links if len(links) > 1 else [])


def page_of_board(talks: Sequence[TalkRow], board: str) -> tuple[int, TalkRow] | None:
    """Return the page and the poster of a board, ignoring case, spaces and hyphens: "a 12" is A12."""
    board_key = re.sub(r"[\s-]+", "", board).casefold()
    for index, talk in enumerate(talks):
        if board_key and re.sub(r"[\s-]+", "", talk.board).casefold() == board_key:
            return index // POSTERS_PER_PAGE + 1, talk
    return None
