"""The posters of one session and the boards that they are to hang on. Stores nothing.

As in `sitting`, a board that its chair left alone is not planned.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django import forms
from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from content.versions import Seen, mark
from papers.models import Topic
from schedule.editing.boardlists import MAX_BOARD_CHARS, PosterBoard, assign, expand
from schedule.models import Presentation

BOARDS = "boards"


class Order(TextChoices):
    """In which order posters are hung along the boards."""

    CURRENT = "current", _("in the order of the session")
    TOPIC = "topic", _("by topic")
    TITLE = "title", _("by title")


class BoardsForm(forms.Form):
    """The boards that there are, in the order in which one walks past them."""

    boards = forms.CharField(
        label=_("Boards in walking order"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Such as “1-40, A1-A20”, or one in each line."),
        max_length=20_000,
    )
    order = forms.ChoiceField(label=_("Posters"), choices=Order, initial=Order.TOPIC)


@dataclass
class PosterRow:
    """A poster on the page: the board it has, and the one that is planned."""

    talk: Presentation
    after: str = field(init=False)
    is_fixed: bool = field(init=False)
    is_stale: bool = False
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.after = self.talk.board
        self.is_fixed = bool(self.talk.board)

    @property
    def pk(self) -> int:
        return self.talk.pk

    @property
    def before(self) -> str:
        return self.talk.board

    @property
    def is_moved(self) -> bool:
        return self.after != self.before

    @property
    def topic(self) -> Topic | None:
        return self.talk.paper.topic if self.talk.paper else None

    def read(self, data: QueryDict, seen: str) -> None:
        """Take over what was sent of it."""
        wanted = " ".join(data.get(f"b{self.pk}-board", "").split())
        self.is_fixed = f"b{self.pk}-fixed" in data
        shown, now, mine = seen or mark(self.before), mark(self.before), mark(wanted)
        if mine != shown:
            self.after = wanted
            self.is_stale = shown != now != mine
        if len(wanted) > MAX_BOARD_CHARS:
            self.errors = [str(_("This is too long for a board."))]


@dataclass
class Hanging:
    """All posters of a session as the page shows them."""

    rows: list[PosterRow]

    def read(self, data: QueryDict, seen: Seen) -> None:
        """Take over what was sent."""
        shown = seen.get(BOARDS, {})
        for row in self.rows:
            if f"b{row.pk}-board" in data:
                row.read(data, shown.get(str(row.pk), ""))

    def assign(self, written: str, order: str, topics: Mapping[int, Sequence[tuple[int, str, int]]]) -> None:
        """Give the posters boards of this list; those that are fixed keep theirs. Raises `BoardsError`."""
        rows = sorted(self.rows, key=ranks(order, topics))
        hung = [PosterBoard(row.pk, row.after if row.is_fixed else "") for row in rows]
        found = assign(expand(written), hung)
        for row in self.rows:
            row.after, row.errors = found[row.pk], []

    @property
    def moved(self) -> list[PosterRow]:
        return [row for row in self.rows if row.is_moved]

    @property
    def wrong(self) -> list[PosterRow]:
        return [row for row in self.rows if row.errors]

    @property
    def stale(self) -> list[PosterRow]:
        return [row for row in self.rows if row.is_stale]

    def now(self) -> Seen:
        """Return the marks of the boards that are here."""
        return {BOARDS: {str(row.pk): mark(row.before) for row in self.rows}}


def ranks(
    order: str, topics: Mapping[int, Sequence[tuple[int, str, int]]]
) -> Callable[[PosterRow], tuple[object, ...]]:
    """Return by what posters are sorted before they are hung."""

    def by_title(row: PosterRow) -> tuple[str, int]:
        return row.talk.paper.sort_title if row.talk.paper else str(row.talk).casefold(), row.pk

    def by_place(row: PosterRow) -> tuple[int, int]:
        return row.talk.position, row.pk

    def by_topic(row: PosterRow) -> tuple[object, ...]:
        topic = row.topic
        return topic is None, topics.get(topic.pk, []) if topic else [], *by_place(row)

    return {Order.TITLE: by_title, Order.TOPIC: by_topic}.get(Order(order), by_place)


def topic_paths(topics: Iterable[Topic]) -> dict[int, list[tuple[int, str, int]]]:
    """Return the position of each topic in the tree: the places of those above it, then its own."""
    return {
        topic.pk: [(one.position, one.name, one.pk) for one in (*topic.ancestors, topic)] for topic in topics
    }
