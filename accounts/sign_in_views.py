"""Sign-in, and the page of the signed-in account with its roles and sessions."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import Membership
from accounts.sessions import AccountSession
from accounts.sign_in_attempts import WINDOW_SECONDS, is_blocked

TOO_OFTEN = gettext_lazy("Too many attempts to sign in. Wait %(minutes)d minutes, then try again.")


class SignInForm(AdminAuthenticationForm):
    """The sign-in form, which refuses further attempts after too many failures."""

    username = UsernameField(
        label=gettext_lazy("Username"), widget=forms.TextInput(attrs={"autofocus": True})
    )

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username", "")
        if self.request and is_blocked(self.request, name):
            # Refuse unknown names in the same way, and do not check the password.
            raise ValidationError(TOO_OFTEN, code="throttled", params={"minutes": WINDOW_SECONDS // 60})
        return super().clean()


class AccountPages(admin.AdminSite):
    """The admin site with the page of the signed-in account."""

    login_form: type[AuthenticationForm] | None = SignInForm

    def get_urls(self) -> list[URLPattern | URLResolver]:
        url = path("account/", self.admin_view(self.account_view), name="account")
        return [url, *super().get_urls()]

    def login(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        response = super().login(request, extra_context)
        form = (getattr(response, "context_data", None) or {}).get("form")
        if form is not None and form.has_error("__all__", "throttled"):
            response.status_code = 429
            response["Retry-After"] = str(WINDOW_SECONDS)
        return response

    def account_view(self, request: HttpRequest) -> HttpResponse:
        """List roles and sessions; with POST, end one session, or all others."""
        current_key = request.session.session_key
        sessions = AccountSession.objects.filter(user_id=request.user.pk, expire_date__gt=timezone.now())
        if request.method == "POST":
            return self.end_sessions(request, sessions.exclude(session_key=current_key))
        context = {
            **self.each_context(request),
            "title": _("Your account"),
            "memberships": Membership.objects.filter(user=request.user.pk).select_related(
                "edition", "conference"
            ),
            "sessions": sessions.order_by("-since"),
            "current_session_key": current_key,
        }
        return TemplateResponse(request, "admin/account.html", context)

    def end_sessions(self, request: HttpRequest, others: QuerySet[AccountSession]) -> HttpResponse:
        """End other sessions of the account; signing out ends the current one."""
        requested = request.POST.get("session", "")
        keys = [session.session_key for session in others if requested in ("all", session.handle)]
        AccountSession.objects.filter(session_key__in=keys).delete()
        message = ngettext("%(count)d session was ended.", "%(count)d sessions were ended.", len(keys))
        if keys:
            messages.success(request, message % {"count": len(keys)})
        else:
            messages.warning(request, _("This session has already ended."))
        return redirect("admin:account")
