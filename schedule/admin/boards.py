"""The page that assigns poster boards in a session.

A board that the chair did not change is not part of the plan. A page shows the first posters of a large
session; buttons submit the plan and show the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Prefetch, TextChoices
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.unreleased.plan import planned
from content.versions import Seen, value_mark
from editorial.model_admin import ContentAdmin
from papers.models import Authorship, Topic
from papers.rows import natural_sort_key
from schedule import clashes
from schedule.admin.editor import SessionPage, get_session, plan_clash_context, visible_rows
from schedule.board_plan import (
    MAX_BOARD_CHARS,
    Poster,
    assign_boards,
    back_and_forth,
    board_rows,
    validate_boards,
)
from schedule.editing import PlannedRows, PlannedTalk
from schedule.models import Presentation, Session, Speaker
from schedule.schedule_filters import sort_as_tree

BOARD_MARKS = "boards"
# Posters of a page, and the field with its number.
ROWS_PER_PAGE, PAGE_FIELD = 100, "page"
BOARD_CLASHES = (clashes.ClashKind.BOARD, clashes.ClashKind.BOARDS_FULL)


class Order(TextChoices):
    CURRENT = "current", _("in the order of the session")
    TOPIC = "topic", _("by topic")
    TITLE = "title", _("by title")


class BoardsForm(forms.Form):
    """Form of the available boards, row by row, and of the assignment of posters to them."""

    boards = forms.CharField(
        label=_("Boards in walking order"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Such as “1-40, A1-A20”; a row of the hall in each line."),
        max_length=20_000,
        validators=[validate_boards],
    )
    order = forms.ChoiceField(label=_("Posters"), choices=Order, initial=Order.TOPIC)
    together = forms.BooleanField(
        label=_("Put posters of the same presenter next to each other"), required=False, initial=True
    )
    back_and_forth = forms.BooleanField(
        label=_("Go back and forth: every second row from its end"), required=False
    )
    new_rows = forms.BooleanField(label=_("Start each topic in a new row"), required=False)

    def rows(self) -> list[list[str]]:
        """Return the boards, row by row, in walking order."""
        rows = board_rows(self.cleaned_data["boards"])
        return back_and_forth(rows) if self.cleaned_data["back_and_forth"] else rows


@dataclass
class PosterRow(PlannedTalk[str]):
    fields = ("board",)
    is_fixed: bool = False
    presenters: frozenset[int] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        self.before = self.after = self.talk.board
        self.is_fixed = bool(self.talk.board)

    @property
    def is_edited(self) -> bool:
        """Return whether the row differs from how it is shown at first."""
        return self.is_moved or self.is_fixed != bool(self.before)

    @property
    def topic(self) -> Topic | None:
        return self.talk.paper.topic if self.talk.paper else None

    def read(self, data: QueryDict, seen_mark: str) -> None:
        board = " ".join(data.get(f"b{self.pk}-board", "").split())
        self.is_fixed = f"b{self.pk}-fixed" in data
        self.plan(board, seen_mark)
        if len(board) > MAX_BOARD_CHARS:
            self.errors = [gettext("This board name is too long.")]


class BoardAssignment(PlannedRows[PosterRow]):
    def read(self, data: QueryDict, seen_marks: Seen) -> None:
        board_marks = seen_marks.get(BOARD_MARKS, {})
        for row in self.rows:
            if f"b{row.pk}-board" in data:
                row.read(data, board_marks.get(str(row.pk), ""))

    def assign(
        self,
        boards: Sequence[Sequence[str]],
        order: str,
        topics: Mapping[int, int],
        *,
        new_rows: bool = False,
    ) -> None:
        """Assign boards to posters that are not fixed. Raises `ValidationError` if there are too few."""
        posters = [
            Poster(
                row.pk,
                row.after if row.is_fixed else "",
                row.presenters,
                topics.get(row.topic.pk, 0) if row.topic else len(topics),
            )
            for row in sorted(self.rows, key=sort_key_for(order, topics))
        ]
        assigned_boards = assign_boards(boards, posters, new_rows=new_rows)
        for row in self.rows:
            row.after, row.errors = assigned_boards[row.pk], []

    def current_marks(self) -> Seen:
        """Return the marks of the stored boards."""
        return {BOARD_MARKS: {str(row.pk): value_mark(row.before) for row in self.rows}}


def sort_key_for(order: str, topics: Mapping[int, int]) -> Callable[[PosterRow], tuple[object, ...]]:
    """Return the sort key of posters; `topics` are positions in the tree by key."""

    def by_title(row: PosterRow) -> tuple[str, int]:
        return row.talk.paper.sort_title if row.talk.paper else str(row.talk).casefold(), row.pk

    def by_position(row: PosterRow) -> tuple[int, int]:
        return row.talk.position, row.pk

    def by_topic(row: PosterRow) -> tuple[int, ...]:
        return topics.get(row.topic.pk if row.topic else 0, len(topics)), *by_position(row)

    return {Order.TITLE: by_title, Order.TOPIC: by_topic}.get(Order(order), by_position)


def set_presenters(rows: Iterable[PosterRow]) -> None:
    """Set the presenters: authors marked as presenting, else the first author, or a talk's speakers."""
    authors_by_paper: dict[int, list[tuple[bool, int]]] = {}
    papers = {row.talk.paper_id for row in rows if row.talk.paper_id}
    authorships = Authorship.objects.filter(paper__in=papers).order_by("paper", "position")
    for paper, person, presenting in authorships.values_list("paper", "person", "presenting"):
        authors_by_paper.setdefault(paper, []).append((presenting, person))
    speakers_by_talk: dict[int, set[int]] = {}
    talks = [row.pk for row in rows if not row.talk.paper_id]
    for talk, person in Speaker.objects.filter(presentation__in=talks).values_list("presentation", "person"):
        speakers_by_talk.setdefault(talk, set()).add(person)
    for row in rows:
        authors = authors_by_paper.get(row.talk.paper_id or 0, [])
        presenting_authors = frozenset(person for presenting, person in authors if presenting)
        first_author = frozenset(person for _, person in authors[:1])
        row.presenters = presenting_authors or first_author or frozenset(speakers_by_talk.get(row.pk, ()))


class BoardsPage(SessionPage):
    name = "boards"
    title = _("Poster boards: %(session)s")
    prefix = "b"
    plan: BoardAssignment
    form: BoardsForm

    def read_plan(self, rows: Any) -> None:
        posters = rows.taking_place().posters().select_related("paper__topic")
        self.plan = BoardAssignment([PosterRow(talk) for talk in posters])
        room = self.session.room
        board_count = (room.capacity if room else None) or len(self.plan.rows)
        boards = (room.poster_boards if room else "") or f"1-{board_count}"
        data = self.data if "boards" in self.data else None
        self.form = BoardsForm(data, initial={"boards": boards})

    def handle_button(self) -> None:
        if "_assign" in self.data and self.form.is_valid():
            topics = {
                topic.pk: position for position, topic in enumerate(sort_as_tree(self.edition.topics.all()))
            }
            options = self.form.cleaned_data
            if options["together"]:
                set_presenters(self.plan.rows)
            try:
                self.plan.assign(self.form.rows(), options["order"], topics, new_rows=options["new_rows"])
            except ValidationError as error:
                self.notes += error.messages

    def differences(self) -> list[dict[str, object]]:
        field_label = gettext("Poster board")
        return [
            self.difference(f"b{row.pk}", field_label, row.talk, row.before or "–", row.after or "–")
            for row in self.plan.stale
        ]

    def context(self) -> dict[str, object]:
        moved_rows = self.plan.moved
        plans = {row.pk: {"board": row.after} for row in moved_rows}
        difference = clashes.clash_difference(self.edition, clashes.PlannedEdit(talks=plans))
        session_clashes = [
            clash
            for clash in difference.all
            if clash.kind in BOARD_CLASHES and self.session.pk in difference.sessions(clash)
        ]
        solved_clashes = [clash for clash in difference.solved if clash.kind in BOARD_CLASHES]
        return {
            **super().context(),
            **self.page_context(),
            "moved_count": len(moved_rows),
            **plan_clash_context(difference, session_clashes, solved_clashes),
        }

    def page_context(self) -> dict[str, object]:
        """Return the rows of the page; edited rows of other pages are submitted with them."""
        paginator, rows = Paginator(self.plan.rows, ROWS_PER_PAGE), self.plan.rows
        page = paginator.get_page(self.page_number())
        if wrong_rows := self.plan.wrong:
            # Show the first error.
            page = paginator.page(rows.index(wrong_rows[0]) // ROWS_PER_PAGE + 1)
        shown = {row.pk for row in page}
        return {
            "page": page,
            "page_numbers": [*paginator.get_elided_page_range(page.number)]
            if paginator.num_pages > 1
            else [],
            "elsewhere": [row for row in rows if row.is_edited and row.pk not in shown],
        }

    def page_number(self) -> str:
        return self.data.get(PAGE_FIELD) or self.request.GET.get(PAGE_FIELD, "1")

    def address(self, **query: object) -> str:
        number = self.page_number()
        return super().address(**query, **({PAGE_FIELD: number} if number != "1" else {}))

    def save(self) -> str:
        count = len(self.plan.moved)
        message = ngettext("%(n)d board was saved.", "%(n)d boards were saved.", count) % {"n": count}
        return message if self.plan.save_talks() else ""


def labels_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show printable labels of a session's poster boards, as planned."""
    session = get_session(model_admin, request, key)
    with planned(session.edition) as plan:
        planned_session = get_session(model_admin, request, key) if plan else session
        return labels_page(model_admin, request, planned_session)


def labels_page(model_admin: ContentAdmin, request: HttpRequest, session: Session) -> HttpResponse:
    talks = visible_rows(model_admin, request, Presentation).in_session(session).taking_place().posters()
    talks = talks.select_related("paper", "edition").prefetch_related(
        Prefetch("paper__authorships", Authorship.objects.order_by("position")), "speakers"
    )
    posters = sorted(talks, key=lambda talk: (natural_sort_key(talk.board), talk.position))
    context = {
        "edition": session.edition,
        "session": session,
        "posters": [talk for talk in posters if talk.board],
        "missing": sum(not talk.board for talk in posters),
        "size": "small" if request.GET.get("size") == "small" else "large",
    }
    title = gettext("Labels of poster boards: %(session)s") % {"session": session}
    page_context = model_admin.page_context(request, title, **context)
    return TemplateResponse(request, "admin/schedule/board_labels.html", page_context).render()
