"""The page of an invitation, which grants the role to a new account or to the current user."""

from typing import cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_texts
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import lazy
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from people import membership, names
from people.models import Invitation
from people.secret_links import secret_page

# Every unavailable name has the same message, so that it does not reveal accounts.
NAME_TAKEN = gettext_lazy(
    "An account can’t be created with this e-mail address. If you already have one, sign in."
)


class NewAccountForm(BaseUserCreationForm[User]):
    """Form of a new account, with the e-mail address as its username."""

    field_order = ("full_name", "username", "password1", "password2")

    full_name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    username = forms.EmailField(
        label=gettext_lazy("E-mail"),
        max_length=150,
        help_text=gettext_lazy("You sign in with it."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password1 = forms.CharField(
        label=gettext_lazy("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=lazy(lambda: " ".join(password_validators_help_texts()), str)(),
    )

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"].strip().casefold()
        if get_user_model()._default_manager.filter(username__iexact=name).exists():
            raise forms.ValidationError(NAME_TAKEN, code="taken")
        return name

    def _post_clean(self) -> None:
        # Set these before validation, because password validators compare the password with them.
        parts = names.split(self.cleaned_data.get("full_name", ""))
        self.instance.first_name, self.instance.last_name = parts.given[:150], parts.family[:150]
        self.instance.email = self.cleaned_data.get("username", "")
        super()._post_clean()  # type: ignore[misc]


@sensitive_post_parameters()
@secret_page
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation, or accept it with POST. The page of an invalid link shows no details."""
    offer = Invitation.objects.by_token(token).select_related("edition", "conference", "created_by").first()
    if offer is None:
        return render_page(request, 404, title=_("This invitation is no longer valid"))
    if request.user.is_authenticated:
        return accept(request, token) if request.method == "POST" else show_invitation(request, offer)
    initial = {"full_name": offer.name, "username": offer.email}
    form = NewAccountForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        return accept(request, token, form)
    return show_invitation(request, offer, form)


def accept(request: HttpRequest, token: str, form: NewAccountForm | None = None) -> HttpResponse:
    """Grant the role, to a new account if there is a form. Log in, and redirect to the admin."""
    try:
        # If the role cannot be granted, the new account is rolled back.
        with transaction.atomic():
            user = form.save() if form else cast(User, request.user)
            member = membership.accept_invitation(token, user)
    except membership.NoLongerOpenError:
        return render_page(request, 404, title=_("This invitation is no longer valid"))
    if not request.user.is_authenticated:
        login(request, user, backend="accounts.access_scope.RoleBackend")
    message = _("Welcome. You are %(role)s of %(edition)s.")
    messages.success(request, message % {"role": member.get_role_display(), "edition": member.scope})
    query = f"?{urlencode({'edition': member.edition_id})}" if member.edition_id else ""
    return redirect(f"{reverse('admin:index')}{query}")


def show_invitation(
    request: HttpRequest, offer: Invitation, form: NewAccountForm | None = None
) -> HttpResponse:
    sign_in = f"{reverse('admin:login')}?{urlencode({'next': request.path})}"
    title = _("Invitation to %(edition)s") % {"edition": offer.scope}
    return render_page(request, 200, title=title, invitation=offer, form=form, sign_in=sign_in)


def render_page(request: HttpRequest, status: int, **context: object) -> HttpResponse:
    """Render the page with the base template of the admin."""
    context = {**admin.site.each_context(request), "is_nav_sidebar_enabled": False, **context}
    return render(request, "admin/invitation.html", context, status=status)
