"""The page that gives papers with a talk a poster in the next poster session."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from conference.models import Edition
from schedule.admin.editor import DEFERRED_FIELDS, EditionPage, may_all_fields, visible_rows
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
    waiting: int = 0


@dataclass
class PosterPlan:
    """Posters to schedule, new or stored; `skipped` are already in a session."""

    posters: list[Presentation] = field(default_factory=list)
    skipped: list[Presentation] = field(default_factory=list)
    # Reasons why nothing can be saved.
    problems: list[str] = field(default_factory=list)

    @property
    def waiting(self) -> list[Presentation]:
        """The stored posters without a session."""
        return [poster for poster in self.posters if poster.pk]

    def save(self) -> bool:
        """Add the posters to the end of their sessions, unless there are `problems`."""
        stood = Presentation._base_manager.filter(session__in={one.session_id for one in self.posters})
        rows = stood.order_by().values("session").annotate(last=Max("position"))
        last = dict(rows.values_list("session", "last"))
        for poster in self.posters:
            key = poster.session_id or 0
            poster.position = last[key] = last.get(key, 0) + 1
            self.problems += [f"{poster.paper}: {line}" for line in validation_errors(poster)]
        if self.problems:
            return False
        save_fields(self.waiting, ["session", "position"])
        new = [poster for poster in self.posters if not poster.pk]
        Presentation.objects.bulk_create(new, batch_size=500)
        return True


def sessions_with_talks(talks: Iterable[Presentation], posters: Iterable[Session]) -> list[SessionTalks]:
    """Return the sessions that these talks are in, by time, each with the next poster session after it."""
    later = sorted(posters, key=lambda one: (instant(one.start), one.pk))
    found: dict[int, SessionTalks] = {}
    for talk in talks:
        if talk.session is not None:
            found.setdefault(talk.session.pk, SessionTalks(talk.session)).talks.append(talk)
    for one in found.values():
        ends = instant(one.session.end)
        one.target = next((p for p in later if instant(p.start) >= ends), None)
    return sorted(found.values(), key=lambda one: (instant(one.session.start), one.session.pk))


def plan_posters(chosen: Iterable[SessionTalks], posters: Mapping[int, Presentation]) -> PosterPlan:
    """Return the plan for the chosen sessions. `posters` are the existing ones by paper."""
    found, sent = PosterPlan(), set()
    for one in chosen:
        for talk in one.talks:
            paper, target = talk.paper, one.target
            if paper is None or target is None or paper.pk in sent:
                continue
            sent.add(paper.pk)
            poster = posters.get(paper.pk)
            if poster is None:
                common = {"edition": target.edition, "session": target, "paper": paper}
                found.posters.append(Presentation(**common, kind="poster", status=talk.status))
            elif poster.session_id is not None:
                found.skipped.append(poster)
            else:
                poster.session = target
                found.posters.append(poster)
    return found


class PostersPage(EditionPage):
    """The page that adds posters for papers with a talk."""

    name = "posters"
    title = _("Posters after their talks")
    unchanged = _("All of these papers already have a poster.")

    def prepare(self, subject: Edition) -> None:
        self.edition = edition = subject
        model_admin, request = self.model_admin, self.request
        self.may_add = may_all_fields(model_admin, request, "add", Presentation, edition)
        rows = visible_rows(model_admin, request, Presentation).filter(edition=edition).taking_place()
        rows = rows.filter(paper__isnull=False).select_related("edition", "paper", "session")
        self.rows = rows.defer(*DEFERRED_FIELDS)
        sessions = visible_rows(model_admin, request, Session).filter(edition=edition, counts_as="poster")
        self.targets: list[Session] = list(sessions.taking_place().in_order())
        spoken = self.rows.filter(counts_as__in=TALK_KINDS, session__isnull=False)
        self.spoken = spoken.exclude(session__counts_as="poster")
        self.sessions = sessions_with_talks(self.spoken.order_by("session", "position", "pk"), self.targets)
        known = {str(target.pk): target for target in self.targets}
        for one in self.sessions:
            one.is_picked = str(one.session.pk) in self.sent.getlist("pick")
            if f"p{one.session.pk}" in self.sent:
                one.target = known.get(self.sent[f"p{one.session.pk}"])
            posters = (self.posters.get(talk.paper_id or 0) for talk in one.talks)
            one.waiting = sum(poster is None or poster.session_id is None for poster in posters)

    @cached_property
    def posters(self) -> dict[int, Presentation]:
        """The existing posters by paper, preferring those in a session."""
        found: dict[int, Presentation] = {}
        papers = self.spoken.order_by().values("paper")
        for poster in self.rows.posters().filter(paper__in=papers).order_by("pk"):
            there = found.get(poster.paper_id)
            if there is None or there.session_id is None:
                found[poster.paper_id] = poster
        return found

    @property
    def picked(self) -> list[SessionTalks]:
        return [one for one in self.sessions if one.is_picked]

    @cached_property
    def plan(self) -> PosterPlan:
        return plan_posters(self.picked, self.posters)

    def may_save(self) -> bool:
        return self.may_add and all(
            may_all_fields(self.model_admin, self.request, "change", Presentation, poster)
            for poster in self.plan.waiting
        )

    def save(self) -> str:
        if not self.plan.save():
            return ""
        count = len(self.plan.posters)
        words = ngettext("%(n)d poster is in its session.", "%(n)d posters are in their sessions.", count)
        return words % {"n": count}

    def context(self) -> dict[str, Any]:
        found: dict[str, Any] = {"page": self, "may_add": self.may_add}
        if self.sent:
            found["plan"] = self.plan
            found["is_none_picked"] = not self.picked
            found["aimless"] = [one for one in self.picked if one.target is None]
        return found
