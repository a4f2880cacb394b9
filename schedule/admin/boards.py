"""Poster boards of a session: assigned from a list, looked at, and saved together.

A board that its chair left alone is not planned.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.versions import Seen, mark
from papers.models import Topic
from schedule import clashes
from schedule.admin.editor import SessionPage, clash_context, decide, difference
from schedule.clashes.rules import board_key
from schedule.editing import PlannedRows, PlannedTalk
from schedule.schedule_filters import in_tree

BOARDS = "boards"
ON_BOARDS = (clashes.ClashKind.BOARD, clashes.ClashKind.BOARDS_FULL)
# No hall has more; a slip such as 1-4000000 is refused rather than written out.
MAX_BOARDS = 5_000
RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\s*[-\u2013\u2026]\s*(?P<again>.*?)(?P<last>[0-9]+)")
MAX_BOARD_CHARS = 60
# Two boards and the text between them. What is longer is no range, and too long for a board.
MAX_RANGE_CHARS = 3 * MAX_BOARD_CHARS


class Order(TextChoices):
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
class PosterRow(PlannedTalk[str]):
    fields = ("board",)
    is_fixed: bool = False

    def __post_init__(self) -> None:
        self.before = self.after = self.talk.board
        self.is_fixed = bool(self.talk.board)

    @property
    def topic(self) -> Topic | None:
        return self.talk.paper.topic if self.talk.paper else None

    def read(self, data: QueryDict, seen: str) -> None:
        wanted = " ".join(data.get(f"b{self.pk}-board", "").split())
        self.is_fixed = f"b{self.pk}-fixed" in data
        self.plan(wanted, seen)
        if len(wanted) > MAX_BOARD_CHARS:
            self.errors = [gettext("This is too long for a board.")]


class Hanging(PlannedRows[PosterRow]):
    def read(self, data: QueryDict, seen: Seen) -> None:
        shown = seen.get(BOARDS, {})
        for row in self.rows:
            if f"b{row.pk}-board" in data:
                row.read(data, shown.get(str(row.pk), ""))

    def assign(self, written: str, order: str, topics: Mapping[int, int]) -> None:
        """Give the posters boards of this list; those that are fixed keep theirs. Raises `BoardsError`."""
        rows = sorted(self.rows, key=ranks(order, topics))
        found = assign(expand(written), {row.pk: row.after if row.is_fixed else "" for row in rows})
        for row in self.rows:
            row.after, row.errors = found[row.pk], []

    def now(self) -> Seen:
        """Return the marks of the boards that are here."""
        return {BOARDS: {str(row.pk): mark(row.before) for row in self.rows}}


def ranks(order: str, topics: Mapping[int, int]) -> Callable[[PosterRow], tuple[object, ...]]:
    """Return by what posters are sorted before they are hung; `topics` are places in the tree."""

    def by_title(row: PosterRow) -> tuple[str, int]:
        return row.talk.paper.sort_title if row.talk.paper else str(row.talk).casefold(), row.pk

    def by_place(row: PosterRow) -> tuple[int, int]:
        return row.talk.position, row.pk

    def by_topic(row: PosterRow) -> tuple[int, ...]:
        return topics.get(row.topic.pk if row.topic else 0, len(topics)), *by_place(row)

    return {Order.TITLE: by_title, Order.TOPIC: by_topic}.get(Order(order), by_place)


# A list of boards, and who gets which one


class BoardsError(ValueError):
    """What is wrong with a list of boards, in a sentence."""


def expand(written: str) -> list[str]:
    """Return the boards of a list in its order: the order in which one walks past them."""
    found: list[str] = []
    for part in re.split(r"[,;\n]", written):
        if entry := " ".join(part.split()):
            found += run(entry)
        if len(found) > MAX_BOARDS:
            raise BoardsError(gettext("These are more than %(most)d boards.") % {"most": MAX_BOARDS})
    seen: set[str] = set()
    for board in found:
        if len(board) > MAX_BOARD_CHARS:
            raise BoardsError(
                gettext("“%(board)s” is too long for a board.") % {"board": board[:MAX_BOARD_CHARS]}
            )
        if board_key(board) in seen:
            raise BoardsError(gettext("Board %(board)s is listed twice.") % {"board": board})
        seen.add(board_key(board))
    return found


def run(entry: str) -> list[str]:
    """Return the boards of one entry: "A1-A20" or "A1-20", upwards or downwards; "P-12" is one board."""
    match = RANGE.fullmatch(entry) if len(entry) <= MAX_RANGE_CHARS else None
    if match is None or match["again"].strip() not in ("", match["prefix"].strip()):
        return [entry]
    first, last = int(match["first"]), int(match["last"])
    if abs(last - first) >= MAX_BOARDS:
        raise BoardsError(
            gettext("“%(entry)s” is more than %(most)d boards.") % {"entry": entry, "most": MAX_BOARDS}
        )
    is_padded = len(match["first"]) > 1 and match["first"].startswith("0")
    width = len(match["first"]) if is_padded else 0
    step = 1 if first <= last else -1
    return [f"{match['prefix']}{number:0{width}d}" for number in range(first, last + step, step)]


def assign[K: Hashable](boards: Sequence[str], posters: Mapping[K, str]) -> Mapping[K, str]:
    """Return a board for each poster, in the order given; no other poster gets one that is fixed.

    `posters` are keys with fixed boards or empty ones. Raises `BoardsError` where there are too few boards.
    """
    taken = {board_key(fixed) for fixed in posters.values() if fixed}
    free = [board for board in boards if board_key(board) not in taken]
    waiting = [key for key, fixed in posters.items() if not fixed]
    if len(waiting) > len(free):
        raise BoardsError(too_few(len(free), len(waiting)))
    return {**posters, **dict(zip(waiting, free, strict=False))}


def too_few(free: int, waiting: int) -> str:
    missing = waiting - free
    there = ngettext("%(count)d board is free", "%(count)d boards are free", free) % {"count": free}
    needed = ngettext("%(count)d poster needs one", "%(count)d posters need one", waiting)
    needed %= {"count": waiting}
    short = ngettext("%(count)d is missing", "%(count)d are missing", missing) % {"count": missing}
    words = {"there": there, "needed": needed, "short": short}
    return (
        gettext("%(there)s and %(needed)s: %(short)s. Add boards to the list. Nothing was assigned.") % words
    )


class BoardsPage(SessionPage):
    name = "boards"
    title = _("Poster boards: %(session)s")
    plan: Hanging

    def prepare(self, rows: Any) -> None:
        posters = rows.taking_place().posters().select_related("paper__topic")
        self.plan = Hanging([PosterRow(talk) for talk in posters])
        capacity = self.session.room.capacity if self.session.room else None
        number = capacity or len(self.plan.rows)
        asked = self.sent if "boards" in self.sent else None
        self.form = BoardsForm(asked, initial={"boards": f"1-{number}"})

    def act(self) -> None:
        if "_assign" in self.sent and self.form.is_valid():
            topics = {topic.pk: place for place, topic in enumerate(in_tree(self.edition.topics.all()))}
            asked = self.form.cleaned_data
            try:
                self.plan.assign(asked["boards"], asked["order"], topics)
            except BoardsError as error:
                self.notes.append(str(error))

    def settle(self, is_current: bool) -> bool:
        decide(self.sent, "b", self.plan.stale if is_current else [])
        return not self.plan.stale

    def differences(self) -> list[dict[str, object]]:
        what = gettext("Poster board")
        return [
            difference(self.sent, f"b{row.pk}", what, row.talk, row.before or "–", row.after or "–")
            for row in self.plan.stale
        ]

    def context(self) -> dict[str, Any]:
        moved = self.plan.moved
        plans = {row.pk: {"board": row.after} for row in moved}
        found = clashes.difference(self.edition, clashes.PlannedEdit(talks=plans))
        here = [
            clash
            for clash in found.all
            if clash.kind in ON_BOARDS and self.session.pk in found.sessions(clash)
        ]
        solved = [clash for clash in found.solved if clash.kind in ON_BOARDS]
        return {"moved_count": len(moved), **clash_context(found, here, solved)}

    def save(self) -> str:
        count = len(self.plan.moved)
        self.plan.save_talks()
        return ngettext("%(n)d board was saved.", "%(n)d boards were saved.", count) % {"n": count}
