"""The members of an edition in the admin: who has which role, who is invited; by owners and chairs."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.options import Action, ActionLocation
from django.core.exceptions import PermissionDenied
from django.db.models import Field, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Membership
from accounts.roles import DESCRIPTIONS, Role
from conference.models import Edition
from content.row_values import related_model
from editorial.access import ScopedAdmin, access_for
from editorial.current_edition import asked_edition, editions_for
from people import membership
from people.models import Invitation, Person

# Where a request keeps the edition whose member has left.
LEFT = "_left_edition"

LAST_OWNER = gettext_lazy(
    "%(edition)s would have no owner. Make somebody else its owner first, or ask a superuser."
)


class MemberForm(forms.ModelForm[Membership]):
    """The role of a member."""

    class Meta:
        model = Membership
        fields: ClassVar[list[str]] = ["role"]

    # Set by the admin: whether the user is a superuser.
    is_free: ClassVar[bool] = False

    def clean_role(self) -> str:
        role: str = self.cleaned_data["role"]
        stored = Membership.objects.get(pk=self.instance.pk)
        if role != Role.OWNER and membership.is_last_owner(stored) and not self.is_free:
            raise forms.ValidationError(LAST_OWNER % {"edition": stored.edition}, code="last_owner")
        return role


class InviteForm(forms.ModelForm[Invitation]):
    """Who is invited to what."""

    class Meta:
        model = Invitation
        fields: ClassVar[list[str]] = ["name", "email", "role", "person"]

    def __init__(self, edition: Edition, roles: list[str], data: QueryDict | None = None) -> None:
        super().__init__(data)
        role = cast(forms.ChoiceField, self.fields["role"])
        person = cast("forms.ModelChoiceField[Person]", self.fields["person"])
        role.choices = role_choices(roles)
        role.initial = roles[-1] if Role.EDITOR not in roles else Role.EDITOR
        person.queryset, person.empty_label = leaders(edition), _("None: not a session chair")

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("role") == Role.SESSION_CHAIR and not cleaned.get("person"):
            self.add_error("person", _("Say whose sessions a session chair sees."))
        if cleaned.get("role") != Role.SESSION_CHAIR:
            cleaned["person"] = None
        return cleaned


def role_choices(roles: Iterable[str]) -> list[tuple[str, str]]:
    return [(role, str(Role(role).label)) for role in roles]


def leaders(edition: Edition) -> QuerySet[Person]:
    """Return those who lead a session of the edition."""
    roles = related_model(Person, "session_roles")._base_manager.filter(session__edition=edition)
    there = roles.filter(role__in=("chair", "moderator", "organizer"))
    return Person.objects.filter(pk__in=there.order_by().values("person"), merged_into__isnull=True)


@admin.register(Membership)
class MembershipAdmin(ScopedAdmin):
    """Members, one edition at a time."""

    desk_order = 70
    form = MemberForm
    fields = ["user", "edition", "role"]
    readonly_fields = ["user", "edition"]

    def get_urls(self) -> list[URLPattern]:
        wrap, start = self.admin_site.admin_view, "invitations/<int:key>"
        own = [
            path(f"{start}/revoke/", wrap(self.revoke_view), name="accounts_membership_revoke"),
            path(f"{start}/send/", wrap(self.send_view), name="accounts_membership_send"),
        ]
        return [*own, *super().get_urls()]

    # A program chair may not touch owners.

    def has_change_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return super().has_change_permission(request, obj) and self.is_below(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self.is_below(request, obj)

    def is_below(self, request: HttpRequest, obj: Membership | None) -> bool:
        return obj is None or obj.role in membership.may_give(request.user, obj.edition)

    def get_actions(
        self, request: HttpRequest, action_location: ActionLocation = ActionLocation.CHANGE_LIST
    ) -> dict[str, Action | None]:
        return {}

    def edition(self, request: HttpRequest) -> Edition:
        """Return the requested edition if the user may see its members."""
        found = asked_edition(request)
        if found is None:
            raise Http404("No edition yet.")
        access = access_for(request)
        if access.may_all("view", Membership, found):
            return found
        mine = [one for one in editions_for(request) if access.may_all("view", Membership, one)]
        if not mine or "edition" in request.GET or "edition" in request.POST:
            raise PermissionDenied
        return mine[0]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        edition = self.edition(request)
        roles = membership.may_give(request.user, edition)
        order, rows = [*Role], Membership.objects.filter(edition=edition)
        found = rows.select_related("edition", "user__person_account__person")
        members = sorted(found, key=lambda one: order.index(Role(one.role)))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Members of %(edition)s") % {"edition": edition},
            "opts": self.opts,
            "edition": edition,
            "editions": editions_for(request),
            "members": [(one, one.role in roles) for one in members],
            "invitations": Invitation.objects.filter(edition=edition).waiting().select_related("created_by"),
            "may_invite": bool(roles),
            "can_send": membership.can_send(),
            "duties": [(role.label, DESCRIPTIONS[role]) for role in Role],
        }
        return TemplateResponse(request, "admin/accounts/membership/members.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Invite somebody; the answer to the form is the only page that shows the link."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        edition = self.edition(request)
        roles = membership.may_give(request.user, edition)
        if not roles:
            raise PermissionDenied
        form = InviteForm(edition, roles, request.POST or None)
        context = {**self.admin_site.each_context(request), "opts": self.opts, "edition": edition}
        if request.method == "POST" and form.is_valid():
            invitation = form.save(commit=False)
            invitation.edition, invitation.created_by_id = edition, request.user.pk
            link = Invitation.address(invitation.renew())
            invitation.save()
            context |= {"title": _("Send this link"), "invitation": invitation, "link": link}
            context["can_send"] = membership.can_send()
            response = TemplateResponse(request, "admin/accounts/membership/link.html", context)
            response["Cache-Control"] = "no-store"
            return response
        title = _("Invite somebody to %(edition)s") % {"edition": edition}
        duties = [(role.label, DESCRIPTIONS[role]) for role in Role if role in roles]
        context |= {"title": title, "form": form, "duties": duties}
        return TemplateResponse(request, "admin/accounts/membership/invite.html", context)

    def invitation(self, request: HttpRequest, key: int) -> Invitation:
        """Return a pending invitation that the user may manage."""
        rows = Invitation.objects.waiting().select_related("edition")
        invitation = get_object_or_404(rows, pk=key)
        if not access_for(request).may_all("view", Membership, invitation.edition):
            raise Http404("No such invitation.")
        if invitation.role not in membership.may_give(request.user, invitation.edition):
            raise PermissionDenied
        return invitation

    def send_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Mail a new link."""
        invitation = self.invitation(request, key)
        if request.method == "POST" and request.user.is_authenticated and membership.can_send():
            said = {"email": invitation.email}
            try:
                membership.mail_invitation(invitation, request.user)
            except membership.CannotSendError:
                logging.getLogger(__name__).exception("An invitation could not be mailed.")
                words = _("No e-mail could be sent to %(email)s. The link that you have is still good.")
                messages.error(request, words % said)
            else:
                words = _("A new link was sent to %(email)s. An older one leads nowhere any more.")
                messages.success(request, words % said)
        return redirect(members_of(invitation.edition))

    def revoke_view(self, request: HttpRequest, key: int) -> HttpResponse:
        """Revoke an invitation: its link no longer works."""
        invitation = self.invitation(request, key)
        if request.method != "POST":
            return redirect(members_of(invitation.edition))
        invitation.delete()
        messages.success(request, _("The invitation of %(name)s was revoked.") % {"name": invitation.name})
        return redirect(members_of(invitation.edition))

    # Changing and ending a role

    def get_form(
        self, request: HttpRequest, obj: Membership | None = None, change: bool = False, **kwargs: object
    ) -> type[forms.ModelForm[Membership]]:
        form = super().get_form(request, obj, change=change, **kwargs)
        access = access_for(request)
        return type(form.__name__, (form,), {"is_free": access.everywhere("change", Membership)})

    def formfield_for_choice_field(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: object
    ) -> forms.TypedChoiceField | None:
        match = request.resolver_match
        row = self.get_object(request, match.kwargs.get("object_id", "")) if match else None
        if db_field.name == "role" and row is not None:
            given = membership.may_give(request.user, row.edition)
            kwargs["choices"] = role_choices(given)
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_deleted_objects(
        self, objs: Sequence[Membership] | QuerySet[Membership], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        deleted, counts, lacking, protected = super().get_deleted_objects(objs, request)
        is_free = access_for(request).everywhere("delete", Membership)
        held = [] if is_free else [one for one in objs if membership.is_last_owner(one)]
        last = [LAST_OWNER % {"edition": one.edition} for one in held]
        return deleted, counts, lacking, [*protected, *last]

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        # For the page that follows, when the membership is gone.
        vars(request)[LEFT] = obj.edition
        membership.end(obj)

    def response_change(self, request: HttpRequest, obj: Membership) -> HttpResponse:
        said = {"name": obj.user, "role": obj.get_role_display(), "edition": obj.edition}
        messages.success(request, _("%(name)s is now %(role)s of %(edition)s.") % said)
        return redirect(members_of(obj.edition))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        messages.success(request, _("%(name)s is no longer a member.") % {"name": obj_display})
        return redirect(members_of(vars(request)[LEFT]))


def members_of(edition: Edition) -> str:
    """Return the address of an edition's members."""
    return f"{reverse('admin:accounts_membership_changelist')}?{urlencode({'edition': edition.pk})}"
