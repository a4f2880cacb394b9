"""Base forms and formsets of the admin, which validate and order a row and its inlines."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.forms.models import BaseInlineFormSet, ModelChoiceField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import markup
from content import revision
from content.ordering import lock_owners, position_sort_key, reorder
from content.request_keys import parse_key
from content.row_values import PARKED_FROM
from content.unreleased import plan
from content.unreleased.rows import ReleasableQuerySet
from editorial.form_fields import KnownChoiceField, ZonedField
from editorial.part_pages import ShownParts

NAMES_EXCHANGED = _(
    "Someone in this form is already in another row. To reorder, change the order numbers "
    "instead of the names."
)
LOST_FILE = _("The file wasn’t saved because of another error on this form. Choose it again.")


class ContentForm(forms.ModelForm[Any]):
    """Form of a row. Unchanged times are not reinterpreted, and an empty slug is derived from the name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, ZonedField):
                field.stored = self.initial.get(name)
        if "slug" in self.fields:
            self.fields["slug"].required = False

    def clean(self) -> dict[str, object] | None:
        cleaned = super().clean()
        # Browsers send CRLF, so an unchanged text would otherwise be regarded as changed.
        texts = {
            name: text.replace("\r\n", "\n")
            for name, text in (cleaned or {}).items()
            if isinstance(text, str)
        }
        return {**cleaned, **texts} if cleaned else cleaned

    def clean_slug(self) -> str:
        values = (self.cleaned_data.get(name) for name in ("slug", "year", "name", "title"))
        source = str(next(filter(None, values), ""))
        return source if self.cleaned_data["slug"] or not source else markup.slug(source)


class PartForm(ContentForm):
    """Form of a row in a formset. An unchanged row is not validated again."""

    def _post_clean(self) -> None:
        if self.instance._state.adding or self.has_changed():
            super()._post_clean()  # type: ignore[misc]

    def _get_validation_exclusions(self) -> set[str]:
        # The formset numbers its rows itself.
        return {*super()._get_validation_exclusions(), "position"}  # type: ignore[misc]

    def validate_constraints(self) -> None:
        # The formset has all rows of the owner, so it validates values that are unique for an owner.
        exclude = {*self._get_validation_exclusions(), getattr(self.instance, "siblings_of", "")}
        try:
            self.instance.validate_constraints(exclude=exclude)
        except ValidationError as error:
            self._update_errors(error)  # type: ignore[attr-defined]


class PartFormSet(BaseInlineFormSet[Any, Any, Any]):
    """Formset of the rows of a model below their owner, or of a page of them.

    Queries each foreign key once for all rows.
    """

    model: type[models.Model]

    def __init__(self, *args: Any, shown: ShownParts | None = None, **kwargs: Any) -> None:
        self._rows_by_field: dict[str, Mapping[str, models.Model]] = {}
        self.page = shown.page if shown else None
        super().__init__(*args, **kwargs)
        rows = kwargs.get("queryset")
        if shown is not None:
            self.queryset = shown.rows
        elif plan.current() and isinstance(rows, ReleasableQuerySet) and self.instance.pk:
            # Some rows belong to it in the planned state only.
            self.queryset = rows.parts_of(self.fk.name, self.instance)

    def _construct_form(self, i: int, **kwargs: object) -> PartForm:
        form: PartForm = super()._construct_form(i, **kwargs)  # type: ignore[misc]
        if self.instance.pk:
            setattr(form.instance, self.fk.name, self.instance)
        if hasattr(form.instance, "edition_id") and form.instance.edition_id is None:
            form.instance.edition_id = getattr(self.instance, "edition_id", None)
        return form

    def add_fields(self, form: PartForm, index: int | None) -> None:
        super().add_fields(form, index)
        key = self.model._meta.pk.name
        key_field = form.fields[key]
        if isinstance(key_field, ModelChoiceField):
            form.fields[key] = self._key_field(key_field)
        label_format = (
            gettext("%(label)s, new row") if index is None else gettext("%(label)s, row %(number)d")
        )
        for name, field in form.fields.items():
            if isinstance(field, KnownChoiceField) and name != key:
                field.set_known_rows(self._referenced_rows(name, field))
            widget: forms.Widget = getattr(field.widget, "widget", None) or field.widget
            if not widget.is_hidden:
                # A column heading is not a label, so each input gets one with column and row.
                field.label = str(field.label or name.replace("_", " ").capitalize())
                label = label_format % {"label": field.label, "number": (index or 0) + 1}
                widget.attrs = {**widget.attrs, "aria-label": label}

    def _key_field(self, field: ModelChoiceField[models.Model]) -> KnownChoiceField:
        choice_field = KnownChoiceField(
            field.queryset, initial=field.initial, required=False, widget=field.widget
        )
        key = self.model._meta.pk.name
        if key not in self._rows_by_field:
            self._rows_by_field[key] = {str(row.pk): row for row in self.get_queryset()}
        choice_field.set_known_rows(self._rows_by_field[key])
        return choice_field

    def _referenced_rows(self, name: str, field: KnownChoiceField) -> Mapping[str, models.Model]:
        """Return the rows that the field may reference in any row of this formset, by key."""
        if name not in self._rows_by_field:
            attname = self.model._meta.get_field(name).attname  # type: ignore[union-attr]
            keys = {str(getattr(row, attname)) for row in self.get_queryset()}
            if self.is_bound:
                prefixes = (self.add_prefix(i) for i in range(self.total_form_count()))
                keys.update(self.data.get(f"{prefix}-{name}", "") for prefix in prefixes)
            valid_keys = [key for key in map(parse_key, keys) if key]
            rows = (
                field.queryset.filter(pk__in=valid_keys) if field.queryset is not None and valid_keys else ()
            )
            self._rows_by_field[name] = {str(row.pk): row for row in rows}
        return self._rows_by_field[name]

    def get_unique_error_message(self, unique_check: Sequence[str]) -> str:
        for constraint in self.model._meta.constraints:
            if {*getattr(constraint, "fields", ())} == {*unique_check}:
                message = constraint.get_violation_error_message()
                if message != constraint.default_violation_error_message % {"name": constraint.name}:
                    return gettext("Twice in one form: %(message)s") % {"message": message}
        return super().get_unique_error_message(unique_check)

    def clean(self) -> None:
        super().clean()
        deleted = self.deleted_forms
        remaining = [form for form in self.initial_forms if form not in deleted and form.is_valid()]
        for constraint in self.model._meta.constraints:
            if isinstance(constraint, models.UniqueConstraint) and self.fk.name in constraint.fields:
                names = [name for name in constraint.fields if name != self.fk.name]
                self._refuse_swapped_names(remaining, names)
                if self.page is not None:
                    self._refuse_names_of_other_pages(constraint, names)

    def _refuse_swapped_names(self, remaining: list[PartForm], names: list[str]) -> None:
        """Raise `ValidationError` if rows swap unique values: they are saved one by one, which would fail."""
        if any(name not in self.form.base_fields or name == "position" for name in names):
            return
        stored = {self._unique_values(form.initial, names): form for form in remaining}
        for form in remaining:
            entered = self._unique_values(form.cleaned_data, names)
            if "" not in entered and stored.get(entered, form) is not form:
                raise ValidationError(NAMES_EXCHANGED, code="exchanged")

    def _refuse_names_of_other_pages(self, constraint: models.UniqueConstraint, names: list[str]) -> None:
        """Raise `ValidationError` if a row has the unique values of a row that this page does not show."""
        if any(name not in self.form.base_fields or name == "position" for name in names):
            return
        entered = models.Q()
        for form in self.forms:
            values = getattr(form, "cleaned_data", {})
            if form.has_changed() and form not in self.deleted_forms and all(map(values.get, names)):
                entered |= models.Q(**{name: values[name] for name in names})
        shown = [form.instance.pk for form in self.initial_forms]
        rows = self.model._base_manager.filter(entered, **{self.fk.name: self.instance})
        if entered and rows.exclude(pk__in=shown).exists():
            raise ValidationError(constraint.get_violation_error_message(), code="unique")

    def _unique_values(self, values: Mapping[str, object], names: list[str]) -> tuple[str, ...]:
        return tuple(str(getattr(values[name], "pk", values[name]) or "") for name in names)

    def save(self, commit: bool = True) -> list[models.Model]:
        deleted = [
            form.instance for form in self.deleted_forms if form in self.initial_forms and form.instance.pk
        ]
        with transaction.atomic(), revision.lock():
            if commit and deleted:
                # Delete rows before the others are saved, which may reuse unique names and positions.
                self.model._default_manager.filter(pk__in=[row.pk for row in deleted]).delete()
            saved = super().save(commit=commit)
        if commit:
            self.deleted_objects = deleted
        return saved


class OrderedFormSet(PartFormSet):
    """Formset of ordered rows. The entered numbers are saved as positions from 1 to n."""

    def add_fields(self, form: PartForm, index: int | None) -> None:
        super().add_fields(form, index)
        if "position" in form.fields:
            form.fields["position"].required = False
            if form.instance._state.adding:
                form.initial["position"] = None

    def forms_in_order(self) -> list[PartForm]:
        """Return the forms that are not deleted, by the entered number; those without a number are last."""
        remaining = [form for form in self.initial_forms if form.instance.pk]
        remaining += [form for form in self.extra_forms if form.has_changed()]
        deleted = {*map(id, self.deleted_forms)}
        return sorted(
            (form for form in remaining if id(form) not in deleted),
            key=lambda form: position_sort_key(
                form.cleaned_data.get("position"), form.initial.get("position")
            ),
        )

    def save(self, commit: bool = True) -> list[models.Model]:
        forms_in_order = self.forms_in_order()
        for position, form in enumerate(forms_in_order, start=1):
            if form.has_changed() or form.instance._state.adding:
                # A temporary position that no stored row has.
                form.instance.position = 2 * PARKED_FROM + position
        with transaction.atomic(), revision.lock():
            lock_owners(self.model, [self.instance.pk])
            other_positions = self._positions_on_other_pages()
            saved = super().save(commit=commit)
            order = self._order_of_all_pages(forms_in_order, other_positions)
            positions = {key: position for position, key in enumerate(order, start=1)}
            stored = other_positions | {form.instance.pk: form.instance.position for form in forms_in_order}
            if commit and any(stored[key] != position for key, position in positions.items()):
                manager: Any = self.model._default_manager
                reorder(manager.parts_of(self.fk.name, self.instance), order)
        for form in forms_in_order:
            form.instance.position = positions[form.instance.pk]
        return saved

    def _positions_on_other_pages(self) -> dict[int, int]:
        """Return the positions of the rows that the form does not show, by key. One query if it has pages."""
        if self.page is None:
            return {}
        manager: Any = self.model._default_manager
        positions: dict[int, int] = manager.parts_of(self.fk.name, self.instance).positions()
        shown = {form.instance.pk for form in self.initial_forms}
        return {key: position for key, position in positions.items() if key not in shown}

    def _order_of_all_pages(
        self, forms_in_order: list[PartForm], other_positions: Mapping[int, int]
    ) -> list[int]:
        """Return the keys of all rows in their new order; entered numbers count over all pages."""
        entered = [
            (form.cleaned_data.get("position"), form.initial.get("position"), form.instance.pk)
            for form in forms_in_order
        ]
        others = [(position, position, key) for key, position in other_positions.items()]
        ranked = sorted((*others, *entered), key=lambda row: position_sort_key(row[0], row[1]))
        return [key for _new, _old, key in ranked]


def mark_lost_files(page_forms: Iterable[forms.BaseForm], submitted: Collection[str]) -> None:
    """Add an error to each submitted file field, because browsers do not fill in files again."""
    for form in page_forms:
        for name in form.fields:
            if form.add_prefix(name) in submitted and name not in form.errors:
                form.add_error(name, LOST_FILE)
