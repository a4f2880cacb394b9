"""The page that changes a session and publishes a notice about it at once."""

from datetime import datetime, timedelta
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

import markup
from conference.models import Announcement, Edition
from content import revision
from content.history import Origin
from content.history.recording import recording
from content.history.timeline import RowLabels
from content.row_values import to_json_value
from content.times import validate_year
from content.versions import value_mark
from editorial.access import access_for
from editorial.actions import with_undo_link
from editorial.current_edition import working_on
from editorial.model_admin import ContentAdmin
from schedule import clashes
from schedule.admin.clashes import clash_context
from schedule.admin.editor import visible_rows
from schedule.admin.unreleased import unreleased_address
from schedule.admin.unreleased_rows import field_lines, references_of
from schedule.editing import Placement
from schedule.entries import Status
from schedule.models import Release, Room, Session
from schedule.notices.announced_change import MAX_TITLE_CHARS, AnnouncedChange, ChangeKind, publish
from schedule.unreleased.beginnings import changes_within, publishing_within

# The default duration of a notice if its session is over.
DEFAULT_NOTICE_DURATION = timedelta(hours=1)
INPUT_FORMAT = "%Y-%m-%dT%H:%M"


def moment_field(label: Any, *, required: bool = False) -> forms.DateTimeField:
    """Return a field for a moment in the edition's zone, in the format of a browser's input."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=INPUT_FORMAT)
    return forms.DateTimeField(
        label=label,
        required=required,
        widget=widget,
        input_formats=[INPUT_FORMAT],
        validators=[validate_year],
    )


class ChangeForm(forms.Form):
    kind = forms.ChoiceField(label=gettext_lazy("What changes"), choices=ChangeKind, widget=forms.RadioSelect)
    room = forms.ModelChoiceField(Room.objects.none(), label=gettext_lazy("New room"), required=False)
    start = moment_field(pgettext_lazy("moment", "New start"))
    end = moment_field(pgettext_lazy("moment", "New end"))
    reason = forms.CharField(
        label=gettext_lazy("Reason for cancellation"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Shown beside the session. It may be empty."),
    )

    def __init__(self, session: Session, rooms: Any, data: QueryDict | None = None) -> None:
        initial = {"start": session.start, "end": session.end, "kind": ChangeKind.ROOM}
        super().__init__(data, initial=initial)
        self.session = session
        cast("forms.ModelChoiceField[Room]", self.fields["room"]).queryset = rooms
        if session.status == Status.CANCELLED:
            cast(forms.ChoiceField, self.fields["kind"]).choices = [(ChangeKind.NOTE, ChangeKind.NOTE.label)]
            self.initial["kind"] = ChangeKind.NOTE

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        kind, session = cleaned.get("kind"), self.session
        if kind == ChangeKind.ROOM and not self.has_error("room"):
            if cleaned.get("room") is None:
                self.add_error("room", _("Choose the new room."))
            elif cleaned["room"].pk == session.room_id:
                self.add_error("room", _("The session is in this room already. Choose another."))
        if kind == ChangeKind.TIME and not (self.has_error("start") or self.has_error("end")):
            start, end = cleaned.get("start"), cleaned.get("end")
            if not (start and end):
                self.add_error("start", _("Enter the new start and end."))
            elif end < start:
                self.add_error("end", _("The end is before the start."))
            elif (start, end) == (session.start, session.end):
                self.add_error("start", _("The session is at this time already. Enter another."))
        return cleaned

    def change(self) -> AnnouncedChange:
        session, cleaned = self.session, self.cleaned_data
        placement = Placement(session.start, session.end, session.room_id)
        if cleaned["kind"] == ChangeKind.ROOM:
            placement = Placement(placement.start, placement.end, cleaned["room"].pk)
        elif cleaned["kind"] == ChangeKind.TIME:
            placement = Placement(cleaned["start"], cleaned["end"], placement.room)
        return AnnouncedChange(cleaned["kind"], session, placement, cleaned["reason"])


class NoticeForm(forms.Form):
    """Form of the notice for visitors. `seen` is the mark of the session when the form was shown."""

    title = forms.CharField(label=gettext_lazy("Title"), max_length=MAX_TITLE_CHARS)
    text = forms.CharField(
        label=gettext_lazy("Text"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("Markdown."),
    )
    until = moment_field(gettext_lazy("Show the banner until"), required=True)
    seen = forms.CharField(widget=forms.HiddenInput)

    def clean_until(self) -> datetime:
        until: datetime = self.cleaned_data["until"]
        if until <= timezone.now():
            raise forms.ValidationError(_("This moment has passed. Enter a later one."))
        return until


def may_announce(request: HttpRequest, edition: Edition) -> bool:
    """Return whether the user may change sessions, publish news, and announce releases of an edition."""
    access = access_for(request)
    return access.may_all_rows("change", Session, edition) and all(
        access.may_all_rows("add", model, edition) for model in (Announcement, Release)
    )


def session_mark(session: Session) -> str:
    """Return a mark of the session, to detect changes by others while a notice is written."""
    times = [to_json_value(session.start), to_json_value(session.end)]
    values = [*times, session.room_id, session.status, session.title]
    return value_mark(values)


def announce_view(model_admin: ContentAdmin, request: HttpRequest, key: int) -> HttpResponse:
    """Ask for the change, then for the notice; publish both."""
    rows = visible_rows(model_admin, request, Session).select_related("edition__conference", "room", "parent")
    session = rows.filter(pk=key).first()
    if session is None:
        raise Http404("No such session.")
    edition: Edition = session.edition
    may_change = access_for(request).may_all_fields("change", Session, session)
    if not (may_change and may_announce(request, edition)):
        raise PermissionDenied
    if session.status == Status.DRAFT:
        message = _("The session is a draft, so visitors don’t know it. Publish it instead.")
        messages.warning(request, message)
        return redirect("admin:schedule_session_change", session.pk)
    with working_on(edition):
        return notice_page(model_admin, request, session)


def notice_page(model_admin: ContentAdmin, request: HttpRequest, session: Session) -> HttpResponse:
    at, data = timezone.now(), request.POST if request.method == "POST" else None
    rooms = session.edition.rooms.order_by("position", "name", "pk")
    form = ChangeForm(session, rooms, data)
    notice: NoticeForm | None = None
    change: AnnouncedChange | None = None
    problems: list[str] = []
    if data is not None and form.is_valid() and "_back" not in data:
        change = form.change()
        if "_publish" in data:
            notice = NoticeForm(data)
            if notice.is_valid() and notice.cleaned_data["seen"] != session_mark(session):
                problems = [_("Somebody else changed the session meanwhile. Look at the notice again.")]
                notice = None
            elif notice.is_valid() and not (
                problems := apply_and_publish(model_admin, request, change, notice)
            ):
                return redirect("admin:schedule_session_change", session.pk)
        notice = notice or suggest_notice(change, at)
    context = model_admin.page_context(
        request,
        _("Announce a change: %(session)s") % {"session": session},
        session=session,
        edition=session.edition,
        form=form,
        notice=notice,
        preview=preview(notice) if notice else None,
        problems=problems,
        clashes=new_clashes(change) if change else [],
        waiting=waiting_lines(session),
        unreleased_url=unreleased_address(session.edition),
        schedule_state="both",
    )
    return TemplateResponse(request, "admin/schedule/live_notice.html", context).render()


def suggest_notice(change: AnnouncedChange, at: datetime) -> NoticeForm:
    """Return the notice form, filled with a text about the change."""
    until = change.end if change.end > at else at + DEFAULT_NOTICE_DURATION
    mark = session_mark(change.session)
    return NoticeForm(initial={"title": change.title(), "text": change.text(), "until": until, "seen": mark})


def preview(notice: NoticeForm) -> dict[str, str]:
    """Return the banner as visitors will see it."""
    return {
        "title": str(notice["title"].value() or ""),
        "text_html": markup.block(str(notice["text"].value() or "")),
    }


def new_clashes(change: AnnouncedChange) -> list[dict[str, object]]:
    """Return the clashes that the change would cause."""
    planned = change.planned_edit()
    if not (planned.sessions or planned.talks):
        return []
    return [clash_context(clash) for clash in clashes.clash_difference(change.session.edition, planned).new]


def apply_and_publish(
    model_admin: ContentAdmin, request: HttpRequest, change: AnnouncedChange, notice: NoticeForm
) -> list[str]:
    """Apply the change and publish the notice in one change set, or return the problems."""
    cleaned = notice.cleaned_data
    detail = _("Announce a change: %(session)s") % {"session": change.session}
    session = change.session
    is_waiting = bool(changes_within(session))
    with (
        recording(Origin.ACTION, request.user, detail) as log,
        revision.lock(),
        publishing_within(session),
    ):
        if problems := change.apply():
            return problems
        publish(change, timezone.now(), cleaned["title"], cleaned["text"], cleaned["until"])
        log.write()
        change_set = log.change_set
    sentence = _("The notice is public: “%(title)s”.") % {"title": cleaned["title"]}
    model_admin.message_user(request, with_undo_link(sentence, change_set), messages.SUCCESS)
    if is_waiting and not changes_within(session):
        model_admin.message_user(request, _("Nothing of the session waits for a release any more."))
    elif is_waiting:
        waits = _("Unreleased changes of the session still wait, and will be released over this one.")
        link = format_html('{} <a href="{}">{}</a>', waits, unreleased_address(session.edition), _("Review"))
        model_admin.message_user(request, link, messages.WARNING)
    return []


def waiting_lines(session: Session) -> list[dict[str, Any]]:
    """Return the unreleased changes of a session and its contents, with both values of each field."""
    changes = changes_within(session)
    labels = RowLabels(references_of(changes))
    return [
        {"label": str(change), "fields": field_lines(change, labels, session.edition)} for change in changes
    ]
