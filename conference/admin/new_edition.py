"""The page that creates a new edition from an earlier one, with the selected parts."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.access_scope import Access
from accounts.models import Membership
from accounts.roles import Role
from conference.edition_copy import EditionPart, new_edition, parts
from conference.models import Conference, Edition
from editorial.access import access_for
from editorial.actions import with_undo_link
from editorial.current_edition import choose_edition, requested_edition
from editorial.model_admin import ContentAdmin
from editorial.zones import ZoneNameField, offered_zones


def may_add_after(access: Access, edition: Edition) -> bool:
    """Return whether the user may add editions, or owns all editions of this conference."""
    return access.may_everywhere("add", Edition) or access.may("change", Conference, edition.conference)


class NewEditionForm(forms.ModelForm[Edition]):
    """Form of the values that cannot be copied from another edition, and of the parts to copy."""

    class Meta:
        model = Edition
        fields: ClassVar[list[str]] = [
            "name", "year", "slug", "start_date", "end_date", "timezone", "venue", "city", "country",
        ]  # fmt: skip
        field_classes: ClassVar[dict[str, object]] = {"timezone": ZoneNameField}
        widgets: ClassVar[dict[str, object]] = {
            name: forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
            for name in ("start_date", "end_date")
        }

    parts = forms.MultipleChoiceField(
        label=_("What it takes over"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, source: Edition, available_parts: list[EditionPart], data: Any = None) -> None:
        instance = Edition(conference=source.conference)
        counts = {part: part.count(source) for part in available_parts if part.copy}
        super().__init__(data, instance=instance, initial=initial(source, counts))
        field: Any = self.fields["parts"]
        field.choices = [(part.name, part_label(part, count)) for part, count in counts.items()]


def initial(source: Edition, counts: dict[EditionPart, int | None]) -> dict[str, object]:
    source_year, new_year = str(source.year), str(source.year + 1)
    has_year = source_year in source.name
    name = source.name.replace(source_year, new_year) if has_year else f"{source.name} {new_year}"
    return {
        "year": source.year + 1,
        "name": name,
        "slug": free_slug(source, source_year, new_year),
        "timezone": source.timezone,
        "parts": [part.name for part, count in counts.items() if part.is_usual and count != 0],
    }


def free_slug(source: Edition, source_year: str, new_year: str) -> str:
    """Return the slug of the source with the new year; if it is taken, with the conference before it."""
    slug = source.slug.replace(source_year, new_year) if source_year in source.slug else new_year
    candidates = [slug, f"{source.conference.slug}-{new_year}"]
    candidates += [f"{candidates[-1]}-{number}" for number in range(2, 10)]
    taken = {*Edition.objects.filter(slug__in=candidates).values_list("slug", flat=True)}
    return next((candidate for candidate in candidates if candidate not in taken), "")


def part_label(part: EditionPart, count: int | None) -> str:
    return str(part.label) if count is None else f"{part.label} ({count})"


def new_edition_view(model_admin: ContentAdmin, request: HttpRequest) -> HttpResponse:
    """Show the form; with POST, create the edition."""
    source, access = requested_edition(request), access_for(request)
    if source is None or model_admin.get_object(request, str(source.pk)) is None:
        raise Http404("No edition to begin from.")
    if not may_add_after(access, source):
        raise PermissionDenied
    available_parts = [part for part in parts() if access.may_all_rows("view", part.model, source)]
    form = NewEditionForm(source, available_parts, request.POST if request.method == "POST" else None)
    title = gettext("New edition from %(edition)s") % {"edition": source}
    if request.method == "POST" and form.is_valid():
        selected_parts = [part for part in available_parts if part.name in form.cleaned_data["parts"]]
        change_set = new_edition(source, form.instance, selected_parts, request.user, title)
        target = form.instance
        if not access.may_everywhere("change", Edition):
            Membership.objects.get_or_create(
                user=access.user, edition=target, role=Role.OWNER, defaults={"granted_by": access.user}
            )
        model_admin.log_addition(request, target, [{"added": {}}])
        message = gettext("%(edition)s was made. Nothing of it is public yet.") % {"edition": target}
        messages.success(request, with_undo_link(message, change_set))
        choose_edition(request, target)
        return redirect(f"{reverse('admin:index')}?{urlencode({'edition': target.pk})}")
    shared_counts = [(part.label, part.count(source)) for part in available_parts if not part.copy]
    context = model_admin.page_context(request, title) | {
        "source": source,
        "form": form,
        "shared": [row for row in shared_counts if row[1]],
        "zones": offered_zones(),
        "address": new_edition_address(source),
    }
    return TemplateResponse(request, "admin/conference/edition/new.html", context)


def new_edition_address(source: Edition) -> str:
    return f"{reverse('admin:conference_edition_new')}?{urlencode({'edition': source.pk})}"
