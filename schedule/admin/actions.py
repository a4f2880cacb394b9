"""Bulk actions of the schedule: set rooms and sessions, put papers into a session."""

from typing import Any

from django import forms
from django.db.models import Max
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import Access
from content.bulk import BulkChange, BulkPlan, Values, apply_and_validate
from editorial.access import ScopedAdmin, access_for
from editorial.actions import (
    HAS_IT_ALREADY,
    ActionForm,
    ActionTexts,
    BulkAction,
    ChosenField,
    SetField,
)
from schedule.admin.kinds import offer_kinds
from schedule.editing import validation_errors
from schedule.models import Presentation, Room, Session
from schedule.session_kinds import AppliesTo, built_in_kinds, kind_label


class RoomForm(ActionForm):
    room = ChosenField(None, label=_("room"), required=False, empty_label=_("No room"))

    def prepare(self) -> None:
        self.fields["room"].offer_rows(self, Room)  # type: ignore[attr-defined]


class SetRoom(SetField):
    form_class = RoomForm


class SessionForm(ActionForm):
    session = ChosenField(None, label=_("session"), required=False, empty_label=_("No session"))
    follow = forms.BooleanField(
        label=_("without times of their own"),
        required=False,
        initial=True,
        help_text=_("They then take the times of the session."),
    )

    def prepare(self) -> None:
        self.fields["session"].offer_rows(self, Session)  # type: ignore[attr-defined]


class SetSession(SetField):
    """Move presentations to the end of a session."""

    form_class = SessionForm

    def values(self, row: Any, values: Values) -> Values:
        session = values["session"]
        is_in_session = row.session_id == (session.pk if session else None)
        cleared_times = {"start": None, "end": None} if values["follow"] and not is_in_session else {}
        return {"session": session, **cleared_times}

    def describe(self, row: Any, new_values: Values) -> str:
        sentence = super().describe(row, {"session": new_values["session"]})
        if {"start", "end"} & new_values.keys():
            return gettext("%(move)s, without times of its own") % {"move": sentence}
        return sentence

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        plan = super().plan(model_admin, request, rows, values)
        positions = last_positions(values["session"])
        for change in plan.lines:
            edition_id = change.row.edition_id
            positions[edition_id] = change.values["position"] = positions.get(edition_id, 0) + 1
        return plan


def last_positions(session: Session | None) -> dict[int, int]:
    """Return the last position in a session, or of presentations without a session, by edition."""
    rows = Presentation.objects.in_session(session) if session else Presentation.objects.unscheduled()
    positions = rows.order_by().values_list("edition").annotate(last=Max(rows.value("position")))
    return dict(positions)


class ScheduleForm(ActionForm):
    session = ChosenField(None, label=_("session"))
    kind = forms.ChoiceField(label=_("kind"), required=False)

    def prepare(self) -> None:
        offer_kinds(self, Presentation)
        field: Any = self.fields["kind"]
        field.choices = [("", _("As the session")), *field.choices]
        self.fields["session"].offer_rows(self, Session)  # type: ignore[attr-defined]


class PutInSession(BulkAction):
    """Put papers into a session: move the unscheduled presentation, or create one."""

    form_class = ScheduleForm

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        session = values["session"]
        kind = values["kind"] or presentation_kind_in(session)
        presentations = Presentation.objects.filter(paper__in=[row.pk for row in rows], kind=kind)
        scheduled_papers = {*presentations.in_session(session).values_list("paper", flat=True)}
        unscheduled_by_paper = {
            presentation.paper_id: presentation
            for presentation in presentations.select_related("edition", "room").unscheduled().order_by("-pk")
        }
        position = last_positions(session).get(session.edition_id, 0)
        plan = BulkPlan(same=[row for row in rows if row.pk in scheduled_papers])
        kind_name = Presentation(edition=session.edition).kind_copies(kind)["kind_name"]
        label = kind_label(AppliesTo.PRESENTATION, kind, kind_name)
        params = {"session": session, "kind": label}
        new_summary = gettext("is presented in “%(session)s” (%(kind)s)") % params
        move_summary = gettext("its presentation without a session goes to “%(session)s” (%(kind)s)") % params
        access = access_for(request)
        for paper in rows:
            if paper.pk in scheduled_papers:
                continue
            change = plan_presentation(paper, session, kind, unscheduled_by_paper.get(paper.pk), access)
            if isinstance(change, str):
                plan.skipped.append((paper, change))
                continue
            position += 1
            if change.new_row is not None:
                change.new_row.position, change.summary = position, new_summary
            else:
                change.values["position"], change.summary = position, move_summary
            plan.lines.append(change)
        return plan

    def write(self, lines: list[BulkChange]) -> None:
        moves = [
            BulkChange(change.row.unscheduled_presentation, change.summary, change.values)
            for change in lines
            if change.values
        ]
        super().write([*(change for change in lines if change.new_row is not None), *moves])


def presentation_kind_in(session: Session) -> str:
    """Return the kind of a new presentation in a session, such as poster in a poster session."""
    is_presentation_kind = session.counts_as in built_in_kinds(AppliesTo.PRESENTATION)
    return session.counts_as if is_presentation_kind else Presentation.Kind.ORAL


def plan_presentation(
    paper: Any, session: Session, kind: str, unscheduled: Any, access: Access
) -> BulkChange | str:
    """Return the change that puts a paper into a session, or the reason why it is refused."""
    if unscheduled is not None:
        if not access.may_all_fields("change", Presentation, unscheduled):
            return gettext("You don’t have permission to change its presentation.")
        unscheduled.paper = paper
        paper.unscheduled_presentation = unscheduled
        new_values: Values = {"session": session}
        return apply_and_validate(unscheduled, new_values) or BulkChange(paper, "", new_values)
    if paper.edition_id == session.edition_id:
        # Share the edition, so that the conference's kinds are read once, not for each row.
        paper.edition = session.edition
    presentation = Presentation(edition=paper.edition, paper=paper, session=session, kind=kind)
    if not access.may("add", Presentation, presentation):
        return gettext("You don’t have permission to add presentations there.")
    return " ".join(validation_errors(presentation)) or BulkChange(paper, "", new_row=presentation)


set_room = SetRoom(
    "set_room",
    ActionTexts(
        _("Set room of selected %(verbose_name_plural)s"),
        _("Room set for %(amount)s."),
        HAS_IT_ALREADY,
        _("Set room of %(amount)s"),
    ),
)
set_session = SetSession(
    "set_session",
    ActionTexts(
        _("Move selected %(verbose_name_plural)s to a session"),
        _("%(amount)s moved."),
        ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
        _("Move %(amount)s"),
    ),
)
put_in_session = PutInSession(
    "put_in_session",
    ActionTexts(
        _("Put selected %(verbose_name_plural)s into a session"),
        _("%(amount)s moved to the session."),
        ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
        _("Put %(amount)s into the session"),
    ),
)
