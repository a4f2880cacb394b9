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
from schedule.admin.assignment.suggestions import paper_features, reason_words, session_profiles
from schedule.admin.editor import (
    EditionPage,
    difference_row,
    may_all_fields,
    plan_clash_context,
    visible_rows,
)
from schedule.assignment import suggest
from schedule.models import Presentation, Session
from schedule.querysets import of_kind

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
        self.sent = request.POST if request.method == "POST" else request.GET
        rows = visible_rows(model_admin, request, Session).filter(edition=edition).taking_place()
        self.all_sessions: list[Session] = list(
            rows.select_related("room").defer("abstract", "abstract_html").in_order()
        )
        for session in self.all_sessions:
            session.edition = edition
        self.form = AssignmentForm(self.sent, edition, self.all_sessions)
        self.may_add = may_all_fields(model_admin, request, "add", Presentation, edition)
        self.papers = (
            visible_rows(model_admin, request, Paper).filter(edition=edition).exclude(status="withdrawn")
        )
        self.by_key = {session.pk: session for session in self.all_sessions}
        self.moves = self.read_moves()
        self.change_moves()
        self.load_plan()

    # Submitted values

    def read_moves(self) -> dict[int, tuple[int, str]]:
        """Return the submitted plan, with the choices in the rows of the list."""
        if self.request.method != "POST":
            return {}
        moves = decode_moves(self.sent.get("planned", ""))
        for name in self.sent:
            paper, target = parse_key(name[1:]) if name[:1] == "m" else 0, parse_key(self.sent[name])
            if paper and not target:
                moves.pop(paper, None)
            elif paper and moves.get(paper, (0, ""))[0] != target:
                moves[paper] = target, self.kind
        return {paper: move for paper, move in moves.items() if move[0] in self.by_key}

    @property
    def kind(self) -> str:
        return self.form.filters.get("kind") or ""

    def change_moves(self) -> None:
        """Add papers to the plan or remove them, according to the pressed button."""
        put, drop = (parse_key(self.sent.get(name, "")) for name in ("_put", "_drop"))
        if put in self.by_key:
            keys = self.picked()
            if not keys:
                self.notes.append(gettext("Select at least one paper first."))
            self.plan_moves((key, put, self.kind) for key in keys)
        if "_take" in self.sent:
            taken = decode_moves(" ".join(self.sent.getlist("take")))
            self.plan_moves((paper, *move) for paper, move in taken.items() if move[0] in self.by_key)
        self.moves.pop(drop, None)
        if len(self.moves) > MAX_PLANNED:
            self.moves = dict(list(self.moves.items())[:MAX_PLANNED])
            self.notes.append(too_many_message())

    def plan_moves(self, moves: Iterable[tuple[int, int, str]]) -> None:
        more = {paper: (session, kind) for paper, session, kind in moves}
        if len(self.moves.keys() | more.keys()) > MAX_PLANNED:
            self.notes.append(too_many_message())
        else:
            self.moves |= more

    def picked(self) -> list[int]:
        """Return the keys of the selected papers, or of all listed ones if the request has `all`."""
        if "all" in self.sent:
            return list(self.listed.values_list("pk", flat=True)[: MAX_PLANNED + 1])
        return [key for text in dict.fromkeys(self.sent.getlist("pick")) if (key := parse_key(text))]

    @property
    def listed(self) -> QuerySet[Paper]:
        """The filtered papers by title."""
        asked, rows = self.form.filters, self.papers
        if asked.get("show") == Show.PLANNED:
            rows = rows.filter(pk__in=list(self.moves))
        else:
            rows = rows.filter(self.unscheduled(asked.get("show") or "")).exclude(pk__in=list(self.moves))
        if topic := asked.get("topic"):
            chosen = Q(topic=None) if topic == "none" else Q(topic=topic) | Q(topic__parent=topic)
            rows = rows.filter(chosen)
        if decision := asked.get("decision"):
            rows = rows.filter(decision=decision)
        if words := asked.get("q"):
            rows = search_rows(rows, SEARCH_FIELDS, words)
        found: QuerySet[Paper] = rows.order_by("sort_title", "pk")
        return found

    def unscheduled(self, show: str) -> Q:
        """Return the condition for papers that need a session."""
        rows = Presentation.objects.filter(edition=self.edition, paper__isnull=False).taking_place()
        talks = rows.order_by().values("paper")
        meant = talks.filter(of_kind(self.kind)) if self.kind else talks
        if show == Show.WITHOUT_KIND:
            return ~Q(pk__in=meant.filter(session__isnull=False))
        waiting = meant.filter(session__isnull=True)
        return ~Q(pk__in=talks.filter(session__isnull=False)) | Q(pk__in=waiting)

    # Rows

    def load_plan(self) -> None:
        """Fetch the planned papers and the page of the list, with their presentations."""
        found = self.papers.filter(pk__in=list(self.moves)).only(*LIST_COLUMNS).order_by("sort_title", "pk")
        planned: list[Paper] = list(found) if self.moves else []
        # Fetch all keys first, so that the condition on presentations is not evaluated again for the count.
        pages = Paginator(list(self.listed.values_list("pk", flat=True)), PER_PAGE)
        asked = self.sent.get("page") or ("1" if "_filter" in self.sent else self.sent.get("at", "1"))
        self.page = pages.get_page(asked)
        self.total = pages.count
        rows = self.papers.filter(pk__in=self.page.object_list).order_by("sort_title", "pk")
        papers: list[Paper] = list(rows.select_related("topic").only(*LIST_COLUMNS, "topic__name"))
        talks = talks_by_paper({paper.pk for paper in [*planned, *papers]})
        seen = (read_marks(self.sent.get(SEEN_FIELD, "")) or {}).get(PAPERS, {})
        moves = []
        for paper in planned:
            session, kind = self.moves[paper.pk]
            own = talks.get(paper.pk, [])
            now = sessions_mark(own)
            row = PlannedPaper(paper, self.by_key[session], kind, own, seen.get(str(paper.pk), now))
            row.is_stale = row.seen != now
            if not row.is_there:
                moves.append(row)
        self.plan = AssignmentPlan(moves)
        self.current_marks: Seen = {PAPERS: {str(row.pk): sessions_mark(row.talks) for row in moves}}
        marks = {str(paper.pk): sessions_mark(talks.get(paper.pk, [])) for paper in papers}
        marks |= {str(row.pk): row.seen for row in moves}
        self.seen: Seen = {PAPERS: marks}
        self.rows = [self.list_row(paper, talks.get(paper.pk, [])) for paper in papers]

    def list_row(self, paper: Paper, talks: list[Presentation]) -> dict[str, object]:
        waiting = dict.fromkeys(talk.kind_words() for talk in talks if talk.session_id is None)
        there = dict.fromkeys(str(talk.session) for talk in talks if talk.session)
        target = self.by_key.get(self.moves.get(paper.pk, (0, ""))[0])
        return {"paper": paper, "waiting": ", ".join(waiting), "there": ", ".join(there), "target": target}

    @cached_property
    def shown_sessions(self) -> list[Session]:
        kinds, day = self.form.filters.get("kinds"), self.form.filters.get("day")
        shown = [
            one
            for one in self.all_sessions
            if (one.kind in kinds if kinds else one.counts_as not in WITHOUT_PAPERS)
        ]
        return [one for one in shown if not day or self.edition.day_of(one.start) == date.fromisoformat(day)]

    @cached_property
    def cards(self) -> list[SessionCard]:
        """The filtered sessions and all sessions of the plan."""
        targets = {row.session.pk for row in self.plan.rows}
        shown = {one.pk for one in self.shown_sessions} | targets
        sessions = [one for one in self.all_sessions if one.pk in shown]
        found = session_loads(sessions, self.form.minutes_each)
        confirmed = self.sent.getlist("over")
        cards = []
        for one in sessions:
            planned = self.plan.in_session(one.pk) if one.pk in targets else []
            load = found[one.pk]
            load.put(len(planned))
            cards.append(SessionCard(one, load, planned, str(one.pk) in confirmed))
        return cards

    @cached_property
    def options(self) -> SafeString:
        """The sessions as options of a select, rendered once for all rows."""
        labels = [(card.session.pk, f"{card.session}, {card.when}") for card in self.cards]
        return format_html_join("", '<option value="{}">{}</option>', labels)

    def suggestions(self) -> list[dict[str, object]]:
        """Return suggestions for the selected papers, or for all on the list."""
        rows = self.listed.select_related("topic").only(*LIST_COLUMNS, "topic__name")
        keys = [] if "all" in self.sent else self.picked()
        papers = list((rows.filter(pk__in=keys) if keys else rows)[: MAX_PLANNED + 1])
        if len(papers) > MAX_PLANNED:
            self.notes.append(too_many_message())
            return []
        shown = {one.pk for one in self.shown_sessions}
        cards = [card for card in self.cards if card.session.pk in shown]
        found = suggest([paper_features(paper) for paper in papers], session_profiles(cards))
        if missing := len(papers) - len(found):
            words = ngettext(
                "No session is suggested for %(n)d paper: none with room has enough in common with it.",
                "No session is suggested for %(n)d papers: none with room has enough in common with them.",
                missing,
            )
            self.notes.append(words % {"n": missing})
        by_key = {paper.pk: paper for paper in papers}
        return [
            {
                "paper": by_key[one.paper],
                "session": self.by_key[one.session],
                "why": reason_words(one, by_key[one.paper]),
                "value": encode_moves({one.paper: (one.session, self.kind)}),
            }
            for one in found
        ]

    # Saving

    def may_save(self) -> bool:
        talks = [talk for row in self.plan.rows if (talk := row.moved_talk)]
        return self.may_add and all(
            may_all_fields(self.model_admin, self.request, "change", Presentation, talk) for talk in talks
        )

    def resolve(self, shown: Seen) -> bool:
        for row in self.plan.stale if shown == self.current_marks else []:
            choice = self.sent.get(f"{CHOICE}m{row.pk}")
            if choice == THEIRS:
                self.plan.rows.remove(row)
            elif choice == MINE:
                row.seen = sessions_mark(row.talks)
        return all(row.seen == sessions_mark(row.talks) for row in self.plan.rows)

    def save(self) -> str:
        for card in self.unconfirmed:
            words = gettext(
                "Nothing was saved: “%(session)s” is too full (%(how)s). Confirm that or take papers back."
            )
            self.notes.append(words % {"session": card.session, "how": card.overfull})
        if self.unconfirmed or not self.plan.save():
            return ""
        count = len(self.plan.rows)
        words = ngettext("%(n)d paper is in its session.", "%(n)d papers are in their sessions.", count)
        return words % {"n": count}

    def differences(self) -> list[dict[str, object]]:
        what = gettext("Session")
        return [
            difference_row(self.sent, f"m{row.pk}", what, row.paper, row.where, str(row.session))
            for row in self.plan.stale
        ]

    @property
    def unconfirmed(self) -> list[SessionCard]:
        return [card for card in self.cards if card.is_over and not card.is_confirmed]

    def address(self, **more: object) -> str:
        """Return the address of the page with its filters."""
        asked = {name: value for name, value in self.form.filters.items() if value}
        if asked.get("show") == Show.PLANNED:
            del asked["show"]
        return super().address(**asked, **more)

    def context(self) -> dict[str, Any]:
        found: dict[str, object] = {}
        if self.plan.rows:
            compared = clashes.clash_difference(self.edition, self.plan.planned_edit(), nearby=True)
            found = plan_clash_context(compared, compared.new[:MAX_SHOWN_CLASHES], compared.solved)
            found["new_count"] = len(compared.new)
        if "_suggest" in self.sent:
            found["suggestions"] = self.suggestions()
        return {
            "form": self.form,
            "rows": self.rows,
            "total": self.total,
            "page": self.page,
            "cards": self.cards,
            "options": self.options,
            "plan": self.plan,
            "planned": encode_moves({row.pk: (row.session.pk, row.kind) for row in self.plan.rows}),
            "seen": sign_marks(self.seen),
            "may_add": self.may_add,
            **found,
        }
