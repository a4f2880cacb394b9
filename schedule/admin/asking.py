"""Invitations on the forms and lists of sessions and talks, and the page that prepares them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from conference.models import Edition
from content.history.makers import makers_of
from content.request_keys import parse_key
from content.unreleased.plan import planned
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import LIST_FILTER
from schedule.invitations.models import State
from schedule.models import Presentation, ProgramInvitation, Session, SessionRole, Speaker

# The maximum number of parts that a line of the desk names.
MAX_NAMED = 3
# The maximum number of sessions or talks in a query string: servers refuse longer ones.
MAX_ROWS = 200


class AskingAdmin[M: Session | Presentation](ScopedAdmin[M]):
    """A form with the invitations for its row."""

    change_form_template = "admin/schedule/asking_form.html"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, object], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj: M | None = kwargs["obj"]
        if obj is not None and access_for(request).may_all_rows("view", ProgramInvitation, obj.edition):
            rows = ProgramInvitation.objects.filter(**{str(obj._meta.model_name): obj}).with_place()
            initial_values = {str(obj._meta.model_name): obj.pk, "edition": obj.edition_id}
            invitations = [*rows.with_presence()]
            context["asking"] = {
                "rows": [(row, state_label(row)) for row in invitations],
                "unasked": len(exclude_invited(build_invitations([obj]), invitations)),
                "row": obj,
                "may": access_for(request).may_all_rows("change", ProgramInvitation, obj.edition),
                "list_url": reverse("admin:schedule_programinvitation_changelist"),
                "prepare_url": prepare_page_address(type(obj), [obj.pk]),
                "add_url": reverse("admin:schedule_programinvitation_add", query=initial_values),
            }
            links = [{"label": _("Invitations"), "address": "#invitations"}]
            context["tools"] = [*cast("list[object]", context.get("tools", [])), *links]
        return super().render_change_form(request, context, *args, **kwargs)


def state_label(invitation: ProgramInvitation) -> SafeString:
    """Return the state as a colored label, which also marks an invitation past its due date."""
    today = invitation.edition.day_of(timezone.now())
    is_late = invitation.is_past_due(today)
    label = invitation.get_state_display()
    if is_late:
        label = gettext("%(state)s, overdue") % {"state": label}
    css_name = "late" if is_late else invitation.state.replace("_", "-")
    return format_html('<span class="asked asked-{}">{}</span>', css_name, label)


def build_invitations(rows: Iterable[Session | Presentation]) -> list[ProgramInvitation]:
    """Return an unsaved invitation for each person of these sessions or talks."""
    sessions, talks = session_and_talk_keys(rows)
    invitations = []
    roles = SessionRole.objects.filter(session__in=sessions).taking_part()
    for role in roles.select_related("session", "person"):
        invitation = ProgramInvitation(
            edition_id=role.session.edition_id, person=role.person, session=role.session, role=role.role
        )
        invitation.part_row = role
        invitations.append(invitation)
    speakers = Speaker.objects.filter(presentation__in=talks).taking_part()
    for speaker in speakers.select_related("presentation", "person"):
        talk = speaker.presentation
        invitation = ProgramInvitation(edition_id=talk.edition_id, person=speaker.person, presentation=talk)
        invitation.part_row = speaker
        invitations.append(invitation)
    return invitations


def missing_invitations(rows: Sequence[Session | Presentation]) -> list[ProgramInvitation]:
    """Return unsaved invitations for the people of these sessions or talks who have none."""
    sessions, talks = session_and_talk_keys(rows)
    existing = ProgramInvitation.objects.filter(Q(session__in=sessions) | Q(presentation__in=talks))
    return exclude_invited(build_invitations(rows), existing.select_related("person"))


def session_and_talk_keys(rows: Iterable[Session | Presentation]) -> tuple[list[int], list[int]]:
    """Return the keys of the sessions, and of the talks."""
    sessions = [row.pk for row in rows if isinstance(row, Session)]
    return sessions, [row.pk for row in rows if isinstance(row, Presentation)]


def exclude_invited(
    invitations: list[ProgramInvitation], existing: Iterable[ProgramInvitation]
) -> list[ProgramInvitation]:
    """Return the invitations whose person is not invited to the same part yet."""

    def part_key(invitation: ProgramInvitation) -> tuple[object, ...]:
        person = invitation.person.merged_into_id or invitation.person_id
        return invitation.session_id, invitation.presentation_id, person, invitation.role

    existing_keys = {part_key(invitation) for invitation in existing}
    return [invitation for invitation in invitations if part_key(invitation) not in existing_keys]


@admin.action(permissions=["change"], description=_("Prepare invitations for the people in them"))
def ask_people(model_admin: ScopedAdmin[Any], request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse:
    """Redirect to the page that prepares invitations, which is outside working copies: mails cannot wait."""
    keys = [*rows.values_list("pk", flat=True)]
    if left_out := len(keys[MAX_ROWS:]):
        message = ngettext(
            "Invitations can be prepared for %(max)d rows at a time. %(count)d row was left out; select "
            "it afterwards.",
            "Invitations can be prepared for %(max)d rows at a time. %(count)d rows were left out; select "
            "them afterwards.",
            left_out,
        )
        params = {"max": MAX_ROWS, "count": left_out}
        model_admin.message_user(request, message % params, messages.WARNING)
    return redirect(prepare_page_address(model_admin.model, keys[:MAX_ROWS]))


def prepare_page_address(model: type[Any], keys: Iterable[int]) -> str:
    parameter = str(model._meta.model_name)
    return reverse("admin:schedule_programinvitation_prepare", query=[(parameter, key) for key in keys])


def prepare_view(model_admin: ScopedAdmin[Any], request: HttpRequest) -> HttpResponse:
    """List the people of sessions or talks without an invitation; with POST, create unsent ones."""
    if not model_admin.has_add_permission(request):
        raise PermissionDenied
    ready, unreleased = preparable_invitations(request)
    if request.method != "POST" or not ready:
        context = {"ready": ready, "unreleased": unreleased, "schedule_state": "planned"}
        template = "admin/schedule/programinvitation/prepare.html"
        title = gettext("Prepare invitations")
        return TemplateResponse(request, template, model_admin.page_context(request, title, **context))
    set_choosers(ready)
    prepared = save_new(ready)
    if not prepared:
        return redirect(request.get_full_path())
    message = ngettext(
        "%(count)d invitation is ready. Check it, select it and send it.",
        "%(count)d invitations are ready. Check, select and send them.",
        len(prepared),
    )
    model_admin.message_user(request, message % {"count": len(prepared)}, messages.SUCCESS)
    editions = {invitation.edition_id for invitation in prepared}
    filters: dict[str, Any] = {"state__exact": State.NOT_SENT}
    if len(editions) == 1:
        filters[LIST_FILTER] = editions.pop()
    return redirect(reverse("admin:schedule_programinvitation_changelist", query=filters))


def set_choosers(invitations: Iterable[ProgramInvitation]) -> None:
    """Set the accounts that chose these people: those that made their rows of the program. Four queries."""
    roles = {invitation.part_row: invitation for invitation in invitations if invitation.part_row}
    for model in (SessionRole, Speaker):
        makers = makers_of(row for row in roles if isinstance(row, model))
        for row, invitation in roles.items():
            if isinstance(row, model):
                invitation.chosen_by_id = makers.get(row.pk)


def save_new(invitations: Iterable[ProgramInvitation]) -> list[ProgramInvitation]:
    """Save invitations, and return them without those that another request saved at the same time."""
    saved = []
    with transaction.atomic():
        for invitation in invitations:
            with suppress(IntegrityError), transaction.atomic():
                invitation.save()
                saved.append(invitation)
    return saved


def preparable_invitations(request: HttpRequest) -> tuple[list[ProgramInvitation], list[ProgramInvitation]]:
    """Return the invitations that can be prepared, and those that wait for a release."""
    access = access_for(request)
    invitations: list[ProgramInvitation] = []
    for model in (Session, Presentation):
        keys = request.GET.getlist(str(model._meta.model_name))[:MAX_ROWS]
        rows = model._default_manager.filter(pk__in=map(parse_key, keys))
        for edition in Edition.objects.filter(pk__in=rows.order_by().values("edition")):
            with planned(edition):
                for invitation in missing_invitations([*rows.filter(edition=edition)]):
                    if access.may("add", ProgramInvitation, invitation):
                        # As planned.
                        vars(invitation)["label"] = str(invitation)
                        invitations.append(invitation)
    waiting = waiting_parts(part for row in invitations if (part := row.session or row.presentation))
    return (
        [row for row in invitations if (row.session or row.presentation) not in waiting],
        [row for row in invitations if (row.session or row.presentation) in waiting],
    )


def waiting_parts(parts: Iterable[Session | Presentation]) -> set[Session | Presentation]:
    """Return the sessions and talks that become public with the release: mails cannot wait. Two queries."""
    waiting: set[Session | Presentation] = set()
    models: tuple[Any, ...] = (Session, Presentation)
    for model, keys in zip(models, session_and_talk_keys({*parts}), strict=True):
        drafts = model._base_manager.filter(pk__in=keys, status="draft")
        waiting |= {*drafts.exclude(on_release="")}
    return waiting


def declined_parts(edition: Edition) -> str:
    """Return the names of declined parts for the line of the desk."""
    rows = ProgramInvitation.objects.filter(edition=edition).to_replace().with_place()[: MAX_NAMED + 1]
    parts = [row.part for row in rows]
    ellipsis = "…" if len(parts) > MAX_NAMED else ""
    return "; ".join(parts[:MAX_NAMED]) + ellipsis
