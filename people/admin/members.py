"""The admin of members of an edition and of invitations, for owners and chairs."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import Action, ActionLocation
from django.core.exceptions import PermissionDenied
from django.db.models import Field, Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Membership
from accounts.role_table import role_table
from accounts.roles import ROLE_PARTS, Role
from conference.models import Edition
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import editions_for, requested_edition
from editorial.sections import DeskSection
from people import membership
from people.admin.member_forms import LAST_OWNER, SERIES, InviteForm, MemberForm, role_choices
from people.models import Invitation
from people.secret_links import can_send

# The attribute of a request for the edition of a deleted membership.
LEFT_EDITION = "_left_edition"


@admin.register(Membership)
class MembershipAdmin(ScopedAdmin):
    """The admin of members, which shows one edition at a time."""

    desk_section = DeskSection.MEMBERS
    desk_order = 70
    form = MemberForm
    fields = ["user", "place", "role", "parts"]
    readonly_fields = ["user", "place"]
    radio_fields: ClassVar[dict[str, Any]] = {"role": admin.VERTICAL}

    def get_urls(self) -> list[URLPattern]:
        wrap, prefix = self.admin_site.admin_view, "invitations/<int:key>"
        urls = [
            path(f"{prefix}/revoke/", wrap(self.revoke_view), name="accounts_membership_revoke"),
            path("roles/", wrap(self.roles_view), name="accounts_membership_roles"),
            path(f"{prefix}/send/", wrap(self.send_view), name="accounts_membership_send"),
        ]
        return [*urls, *super().get_urls()]

    # Program chairs may not change or delete owners.

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return super().has_change_permission(request, obj) and self.can_grant_role(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self.can_grant_role(request, obj)

    def can_grant_role(self, request: HttpRequest, obj: Membership | None) -> bool:
        return obj is None or obj.role in membership.grantable_roles(request.user, obj.scope)

    @admin.display(description=gettext_lazy("edition or series"))
    def place(self, member: Membership) -> str:
        return str(member.scope)

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Action | None]:
        return {}

    def edition(self, request: HttpRequest) -> Edition:
        """Return the requested edition if the user may see its members."""
        requested = requested_edition(request)
        if requested is None:
            raise Http404("No edition yet.")
        access = access_for(request)
        if access.may_all_rows("view", Membership, requested):
            return requested
        visible_editions = [
            edition for edition in editions_for(request) if access.may_all_rows("view", Membership, edition)
        ]
        if not visible_editions or "edition" in request.GET or "edition" in request.POST:
            raise PermissionDenied
        return visible_editions[0]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        edition = self.edition(request)
        roles = membership.grantable_roles(request.user, edition)
        series_roles = membership.grantable_roles(request.user, edition.conference)
        members = members_by_role(edition)
        all_invitations = Invitation.objects.filter(Q(edition=edition) | Q(conference=edition.conference_id))
        invitations = [*all_invitations.waiting().select_related("created_by")]
        labels = part_labels(edition, [*members, *invitations])

        def table_row[M: (Membership, Invitation)](row: M) -> tuple[M, str, bool]:
            grantable_roles = roles if row.edition_id else series_roles
            return row, ", ".join(part_names(row, labels)), row.role in grantable_roles

        context = self.page_context(
            request,
            _("Members of %(edition)s") % {"edition": edition},
            edition=edition,
            editions=editions_for(request),
            members=[table_row(row) for row in members],
            invitations=[table_row(row) for row in invitations],
            may_invite=bool(roles),
            can_send=can_send(),
        )
        return TemplateResponse(request, "admin/accounts/membership/members.html", context)

    def roles_view(self, request: HttpRequest) -> HttpResponse:
        """Show the permissions and members of each role."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        edition = self.edition(request)
        members = members_by_role(edition)
        labels, names_by_role = part_labels(edition, members), dict[str, list[str]]()
        for member in members:
            details = [_("all editions")] if member.conference_id else [*part_names(member, labels)]
            name = member.user.get_full_name() or member.user.get_username()
            names_by_role.setdefault(member.role, []).append(
                f"{name} ({', '.join(details)})" if details else name
            )
        role_lines = role_table()
        context = self.page_context(
            request,
            _("Who may do what in %(edition)s") % {"edition": edition},
            edition=edition,
            editions=editions_for(request),
            columns=[name for name, _content in role_lines[0].columns],
            lines=[(role_line, names_by_role.get(role_line.role, [])) for role_line in role_lines],
        )
        return TemplateResponse(request, "admin/accounts/membership/roles.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Create an invitation. Only the response to the form shows its link."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        edition = self.edition(request)
        roles = membership.grantable_roles(request.user, edition)
        if not roles:
            raise PermissionDenied
        series_roles = membership.grantable_roles(request.user, edition.conference)
        form = InviteForm(edition, roles, series_roles, request.POST or None)
        if request.method == "POST" and form.is_valid():
            invitation = form.save(commit=False)
            if form.cleaned_data.get("where") == SERIES:
                invitation.conference = edition.conference
            else:
                invitation.edition = edition
            invitation.created_by_id = request.user.pk
            link = Invitation.address(invitation.renew())
            invitation.save()
            context = self.page_context(
                request,
                _("Send this link"),
                edition=edition,
                invitation=invitation,
                link=link,
                can_send=can_send(),
            )
            response = TemplateResponse(request, "admin/accounts/membership/link.html", context)
            response["Cache-Control"] = "no-store"
            return response
        title = _("Invite someone to %(edition)s") % {"edition": edition}
        context = self.page_context(request, title, edition=edition, form=form)
        return TemplateResponse(request, "admin/accounts/membership/invite.html", context)

    def invitation(self, request: HttpRequest, key: int) -> Invitation:
        """Return a pending invitation that the user may manage."""
        rows = Invitation.objects.waiting().select_related("edition", "conference")
        invitation = get_object_or_404(rows, pk=key)
        grantable_roles = membership.grantable_roles(request.user, invitation.scope)
        if invitation.role not in grantable_roles:
            if invitation.edition and access_for(request).may_all_rows(
                "view", Membership, invitation.edition
            ):
                raise PermissionDenied
            raise Http404("No such invitation.")
        return invitation

    def send_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Mail a new link."""
        invitation = self.invitation(request, key)
        if request.method == "POST" and request.user.is_authenticated and can_send():
            values = {"email": invitation.email}
            try:
                membership.mail_invitation(invitation, request.user)
            except membership.CannotSendError:
                logging.getLogger(__name__).exception("An invitation could not be mailed.")
                message = _("The e-mail to %(email)s couldn’t be sent. The current link still works.")
                messages.error(request, message % values)
            else:
                message = _("A new link was sent to %(email)s. Earlier links no longer work.")
                messages.success(request, message % values)
        return redirect(members_url(invitation.scope))

    def revoke_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Revoke an invitation, so that its link no longer works."""
        invitation = self.invitation(request, key)
        if request.method != "POST":
            return redirect(members_url(invitation.scope))
        invitation.delete()
        messages.success(request, _("The invitation of %(name)s was revoked.") % {"name": invitation.name})
        return redirect(members_url(invitation.scope))

    # Changing and deleting memberships

    def get_form(
        self, request: HttpRequest, obj: Membership | None = None, change: bool = False, **kwargs: object
    ) -> type[forms.ModelForm[Membership]]:
        form = super().get_form(request, obj, change=change, **kwargs)
        access = access_for(request)
        return type(form.__name__, (form,), {"is_free": access.may_everywhere("change", Membership)})

    def formfield_for_choice_field(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: object
    ) -> forms.TypedChoiceField | None:
        match = request.resolver_match
        member = self.get_object(request, match.kwargs.get("object_id", "")) if match else None
        if db_field.name == "role" and member is not None:
            roles = membership.grantable_roles(request.user, member.scope)
            kwargs["choices"] = role_choices(roles)
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_deleted_objects(
        self, objs: Sequence[Membership] | QuerySet[Membership], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        deleted, counts, perms_needed, protected = super().get_deleted_objects(objs, request)
        is_free = access_for(request).may_everywhere("delete", Membership)
        last_owners = [] if is_free else [member for member in objs if membership.is_last_owner(member)]
        owner_errors = [LAST_OWNER % {"edition": member.scope} for member in last_owners]
        return deleted, counts, perms_needed, [*protected, *owner_errors]

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        # Store it for `response_delete`, which runs after the membership was deleted.
        vars(request)[LEFT_EDITION] = obj.scope
        membership.end_membership(obj)

    def response_change(self, request: HttpRequest, obj: Membership) -> HttpResponse:
        values = {"name": obj.user, "role": obj.get_role_display(), "edition": obj.scope}
        messages.success(request, _("%(name)s is now %(role)s of %(edition)s.") % values)
        return redirect(members_url(obj.scope))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        messages.success(request, _("%(name)s is no longer a member.") % {"name": obj_display})
        return redirect(members_url(vars(request)[LEFT_EDITION]))


def members_by_role(edition: Edition) -> list[Membership]:
    """Return the members of an edition and of its series, by role."""
    order = [*Role]
    members = Membership.objects.filter(Q(edition=edition) | Q(conference=edition.conference_id))
    related = members.select_related("edition", "conference", "user__person_account__person")
    return sorted(related, key=lambda member: order.index(Role(member.role)))


def part_labels(edition: Edition, rows: Iterable[Membership | Invitation]) -> dict[str, str]:
    """Return the labels of the parts of an edition. No query unless one of the rows is limited to parts."""
    if not any(row.parts for row in rows):
        return {}
    return dict(choice for parts in ROLE_PARTS.values() for choice in parts(edition))


def part_names(row: Membership | Invitation, labels: dict[str, str]) -> list[str]:
    """Return the labels of the parts to which a role is limited, except deleted parts."""
    return [labels[part] for part in row.parts if part in labels]


def members_url(place: Model | None) -> str:
    """Return the address of the members of an edition. For a series, it shows the current edition."""
    page = reverse("admin:accounts_membership_changelist")
    return f"{page}?{urlencode({'edition': place.pk})}" if isinstance(place, Edition) else page
