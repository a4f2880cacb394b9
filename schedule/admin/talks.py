"""The presentations of one session: put in order, spread over its time, checked and saved together."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from content.three_way_merge import CHOICE, MINE, THEIRS
from content.versions import Seen, read, signed
from editorial.current_edition import working_on
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN, SHOWN, versions_page
from schedule import clashes
from schedule.admin.edit_session import (
    UNSHOWN,
    decide,
    difference,
    get_session,
    lock,
    may,
    one_sitting,
    rows_of,
    saved_changes,
    told,
)
from schedule.editing.clock import end_after, moment_on, wall
from schedule.editing.lineup import Lineup, SpreadForm
from schedule.editing.saving import save_lineup
from schedule.editing.spreading import Spread, TooShortError
from schedule.models import Presentation, Session


class TalksPage:
    """One request to the page of a session's presentations."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, session: Session) -> None:
        self.session, self.edition = session, session.edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        rows = rows_of(model_admin, request, Presentation).filter(session=session)
        talks = list(
            rows.select_related("edition", "paper", "session", "room")
            .defer(*UNSHOWN)
            .order_by("position", "pk")
        )
        self.lineup = Lineup.of(session, talks)
        self.seen: Seen = read(self.sent.get(SEEN, "")) or self.lineup.now()
        self.notes: list[str] = []
        zone = self.edition.zone
        clocks = {
            "since": f"{wall(session.start, zone):%H:%M}",
            "until": f"{wall(session.end, zone):%H:%M}",
        }
        self.form = SpreadForm(self.sent or None, initial=clocks)
        if self.sent:
            self.lineup.read(self.sent, self.seen)
        self.may_change = may(model_admin, request, "change", Session, session) and all(
            may(model_admin, request, "change", Presentation, talk) for talk in talks
        )

    def act(self) -> None:
        """Do what the button asks for, but for saving."""
        if "_clear" in self.sent:
            self.lineup.clear()
        if "_spread" in self.sent and self.form.is_valid():
            try:
                self.lineup.spread(self.how(self.form.cleaned_data))
            except TooShortError as error:
                words = _("There are %(there)d minutes, and %(needed)d are needed for a minute each.")
                self.notes.append(words % {"there": error.there, "needed": error.needed})
            except ValidationError as error:
                self.notes += error.messages

    def how(self, asked: dict[str, Any]) -> Spread:
        """Return how the talks are spread, between the clock times asked for."""
        session = self.session
        start = moment_on(self.edition, self.edition.day_of(session.start), asked["since"], session.start)
        end = end_after(self.edition, start, asked["until"], (session.start, session.end))
        return Spread(start, end, asked["minutes"], asked["gap"] or 0)

    def settle(self) -> bool:
        """Take over what was chosen where somebody else changed the same; tell whether all is settled."""
        lineup = self.lineup
        is_current = read(self.sent.get(SHOWN, "")) == lineup.now()
        decide(self.sent, "t", lineup.stale if is_current else [])
        choice = self.sent.get(f"{CHOICE}order") if is_current else None
        if lineup.is_stale and choice == THEIRS:
            lineup.put(lineup.stored)
        lineup.is_stale = lineup.is_stale and choice not in (MINE, THEIRS)
        return not (lineup.stale or lineup.is_stale)

    @property
    def address(self) -> str:
        return reverse("admin:schedule_session_talks", args=[self.session.pk])

    def differences(self) -> list[dict[str, object]]:
        """Return what both sides changed, as the page of two versions shows it."""
        lineup = self.lineup
        found = [
            difference(self.sent, f"t{row.pk}", _("Times"), row.talk, row.was, row.told(row.after))
            for row in lineup.stale
        ]
        if lineup.is_stale:
            names = {row.pk: str(row.talk) for row in lineup.rows}
            sides = (
                "\n".join(f"{place}. {names[key]}" for place, key in enumerate(keys, start=1))
                for keys in (lineup.stored, lineup.order)
            )
            found.append(difference(self.sent, "order", _("Order"), self.session, *sides))
        return found

    def context(self) -> dict[str, Any]:
        """Return what the page shows."""
        plans = {row.pk: {"start": row.after[0], "end": row.after[1]} for row in self.lineup.retimed}
        found = clashes.difference(self.edition, clashes.PlannedEdit(talks=plans))
        here = [clash for clash in found.all if self.session.pk in found.sessions(clash)]
        return {
            "edition": self.edition,
            "session": self.session,
            "rows": self.lineup.rows,
            "form": self.form,
            "notes": self.notes,
            "wrong_count": len(self.lineup.wrong),
            "is_planned": bool(self.lineup.retimed) or self.lineup.is_reordered,
            "seen": signed(self.seen),
            "may_change": self.may_change,
            **told(found, here, found.solved),
        }


def talks_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Show the presentations of a session as they are, or as they are planned; save the plan."""
    session = get_session(model_admin, request, key)
    if request.method == "POST" and "_save" in request.POST:
        return save(model_admin, request, session)
    page = TalksPage(model_admin, request, session)
    page.act()
    return render(model_admin, request, page, saved_changes(request, session.edition))


def render(
    model_admin: ContentAdmin, request: HttpRequest, page: TalksPage, saved: dict[str, object] | None = None
) -> HttpResponse:
    title = _("Order and times: %(session)s") % {"session": page.session}
    context = model_admin.frame(request, title, **page.context(), saved=saved)
    with working_on(page.edition):
        return TemplateResponse(request, "admin/schedule/talks.html", context).render()


def save(model_admin: ContentAdmin, request: HttpRequest, session: Session) -> HttpResponse:
    """Save order and times, or nothing and say why."""
    with one_sitting(request) as log:
        lock(Presentation._base_manager.filter(session=session))
        page = TalksPage(model_admin, request, session)
        if not page.may_change:
            raise PermissionDenied
        if not page.settle():
            now, back = page.lineup.now(), page.address
            return versions_page(model_admin, request, page.differences(), now, discard=back)
        is_saved = save_lineup(page.lineup)
    if page.lineup.wrong:
        return render(model_admin, request, page)
    if not is_saved or log.change_set is None:
        messages.info(request, _("Nothing was changed, so there was nothing to save."))
        return redirect(page.address)
    messages.success(request, _("Order and times of “%(session)s” were saved.") % {"session": session})
    return redirect(f"{page.address}?saved={log.change_set.pk}")
