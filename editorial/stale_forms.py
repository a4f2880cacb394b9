"""Protection from lost updates: a form posts marks of its shown values, and is refused if outdated."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.options import InlineModelAdmin
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.db.models import Model, QuerySet
from django.forms.formsets import ManagementForm
from django.forms.models import BaseModelFormSet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.response import TemplateResponse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from content.history.timeline import RowLabels, field_label, shown_value, target_label, word_diff
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
from editorial.current_edition import edition_of

SEEN_FIELD, SHOWN_FIELD = "_seen", "_shown"


class StaleAdmin[M: Model = Model](admin.ModelAdmin[M]):
    """Forms and lists that refuse a save based on outdated values."""

    def _create_formsets(
        self, request: HttpRequest, obj: M, change: bool
    ) -> tuple[list[FormSet], list[InlineModelAdmin[Model, M]]]:
        """Read the marks before the rows, so that a change in between is detected."""
        if change and request.method != "POST" and self.has_change_permission(request, obj):
            vars(request)["marks"] = sign_marks(self.current_marks(request, obj))
        made: tuple[list[FormSet], list[InlineModelAdmin[Model, M]]]
        made = super()._create_formsets(request, obj, change)  # type: ignore[misc] # the stubs leave it out
        return made

    def carried_marks(self, request: HttpRequest, row: M) -> str:
        """Return the marks of the form's values; a form with errors carries those of its first display."""
        known: str | None = request.POST.get(SEEN_FIELD) or vars(request).get("marks")
        return known or sign_marks(self.current_marks(request, row))

    def current_marks(self, request: HttpRequest, row: M) -> Seen:
        """Return the marks of the present values of a form. One query for each inline."""
        fields = flatten_fieldsets(self.get_fieldsets(request, row))
        form = self.get_form(request, row, change=True, fields=fields)
        seen: Seen = {"": {"": field_marks(row, shown_fields(form))}}
        for prefix, formset, rows in self.inline_rows(request, row):
            names = shown_fields(formset.form)
            seen[prefix] = {str(part.pk): field_marks(part, names) for part in rows}
        return seen

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
            name = formset.fk.name
            yield prefix, formset, inline.get_queryset(request).filter(**{name: row})

    def refuse_stale_form(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """Return the page of both versions if the form is outdated, else nothing.

        Choices made on that page are merged into `request.POST`. Locks the row until the transaction ends.
        """
        if request.method != "POST" or SEEN_FIELD not in request.POST:
            return None
        key = unquote(object_id)
        if self.get_object(request, key) is None:
            return None
        self.model._base_manager.select_for_update().order_by("pk").filter(pk=key).first()
        row = self.get_object(request, key)
        if row is None or not self.has_change_permission(request, row):
            return None
        seen, now = read_marks(request.POST[SEEN_FIELD]), self.current_marks(request, row)
        if seen == now:
            return None
        fields = flatten_fieldsets(self.get_fieldsets(request, row))
        form_class = self.get_form(request, row, change=True, fields=fields)
        form = form_class(request.POST, request.FILES, instance=row)
        formsets, _inlines = self._create_formsets(request, row, change=True)
        return self.resolve_or_ask(request, row, form, formsets, seen or {}, now)

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
        seen_here = self.get_queryset(request).filter(pk__in=keys).values("pk")
        rows = list(self.model._base_manager.select_for_update().filter(pk__in=seen_here).order_by("pk"))
        now = row_marks(formset_class, rows, prefix)
        seen = read_marks(token) or {}
        is_as_seen = all(seen.get(prefix, {}).get(key) == mark for key, mark in now[prefix].items())
        if is_as_seen and len(rows) == len(keys):
            return None
        here = self.get_queryset(request).filter(pk__in=keys)
        formset = formset_class(request.POST, request.FILES, queryset=here)
        data = request.POST.copy()
        data[SEEN_FIELD] = token
        vars(request)["_post"] = data
        return self.resolve_or_ask(request, None, None, [formset], seen, now)

    def resolve_or_ask(
        self,
        request: HttpRequest,
        row: M | None,
        form: Form | None,
        formsets: list[FormSet],
        seen: Seen,
        now: Seen,
    ) -> HttpResponse | None:
        """Merge the choices if all are made and based on the current values; else return their page."""
        found = list(find_differences(form, formsets, seen))
        if form is None:
            # A list cannot restore a deleted row.
            found = [replace(one, preset=one.preset if one.field else THEIRS) for one in found]
        is_current = read_marks(request.POST.get(SHOWN_FIELD, "")) == now
        open_ones = [one for one in found if not (one.preset or request.POST.get(f"{CHOICE}{one.name}"))]
        if not found or (is_current and not open_ones):
            data = merge_choices(request.POST, form, formsets, found)
            data[SEEN_FIELD] = sign_marks(now)
            vars(request)["_post"] = data
            return None
        shown = [one for one in found if one.field or row is not None]
        rows = difference_rows(shown, row, request.POST)
        return versions_page(self, request, rows, now, object=row, has_files=bool(request.FILES)).render()


def versions_page[M: Model](
    model_admin: admin.ModelAdmin[M], request: HttpRequest, rows: Sequence[object], now: Seen, **more: object
) -> TemplateResponse:
    """Return the page that shows stored and submitted values, and posts the submitted ones again."""
    carried = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in ("csrfmiddlewaretoken", SHOWN_FIELD) and not name.startswith(CHOICE)
    ]
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Someone else changed this in the meantime"),
        "opts": model_admin.opts,
        "differences": rows,
        "carried": carried,
        "shown": sign_marks(now),
        "again": SHOWN_FIELD in request.POST,
        **more,
    }
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


def difference_rows(found: list[Difference], row: Model | None, sent: QueryDict) -> list[dict[str, object]]:
    """Return the differences for the template, in the zone of the edition."""
    edition = edition_of(row) if row is not None else None
    pairs = [
        (target, key)
        for one in found
        if one.field and (target := target_label(one.model._meta.label_lower, one.field))
        for side in (one.theirs, one.mine)
        for key in (side if isinstance(side, list) else [side])
        if isinstance(key, int)
    ]
    names = RowLabels(pairs)
    words = {"kept": _("kept"), "deleted": _("deleted")}
    shown = []
    for one in found:
        label = one.model._meta.label_lower
        if one.field:
            sides = [shown_value(label, one.field, side, names, edition) for side in (one.theirs, one.mine)]
            marked: list[str] = [*word_diff(*sides)]
        else:
            marked = [words[str(one.theirs)], words[str(one.mine)]]
        shown.append(
            {
                "name": f"{CHOICE}{one.name}",
                "row": f"{one.model._meta.verbose_name} “{one.label}”",
                "field": field_label(label, one.field) if one.field else _("The whole row"),
                THEIRS: marked[0],
                MINE: marked[1],
                "chosen": sent.get(f"{CHOICE}{one.name}") or one.preset,
                "is_conflict": not one.preset,
            }
        )
    return shown
