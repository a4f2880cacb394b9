"""Admin of tokens: their owners create and revoke them. The text of a token is shown once."""

from datetime import timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import ForeignKey, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from knox.models import get_digest_token
from knox.settings import CONSTANTS, knox_settings

from accounts.access_scope import access_of
from api.models import Token
from conference.models import Edition
from editorial.sections import DeskSection

DAYS = [(1, _("a day")), (7, _("a week")), (30, _("30 days")), (90, _("90 days")), (365, _("a year"))]


class TokenForm(forms.ModelForm[Token]):
    """Form of a new token."""

    lasts = forms.TypedChoiceField(label=_("valid for"), choices=DAYS, coerce=int, initial=90)

    class Meta:
        model = Token
        fields: ClassVar[list[str]] = ["name", "scope", "edition"]

    def clean(self) -> dict[str, object] | None:
        # Set the owner before validation, because names are unique for each owner.
        self.instance.user = self.owner
        return super().clean()

    owner: User

    def _get_validation_exclusions(self) -> set[str]:
        exclusions: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return exclusions - {"user"}


@admin.register(Token)
class TokenAdmin(admin.ModelAdmin[Token]):
    """Admin of the user's own tokens; superusers see all tokens."""

    desk_section = DeskSection.MEMBERS
    form = TokenForm
    list_display = ["name", "user", "scope", "edition", "created", "expiry", "valid"]
    list_filter: ClassVar[list[Any]] = ["scope", ("edition", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["user", "edition"]
    search_fields = ["name", "user__username"]
    desk_order = 10

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        rows = super().get_queryset(request)
        return rows if request.user.is_superuser else rows.filter(user=request.user.pk)

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> tuple[str, ...]:
        names = ["name", "scope", "edition"]
        return (*names, "user", "created", "expiry") if obj else (*names, "lasts")

    def get_form(
        self, request: HttpRequest, obj: Token | None = None, change: bool = False, **kwargs: object
    ) -> type[TokenForm]:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"owner": request.user})

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[object, object], request: HttpRequest, **kwargs: object
    ) -> forms.ModelChoiceField[Model] | None:
        """Offer only editions that the owner has access to, because names of others may be under embargo."""
        if db_field.name == "edition":
            kwargs["queryset"] = access_of(request.user).rows(Edition.objects.all())
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Token, form: TokenForm, change: bool) -> None:
        obj.digest, text = get_digest_token(knox_settings.TOKEN_PREFIX)
        obj.token_key = text[: CONSTANTS.TOKEN_KEY_LENGTH]
        obj.expiry = timezone.now() + timedelta(days=form.cleaned_data["lasts"])
        super().save_model(request, obj, form, change)
        # Pass the text to `response_add()`; it is not stored.
        obj.__dict__["text"] = text

    def response_add(
        self, request: HttpRequest, obj: Token, post_url_continue: object = None
    ) -> HttpResponse:
        """Show the text of the token, which cannot be shown later."""
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Token “%(name)s”") % {"name": obj},
            "opts": self.opts,
            "token": obj,
            "text": vars(obj)["text"],
        }
        return TemplateResponse(request, "admin/api/token/made.html", context)

    @admin.display(description=_("valid"), boolean=True)
    def valid(self, token: Token) -> bool:
        return token.expiry > timezone.now()
