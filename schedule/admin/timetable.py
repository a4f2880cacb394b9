"""The timetable editor: a day of rooms in which sessions are moved, checked and saved together."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from content.versions import read, signed
from editorial.current_edition import working_on
from editorial.lists import with_count
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN, SHOWN, versions_page
from schedule import clashes, timetable
from schedule.admin.editor import (
    clash_context,
    decide,
    difference,
    edition_or_newest,
    lock,
    may,
    one_sitting,
    rows_of,
    saved_changes,
    timetable_address,
)
from schedule.editing import SessionRow, ShiftForm, Sitting, marked, sent_keys
from schedule.models import Room, Session

DELETED = _("Nothing was saved: a session that you moved was deleted meanwhile. Save again without it.")


class Board:
    """One request to the page: an edition, a day of it, and the sitting so far."""

    def __init__(self, model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> None:
        self.model_admin, self.request, self.edition = model_admin, request, edition
        self.sent = request.POST if request.method == "POST" else QueryDict()
        self.sessions = rows_of(model_admin, request, Session).filter(edition=edition)
        rooms = rows_of(model_admin, request, Room).filter(edition=edition).order_by("position", "name", "pk")
        self.rooms: dict[int, Room] = {room.pk: room for room in rooms}
        used = self.sessions.program_days(edition.day_of)
        self.days = timetable.strip(edition.start_date, edition.end_date, used)
        today = edition.day_of(timezone.now())
        first = today if today in used else min(used, default=edition.start_date)
        # A button of the page says where to go next; else the page stays where it is.
        asked = self.sent.get("_show") or self.sent.get("day") or request.GET.get("day", "")
        self.day = next((day for day in self.days if day.isoformat() == asked), first)
        self.notes: list[Any] = []

    @cached_property
    def sitting(self) -> Sitting:
        """The sessions of the day, those that were sent, and what is part of them, on whatever day."""
        first, last = self.edition.day_bounds(self.day)
        keys = sent_keys(self.sent)
        wanted = Q(start__gte=first, start__lt=last) | Q(pk__in=keys) | Q(parent__in=keys)
        wanted |= Q(parent__start__gte=first, parent__start__lt=last)
        rows = self.sessions.filter(wanted).select_related("room", "parent").in_order()
        rows = rows.annotate(
            presentation_rows=with_count(Session, "presentations"), part_rows=with_count(Session, "parts")
        )
        found = Sitting([])
        for session in rows:
            may_move = may(self.model_admin, self.request, "change", Session, session)
            found.rows.append(SessionRow(session, self.edition, self.rooms, is_fixed=not may_move))
        if self.sent:
            found.read(self.sent, read(self.sent.get(SEEN, "")) or {})
        return found

    def act(self) -> None:
        if key := self.sent.get("_reset", ""):
            self.sitting.reset(key)
        if "_shift" in self.sent:
            form = ShiftForm(self.sent, [row.pk for row in self.sitting.rows])
            if form.is_valid() and form.cleaned_data["minutes"] and form.cleaned_data["pick"]:
                by = timedelta(minutes=form.cleaned_data["minutes"])
                self.sitting.shift(form.cleaned_data["pick"], by)
            else:
                self.notes += [str(line) for found in form.errors.values() for line in found]
                self.notes.append(gettext("Choose sessions, and say by how many minutes they are shifted."))

    def settle(self) -> list[SessionRow]:
        """Take over what was chosen where somebody else moved the same session; return what is open."""
        shown = (read(self.sent.get(SHOWN, "")) or {}).get("", {})
        stale = self.sitting.stale
        decide(
            self.sent, "s", [row for row in stale if shown.get(str(row.pk)) == "".join(marked(row.before))]
        )
        return self.sitting.stale

    @property
    def shown(self) -> list[SessionRow]:
        """The rows that the page shows: those of the day, all that were moved, and what is part of them."""
        rows = self.sitting.rows
        here = {row.pk for row in rows if row.day == self.day or row.is_moved or row.errors}
        return [row for row in rows if row.pk in here or row.session.parent_id in here]

    def clashes(self) -> dict[str, Any]:
        """Return what the plan gets in the way of, on the day and wherever something was moved."""
        found = clashes.difference(self.edition, self.sitting.planned())
        keys = {row.pk for row in self.shown}
        here = [clash for clash in found.all if found.sessions(clash) & keys]
        return {
            **clash_context(found, here, found.solved),
            "new_count": len(found.new),
            "by_session": Counter(key for clash in here for key in found.sessions(clash) & keys),
        }

    def context(self) -> dict[str, Any]:
        sitting = self.sitting
        found = self.clashes()
        shown = self.shown
        here = [row for row in sitting.rows if row.day == self.day]
        here.sort(key=lambda row: timetable.instant(row.start))
        for row in shown:
            vars(row)["clash_count"] = found["by_session"][row.pk]
        bounds = self.edition.day_bounds(self.day)
        return {
            **found,
            "edition": self.edition,
            "day": self.day,
            "days": [(one, times.short_day(one)) for one in self.days],
            "rooms": list(self.rooms.values()),
            "rows": here,
            "elsewhere": [row for row in shown if row.day != self.day],
            "grid": timetable.grid(here),
            "moved_count": len(sitting.moved),
            "wrong_count": len(sitting.wrong),
            "seen": signed({"": {str(row.pk): "".join(row.seen) for row in shown}}),
            "notes": self.notes,
            "zone_label": times.zone_label(bounds[0], self.edition.zone),
            "may_change": any(not row.is_fixed for row in here),
        }


def timetable_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Show a day of the edition asked for, as it is or as it is planned; save the plan."""
    edition = edition_or_newest(model_admin, request)
    if edition is None:
        return render(model_admin, request, {"edition": None})
    if request.method == "POST" and "_save" in request.POST:
        return save(model_admin, request, edition)
    board = Board(model_admin, request, edition)
    board.act()
    saved = saved_changes(request, edition)
    return render(model_admin, request, {**board.context(), "saved": saved})


def render(
    model_admin: ContentAdmin, request: HttpRequest, more: dict[str, Any], status: int = 200
) -> HttpResponse:
    edition = more["edition"]
    title = gettext("Timetable of %(edition)s") % {"edition": edition} if edition else gettext("Timetable")
    editions = rows_of(model_admin, request, Edition)
    context = model_admin.frame(request, title, editions=editions, **more)
    with working_on(edition):
        return TemplateResponse(request, "admin/schedule/timetable.html", context, status=status).render()


def planned_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Answer what the moves that were sent would get in the way of; nothing is stored."""
    edition = edition_or_newest(model_admin, request)
    if edition is None or request.method != "POST":
        return redirect("admin:schedule_session_timetable")
    board = Board(model_admin, request, edition)
    found = board.clashes()
    return JsonResponse(
        {
            "html": render_to_string("admin/schedule/_timetable_clashes.html", found, request),
            "sessions": found["by_session"],
            "errors": {row.pk: [*row.errors.values()] for row in board.sitting.wrong},
            "stale": [row.pk for row in board.sitting.stale],
        }
    )


def save(model_admin: ContentAdmin, request: HttpRequest, edition: Edition) -> HttpResponse:
    """Save all moves, or none and say why."""
    if not model_admin.has_change_permission(request):
        raise PermissionDenied
    with one_sitting(request) as log:
        lock(Session._base_manager.filter(pk__in=sent_keys(request.POST)))
        board = Board(model_admin, request, edition)
        count = len(board.sitting.moved)
        if stale := board.settle():
            here = timetable_address(edition, day=board.day)
            shown = {"": {str(row.pk): "".join(marked(row.before)) for row in stale}}
            what = gettext("When and where")
            found = [
                difference(board.sent, f"s{row.pk}", what, row.session, row.was, row.now) for row in stale
            ]
            return versions_page(model_admin, request, found, shown, discard=here)
        if board.sitting.gone:
            board.notes.append(DELETED)
        is_saved = not board.sitting.gone and board.sitting.save()
    if board.sitting.wrong or board.sitting.gone:
        return render(model_admin, request, board.context(), status=409 if board.sitting.gone else 200)
    if not is_saved or log.change_set is None:
        messages.info(request, gettext("Nothing was moved, so there was nothing to save."))
        return redirect(timetable_address(edition, day=board.day))
    words = ngettext("%(n)d session moved.", "%(n)d sessions moved.", count) % {"n": count}
    messages.success(request, words)
    return redirect(timetable_address(edition, day=board.day, saved=log.change_set.pk))
