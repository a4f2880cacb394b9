"""Admin of invitations to the program: list, letters, responses entered by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from content.history import Origin
from content.history.makers import made_by
from content.history.recording import recording
from editorial.access import access_for
from editorial.current_edition import format_moment
from editorial.desk import CheckFilter
from editorial.model_admin import EditionRowAdmin
from editorial.sections import DeskSection
from schedule.admin.asking import prepare_view, state_label
from schedule.invitations.letters import INVITATION, REMINDER, SENDABLE, can_mail, send, write_letter
from schedule.invitations.models import ProgramInvitationQuerySet, State
from schedule.models import ProgramInvitation, SessionRole, Speaker

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

# The maximum number of letters that can be sent within the time limit of a request.
MAX_LETTERS = 100
CONFIRMED = "_confirmed"
FAKE_LINK = "https://…"

type Invitations = ProgramInvitationQuerySet
type Action = Callable[[EditionRowAdmin[Any], HttpRequest, Invitations], HttpResponse | None]


def letters_page(
    model_admin: EditionRowAdmin[Any], request: HttpRequest, rows: Invitations, kind: str
) -> HttpResponse:
    """Preview letters; when confirmed, send them. Letters that cannot be mailed are shown for copying."""
    selected = [*rows.with_place()[: MAX_LETTERS + 1]]
    sendable = [row for row in selected if row.state in SENDABLE[kind]][:MAX_LETTERS]
    skipped = [row for row in selected if row.state not in SENDABLE[kind]]
    title = gettext("Send reminders") if kind == REMINDER else gettext("Send invitations")
    context: dict[str, object] = {"skipped": [(row, state_label(row)) for row in skipped]}
    context |= {"is_cut": len(selected) > MAX_LETTERS, "max_letters": MAX_LETTERS}
    if CONFIRMED in request.POST:
        letters = [send(row, kind, cast(User, request.user)) for row in sendable]
        context |= {
            "is_done": True,
            "mailed": [letter for letter in letters if letter.is_mailed],
            "to_copy": [letter for letter in letters if not letter.is_mailed and not letter.has_failed],
            "failed": [letter for letter in letters if letter.has_failed],
        }
    else:
        context |= {
            "recipients": [(row, can_mail(row)) for row in sendable],
            "sample": write_letter(sendable[0], kind, FAKE_LINK) if sendable else None,
            "action": request.POST.get("action", ""),
            "confirmed": CONFIRMED,
        }
    template = "admin/schedule/programinvitation/letters.html"
    response = TemplateResponse(request, template, model_admin.page_context(request, title, **context))
    response["Cache-Control"] = "no-store"
    return response


@admin.action(permissions=["change"], description=_("Send invitation"))
def send_invitations(
    model_admin: EditionRowAdmin[Any], request: HttpRequest, rows: Invitations
) -> HttpResponse | None:
    return letters_page(model_admin, request, rows, INVITATION)


@admin.action(permissions=["change"], description=_("Send reminder"))
def send_reminders(
    model_admin: EditionRowAdmin[Any], request: HttpRequest, rows: Invitations
) -> HttpResponse | None:
    return letters_page(model_admin, request, rows, REMINDER)


def mark_action(name: str, description: StrPromise, state: State) -> Action:
    """Return an action that sets the state, such as for a response by phone."""

    @admin.action(permissions=["change"], description=description)
    def mark(model_admin: EditionRowAdmin[Any], request: HttpRequest, rows: Invitations) -> None:
        changed = [row for row in rows.select_related(None) if row.state != state]
        for row in changed:
            row.answer(state, timezone.now())
        message = ngettext(
            "%(count)d invitation is now: %(state)s.",
            "%(count)d invitations are now: %(state)s.",
            len(changed),
        ) % {"count": len(changed), "state": state.label}
        model_admin.message_user(request, message, messages.SUCCESS if changed else messages.WARNING)

    mark.__name__ = name
    return mark


@admin.action(permissions=["change"], description=_("Add confirmed people to the program"))
def add_to_program(model_admin: EditionRowAdmin[Any], request: HttpRequest, rows: Invitations) -> None:
    """Add people who confirmed as speakers or in session roles, unless they are listed."""
    access = access_for(request)
    confirmed = rows.filter(state=State.CONFIRMED)
    # Several invitations can be for one part: those of a person and of others merged into that person.
    added_parts = set()
    with recording(Origin.ACTION, request.user, gettext("Add confirmed people to the program")):
        for row in confirmed.with_place().with_presence():
            participation: SessionRole | Speaker
            part = (row.session_id, row.presentation_id, row.invited.pk, row.role if row.session_id else "")
            if row.is_listed or part in added_parts:
                continue
            if row.presentation:
                participation = Speaker(presentation=row.presentation, person=row.invited)
            elif row.session:
                participation = SessionRole(session=row.session, person=row.invited, role=row.role)
            else:
                continue
            if access.may("add", type(participation), participation):
                with made_by(row.chosen_by_id):
                    participation.save()
                added_parts.add(part)
    message = ngettext(
        "%(count)d person was added to the program.",
        "%(count)d people were added to the program.",
        len(added_parts),
    ) % {"count": len(added_parts)}
    explanation = gettext("Only those who confirmed, have a session or talk, and aren’t in it yet are added.")
    message = f"{message} {explanation}"
    model_admin.message_user(request, message, messages.SUCCESS if added_parts else messages.WARNING)


@admin.register(ProgramInvitation)
class ProgramInvitationAdmin(EditionRowAdmin[ProgramInvitation]):
    desk_section = DeskSection.SCHEDULE
    desk_order = 80
    list_display = [
        "shown_person",
        "shown_part",
        "shown_state",
        "due",
        "answered",
        "in_program",
        "edition",
    ]
    list_filter = ["edition", CheckFilter, "state", "role"]
    search_fields = ["person__folded", "session__title", "presentation__title"]
    search_help_text = _("Words of a name, a session or a talk.")
    autocomplete_fields = ["edition", "person", "session", "presentation"]
    actions: Sequence[Any] = [
        send_invitations,
        send_reminders,
        mark_action("mark_confirmed", _("Mark as confirmed"), State.CONFIRMED),
        mark_action("mark_declined", _("Mark as declined"), State.DECLINED),
        mark_action("withdraw", _("Withdraw"), State.WITHDRAWN),
        add_to_program,
    ]
    fieldsets = [
        (None, {"fields": ["edition", "person", "role", ("session", "presentation"), ("email", "due")]}),
        (_("Text"), {"fields": ["message"]}),
        (_("State"), {"fields": ["shown_state", ("sent_at", "reminded_at", "answered_at"), "note"]}),
    ]
    pages = [("prepare/", "prepare", prepare_view)]
    readonly_fields = ("shown_state", "sent_at", "reminded_at", "answered_at", "note")

    def get_queryset(self, request: HttpRequest) -> Invitations:
        rows = cast(ProgramInvitationQuerySet, super().get_queryset(request))
        return rows.with_place().with_presence()

    def save_model(self, request: HttpRequest, obj: ProgramInvitation, form: Any, change: bool) -> None:
        if not change or "person" in form.changed_data:
            obj.chosen_by = request.user  # type: ignore[assignment]  # login required
        super().save_model(request, obj, form, change)

    def get_readonly_fields(self, request: HttpRequest, obj: ProgramInvitation | None = None) -> list[str]:
        """Make person and part read-only once the invitation is sent, because the letter names them."""
        is_sent = obj is not None and obj.state != State.NOT_SENT
        fixed_fields = ["person", "role", "session", "presentation"] if is_sent else []
        return [*super().get_readonly_fields(request, obj), *fixed_fields]

    def get_fieldsets(self, request: HttpRequest, obj: ProgramInvitation | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        return fieldsets if obj else fieldsets[:-1]

    @admin.display(description=_("person"), ordering="person__sort_key")
    def shown_person(self, row: ProgramInvitation) -> str:
        return row.invited.name

    @admin.display(description=_("asked as"))
    def shown_part(self, row: ProgramInvitation) -> str:
        return row.part

    @admin.display(description=_("state"), ordering="state")
    def shown_state(self, row: ProgramInvitation) -> SafeString:
        return state_label(row)

    @admin.display(description=_("answered at"), ordering="answered_at")
    def answered(self, row: ProgramInvitation) -> str:
        return format_moment(row.answered_at, row.edition)

    @admin.display(description=_("in the program"), boolean=True)
    def in_program(self, row: ProgramInvitation) -> bool:
        return row.is_listed
