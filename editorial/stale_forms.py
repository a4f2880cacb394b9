"""Protection from lost updates: a form posts marks of its shown values, and is refused if outdated."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib.admin.options import InlineModelAdmin
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.db.models import Model, QuerySet
from django.forms.formsets import ManagementForm
from django.forms.models import BaseModelFormSet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from content.history.timeline import RowLabels, field_label, referenced_keys, shown_value, word_diff
from content.ordering import lock_owners_of
from content.request_keys import parse_key
from content.versions import (
    CHOICE,
    MINE,
    THEIRS,
    Difference,
    Form,
    FormSet,
    Seen,
    field_marks,
    find_differences,
    merge_choices,
    read_marks,
    shown_fields,
    sign_marks,
)
from editorial.access import ScopedAdmin
from editorial.current_edition import edition_of

SEEN_FIELD, SHOWN_FIELD = "_seen", "_shown"


class StaleAdmin[M: Model = Model](ScopedAdmin[M]):
    """Forms and lists that refuse a save based on outdated values."""

    def _create_formsets(
        self, request: HttpRequest, obj: M, change: bool
    ) -> tuple[list[FormSet], list[InlineModelAdmin[Model, M]]]:
        """Read the marks before the rows, so that a change in between is detected."""
        if change and request.method != "POST" and self.has_change_permission(request, obj):
            vars(request)["marks"] = sign_marks(self.current_marks(request, obj))
        created: tuple[list[FormSet], list[InlineModelAdmin[Model, M]]]
        created = super()._create_formsets(request, obj, change)  # type: ignore[misc] # the stubs leave it out
        return created

    def carried_marks(self, request: HttpRequest, row: M) -> str:
        """Return the marks of the form's values; a form with errors carries those of its first display."""
        marks: str | None = request.POST.get(SEEN_FIELD) or vars(request).get("marks")
        return marks or sign_marks(self.current_marks(request, row))

    def current_marks(self, request: HttpRequest, row: M) -> Seen:
        """Return the marks of the present values of a form. One query for each inline."""
        fields = flatten_fieldsets(self.get_fieldsets(request, row))
        form = self.get_form(request, row, change=True, fields=fields)
        marks: Seen = {"": {"": field_marks(row, shown_fields(form))}}
        for prefix, formset, rows in self.inline_rows(request, row):
            names = shown_fields(formset.form)
            marks[prefix] = {str(part.pk): field_marks(part, names) for part in rows}
        return marks

    def inline_rows(
        self, request: HttpRequest, row: M
    ) -> Iterator[tuple[str, type[FormSet], QuerySet[Model]]]:
        """Yield prefix, formset and rows of each inline."""
        prefixes: dict[str, int] = {}
        for formset, inline in self.get_formsets_with_inlines(request, row):
            prefix = formset.get_default_prefix()
            prefixes[prefix] = prefixes.get(prefix, 0) + 1
            if prefixes[prefix] != 1 or not prefix:
                prefix = f"{prefix}-{prefixes[prefix]}"
            part: Any = inline
            yield prefix, formset, part.shown_parts(request, prefix, row, part.get_queryset(request)).rows

    def refuse_stale_form(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """Return the page of both versions if the form is outdated, else nothing.

        Choices made on that page are merged into `request.POST`. Locks the row until the transaction ends.
        """
        if request.method != "POST" or SEEN_FIELD not in request.POST:
            return None
        key = unquote(object_id)
        if self.get_object(request, key) is None:
            return None
        lock_owners_of(self.model._base_manager.filter(pk=key))
        self.model._base_manager.select_for_update().order_by("pk").filter(pk=key).first()
        row = self.get_object(request, key)
        if row is None or not self.has_change_permission(request, row):
            return None
        shown_marks, current_marks = read_marks(request.POST[SEEN_FIELD]), self.current_marks(request, row)
        if shown_marks == current_marks:
            return None
        fields = flatten_fieldsets(self.get_fieldsets(request, row))
        form_class = self.get_form(request, row, change=True, fields=fields)
        form = form_class(request.POST, request.FILES, instance=row)
        formsets, _inlines = self._create_formsets(request, row, change=True)
        return self.resolve_or_ask(request, row, form, formsets, shown_marks or {}, current_marks)

    # Lists with editable columns

    def get_changelist_formset(self, request: HttpRequest, **kwargs: object) -> "type[SeenFormSet]":
        return type("SeenFormSet", (SeenFormSet, super().get_changelist_formset(request, **kwargs)), {})

    def refuse_stale_list(self, request: HttpRequest) -> HttpResponse | None:
        """Return the page of both versions if the editable columns of a list are outdated, else nothing."""
        if not self.list_editable or "_save" not in request.POST or not self.has_change_permission(request):
            return None
        formset_class = self.get_changelist_formset(request)
        prefix = formset_class.get_default_prefix()
        token = request.POST.get(f"{prefix}-{SEEN_FIELD}")
        if not token:
            return None
        keys = [key for key in map(parse_key, self._get_edited_object_pks(request, prefix)) if key]
        # Treat rows that the user may not see as deleted.
        visible_keys = self.get_queryset(request).filter(pk__in=keys).values("pk")
        lock_owners_of(self.model._base_manager.filter(pk__in=visible_keys))
        rows = list(self.model._base_manager.select_for_update().filter(pk__in=visible_keys).order_by("pk"))
        current_marks = row_marks(formset_class, rows, prefix)
        shown_marks = read_marks(token) or {}
        is_unchanged = all(
            shown_marks.get(prefix, {}).get(key) == mark for key, mark in current_marks[prefix].items()
        )
        if is_unchanged and len(rows) == len(keys):
            return None
        visible_rows = self.get_queryset(request).filter(pk__in=keys)
        formset = formset_class(request.POST, request.FILES, queryset=visible_rows)
        data = request.POST.copy()
        data[SEEN_FIELD] = token
        vars(request)["_post"] = data
        return self.resolve_or_ask(request, None, None, [formset], shown_marks, current_marks)

    def resolve_or_ask(
        self,
        request: HttpRequest,
        row: M | None,
        form: Form | None,
        formsets: list[FormSet],
        shown_marks: Seen,
        current_marks: Seen,
    ) -> HttpResponse | None:
        """Merge the choices if all are made and based on the current values; else return their page."""
        differences = list(find_differences(form, formsets, shown_marks))
        if form is None:
            # A list cannot restore a deleted row.
            differences = [
                replace(difference, preset=difference.preset if difference.field else THEIRS)
                for difference in differences
            ]
        is_current = read_marks(request.POST.get(SHOWN_FIELD, "")) == current_marks
        undecided = [
            difference
            for difference in differences
            if not (difference.preset or request.POST.get(f"{CHOICE}{difference.name}"))
        ]
        if not differences or (is_current and not undecided):
            data = merge_choices(request.POST, form, formsets, differences)
            data[SEEN_FIELD] = sign_marks(current_marks)
            vars(request)["_post"] = data
            return None
        listed = [difference for difference in differences if difference.field or row is not None]
        rows = difference_rows(listed, row, request.POST)
        return versions_page(
            self, request, rows, current_marks, object=row, has_files=bool(request.FILES)
        ).render()


def versions_page[M: Model](
    model_admin: ScopedAdmin[M],
    request: HttpRequest,
    rows: Sequence[object],
    current_marks: Seen,
    **extra: object,
) -> TemplateResponse:
    """Return the page that shows stored and submitted values, and posts the submitted ones again."""
    submitted_fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", SHOWN_FIELD) and not name.startswith(CHOICE)
    ]
    context = model_admin.page_context(
        request,
        _("Someone else changed this in the meantime"),
        differences=rows,
        submitted_fields=submitted_fields,
        shown_marks=sign_marks(current_marks),
        again=SHOWN_FIELD in request.POST,
        **extra,
    )
    return TemplateResponse(request, "admin/stale.html", context, status=409)


class SeenFormSet(BaseModelFormSet[Any, Form]):
    """Formset of a list, with the marks of the values that it showed."""

    def add_fields(self, form: Form, index: int | None) -> None:
        super().add_fields(form, index)
        # A column heading is not a label, so each input gets one with column and row.
        for name, field in form.fields.items() if form.instance.pk else ():
            label = _("%(label)s, %(row)s") % {"label": field.label or name, "row": form.instance}
            field.widget.attrs = {**field.widget.attrs, "aria-label": label}

    @cached_property
    def management_form(self) -> ManagementForm:
        form = super().management_form
        form.fields[SEEN_FIELD] = forms.CharField(required=False, widget=forms.HiddenInput)
        if not self.is_bound:
            form.initial[SEEN_FIELD] = sign_marks(
                row_marks(type(self), self.get_queryset(), self.prefix or "")
            )
        return form


def row_marks(formset: type[FormSet], rows: Iterable[Model], prefix: str) -> Seen:
    names = shown_fields(formset.form)
    return {prefix: {str(row.pk): field_marks(row, names) for row in rows}}


def difference_rows(
    differences: list[Difference], row: Model | None, data: QueryDict
) -> list[dict[str, object]]:
    """Return the differences for the template, in the zone of the edition."""
    edition = edition_of(row) if row is not None else None
    names = RowLabels(
        reference
        for difference in differences
        for reference in referenced_keys(
            difference.model._meta.label_lower, difference.field, (difference.theirs, difference.mine)
        )
    )
    states = {"kept": _("kept"), "deleted": _("deleted")}
    rows = []
    for difference in differences:
        label = difference.model._meta.label_lower
        if difference.field:
            sides = [
                shown_value(label, difference.field, side, names, edition)
                for side in (difference.theirs, difference.mine)
            ]
            texts: list[str] = [*word_diff(*sides)]
        else:
            texts = [states[str(difference.theirs)], states[str(difference.mine)]]
        rows.append(
            {
                "name": f"{CHOICE}{difference.name}",
                "row": f"{difference.model._meta.verbose_name} “{difference.label}”",
                "field": field_label(label, difference.field) if difference.field else _("The whole row"),
                THEIRS: texts[0],
                MINE: texts[1],
                "chosen": data.get(f"{CHOICE}{difference.name}") or difference.preset,
                "is_conflict": not difference.preset,
            }
        )
    return rows
