"""The page that gives papers with a talk a poster in the next poster session."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from conference.models import Edition
from content.unreleased.plan import match
from editorial.access import access_for
from schedule.admin.editor import DEFERRED_FIELDS, EditionPage, visible_rows
from schedule.editing import save_fields, validation_errors
from schedule.models import Presentation, Session
from schedule.timetable import instant

TALK_KINDS = ("oral", "spotlight")


@dataclass
class SessionTalks:
    """A session with talks about papers, and the poster session for them."""

    session: Session
    talks: list[Presentation] = field(default_factory=list)
    target: Session | None = None
    is_picked: bool = False
    unplaced_count: int = 0


@dataclass
class PosterPlan:
    """Posters to schedule, new or stored; `skipped` are already in a session."""

    posters: list[Presentation] = field(default_factory=list)
    skipped: list[Presentation] = field(default_factory=list)
    # Reasons why nothing can be saved.
    problems: list[str] = field(default_factory=list)

    @property
    def stored_posters(self) -> list[Presentation]:
        """The stored posters without a session."""
        return [poster for poster in self.posters if poster.pk]

    def save(self) -> bool:
        """Add the posters to the end of their sessions, unless there are `problems`."""
        session_keys = {poster.session_id for poster in self.posters}
        presentations = Presentation.objects.matching(session_id__in=session_keys).order_by()
        positions: dict[int, int] = {}
        for key, position in presentations.rows("session_id", "position"):
            positions[key] = max(positions.get(key, 0), position)
        for poster in self.posters:
            session_key = poster.session_id or 0
            poster.position = positions[session_key] = positions.get(session_key, 0) + 1
            self.problems += [f"{poster.paper}: {error}" for error in validation_errors(poster)]
        if self.problems:
            return False
        save_fields(self.stored_posters, ["session", "position"])
        new_posters = [poster for poster in self.posters if not poster.pk]
        Presentation.objects.bulk_create(new_posters, batch_size=500)
        return True


def sessions_with_talks(
    talks: Iterable[Presentation], poster_sessions: Iterable[Session]
) -> list[SessionTalks]:
    """Return the sessions that these talks are in, by time, each with the next poster session after it."""
    targets = sorted(poster_sessions, key=lambda session: (instant(session.start), session.pk))
    groups: dict[int, SessionTalks] = {}
    for talk in talks:
        if talk.session is not None:
            groups.setdefault(talk.session.pk, SessionTalks(talk.session)).talks.append(talk)
    for group in groups.values():
        session_end = instant(group.session.end)
        group.target = next((target for target in targets if instant(target.start) >= session_end), None)
    return sorted(groups.values(), key=lambda group: (instant(group.session.start), group.session.pk))


def plan_posters(chosen: Iterable[SessionTalks], posters: Mapping[int, Presentation]) -> PosterPlan:
    """Return the plan for the chosen sessions. `posters` are the existing ones by paper."""
    plan, planned_papers = PosterPlan(), set()
    for session_talks in chosen:
        for talk in session_talks.talks:
            paper, target = talk.paper, session_talks.target
            if paper is None or target is None or paper.pk in planned_papers:
                continue
            planned_papers.add(paper.pk)
            poster = posters.get(paper.pk)
            if poster is None:
                poster = Presentation(
                    edition=target.edition, session=target, paper=paper, kind="poster", status=talk.status
                )
                plan.posters.append(poster)
            elif poster.session_id is not None:
                plan.skipped.append(poster)
            else:
                poster.session = target
                plan.posters.append(poster)
    return plan


class PostersPage(EditionPage):
    """The page that adds posters for papers with a talk."""

    name = "posters"
    title = _("Posters after their talks")
    unchanged = _("All of these papers already have a poster.")

    def prepare(self, subject: Edition) -> None:
        self.edition = edition = subject
        model_admin, request = self.model_admin, self.request
        self.may_add = access_for(request).may_inline("add", Presentation, edition)
        rows = visible_rows(model_admin, request, Presentation).filter(edition=edition).taking_place()
        rows = rows.filter(paper__isnull=False).select_related("edition", "paper", "session")
        self.rows = rows.defer(*DEFERRED_FIELDS)
        sessions = (
            visible_rows(model_admin, request, Session).filter(edition=edition).matching(counts_as="poster")
        )
        self.targets: list[Session] = list(sessions.taking_place().in_order())
        talks = self.rows.matching(counts_as__in=TALK_KINDS, session_id__isnull=False)
        self.talks = talks.filter(~match(Presentation, session__counts_as="poster"))
        self.sessions = sessions_with_talks(
            self.talks.order_by(talks.value("session_id"), talks.value("position"), "pk"), self.targets
        )
        targets_by_key = {str(target.pk): target for target in self.targets}
        for session_talks in self.sessions:
            session_talks.is_picked = str(session_talks.session.pk) in self.data.getlist("pick")
            if f"p{session_talks.session.pk}" in self.data:
                session_talks.target = targets_by_key.get(self.data[f"p{session_talks.session.pk}"])
            posters = (self.posters.get(talk.paper_id or 0) for talk in session_talks.talks)
            session_talks.unplaced_count = sum(
                poster is None or poster.session_id is None for poster in posters
            )

    @cached_property
    def posters(self) -> dict[int, Presentation]:
        """The existing posters by paper, preferring those in a session."""
        posters_by_paper: dict[int, Presentation] = {}
        papers = self.talks.order_by().values("paper")
        for poster in self.rows.posters().filter(paper__in=papers).order_by("pk"):
            known_poster = posters_by_paper.get(poster.paper_id)
            if known_poster is None or known_poster.session_id is None:
                posters_by_paper[poster.paper_id] = poster
        return posters_by_paper

    @property
    def selected(self) -> list[SessionTalks]:
        return [session_talks for session_talks in self.sessions if session_talks.is_picked]

    @cached_property
    def plan(self) -> PosterPlan:
        return plan_posters(self.selected, self.posters)

    def may_save(self) -> bool:
        access = access_for(self.request)
        return self.may_add and all(
            access.may_all_fields("change", Presentation, poster) for poster in self.plan.stored_posters
        )

    def save(self) -> str:
        if not self.plan.save():
            return ""
        count = len(self.plan.posters)
        message = ngettext("%(n)d poster is in its session.", "%(n)d posters are in their sessions.", count)
        return message % {"n": count}

    def context(self) -> dict[str, Any]:
        context: dict[str, Any] = {"page": self, "may_add": self.may_add}
        if self.data:
            context["plan"] = self.plan
            context["is_none_picked"] = not self.selected
            context["sessions_without_target"] = [
                session_talks for session_talks in self.selected if session_talks.target is None
            ]
        return context
