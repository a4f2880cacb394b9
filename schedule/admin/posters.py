"""Papers with a talk get a poster in the session after it: chosen by session, looked at, then made."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.models import Edition
from editorial.current_edition import working_on
from schedule.admin.edit_session import UNSHOWN, SittingAdmin, lock, one_sitting
from schedule.editing.poster_assignment import SPOKEN, AssignmentPlan, SessionTalks, plan, sessions_with_talks
from schedule.editing.saving import save_posters
from schedule.models import Presentation, Session


class PostersPage:
    """One request to the page that sends talks' papers to poster sessions."""

    def __init__(self, desk: Any, request: HttpRequest, edition: Edition) -> None:
        self.edition = edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        rows = desk.rows_of(request, Presentation).filter(edition=edition).taking_place()
        self.rows = (
            rows.filter(paper__isnull=False).select_related("edition", "paper", "session").defer(*UNSHOWN)
        )
        sessions = desk.get_queryset(request).filter(edition=edition, kind="poster").taking_place()
        self.targets: list[Session] = list(sessions.in_order())
        spoken = self.rows.filter(kind__in=SPOKEN).exclude(session__kind="poster").exclude(session=None)
        self.spoken = spoken
        self.sessions = sessions_with_talks(spoken.order_by("session", "position", "pk"), self.targets)
        self.read()

    def read(self) -> None:
        """Take over which sessions were chosen, and where their papers go."""
        known = {str(target.pk): target for target in self.targets}
        for one in self.sessions:
            one.is_picked = str(one.session.pk) in self.sent.getlist("pick")
            if f"p{one.session.pk}" in self.sent:
                one.target = known.get(self.sent[f"p{one.session.pk}"])
            one.waiting = sum(not self.is_hung(talk) for talk in one.talks)

    @cached_property
    def posters(self) -> dict[int, Presentation]:
        """The posters that papers have, one for each: one with a session if there is any."""
        found: dict[int, Presentation] = {}
        papers = self.spoken.order_by().values("paper")
        for poster in self.rows.posters().filter(paper__in=papers).order_by("pk"):
            there = found.get(poster.paper_id)
            if there is None or there.session_id is None:
                found[poster.paper_id] = poster
        return found

    def is_hung(self, talk: Presentation) -> bool:
        poster = self.posters.get(talk.paper_id or 0)
        return poster is not None and poster.session_id is not None

    @property
    def picked(self) -> list[SessionTalks]:
        return [one for one in self.sessions if one.is_picked]

    @property
    def plan(self) -> AssignmentPlan:
        return plan(self.picked, self.posters)


class PostersAdmin(SittingAdmin):
    """The sessions' admin, with a page that sends papers from talks to posters."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.posters_view)
        return [path("posters/", view, name="schedule_session_posters"), *super().get_urls()]

    def posters_view(self, request: HttpRequest) -> HttpResponse:
        """Show the sessions with talks and where their posters could hang; preview and make them."""
        edition = self.edition_or_newest(request)
        if edition is None:
            return self.posters_page(request, {"edition": None})
        if request.method == "POST" and "_save" in request.POST:
            return self.save_sendings(request, edition)
        page = PostersPage(self, request, edition)
        more: dict[str, Any] = {"saved": self.saved_sitting(request, edition)}
        if request.method == "POST":
            more["plan"] = page.plan
            more["is_none_picked"] = not page.picked
            more["aimless"] = [one for one in page.picked if one.target is None]
        return self.posters_page(request, {"edition": edition, "page": page, **more})

    def posters_page(self, request: HttpRequest, more: dict[str, Any]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Posters after their talks"),
            "opts": self.opts,
            "editions": self.editions(request),
            "may_add": self.may(request, "add", Presentation, more["edition"]),
            **more,
        }
        with working_on(more["edition"]):
            return TemplateResponse(request, "admin/schedule/posters.html", context).render()

    def save_sendings(self, request: HttpRequest, edition: Edition) -> HttpResponse:
        """Make the posters; what was sent meanwhile is not made twice."""
        if not self.may(request, "add", Presentation, edition):
            raise PermissionDenied
        with one_sitting(request) as log:
            lock(self.model._base_manager.filter(edition=edition))
            page = PostersPage(self, request, edition)
            found = page.plan
            touched = [one.poster for one in found.sendings if one.poster]
            if not all(self.may(request, "change", Presentation, poster) for poster in touched):
                raise PermissionDenied
            is_saved = save_posters(found)
        if not is_saved:
            return self.posters_page(request, {"edition": edition, "page": page, "plan": found})
        here = f"{reverse('admin:schedule_session_posters')}?edition={edition.pk}"
        count = len(found.sendings)
        if log.change_set is None:
            messages.info(request, _("All of these papers have a poster already."))
            return redirect(here)
        words = ngettext("%(n)d poster is in its session.", "%(n)d posters are in their sessions.", count)
        messages.success(request, words % {"n": count})
        return redirect(f"{here}&saved={log.change_set.pk}")
