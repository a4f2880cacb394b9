"""The plan of the page that puts papers into sessions.

The form carries the plan in one field, as `paper:session:kind` for each move.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from content import bulk
from content.bulk import BulkChange, apply_and_validate
from content.versions import value_mark
from papers.models import Paper
from schedule.admin.actions import last_positions, presentation_kind_in
from schedule.clashes import PlannedEdit
from schedule.clashes.findings import NEW_TALK_SIGN, TalkColumns
from schedule.editing import PlannedRows, validation_errors
from schedule.models import Presentation, Session

# The maximum number of planned papers: with more, a form would take seconds to read and to render.
MAX_PLANNED = 5_000
MOVE_PATTERN = re.compile(r"(?P<paper>[0-9]{1,18}):(?P<session>[0-9]{1,18}):(?P<kind>[-\w]{0,40})")


@dataclass
class PlannedPaper:
    """A paper that goes into a session; `talks` are its presentations that are not canceled."""

    paper: Paper
    session: Session
    # The kind of presentation. If empty, that of the unscheduled presentation, else of the session.
    kind: str
    talks: list[Presentation]
    # The mark of the sessions that the page showed for the paper.
    seen_mark: str = ""
    is_stale: bool = False
    errors: list[str] = field(default_factory=list)

    @property
    def pk(self) -> int:
        return self.paper.pk

    @property
    def is_in_session(self) -> bool:
        """Return whether the paper is already in the session."""
        return any(talk.session_id == self.session.pk and self.matches(talk) for talk in self.talks)

    @property
    def where(self) -> str:
        """The titles of the sessions that the paper is in."""
        return ", ".join(dict.fromkeys(str(talk.session) for talk in self.talks if talk.session)) or "–"

    def matches(self, talk: Presentation) -> bool:
        """Return whether a presentation has the planned kind, or fits the session as poster or talk."""
        if self.kind:
            return str(talk.kind) == self.kind
        return (talk.counts_as == "poster") == (presentation_kind_in(self.session) == "poster")

    @property
    def moved_talk(self) -> Presentation | None:
        """The presentation to move: an unscheduled one, or if stale one that was scheduled elsewhere."""
        matching_talks = [talk for talk in self.talks if self.matches(talk)]
        unscheduled_talks = [talk for talk in matching_talks if talk.session_id is None]
        return next(
            iter(unscheduled_talks if unscheduled_talks or not self.is_stale else matching_talks), None
        )

    @property
    def new_kind(self) -> str:
        return self.kind or presentation_kind_in(self.session)


def sessions_mark(talks: Iterable[Presentation]) -> str:
    """Return the mark of the sessions in which a paper is presented."""
    return value_mark(sorted({talk.session_id for talk in talks if talk.session_id is not None}))


def talks_by_paper(papers: Iterable[int]) -> dict[int, list[Presentation]]:
    """Return the presentations of papers that are not canceled. One query."""
    rows = Presentation.objects.filter(paper__in=list(papers)).taking_place().order_by("pk")
    rows = rows.select_related("session", "room").defer(
        "abstract", "abstract_html", "session__abstract", "session__abstract_html"
    )
    by_paper: dict[int, list[Presentation]] = {}
    for talk in rows:
        by_paper.setdefault(talk.paper_id or 0, []).append(talk)
    return by_paper


def encode_moves(plan: Mapping[int, tuple[int, str]]) -> str:
    """Return a plan as the value of the form's field."""
    return " ".join(f"{paper}:{session}:{kind}" for paper, (session, kind) in plan.items())


def decode_moves(text: str) -> dict[int, tuple[int, str]]:
    """Return the plan in a form's field: session and kind by paper. Invalid moves are ignored."""
    matches = (MOVE_PATTERN.fullmatch(part) for part in text.split())
    return {int(move["paper"]): (int(move["session"]), move["kind"]) for move in matches if move}


class AssignmentPlan(PlannedRows[PlannedPaper]):
    def in_session(self, session: int) -> list[PlannedPaper]:
        return [row for row in self.rows if row.session.pk == session]

    def planned_edit(self) -> PlannedEdit:
        """Return the plan as input for the search of clashes."""
        moved_talks: dict[int, dict[str, Any]] = {}
        new_talks: list[TalkColumns] = []
        for row in self.rows:
            new_values = {"session": row.session.pk, "start": None, "end": None}
            talk = row.moved_talk
            if talk is not None:
                moved_talks[talk.pk] = new_values
                continue
            kind = row.new_kind
            copies = Presentation(edition=row.session.edition).kind_copies(kind)
            new_talks.append(
                TalkColumns(
                    pk=NEW_TALK_SIGN * row.pk,
                    uid=row.paper.uid,
                    kind=kind,
                    counts_as=copies["counts_as"],
                    kind_name=copies["kind_name"],
                    title="",
                    start=None,
                    end=None,
                    room=None,
                    session=row.session.pk,
                    board="",
                    paper=row.pk,
                    paper__title=row.paper.title,
                )
            )
        return PlannedEdit(talks=moved_talks, new_talks=new_talks)

    def bulk_changes(self) -> list[BulkChange]:
        """Return the changes, each at the end of its session; refused ones set `errors` of their row."""
        positions: dict[int, int] = {}
        changes = []
        for row in self.rows:
            session, talk = row.session, row.moved_talk
            row.paper.edition = session.edition
            if session.pk not in positions:
                positions[session.pk] = last_positions(session).get(session.edition_id, 0)
            positions[session.pk] += 1
            if talk is None:
                presentation = Presentation(
                    edition=session.edition,
                    session=session,
                    paper=row.paper,
                    kind=row.new_kind,
                    position=positions[session.pk],
                )
                row.errors = validation_errors(presentation)
                changes.append(BulkChange(row.paper, "", new_row=presentation))
            else:
                talk.edition, talk.paper = session.edition, row.paper
                new_values = {
                    "session": session,
                    "position": positions[session.pk],
                    "start": None,
                    "end": None,
                }
                error = apply_and_validate(talk, new_values)
                row.errors = [error] if error else []
                changes.append(BulkChange(talk, "", new_values))
        return changes

    def save(self) -> bool:
        """Save the plan unless a row is refused; return whether none is."""
        changes = self.bulk_changes()
        if not self.wrong:
            bulk.create_rows(changes)
            bulk.write(changes)
        return not self.wrong


def too_many_message() -> str:
    message = _("At most %(most)d papers can be planned at once. Save these first, or select fewer.")
    return message % {"most": MAX_PLANNED}
