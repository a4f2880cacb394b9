"""Views of an invitation's link, where a person responds, and enters times of unavailability.

The link is sufficient; no account is needed. The page must not be cached or indexed.
"""

from datetime import datetime, time, timedelta
from itertools import chain
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from conference.models import Edition
from conference.request_edition import published_editions, show_edition
from content.models import strip_direction_marks
from people.secret_links import secret_page
from schedule.invitations.models import State
from schedule.models import ProgramInvitation, SessionRole, Speaker, Unavailability

MAX_TIMES = 50
ANSWERS = {"confirm": State.CONFIRMED, "decline": State.DECLINED}
LOCAL_FORMAT = "%Y-%m-%dT%H:%M"


class NoteForm(forms.Form):
    """Form of the optional note to a response."""

    note = forms.CharField(label=gettext_lazy("Note"), max_length=2000, required=False)

    def clean_note(self) -> str:
        return str(strip_direction_marks(self.cleaned_data["note"]))


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"


class TimeForm(forms.ModelForm[Unavailability]):
    """Form of a span in which a person is not available, in the edition's zone and within its days."""

    class Meta:
        model = Unavailability
        fields = ("start", "end", "note")

    def __init__(self, edition: Edition, data: Any = None, **kwargs: Any) -> None:
        super().__init__(data, label_suffix="", **kwargs)
        self.first = datetime.combine(edition.start_date, time(), edition.zone)
        self.last = edition.day_bounds(edition.end_date)[1].astimezone(edition.zone)
        limits = {"min": self.first.strftime(LOCAL_FORMAT), "max": self.last.strftime(LOCAL_FORMAT)}
        for name, label in (("start", gettext_lazy("From")), ("end", gettext_lazy("Until"))):
            widget = MomentInput(attrs=limits, format=LOCAL_FORMAT)
            self.fields[name] = forms.DateTimeField(label=label, widget=widget, input_formats=[LOCAL_FORMAT])
        self.fields["note"].label = _("Note for the chairs (optional)")
        self.fields["note"].help_text = ""

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        start, end = cleaned.get("start"), cleaned.get("end")
        if start and end and start >= end:
            self.add_error("end", _("The end must be after the start."))
        elif start and end and not (self.first <= start and end <= self.last):
            self.add_error("start", _("Choose times within the days of the conference."))
        return cleaned


@sensitive_post_parameters("note")
@secret_page
def invitation_view(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation; with POST, store the response, or a time when the person is not available."""
    at = timezone.now()
    invitation = ProgramInvitation.objects.by_token(token).with_place().first()
    if invitation is None or invitation.is_over(at):
        return render_gone(request)
    if invitation.edition in published_editions(request):
        show_edition(request, invitation.edition)
    with timezone.override(invitation.edition.zone):
        return (
            handle_post(request, invitation, at)
            if request.method == "POST"
            else render_page(request, invitation, at)
        )


def render_gone(request: HttpRequest) -> HttpResponse:
    return render(request, "schedule/invitation/gone.html", status=404)


def handle_post(request: HttpRequest, invitation: ProgramInvitation, at: datetime) -> HttpResponse:
    action = request.POST.get("do", "")
    with transaction.atomic():
        locked = ProgramInvitation.objects.select_for_update(of=("self",)).filter(pk=invitation.pk).first()
        if locked is None:
            return render_gone(request)
        is_too_often = not locked.count_write(at)
        invitation.state, invitation.note = locked.state, locked.note
        if is_too_often:
            response = render_page(request, invitation, at, 429, error=_("Too many requests. Wait a minute."))
            response.headers["Retry-After"] = "60"
            return response
        if invitation.state == State.WITHDRAWN:
            return render_page(request, invitation, at, 409)
        if action in ANSWERS:
            return save_answer(request, invitation, ANSWERS[action], at)
        if action == "add":
            return add_unavailability(request, invitation, at)
        if action == "remove":
            key = request.POST.get("time", "")
            for row in unavailabilities_of(invitation):
                if str(row.pk) == key:
                    row.delete()
            return redirect_back(request)
    return render_page(
        request, invitation, at, 400, error=_("That action isn’t available. Use the buttons below.")
    )


def save_answer(
    request: HttpRequest, invitation: ProgramInvitation, state: State, at: datetime
) -> HttpResponse:
    if invitation.is_closed(at):
        return render_page(request, invitation, at, 409)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_page(request, invitation, at, 400, note_form=form)
    invitation.note = form.cleaned_data["note"]
    invitation.answer(state, at)
    return redirect_back(request)


def add_unavailability(request: HttpRequest, invitation: ProgramInvitation, at: datetime) -> HttpResponse:
    row = Unavailability(edition=invitation.edition, person=invitation.invited)
    form = TimeForm(invitation.edition, request.POST, instance=row)
    if unavailabilities_of(invitation).count() >= MAX_TIMES:
        form.add_error(None, _("These are as many times as fit here. Remove one first."))
    if not form.is_valid():
        return render_page(request, invitation, at, 400, form=form)
    form.save()
    return redirect_back(request)


def redirect_back(request: HttpRequest) -> HttpResponse:
    """Redirect to the page, so that a reload does not submit the form again."""
    return HttpResponseRedirect(request.path, status=303)


def unavailabilities_of(invitation: ProgramInvitation) -> QuerySet[Unavailability]:
    """Return the times at which the invited person is not available in the edition."""
    people = {invitation.person_id, invitation.invited.pk}
    rows = Unavailability.objects.filter(edition=invitation.edition_id, person__in=people)
    return rows.select_related("edition")


def missed_parts(invitation: ProgramInvitation, times: list[Unavailability]) -> list[str]:
    """Return a sentence for each part during times when the person can’t come, the one asked about first.

    Declined and withdrawn invitations are left out. One query, none without times.
    """
    if not times:
        return []
    people = {invitation.person_id, invitation.invited.pk}
    rows = ProgramInvitation.objects.filter(edition=invitation.edition_id, person__in=people).with_place()
    others = rows.exclude(pk=invitation.pk).exclude(state__in=(State.DECLINED, State.WITHDRAWN))
    is_open = invitation.state not in (State.DECLINED, State.WITHDRAWN)
    sentence = _("You said that you can’t come %(missing)s, but “%(title)s” takes place %(when)s.")
    return [
        sentence % {"missing": time.when, "title": row.title, "when": row.when}
        for row in [*([invitation] if is_open else []), *others.order_by("pk")]
        for time in times
        if row.span and overlaps(row.span, (time.start, time.end))
    ]


def overlaps(span: tuple[datetime, datetime], other: tuple[datetime, datetime]) -> bool:
    """Return whether two spans share a moment; one without length counts as its moment."""
    return other[0] < max(span[1], span[0] + timedelta(microseconds=1)) and span[0] < other[1]


def other_participants(invitation: ProgramInvitation) -> list[str]:
    """Return the names of other participants; invited ones only if they have confirmed."""
    if not invitation.place:
        return []
    talk = invitation.presentation
    session = talk.session if talk else invitation.session
    speakers = Speaker.objects.filter(presentation=talk) if talk else Speaker.objects.none()
    rows: list[SessionRole | Speaker] = [*speakers]
    if session:
        rows += SessionRole.objects.filter(session=session)
    unconfirmed = ProgramInvitation.objects.exclude(state=State.CONFIRMED)
    unconfirmed = unconfirmed.filter(
        Q(session=session, session__isnull=False) | Q(presentation=talk, presentation__isnull=False)
    )
    # A person that was merged appears under the other one.
    invited_people = chain.from_iterable(unconfirmed.values_list("person", "person__merged_into"))
    excluded_people = {*invited_people, invitation.person_id, invitation.invited.pk}
    return [str(row) for row in rows if row.person_id not in excluded_people]


def render_page(
    request: HttpRequest, invitation: ProgramInvitation, at: datetime, status: int = 200, **extra_context: Any
) -> HttpResponse:
    is_withdrawn, times = invitation.state == State.WITHDRAWN, [*unavailabilities_of(invitation)]
    context = {
        "invitation": invitation,
        "of_edition": invitation.edition,
        "is_withdrawn": is_withdrawn,
        "is_closed": not is_withdrawn and invitation.is_closed(at),
        "is_confirmed": invitation.state == State.CONFIRMED,
        "is_declined": invitation.state == State.DECLINED,
        "other_participants": other_participants(invitation),
        "times": times,
        "missed_parts": missed_parts(invitation, times),
        "form": TimeForm(invitation.edition),
        **extra_context,
    }
    return render(request, "schedule/invitation/answer.html", context, status=status)
