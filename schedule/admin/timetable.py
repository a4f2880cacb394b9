"""The timetable editor: moves sessions of a day, checks them and saves them together."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content import times
from content.versions import Seen, read_marks, sign_marks
from editorial.lists import with_count
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN_FIELD
from schedule import clashes, timetable
from schedule.admin.editor import (
    EditionPage,
    apply_choices,
    difference_row,
    edition_or_newest,
    may_all_fields,
    plan_clash_context,
    visible_rows,
)
from schedule.admin.live_notice import may_announce
from schedule.day_grid import day_grid
from schedule.editing import PlannedSessions, SessionRow, ShiftForm, marks_of, sent_keys
from schedule.kind_colors import kind_colors
from schedule.models import Room, Session

SESSION_DELETED = _("Nothing was saved: a session you moved has been deleted. Save again without it.")


class TimetablePage(EditionPage):
    """A day of an edition with its planned moves."""

    name = "timetable"
    title = _("Timetable")
    unchanged = _("There were no moves to save.")

    def prepare(self, subject: Edition) -> None:
        self.edition = edition = subject
        model_admin, request = self.model_admin, self.request
        self.sessions = visible_rows(model_admin, request, Session).filter(edition=edition)
        rooms = (
            visible_rows(model_admin, request, Room)
            .filter(edition=edition)
            .order_by("position", "name", "pk")
        )
        self.rooms: dict[int, Room] = {room.pk: room for room in rooms}
        used = self.sessions.program_days(edition.day_of)
        self.days = timetable.day_strip(edition.start_date, edition.end_date, used)
        today = edition.day_of(timezone.now())
        first = today if today in used else min(used, default=edition.start_date)
        # The day of a pressed button overrides the day of the form.
        asked = self.sent.get("_show") or self.sent.get("day") or request.GET.get("day", "")
        self.day = next((day for day in self.days if day.isoformat() == asked), first)

    @classmethod
    def rows_to_lock(cls, request: HttpRequest, subject: Edition) -> QuerySet[Any]:
        return Session._base_manager.filter(pk__in=sent_keys(request.POST))

    @cached_property
    def sitting(self) -> PlannedSessions:
        """The sessions of the day, those that were submitted, and the parts of both on any day."""
        first, last = self.edition.day_bounds(self.day)
        keys = sent_keys(self.sent)
        wanted = Q(start__gte=first, start__lt=last) | Q(pk__in=keys) | Q(parent__in=keys)
        wanted |= Q(parent__start__gte=first, parent__start__lt=last)
        rows = self.sessions.filter(wanted).select_related("room", "parent").in_order()
        rows = rows.annotate(
            presentation_rows=with_count(Session, "presentations"), part_rows=with_count(Session, "parts")
        )
        found = PlannedSessions([])
        for session in rows:
            may_move = may_all_fields(self.model_admin, self.request, "change", Session, session)
            found.rows.append(SessionRow(session, self.edition, self.rooms, is_fixed=not may_move))
        if self.sent:
            found.read(self.sent, read_marks(self.sent.get(SEEN_FIELD, "")) or {})
        return found

    def handle_button(self) -> None:
        if key := self.sent.get("_reset", ""):
            self.sitting.reset(key)
        if "_shift" in self.sent:
            form = ShiftForm(self.sent, [row.pk for row in self.sitting.rows])
            if form.is_valid() and form.cleaned_data["minutes"] and form.cleaned_data["pick"]:
                by = timedelta(minutes=form.cleaned_data["minutes"])
                self.sitting.shift(form.cleaned_data["pick"], by)
            else:
                self.notes += [str(line) for found in form.errors.values() for line in found]
                self.notes.append(gettext("Choose sessions, and enter the number of minutes to shift them."))

    def may_save(self) -> bool:
        return self.model_admin.has_change_permission(self.request)

    def resolve(self, shown: Seen) -> bool:
        seen, stale = shown.get("", {}), self.sitting.stale
        now = {row.pk: "".join(marks_of(row.before)) for row in stale}
        apply_choices(self.sent, "s", [row for row in stale if seen.get(str(row.pk)) == now[row.pk]])
        self.current_marks = {"": {str(row.pk): now[row.pk] for row in self.sitting.stale}}
        return not self.sitting.stale

    def differences(self) -> list[dict[str, object]]:
        what = gettext("When and where")
        return [
            difference_row(self.sent, f"s{row.pk}", what, row.session, row.was, row.now)
            for row in self.sitting.stale
        ]

    def save(self) -> str:
        sitting = self.sitting
        if sitting.gone:
            self.notes.append(SESSION_DELETED)
            self.status = 409
        else:
            sitting.save()
        if sitting.gone or sitting.wrong:
            return ""
        count = len(sitting.moved)
        return ngettext("%(n)d session moved.", "%(n)d sessions moved.", count) % {"n": count}

    def address(self, **more: object) -> str:
        return super().address(day=self.day, **more)

    def heading(self) -> str:
        return gettext("Timetable of %(edition)s") % {"edition": self.edition}

    @property
    def shown(self) -> list[SessionRow]:
        """The rows on the page: those of the day, all moved ones, and the parts of both."""
        rows = self.sitting.rows
        here = {row.pk for row in rows if row.day == self.day or row.is_moved or row.errors}
        return [row for row in rows if row.pk in here or row.session.parent_id in here]

    def clash_context(self) -> dict[str, Any]:
        """Return the clashes of the plan that concern rows on the page."""
        found = clashes.clash_difference(self.edition, self.sitting.planned_edit())
        keys = {row.pk for row in self.shown}
        here = [clash for clash in found.all if found.sessions(clash) & keys]
        return {
            **plan_clash_context(found, here, found.solved),
            "new_count": len(found.new),
            "by_session": Counter(key for clash in here for key in found.sessions(clash) & keys),
        }

    def context(self) -> dict[str, Any]:
        sitting = self.sitting
        found = self.clash_context()
        shown = self.shown
        here = [row for row in sitting.rows if row.day == self.day]
        here.sort(key=lambda row: timetable.instant(row.start))
        for row in shown:
            vars(row)["clash_count"] = found["by_session"][row.pk]
        bounds = self.edition.day_bounds(self.day)
        return {
            **found,
            "day": self.day,
            "days": [(one, times.short_day(one)) for one in self.days],
            "rooms": list(self.rooms.values()),
            "may_announce": may_announce(self.request, self.edition),
            "rows": here,
            "elsewhere": [row for row in shown if row.day != self.day],
            "grid": day_grid(here, self.edition.zone),
            "moved_count": len(sitting.moved),
            "wrong_count": len(sitting.wrong),
            "seen": sign_marks({"": {str(row.pk): "".join(row.seen) for row in shown}}),
            "zone_label": times.zone_label(bounds[0], self.edition.zone),
            "may_change": any(not row.is_fixed for row in here),
        }


def planned_clashes_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Return the clashes of submitted moves as JSON, without saving."""
    edition = edition_or_newest(model_admin, request)
    if edition is None or request.method != "POST":
        return redirect("admin:schedule_session_timetable")
    page = TimetablePage(model_admin, request, edition)
    found = page.clash_context()
    return JsonResponse(
        {
            "html": render_to_string("admin/schedule/_timetable_clashes.html", found, request),
            "sessions": found["by_session"],
            "errors": {row.pk: [*row.errors.values()] for row in page.sitting.wrong},
            "stale": [row.pk for row in page.sitting.stale],
        }
    )


def colors_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Return the stylesheet with the colors of the conference's own kinds, also for drafts."""
    edition = edition_or_newest(model_admin, request)
    css = kind_colors(edition) if edition else ""
    return HttpResponse(css, content_type="text/css; charset=utf-8")
