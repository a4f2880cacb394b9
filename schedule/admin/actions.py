"""Bulk actions of the schedule: set rooms and sessions, put papers into a session."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Max
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import Access
from content.bulk import BulkChange, BulkPlan, Values, apply_and_validate, plan_changes
from editorial.access import ScopedAdmin, access_for
from editorial.actions import (
    HAS_IT_ALREADY,
    ActionForm,
    BulkAction,
    ChosenField,
    SetField,
    Words,
    describe_change,
)
from schedule.admin.kinds import offer_kinds
from schedule.editing import validation_errors
from schedule.models import Presentation, Room, Session
from schedule.session_kinds import AppliesTo, built_in_kinds, kind_label

if TYPE_CHECKING:
    from content.models import Content


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
        is_there = row.session_id == (session.pk if session else None)
        times = {"start": None, "end": None} if values["follow"] and not is_there else {}
        return {"session": session, **times}

    def plan(
        self, model_admin: ScopedAdmin, request: HttpRequest, rows: list[Any], values: Values
    ) -> BulkPlan:
        plan = plan_changes(rows, lambda row: self.values(row, values), describe_move)
        last = last_positions(values["session"])
        for line in plan.lines:
            edition = line.row.edition_id
            last[edition] = line.values["position"] = last.get(edition, 0) + 1
        return plan


def describe_move(row: "Content", news: Values) -> str:
    sentence = describe_change(row, {"session": news["session"]})
    if {"start", "end"} & news.keys():
        return gettext("%(move)s, without times of its own") % {"move": sentence}
    return sentence


def last_positions(session: Session | None) -> dict[int, int]:
    """Return the last position in a session, or of presentations without a session, by edition."""
    stood = Presentation.objects.filter(session=session).order_by()
    return dict(stood.values_list("edition").annotate(last=Max("position")))


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
        presented = Presentation.objects.filter(paper__in=[row.pk for row in rows], kind=kind)
        shown = presented.select_related("edition", "room")
        there = {*shown.filter(session=session).values_list("paper", flat=True)}
        waiting = {one.paper_id: one for one in shown.filter(session=None).order_by("-pk")}
        place = last_positions(session).get(session.edition_id, 0)
        plan = BulkPlan(same=[row for row in rows if row.pk in there])
        own_name = Presentation(edition=session.edition).kind_copies(kind)["kind_name"]
        label = kind_label(AppliesTo.PRESENTATION, kind, own_name)
        words = {"session": session, "kind": label}
        says = gettext("is presented in “%(session)s” (%(kind)s)") % words
        moves = gettext("its presentation without a session goes to “%(session)s” (%(kind)s)") % words
        access = access_for(request)
        for paper in rows:
            if paper.pk in there:
                continue
            line = plan_presentation(paper, session, kind, waiting.get(paper.pk), access)
            if isinstance(line, str):
                plan.skipped.append((paper, line))
                continue
            place += 1
            if line.new_row is not None:
                line.new_row.position, line.summary = place, says
            else:
                line.values["position"], line.summary = place, moves
            plan.lines.append(line)
        return plan

    def write(self, lines: list[BulkChange]) -> None:
        moved = [
            BulkChange(line.row.waiting_presentation, line.summary, line.values)
            for line in lines
            if line.values
        ]
        super().write([*(line for line in lines if line.new_row is not None), *moved])


def presentation_kind_in(session: Session) -> str:
    """Return the kind of a new presentation in a session, such as poster in a poster session."""
    has_same = session.counts_as in built_in_kinds(AppliesTo.PRESENTATION)
    return session.counts_as if has_same else Presentation.Kind.ORAL


def plan_presentation(
    paper: Any, session: Session, kind: str, waits: Any, access: Access
) -> BulkChange | str:
    """Return the change that puts a paper into a session, or the reason why it is refused."""
    if waits is not None:
        if not access.may_all_fields("change", Presentation, waits):
            return gettext("You don’t have permission to change its presentation.")
        waits.paper = paper
        paper.waiting_presentation = waits
        news: Values = {"session": session}
        return apply_and_validate(waits, news) or BulkChange(paper, "", news)
    if paper.edition_id == session.edition_id:
        # Share the edition, so that the conference's kinds are read once, not for each row.
        paper.edition = session.edition
    made = Presentation(edition=paper.edition, paper=paper, session=session, kind=kind)
    if not access.may("add", Presentation, made):
        return gettext("You don’t have permission to add presentations there.")
    return " ".join(validation_errors(made)) or BulkChange(paper, "", new_row=made)


set_room = SetRoom(
    "set_room",
    Words(
        _("Set room of selected %(verbose_name_plural)s"),
        _("Room set for %(amount)s."),
        HAS_IT_ALREADY,
        _("Set room of %(amount)s"),
    ),
)
set_session = SetSession(
    "set_session",
    Words(
        _("Move selected %(verbose_name_plural)s to a session"),
        _("%(amount)s moved."),
        ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
        _("Move %(amount)s"),
    ),
)
put_in_session = PutInSession(
    "put_in_session",
    Words(
        _("Put selected %(verbose_name_plural)s into a session"),
        _("%(amount)s moved to the session."),
        ngettext_lazy("%(count)d is there already.", "%(count)d are there already.", "count"),
        _("Put %(amount)s into the session"),
    ),
)
