"""Collapsed fieldsets: their headings name the filled fields, and some open by themselves."""

from collections.abc import Iterator
from typing import Any

from django.contrib.admin.helpers import AdminForm
from django.contrib.admin.utils import flatten
from django.utils.text import capfirst

FOLDED = "collapse"
# A collapsed fieldset with this class is open once one of its fields is filled in.
OPEN_IF_FILLED = "open-if-filled"


def prepare_folded(form: AdminForm) -> None:
    """Open fieldsets with errors or important values; name the filled fields in other headings."""
    form.fieldsets = [
        (_heading(form, name, options), _options(form, options)) for name, options in form.fieldsets
    ]


def _options(form: AdminForm, options: dict[str, Any]) -> dict[str, Any]:
    classes = [*options.get("classes", ())]
    # Django does not detect errors of fields that share a line.
    has_errors = any(name in form.form.errors for name in flatten(options["fields"]))
    if has_errors or (OPEN_IF_FILLED in classes and any(_filled_labels(form, options))):
        classes = [css_class for css_class in classes if css_class != FOLDED]
    return {**options, "classes": classes}


def _heading(form: AdminForm, name: Any, options: dict[str, Any]) -> Any:
    if not name or FOLDED not in options.get("classes", ()):
        return name
    labels = ", ".join(_filled_labels(form, options))
    return f"{name}: {labels}" if labels else name


def _filled_labels(form: AdminForm, options: dict[str, Any]) -> Iterator[str]:
    """Yield the labels of the fields of a part whose stored value is not empty."""
    for name in flatten(options["fields"]):
        field = form.form.fields.get(name)
        if field is not None and form.form.instance.pk and getattr(form.form.instance, name, None):
            yield str(capfirst(field.label))
