"""Form field of the sections of a home page: a row for each, with its number and a checkbox."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from conference.home_sections import HOME_SECTIONS


class HomeSectionsWidget(forms.MultiWidget):
    """Widget with a number and a checkbox per section; `admin-places.js` makes the rows draggable."""

    class Media:
        js = ("js/admin-places.js",)

    def __init__(self) -> None:
        widgets: dict[str, forms.Widget | type[forms.Widget]] = {}
        for name, label in HOME_SECTIONS.items():
            position_label = format_lazy(_("{name}, place"), name=label)
            hidden_label = format_lazy(_("{name}, not shown"), name=label)
            widgets[name] = forms.NumberInput({"min": 1, "aria-label": position_label})
            widgets[f"{name}_off"] = forms.CheckboxInput({"aria-label": hidden_label})
        super().__init__(widgets)

    def decompress(self, value: Any) -> Any:
        return value

    def render(self, name: str, value: object, attrs: Any = None, renderer: object = None) -> SafeString:
        widgets = self.get_context(name, value, attrs)["widget"]["subwidgets"]
        rows = zip(HOME_SECTIONS.values(), widgets[::2], widgets[1::2], strict=True)
        render_widget: Any = super()._render  # type: ignore[misc] # the stubs leave it out
        rendered_rows = [
            (
                label,
                *(render_widget(widget["template_name"], {"widget": widget}, renderer) for widget in pair),
            )
            for label, *pair in rows
        ]
        # Sort by number, with hidden sections last.
        sorted_rows = sorted(
            zip(section_sort_keys(value), rendered_rows, strict=True), key=lambda row: row[0]
        )
        context = {"rows": [row for _sort_key, row in sorted_rows]}
        return mark_safe(render_to_string("admin/conference/edition/_home_sections.html", context))


def section_sort_keys(raw: Any) -> list[tuple[bool, float, int]]:
    """Return for each section: whether it is hidden, its number (else infinity), and its default place."""
    keys = []
    for default_index, (number, is_hidden) in enumerate(zip(raw[::2], raw[1::2], strict=True)):
        try:
            position = float(int(number))
        except (TypeError, ValueError, OverflowError):
            position = float("inf")
        keys.append((bool(is_hidden), position, default_index))
    return keys


class HomeSectionsField(forms.Field):
    """Field of the names of visible sections, in order; empty for the default ones."""

    widget = HomeSectionsWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def prepare_value(self, value: Any) -> list[object]:
        """Return a flat list of number and checkbox of each section; posted values have that form already."""
        if isinstance(value, list) and len(value) == 2 * len(HOME_SECTIONS):
            return value
        visible: Sequence[str] = value or [*HOME_SECTIONS]
        names = [*visible, *(name for name in HOME_SECTIONS if name not in visible)]
        positions = {name: position for position, name in enumerate(names, start=1)}
        return [entry for name in HOME_SECTIONS for entry in (positions[name], name not in visible)]

    def to_python(self, value: Any) -> list[str]:
        names = [*HOME_SECTIONS]
        visible = [
            names[index] for is_hidden, _position, index in sorted(section_sort_keys(value)) if not is_hidden
        ]
        if not visible:
            raise ValidationError(_("Show at least one section."))
        return [] if visible == names else visible

    def has_changed(self, initial: object, data: object) -> bool:
        try:
            return self.to_python(data) != (initial or [])
        except ValidationError:
            return True
