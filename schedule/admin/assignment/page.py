"""The page that lists papers without a session and sessions with their load, and saves a plan."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from conference.models import Edition
from content.request_keys import parse_key
from content.versions import CHOICE, MINE, THEIRS, Seen, read_marks, sign_marks
from editorial.access import access_for
from editorial.lists import search_rows
from editorial.stale_forms import SEEN_FIELD
from papers.models import Paper
from schedule import clashes
from schedule.admin.assignment.cards import SessionCard, session_loads
from schedule.admin.assignment.form import AssignmentForm, Show
from schedule.admin.assignment.plan import (
    MAX_PLANNED,
    AssignmentPlan,
    PlannedPaper,
    decode_moves,
    encode_moves,
    sessions_mark,
    talks_by_paper,
    too_many_message,
)
from schedule.admin.assignment.suggestions import reason_words, suggest_sessions
from schedule.admin.editor import (
    EditionPage,
    plan_clash_context,
    visible_rows,
)
from schedule.models import Presentation, Session

PAPERS = "papers"
PER_PAGE = 100
MAX_SHOWN_CLASHES = 40
# Kinds of sessions without papers, which are shown only if chosen.
WITHOUT_PAPERS = ("break", "meal", "registration", "social", "opening", "award_ceremony", "town_hall")
SEARCH_FIELDS = ("sort_title", "authorships__person__folded", "uid")
LIST_COLUMNS = ("uid", "title", "sort_title", "edition_id", "topic_id", "decision", "keywords", "status")


class AssignmentPage(EditionPage):
    name = "assign"
    title = gettext_lazy("Papers to sessions")

    def prepare(self, subject: Edition) -> None:
        self.edition = edition = subject
        model_admin, request = self.model_admin, self.request
        # The filters are in the query string.
        self.data = request.POST if request.method == "POST" else request.GET
        rows = visible_rows(model_admin, request, Session).filter(edition=edition).taking_place()
        self.all_sessions: list[Session] = list(
            rows.select_related("room").defer("abstract", "abstract_html").in_order()
        )
        for session in self.all_sessions:
            session.edition = edition
        self.form = AssignmentForm(self.data, edition, self.all_sessions)
        self.may_add = access_for(request).may_inline("add", Presentation, edition)
        self.papers = (
            visible_rows(model_admin, request, Paper).filter(edition=edition).exclude(status="withdrawn")
        )
        self.sessions_by_key = {session.pk: session for session in self.all_sessions}
        self.moves = self.read_moves()
        self.change_moves()
        self.load_plan()

    # Submitted values

    def read_moves(self) -> dict[int, tuple[int, str]]:
        """Return the submitted plan, with the choices in the rows of the list."""
        if self.request.method != "POST":
            return {}
        moves = decode_moves(self.data.get("planned", ""))
        for name in self.data:
            paper_key, session_key = parse_key(name[1:]) if name[:1] == "m" else 0, parse_key(self.data[name])
            if paper_key and not session_key:
                moves.pop(paper_key, None)
            elif paper_key and moves.get(paper_key, (0, ""))[0] != session_key:
                moves[paper_key] = session_key, self.kind
        return {paper_key: move for paper_key, move in moves.items() if move[0] in self.sessions_by_key}

    @property
    def kind(self) -> str:
        return self.form.filters.get("kind") or ""

    def change_moves(self) -> None:
        """Add papers to the plan or remove them, according to the pressed button."""
        session_key, dropped_key = (parse_key(self.data.get(name, "")) for name in ("_put", "_drop"))
        if session_key in self.sessions_by_key:
            keys = self.selected_keys()
            if not keys:
                self.notes.append(gettext("Select at least one paper first."))
            self.plan_moves((paper_key, session_key, self.kind) for paper_key in keys)
        if "_take" in self.data:
            accepted_moves = decode_moves(" ".join(self.data.getlist("take")))
            self.plan_moves(
                (paper_key, *move)
                for paper_key, move in accepted_moves.items()
                if move[0] in self.sessions_by_key
            )
        self.moves.pop(dropped_key, None)
        if len(self.moves) > MAX_PLANNED:
            self.moves = dict(list(self.moves.items())[:MAX_PLANNED])
            self.notes.append(too_many_message())

    def plan_moves(self, moves: Iterable[tuple[int, int, str]]) -> None:
        new_moves = {paper_key: (session_key, kind) for paper_key, session_key, kind in moves}
        if len(self.moves.keys() | new_moves.keys()) > MAX_PLANNED:
            self.notes.append(too_many_message())
        else:
            self.moves |= new_moves

    def selected_keys(self) -> list[int]:
        """Return the keys of the selected papers, or of all listed ones if the request has `all`."""
        if "all" in self.data:
            return list(self.listed_papers.values_list("pk", flat=True)[: MAX_PLANNED + 1])
        return [key for text in dict.fromkeys(self.data.getlist("pick")) if (key := parse_key(text))]

    @property
    def listed_papers(self) -> QuerySet[Paper]:
        """The filtered papers by title."""
        filters, rows = self.form.filters, self.papers
        if filters.get("show") == Show.PLANNED:
            rows = rows.filter(pk__in=list(self.moves))
        else:
            rows = rows.filter(self.unscheduled_condition(filters.get("show") or "")).exclude(
                pk__in=list(self.moves)
            )
        if topic := filters.get("topic"):
            topic_condition = Q(topic=None) if topic == "none" else Q(topic=topic) | Q(topic__parent=topic)
            rows = rows.filter(topic_condition)
        if decision := filters.get("decision"):
            rows = rows.filter(decision=decision)
        if query := filters.get("q"):
            rows = search_rows(rows, SEARCH_FIELDS, query)
        papers: QuerySet[Paper] = rows.order_by("sort_title", "pk")
        return papers

    def unscheduled_condition(self, show: str) -> Q:
        """Return the condition for papers that need a session."""
        rows = Presentation.objects.filter(edition=self.edition, paper__isnull=False).taking_place()
        rows = rows.order_by()
        matching_talks = rows.of_kind(self.kind) if self.kind else rows
        if show == Show.WITHOUT_KIND:
            return ~Q(pk__in=matching_talks.matching(session_id__isnull=False).values("paper"))
        scheduled_papers = rows.matching(session_id__isnull=False).values("paper")
        return ~Q(pk__in=scheduled_papers) | Q(pk__in=matching_talks.unscheduled().values("paper"))

    # Rows

    def load_plan(self) -> None:
        """Fetch the planned papers and the page of the list, with their presentations."""
        rows = self.papers.order_by("sort_title", "pk")
        planned_papers: list[Paper] = list(rows.filter(pk__in=list(self.moves)).only(*LIST_COLUMNS))
        # Fetch all keys first, so that the condition on presentations is not evaluated again for the count.
        pages = Paginator(list(self.listed_papers.values_list("pk", flat=True)), PER_PAGE)
        page_number = self.data.get("page") or ("1" if "_filter" in self.data else self.data.get("at", "1"))
        self.page = pages.get_page(page_number)
        self.total = pages.count
        rows = rows.filter(pk__in=self.page.object_list).select_related("topic")
        papers: list[Paper] = list(rows.only(*LIST_COLUMNS, "topic__name"))
        talks = talks_by_paper({paper.pk for paper in [*planned_papers, *papers]})
        submitted_marks = (read_marks(self.data.get(SEEN_FIELD, "")) or {}).get(PAPERS, {})
        planned_rows = []
        for paper in planned_papers:
            session, kind = self.moves[paper.pk]
            paper_talks = talks.get(paper.pk, [])
            current_mark = sessions_mark(paper_talks)
            row = PlannedPaper(
                paper,
                self.sessions_by_key[session],
                kind,
                paper_talks,
                submitted_marks.get(str(paper.pk), current_mark),
            )
            row.is_stale = row.seen_mark != current_mark
            if not row.is_in_session:
                planned_rows.append(row)
        self.plan = AssignmentPlan(planned_rows)
        self.current_marks: Seen = {PAPERS: {str(row.pk): sessions_mark(row.talks) for row in planned_rows}}
        marks = {str(paper.pk): sessions_mark(talks.get(paper.pk, [])) for paper in papers}
        marks |= {str(row.pk): row.seen_mark for row in planned_rows}
        self.seen: Seen = {PAPERS: marks}
        self.rows = [self.list_row(paper, talks.get(paper.pk, [])) for paper in papers]

    def list_row(self, paper: Paper, talks: list[Presentation]) -> dict[str, object]:
        unscheduled_kinds = dict.fromkeys(talk.kind_words() for talk in talks if talk.session_id is None)
        session_titles = dict.fromkeys(str(talk.session) for talk in talks if talk.session)
        target = self.sessions_by_key.get(self.moves.get(paper.pk, (0, ""))[0])
        return {
            "paper": paper,
            "unscheduled_kinds": ", ".join(unscheduled_kinds),
            "session_titles": ", ".join(session_titles),
            "target": target,
        }

    @cached_property
    def shown_sessions(self) -> list[Session]:
        kinds, day = self.form.filters.get("kinds"), self.form.filters.get("day")
        sessions = [
            session
            for session in self.all_sessions
            if (session.kind in kinds if kinds else session.counts_as not in WITHOUT_PAPERS)
        ]
        return [
            session
            for session in sessions
            if not day or self.edition.day_of(session.start) == date.fromisoformat(day)
        ]

    @cached_property
    def cards(self) -> list[SessionCard]:
        """The filtered sessions and all sessions of the plan."""
        target_keys = {row.session.pk for row in self.plan.rows}
        card_keys = {session.pk for session in self.shown_sessions} | target_keys
        sessions = [session for session in self.all_sessions if session.pk in card_keys]
        loads = session_loads(sessions, self.form.minutes_each)
        confirmed_keys = self.data.getlist("over")
        cards = []
        for session in sessions:
            planned = self.plan.in_session(session.pk) if session.pk in target_keys else []
            load = loads[session.pk]
            load.put(len(planned))
            cards.append(SessionCard(session, load, planned, str(session.pk) in confirmed_keys))
        return cards

    @cached_property
    def options(self) -> SafeString:
        """The sessions as options of a select, rendered once for all rows."""
        labels = [(card.session.pk, f"{card.session}, {card.when}") for card in self.cards]
        return format_html_join("", '<option value="{}">{}</option>', labels)

    def suggestions(self) -> list[dict[str, object]]:
        """Return suggestions for the selected papers, or for all on the list."""
        rows = self.listed_papers.select_related("topic").only(*LIST_COLUMNS, "topic__name")
        keys = [] if "all" in self.data else self.selected_keys()
        papers = list((rows.filter(pk__in=keys) if keys else rows)[: MAX_PLANNED + 1])
        if len(papers) > MAX_PLANNED:
            self.notes.append(too_many_message())
            return []
        shown_keys = {session.pk for session in self.shown_sessions}
        cards = [card for card in self.cards if card.session.pk in shown_keys]
        suggestions = suggest_sessions(papers, cards, self.all_sessions)
        if missing_count := len(papers) - len(suggestions):
            message = ngettext(
                "No session is suggested for %(n)d paper: none with room has enough in common with it.",
                "No session is suggested for %(n)d papers: none with room has enough in common with them.",
                missing_count,
            )
            self.notes.append(message % {"n": missing_count})
        papers_by_key = {paper.pk: paper for paper in papers}
        return [
            {
                "paper": papers_by_key[suggestion.paper],
                "session": self.sessions_by_key[suggestion.session],
                "reason": reason_words(suggestion, papers_by_key[suggestion.paper]),
                "value": encode_moves({suggestion.paper: (suggestion.session, self.kind)}),
            }
            for suggestion in suggestions
        ]

    # Saving

    def may_save(self) -> bool:
        access = access_for(self.request)
        talks = [talk for row in self.plan.rows if (talk := row.moved_talk)]
        return self.may_add and all(access.may_all_fields("change", Presentation, talk) for talk in talks)

    def resolve(self, shown_marks: Seen) -> bool:
        for row in self.plan.stale if shown_marks == self.current_marks else []:
            choice = self.data.get(f"{CHOICE}m{row.pk}")
            if choice == THEIRS:
                self.plan.rows.remove(row)
            elif choice == MINE:
                row.seen_mark = sessions_mark(row.talks)
        return all(row.seen_mark == sessions_mark(row.talks) for row in self.plan.rows)

    def save(self) -> str:
        for card in self.unconfirmed:
            message = gettext(
                "Nothing was saved: “%(session)s” is too full (%(how)s). Confirm that or take papers back."
            )
            self.notes.append(message % {"session": card.session, "how": card.overfull})
        if self.unconfirmed or not self.plan.save():
            return ""
        count = len(self.plan.rows)
        message = ngettext("%(n)d paper is in its session.", "%(n)d papers are in their sessions.", count)
        return message % {"n": count}

    def differences(self) -> list[dict[str, object]]:
        field_label = gettext("Session")
        return [
            self.difference(f"m{row.pk}", field_label, row.paper, row.where, str(row.session))
            for row in self.plan.stale
        ]

    @property
    def unconfirmed(self) -> list[SessionCard]:
        return [card for card in self.cards if card.is_over and not card.is_confirmed]

    def address(self, **query: object) -> str:
        """Return the address of the page with its filters."""
        filters = {name: value for name, value in self.form.filters.items() if value}
        if filters.get("show") == Show.PLANNED:
            del filters["show"]
        return super().address(**filters, **query)

    def context(self) -> dict[str, Any]:
        plan_context: dict[str, object] = {}
        if self.plan.rows:
            difference = clashes.clash_difference(self.edition, self.plan.planned_edit(), nearby=True)
            plan_context = plan_clash_context(
                difference, difference.new[:MAX_SHOWN_CLASHES], difference.solved
            )
            plan_context["new_count"] = len(difference.new)
        if "_suggest" in self.data:
            plan_context["suggestions"] = self.suggestions()
        return {
            "form": self.form,
            "rows": self.rows,
            "total": self.total,
            "page": self.page,
            "cards": self.cards,
            "options": self.options,
            "plan": self.plan,
            "planned": encode_moves({row.pk: (row.session.pk, row.kind) for row in self.plan.rows}),
            "signed_marks": sign_marks(self.seen),
            "may_add": self.may_add,
            **plan_context,
        }
