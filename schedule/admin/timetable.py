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
from content.unreleased.plan import match, planned
from content.versions import Seen, read_marks, sign_marks
from editorial.access import access_for
from editorial.model_admin import ContentAdmin
from editorial.stale_forms import SEEN_FIELD
from schedule import clashes, timetable
from schedule.admin.editor import (
    EditionPage,
    edition_or_newest,
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
        used_days = self.sessions.program_days(edition.day_of)
        self.days = timetable.day_strip(edition.start_date, edition.end_date, used_days)
        today = edition.day_of(timezone.now())
        default_day = today if today in used_days else min(used_days, default=edition.start_date)
        # The day of a pressed button overrides the day of the form.
        requested_day = self.data.get("_show") or self.data.get("day") or request.GET.get("day", "")
        self.day = next((day for day in self.days if day.isoformat() == requested_day), default_day)

    @classmethod
    def rows_to_lock(cls, request: HttpRequest, subject: Edition) -> QuerySet[Any]:
        return Session._base_manager.filter(pk__in=sent_keys(request.POST))

    @cached_property
    def plan(self) -> PlannedSessions:
        """The sessions of the day, those that were submitted, and the parts of both on any day."""
        day_start, day_end = self.edition.day_bounds(self.day)
        keys = sent_keys(self.data)
        condition = Q(pk__in=keys) | match(Session, parent_id__in=keys)
        condition |= match(Session, start__gte=day_start, start__lt=day_end)
        condition |= match(Session, parent__start__gte=day_start, parent__start__lt=day_end)
        rows = self.sessions.filter(condition).standing().select_related("room", "parent").in_order()
        rows = rows.with_row_counts()
        plan = PlannedSessions([])
        access = access_for(self.request)
        for session in rows:
            may_move = access.may_all_fields("change", Session, session)
            plan.rows.append(SessionRow(session, self.edition, self.rooms, is_fixed=not may_move))
        if self.data:
            plan.read(self.data, read_marks(self.data.get(SEEN_FIELD, "")) or {})
        return plan

    def handle_button(self) -> None:
        if key := self.data.get("_reset", ""):
            self.plan.reset(key)
        if "_shift" in self.data:
            form = ShiftForm(self.data, [row.pk for row in self.plan.rows])
            if form.is_valid() and form.cleaned_data["minutes"] and form.cleaned_data["pick"]:
                by = timedelta(minutes=form.cleaned_data["minutes"])
                self.plan.shift(form.cleaned_data["pick"], by)
            else:
                self.notes += [str(error) for errors in form.errors.values() for error in errors]
                self.notes.append(gettext("Choose sessions, and enter the number of minutes to shift them."))

    def may_save(self) -> bool:
        return self.model_admin.has_change_permission(self.request)

    def resolve(self, shown_marks: Seen) -> bool:
        compared_marks, stale = shown_marks.get("", {}), self.plan.stale
        current_marks = {row.pk: "".join(marks_of(row.before)) for row in stale}
        self.apply_choices(
            "s", [row for row in stale if compared_marks.get(str(row.pk)) == current_marks[row.pk]]
        )
        self.current_marks = {"": {str(row.pk): current_marks[row.pk] for row in self.plan.stale}}
        return not self.plan.stale

    def differences(self) -> list[dict[str, object]]:
        field_label = gettext("When and where")
        return [
            self.difference(f"s{row.pk}", field_label, row.session, row.was, row.now)
            for row in self.plan.stale
        ]

    def save(self) -> str:
        plan = self.plan
        if plan.gone:
            self.notes.append(SESSION_DELETED)
            self.status = 409
        else:
            plan.save()
        if plan.gone or plan.wrong:
            return ""
        count = len(plan.moved)
        return ngettext("%(n)d session moved.", "%(n)d sessions moved.", count) % {"n": count}

    def address(self, **query: object) -> str:
        return super().address(day=self.day, **query)

    def heading(self) -> str:
        return gettext("Timetable of %(edition)s") % {"edition": self.edition}

    @property
    def shown_rows(self) -> list[SessionRow]:
        """The rows on the page: those of the day, all moved ones, and the parts of both."""
        rows = self.plan.rows
        shown_keys = {row.pk for row in rows if row.day == self.day or row.is_moved or row.errors}
        return [row for row in rows if row.pk in shown_keys or row.session.parent_id in shown_keys]

    def clash_context(self) -> dict[str, Any]:
        """Return the clashes of the plan that concern rows on the page."""
        difference = clashes.clash_difference(self.edition, self.plan.planned_edit())
        shown_keys = {row.pk for row in self.shown_rows}
        shown_clashes = [clash for clash in difference.all if difference.sessions(clash) & shown_keys]
        return {
            **plan_clash_context(difference, shown_clashes, difference.solved),
            "new_count": len(difference.new),
            "by_session": Counter(
                key for clash in shown_clashes for key in difference.sessions(clash) & shown_keys
            ),
        }

    def context(self) -> dict[str, Any]:
        plan = self.plan
        clash_context = self.clash_context()
        shown_rows = self.shown_rows
        day_rows = [row for row in plan.rows if row.day == self.day]
        day_rows.sort(key=lambda row: timetable.instant(row.start))
        for row in shown_rows:
            vars(row)["clash_count"] = clash_context["by_session"][row.pk]
        bounds = self.edition.day_bounds(self.day)
        return {
            **clash_context,
            "day": self.day,
            "days": [(day, times.short_day(day)) for day in self.days],
            "rooms": list(self.rooms.values()),
            "may_announce": may_announce(self.request, self.edition),
            "rows": day_rows,
            "elsewhere": [row for row in shown_rows if row.day != self.day],
            "grid": day_grid(day_rows, self.edition.zone),
            "moved_count": len(plan.moved),
            "wrong_count": len(plan.wrong),
            "signed_marks": sign_marks({"": {str(row.pk): "".join(row.seen) for row in shown_rows}}),
            "zone_label": times.zone_label(bounds[0], self.edition.zone),
            "may_change": any(not row.is_fixed for row in day_rows),
        }


def planned_clashes_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Return the clashes of submitted moves as JSON, without saving."""
    edition = edition_or_newest(model_admin, request)
    if edition is None or request.method != "POST":
        return redirect("admin:schedule_session_timetable")
    with planned(edition):
        page = TimetablePage(model_admin, request, edition)
        context = page.clash_context()
        return JsonResponse(
            {
                "html": render_to_string("admin/schedule/_timetable_clashes.html", context, request),
                "sessions": context["by_session"],
                "errors": {row.pk: [*row.errors.values()] for row in page.plan.wrong},
                "stale": [row.pk for row in page.plan.stale],
            }
        )


def colors_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Return the stylesheet with the colors of the conference's own kinds, also for drafts."""
    edition = edition_or_newest(model_admin, request)
    css = kind_colors(edition) if edition else ""
    return HttpResponse(css, content_type="text/css; charset=utf-8")
