"""Admin of a conference's own kinds, and the choices and filters of kinds."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from content.bulk import BulkPlan, Values
from editorial.access import access_for
from editorial.actions import HAS_IT_ALREADY, ActionForm, ActionTexts, SetField
from editorial.current_edition import get_working_edition
from editorial.lists import EditionPartFilter
from editorial.model_admin import Fields, OrderedAdmin
from editorial.sections import DeskSection
from schedule.models import Presentation
from schedule.querysets import of_kind
from schedule.session_kinds import (
    BUILT_IN,
    HasKind,
    KindField,
    SessionKind,
    kind_choices,
    kind_label,
    own_kinds,
)


@admin.register(SessionKind)
class SessionKindAdmin(OrderedAdmin[SessionKind]):
    desk_section = DeskSection.SCHEDULE
    desk_order = 35
    list_display = ["shown_name", "slug", "applies_to", "counted_as", "conference", "position"]
    list_editable = ["position"]
    list_filter = ["conference", "applies_to"]
    list_select_related = ["conference"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    fieldsets = [
        (None, {"fields": ["conference", "applies_to", "name", "slug", "counts_as"]}),
        (_("Appearance"), {"fields": ["color", "position"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        fixed = ["conference", "applies_to"] if obj else []
        return [*super().get_readonly_fields(request, obj), *fixed]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        to_delete, model_count, perms_needed, protected = super().get_deleted_objects(objs, request)
        rows_with_kind = [f"{kind}: {row} ({row.edition})" for kind in objs for row in kind.used_by_some()]
        return to_delete, model_count, perms_needed, [*protected, *rows_with_kind]

    def get_field_queryset(self, db: str | None, db_field: Any, request: HttpRequest) -> QuerySet[Any] | None:
        """Offer the conferences in whose editions the user may add kinds."""
        rows, access = super().get_field_queryset(db, db_field, request), access_for(request)
        if rows is None or access.may_everywhere("add", SessionKind):
            return rows
        return rows.filter(editions__in=access.editions("add", SessionKind)).distinct()

    @admin.display(description=_("name"), ordering="name")
    def shown_name(self, kind: SessionKind) -> SafeString:
        dot = '<svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill="{}"/></svg> '
        return format_html(f"{dot if kind.color else '{}'}{{}}", kind.color, kind.name)

    @admin.display(description=_("counts as"), ordering="counts_as")
    def counted_as(self, kind: SessionKind) -> str:
        return kind_label(kind.applies_to, kind.counts_as, "")


class KindChoices[M: models.Model = Any](Fields[M]):
    """Forms and lists of rows with a kind: they offer the own kinds of the conference, too."""

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, KindField) and issubclass(db_field.model, HasKind):
            kinds = own_kinds(get_working_edition()).values()
            kwargs["choices"] = kind_choices(db_field.model.applies_to, kinds)
        return super().formfield_for_choice_field(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "shown_kind"]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the kind as text to users who may not change it, because Django only labels built-in kinds."""
        fieldsets, access = super().get_fieldsets(request, obj), access_for(request)
        fields = access.fields(self.model, obj)
        if not isinstance(obj, HasKind) or (fields is None and access.may("change", self.model, obj)):
            return fieldsets
        return [
            (title, {**options, "fields": [*map(show_kind_as_text, options["fields"])]})
            for title, options in fieldsets
        ]

    @admin.display(description=_("kind"), ordering="kind")
    def shown_kind(self, row: HasKind) -> str:
        return row.kind_words()


def show_kind_as_text(line: Any) -> Any:
    """Return a line of a fieldset with the name of the kind in place of the choice."""
    if isinstance(line, tuple):
        return tuple(map(show_kind_as_text, line))
    return "shown_kind" if line == "kind" else line


class KindFilter(EditionPartFilter):
    """Filters by kind, including kinds that count as it; offers the conference's own kinds, too."""

    title = _("kind")
    parameter_name = "kind__exact"
    # The model with kinds, if it is not that of the list.
    model: type[HasKind] | None = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        built_in = BUILT_IN[(self.model or model_admin.model).applies_to].choices
        return [*built_in, *super().lookups(request, model_admin)]

    def choices_in(self, edition: int, model_admin: Any) -> list[tuple[Any, str]]:
        return [(kind.slug, kind.name) for kind in own_kinds_in([edition], self.model or model_admin.model)]

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        return rows.filter(of_kind(value))


class PresentedAsFilter(KindFilter):
    """Filters papers by the kind of their presentations."""

    title = _("presented as")
    parameter_name = "presented_as"
    model = Presentation

    def filter_rows(self, rows: QuerySet[Any], value: str) -> QuerySet[Any]:
        presented = Presentation.objects.filter(of_kind(value), paper__isnull=False)
        return rows.filter(pk__in=presented.order_by().values("paper"))


def own_kinds_in(editions: Iterable[int | None], model: type[HasKind]) -> list[SessionKind]:
    """Return the own kinds of the conferences of these editions. One query."""
    rows = SessionKind.objects.filter(applies_to=model.applies_to)
    kinds = rows.filter(conference__editions__in=list(editions)).distinct()
    return [kind for kind in kinds if not kind.recolors]


def offer_kinds(form: ActionForm, model: type[HasKind]) -> None:
    """Set the choices of the field `kind` to the kinds that the chosen rows can have."""
    field: Any = form.fields["kind"]
    field.choices = list(dict(kind_choices(model.applies_to, own_kinds_in(form.editions(), model))).items())


class KindForm(ActionForm):
    kind = forms.ChoiceField(label=_("kind"))

    def prepare(self) -> None:
        offer_kinds(self, self.model_admin.model)


class SetKind(SetField):
    form_class = KindForm

    def values(self, row: Any, values: dict[str, Any]) -> dict[str, Any]:
        return {**values, **row.kind_copies(values["kind"])}

    def describe(self, row: Any, new_values: Values) -> str:
        kind, kind_name = (new_values.get(name, getattr(row, name)) for name in ("kind", "kind_name"))
        return f"{row.kind_words()} → {kind_label(row.applies_to, kind, kind_name)}"

    def plan(
        self, model_admin: Any, request: HttpRequest, rows: list[Any], values: dict[str, Any]
    ) -> BulkPlan:
        # Share editions between rows, so that kinds are read once for each edition.
        editions: dict[int, Any] = {}
        for row in rows:
            row.edition = editions.setdefault(row.edition_id, row.edition)
        return super().plan(model_admin, request, rows, values)


set_kind = SetKind(
    "set_kind",
    ActionTexts(
        _("Set kind of selected %(verbose_name_plural)s"),
        _("Kind set for %(amount)s."),
        HAS_IT_ALREADY,
        _("Set kind of %(amount)s"),
    ),
)
