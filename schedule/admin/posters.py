"""Papers with a talk get a poster in the session after it: chosen by session, looked at, then made."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conference.models import Edition
from editorial.current_edition import working_on
from editorial.model_admin import ContentAdmin
from schedule.admin.edit_session import (
    UNSHOWN,
    edition_or_newest,
    lock,
    may,
    one_sitting,
    rows_of,
    saved_changes,
)
from schedule.editing.poster_assignment import SPOKEN, AssignmentPlan, SessionTalks, plan, sessions_with_talks
from schedule.editing.saving import save_posters
from schedule.models import Presentation, Session


class PostersPage:
    """One request to the page that sends talks' papers to poster sessions."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> None:
        self.edition = edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        rows = rows_of(model_admin, request, Presentation).filter(edition=edition).taking_place()
        self.rows = (
            rows.filter(paper__isnull=False).select_related("edition", "paper", "session").defer(*UNSHOWN)
        )
        sessions = (
            rows_of(model_admin, request, Session).filter(edition=edition, counts_as="poster").taking_place()
        )
        self.targets: list[Session] = list(sessions.in_order())
        spoken = (
            self.rows.filter(counts_as__in=SPOKEN).exclude(session__counts_as="poster").exclude(session=None)
        )
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


def posters_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Show the sessions with talks and where their posters could hang; preview and make them."""
    edition = edition_or_newest(model_admin, request)
    if edition is None:
        return render(model_admin, request, None)
    if request.method == "POST" and "_save" in request.POST:
        return save(model_admin, request, edition)
    page = PostersPage(model_admin, request, edition)
    more: dict[str, object] = {"saved": saved_changes(request, edition)}
    if request.method == "POST":
        more["plan"] = page.plan
        more["is_none_picked"] = not page.picked
        more["aimless"] = [one for one in page.picked if one.target is None]
    return render(model_admin, request, edition, page=page, **more)


def render(
    model_admin: ContentAdmin, request: HttpRequest, edition: Edition | None, **more: object
) -> HttpResponse:
    context = model_admin.frame(
        request,
        _("Posters after their talks"),
        edition=edition,
        editions=rows_of(model_admin, request, Edition),
        may_add=may(model_admin, request, "add", Presentation, edition),
        **more,
    )
    with working_on(edition):
        return TemplateResponse(request, "admin/schedule/posters.html", context).render()


def save(model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> HttpResponse:
    """Make the posters; what was sent meanwhile is not made twice."""
    if not may(model_admin, request, "add", Presentation, edition):
        raise PermissionDenied
    with one_sitting(request) as log:
        lock(Session._base_manager.filter(edition=edition))
        page = PostersPage(model_admin, request, edition)
        found = page.plan
        touched = [one.poster for one in found.sendings if one.poster]
        if not all(may(model_admin, request, "change", Presentation, poster) for poster in touched):
            raise PermissionDenied
        is_saved = save_posters(found)
    if not is_saved:
        return render(model_admin, request, edition, page=page, plan=found)
    here = f"{reverse('admin:schedule_session_posters')}?edition={edition.pk}"
    count = len(found.sendings)
    if log.change_set is None:
        messages.info(request, _("All of these papers have a poster already."))
        return redirect(here)
    words = ngettext("%(n)d poster is in its session.", "%(n)d posters are in their sessions.", count)
    messages.success(request, words % {"n": count})
    return redirect(f"{here}&saved={log.change_set.pk}")
