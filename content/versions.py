"""Versions of rows: signed marks of what a form showed, and the merge of two edits of a row.

Nothing is saved here: `merge_choices` writes the choices into the posted data; the form is saved as usual.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.forms.formsets import DELETION_FIELD_NAME, INITIAL_FORM_COUNT, TOTAL_FORM_COUNT
from django.http import QueryDict

from content.row_values import (
    Values,
    is_recorded,
    linked_keys,
    many_to_many_fields,
    recorded_fields,
    to_json_value,
)

SALT = "content.versions"
MARK_DIGITS = 6

# Prefix of the rows -> key of the row -> its marks, six digits a field. The form's own row is `[""][""]`.
type Seen = dict[str, dict[str, str]]


def field_values(row: Model, names: Iterable[str]) -> Values:
    """Return these fields of a row as plain values, without names that are not recorded fields."""
    model = type(row)
    fields, link_fields = recorded_fields(model) if is_recorded(model) else {}, many_to_many_fields(model)
    values: Values = {}
    for name in names:
        if name in fields:
            values[name] = to_json_value(fields[name].to_python(getattr(row, fields[name].attname)))
        elif name in link_fields:
            values[name] = linked_keys(model, name, [row.pk])[row.pk]
    return values


def normalize_value(value: object) -> object:
    """Return a value as a form submits it: times without seconds, text stripped, empty values as `None`."""
    if value is None or value == "" or value == []:
        return None
    if isinstance(value, str):
        text = value.replace("\r\n", "\n").strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return text
        return moment.replace(second=0, microsecond=0).isoformat()
    return value


def value_mark(value: object) -> str:
    """Return six hexadecimal digits that identify a value."""
    text = json.dumps(normalize_value(value), sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=MARK_DIGITS // 2).hexdigest()


def field_marks(row: Model, names: Iterable[str]) -> str:
    """Return the marks of a row's fields in this order."""
    field_names = list(names)
    values = field_values(row, field_names)
    return "".join(value_mark(values[name]) for name in field_names if name in values)


def sign_marks(marks: Seen) -> str:
    """Return the marks as a signed token that a form contains."""
    return signing.dumps(marks, salt=SALT, compress=True)


def read_marks(token: str) -> Seen | None:
    """Return the marks in a form's token; `None` if its signature is invalid."""
    try:
        marks: Seen = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return marks


# Three-way merge of the values that a form showed, the stored ones and the posted ones


type Form = forms.ModelForm[Any]
type FormSet = forms.BaseModelFormSet[Any, Form]

THEIRS, MINE = "theirs", "mine"
CHOICE = "_choose-"


@dataclass(slots=True)
class Difference:
    """A field, or a whole row if `field` is empty, whose stored and posted values differ."""

    name: str
    model: type[Model]
    key: object
    label: str
    field: str
    # Plain values; of a whole row "kept" or "deleted".
    theirs: object
    mine: object
    # Whose value is used unless the user chooses; empty if both sides changed it.
    preset: str


def posted_value(form: Form, name: str) -> object:
    """Return a posted field as a plain value, or as the posted text if it is invalid."""
    field, key = form.fields[name], form.add_prefix(name)
    raw = field.widget.value_from_datadict(form.data, form.files, key)
    if isinstance(field, forms.FileField):
        return field_values(form.instance, [name]).get(name) if raw is None else str(raw)
    try:
        value = field.clean(raw) if isinstance(field, forms.MultiValueField) else field.to_python(raw)
    except ValidationError:
        # A date and a time are posted as two texts.
        return " ".join(filter(None, raw)) if isinstance(raw, list) else str(raw)
    if isinstance(value, QuerySet):
        return sorted(row.pk for row in value)
    return to_json_value(value)


def shown_fields(form: Form | type[Form]) -> list[str]:
    """Return the fields of a form, or of its class, that are compared, without those that a formset adds."""
    model: type[Model] = form._meta.model
    comparable = {*(recorded_fields(model) if is_recorded(model) else ()), *many_to_many_fields(model)}
    return [name for name in form.base_fields if name in comparable]


def find_differences(form: Form | None, formsets: list[FormSet], marks: Seen) -> Iterator[Difference]:
    """Compare the posted with the stored values. The forms must be bound to the rows as stored now."""
    if form is not None:
        yield from _field_differences(form, marks.get("", {}).get("", ""))
    for formset in formsets:
        marks_by_key = marks.get(formset.prefix or "", {})
        for index, part in enumerate(formset.initial_forms):
            key = str(part.data.get(part.add_prefix(part.instance._meta.pk.name), ""))
            if part.instance.pk is None or part.instance._state.adding:
                yield _deleted_row_difference(part, key, marks_by_key.get(key, ""), index)
            else:
                yield from _part_differences(part, marks_by_key.get(key, ""), formset)


def _field_differences(form: Form, marks: str) -> Iterator[Difference]:
    row = form.instance
    names = shown_fields(form)
    values = field_values(row, names)
    marks_by_field = _marks_by_name(names, marks)
    for name in names:
        mine, theirs = posted_value(form, name), values[name]
        if form.fields[name].disabled or value_mark(mine) == value_mark(theirs):
            continue
        preset = ""
        if value_mark(theirs) == marks_by_field.get(name):
            preset = MINE
        elif value_mark(mine) == marks_by_field.get(name):
            preset = THEIRS
        yield Difference(form.add_prefix(name), type(row), row.pk, str(row), name, theirs, mine, preset)


def _marks_by_name(names: list[str], marks: str) -> dict[str, str]:
    split_marks = [marks[start : start + MARK_DIGITS] for start in range(0, len(marks), MARK_DIGITS)]
    return dict(zip(names, split_marks, strict=True)) if len(split_marks) == len(names) else {}


def _part_differences(part: Form, marks: str, formset: FormSet) -> Iterator[Difference]:
    name = part.add_prefix(DELETION_FIELD_NAME)
    row = part.instance
    if not (formset.can_delete and part.data.get(name)):
        yield from _field_differences(part, marks)
        return
    preset = MINE if field_marks(row, shown_fields(part)) == marks else ""
    yield Difference(name, type(row), row.pk, str(row), "", "kept", "deleted", preset)


def _deleted_row_difference(part: Form, key: str, marks: str, index: int) -> Difference:
    """Return the difference for a posted row that no longer exists."""
    names = shown_fields(part)
    is_untouched = "".join(value_mark(posted_value(part, name)) for name in names) == marks
    is_dropped = bool(part.data.get(part.add_prefix(DELETION_FIELD_NAME)))
    label = str(part.data.get(part.add_prefix("name"), "")) or f"{index + 1}"
    preset = THEIRS if is_untouched or is_dropped else ""
    return Difference(part.prefix or "", type(part.instance), key, label, "", "deleted", "kept", preset)


# The choices


def merge_choices(
    data: QueryDict, form: Form | None, formsets: list[FormSet], differences: list[Difference]
) -> QueryDict:
    """Return the posted data with the choices applied: `THEIRS` replaces a posted value by the stored one."""
    posted = data.copy()
    parts = [part for formset in formsets for part in formset.initial_forms]
    all_forms = [*([form] if form is not None else []), *parts]
    by_name = {part.add_prefix(name): (part, name) for part in all_forms for name in part.fields}
    choices_by_prefix: dict[str, dict[str, str]] = {}
    for difference in differences:
        choice = posted.get(f"{CHOICE}{difference.name}", difference.preset)
        if difference.field and choice == THEIRS:
            _write_stored_value(posted, *by_name[difference.name])
        elif not difference.field and difference.name.endswith(f"-{DELETION_FIELD_NAME}"):
            if choice == THEIRS:
                posted.pop(difference.name, None)
                part, _name = by_name[difference.name]
                for name in shown_fields(part):
                    _write_stored_value(posted, part, name)
        elif not difference.field:
            prefix, _, index = difference.name.rpartition("-")
            choices_by_prefix.setdefault(prefix, {})[index] = choice
    by_prefix = {str(formset.prefix): formset for formset in formsets}
    for prefix, choices in choices_by_prefix.items():
        _renumber_rows(posted, by_prefix[prefix], choices)
    for name in [name for name in posted if name.startswith(CHOICE)]:
        del posted[name]
    return posted


def _write_stored_value(posted: QueryDict, form: Form, name: str) -> None:
    """Write a field's stored value as a browser would send it."""
    field, key = form.fields[name], form.add_prefix(name)
    value = field.prepare_value(form.get_initial_for_field(field, name))
    widget: forms.Widget = getattr(field.widget, "widget", None) or field.widget
    if isinstance(widget, forms.MultiWidget):
        suffixes: list[str] = vars(widget)["widgets_names"]
        parts = widget.decompress(value) or [None] * len(widget.widgets)
        for suffix, inner, part in zip(suffixes, widget.widgets, parts, strict=True):
            posted[key + suffix] = str(inner.format_value(part) or "")
    elif isinstance(widget, forms.CheckboxInput):
        posted.pop(key, None)
        if value:
            posted[key] = "on"
    elif isinstance(widget, forms.SelectMultiple):
        keys = [str(getattr(entry, "pk", entry)) for entry in value or []]
        posted.setlist(key, keys)
    elif not isinstance(widget, forms.FileInput):
        formatted = widget.format_value(value.pk if isinstance(value, Model) else value)
        posted[key] = str((formatted[0] if isinstance(formatted, list) and formatted else formatted) or "")


def _renumber_rows(posted: QueryDict, formset: FormSet, choices: dict[str, str]) -> None:
    """Remove deleted rows from the posted data, and append those that the user restores as new rows."""
    # Use the formset's own count, which is limited, and 0 if the posted numbers are invalid.
    prefix, total = str(formset.prefix), formset.total_form_count()
    initial = min(formset.initial_form_count(), total)
    stored = [_posted_row(posted, prefix, index) for index in range(initial) if str(index) not in choices]
    restored = [
        _posted_row(posted, prefix, int(index)) for index, choice in choices.items() if choice == MINE
    ]
    new = [_posted_row(posted, prefix, index) for index in range(initial, total)]
    for row in restored:
        row.pop("id", None)
        row.pop(DELETION_FIELD_NAME, None)
    for name in [name for name in posted if name.startswith(f"{prefix}-") and name.split("-")[1].isdecimal()]:
        del posted[name]
    for index, row in enumerate([*stored, *restored, *new]):
        for name, values in row.items():
            posted.setlist(f"{prefix}-{index}-{name}", values)
    posted[f"{prefix}-{TOTAL_FORM_COUNT}"] = str(len(stored) + len(restored) + len(new))
    posted[f"{prefix}-{INITIAL_FORM_COUNT}"] = str(len(stored))


def _posted_row(posted: QueryDict, prefix: str, index: int) -> dict[str, list[str]]:
    row_prefix = f"{prefix}-{index}-"
    return {
        name.removeprefix(row_prefix): posted.getlist(name) for name in posted if name.startswith(row_prefix)
    }
