"""Forms of invitations and memberships."""

from collections.abc import Iterable
from typing import Any, ClassVar, cast

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Membership
from accounts.roles import DESCRIPTIONS, ROLE_PARTS, Role
from conference.models import Edition
from content.row_values import related_model
from people import membership
from people.models import Invitation, Person

LAST_OWNER = gettext_lazy(
    "%(edition)s would have no owner. Make someone else its owner first, or ask a superuser."
)


class PartsField(forms.MultipleChoiceField):
    """Field of the topics and tracks to which a role is limited."""

    def __init__(self) -> None:
        super().__init__(
            label=gettext_lazy("Topics and tracks"),
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=gettext_lazy("Only for a track chair: the papers in them are theirs to edit."),
        )

    def offer_rows(self, edition: Edition | None, stored_parts: Iterable[str] = ()) -> None:
        """Set the choices to the parts of an edition, and stored parts that were deleted."""
        choices = [choice for parts in ROLE_PARTS.values() for choice in parts(edition)] if edition else []
        edition_parts = {value for value, _label in choices}
        deleted_parts = [part for part in stored_parts if part not in edition_parts]
        self.choices = [
            *choices,
            *((part, _("Deleted: %(part)s") % {"part": part}) for part in deleted_parts),
        ]


def check_parts(cleaned_data: dict[str, object], form: forms.Form | forms.ModelForm[Any]) -> None:
    """Require parts for roles that are limited to parts. Clear them for other roles."""
    if cleaned_data.get("role") not in ROLE_PARTS:
        cleaned_data["parts"] = []
    elif not cleaned_data.get("parts") and "parts" not in form.errors:
        form.add_error("parts", _("Choose at least one topic or track."))


class MemberForm(forms.ModelForm[Membership]):
    class Meta:
        model = Membership
        fields: ClassVar[list[str]] = ["role", "parts"]

    parts = PartsField()

    # Set by the admin: whether the user may change all memberships.
    is_free: ClassVar[bool] = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if parts := cast("PartsField | None", self.fields.get("parts")):
            parts.offer_rows(self.instance.edition, self.instance.parts)

    def clean(self) -> dict[str, object]:
        cleaned_data = super().clean() or self.cleaned_data
        check_parts(cleaned_data, self)
        return cleaned_data

    def clean_role(self) -> str:
        role: str = self.cleaned_data["role"]
        stored = Membership.objects.get(pk=self.instance.pk)
        if role != Role.OWNER and membership.is_last_owner(stored) and not self.is_free:
            raise forms.ValidationError(LAST_OWNER % {"edition": stored.scope}, code="last_owner")
        same_role = Membership.objects.filter(user=stored.user_id, role=role).exclude(pk=stored.pk)
        if same_role.filter(edition=stored.edition_id, conference=stored.conference_id).exists():
            raise forms.ValidationError(_("This account already has this role."), code="unique")
        return role


class InviteForm(forms.ModelForm[Invitation]):
    class Meta:
        model = Invitation
        fields: ClassVar[list[str]] = ["name", "email", "role", "where", "parts", "person"]
        widgets: ClassVar[dict[str, type[forms.Widget]]] = {"role": forms.RadioSelect}

    where = forms.ChoiceField(label=gettext_lazy("Where"), widget=forms.RadioSelect)
    parts = PartsField()

    def __init__(
        self, edition: Edition, roles: list[str], series_roles: list[str], data: QueryDict | None = None
    ) -> None:
        super().__init__(data)
        self.series_roles = series_roles
        role_field, where_field = (cast(forms.ChoiceField, self.fields[name]) for name in ("role", "where"))
        person_field = cast("forms.ModelChoiceField[Person]", self.fields["person"])
        role_field.choices = role_choices(roles)
        role_field.initial = roles[-1] if Role.EDITOR not in roles else Role.EDITOR
        where_field.choices, where_field.initial = [(EDITION, str(edition))], EDITION
        where_field.required = False
        if series_roles:
            series_label = _("All editions of %(series)s, those to come too") % {"series": edition.conference}
            where_field.choices = [*where_field.choices, (SERIES, series_label)]
        else:
            del self.fields["where"]
        if not ROLE_PARTS.keys().isdisjoint(roles):
            cast(PartsField, self.fields["parts"]).offer_rows(edition)
        else:
            del self.fields["parts"]
        person_field.queryset = session_leaders(edition)
        person_field.empty_label = _("None: not a session chair")

    def clean(self) -> dict[str, object]:
        cleaned_data = super().clean() or self.cleaned_data
        check_parts(cleaned_data, self)
        role = cleaned_data.get("role")
        if role and cleaned_data.get("where") == SERIES and role not in self.series_roles:
            self.add_error("where", _("Nobody has this role in a series. Choose the edition."))
        if role == Role.SESSION_CHAIR and not cleaned_data.get("person"):
            self.add_error("person", _("Choose the person whose sessions a session chair sees."))
        if role != Role.SESSION_CHAIR:
            cleaned_data["person"] = None
        return cleaned_data


# Values of `where`: the edition, or all editions of the series.
EDITION, SERIES = "edition", "series"


def role_choices(roles: Iterable[str]) -> list[tuple[str, SafeString]]:
    """Return the choices of a role, each with its description."""
    return [
        (role, format_html("<b>{}</b> <span>{}</span>", Role(role).label, DESCRIPTIONS[Role(role)]))
        for role in roles
    ]


def session_leaders(edition: Edition) -> QuerySet[Person]:
    """Return the people who lead a session of the edition."""
    session_roles = related_model(Person, "session_roles")._base_manager.filter(session__edition=edition)
    leading_roles = session_roles.filter(role__in=("chair", "moderator", "organizer"))
    return Person.objects.filter(pk__in=leading_roles.order_by().values("person"), merged_into__isnull=True)
