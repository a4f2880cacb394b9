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
            place, off = (
                format_lazy(_("{name}, place"), name=label),
                format_lazy(_("{name}, not shown"), name=label),
            )
            widgets[name] = forms.NumberInput({"min": 1, "aria-label": place})
            widgets[f"{name}_off"] = forms.CheckboxInput({"aria-label": off})
        super().__init__(widgets)

    def decompress(self, value: Any) -> Any:
        return value

    def render(self, name: str, value: object, attrs: Any = None, renderer: object = None) -> SafeString:
        parts = self.get_context(name, value, attrs)["widget"]["subwidgets"]
        rows = zip(HOME_SECTIONS.values(), parts[::2], parts[1::2], strict=True)
        draw: Any = super()._render  # type: ignore[misc] # the stubs leave it out
        drawn = [
            (label, *(draw(part["template_name"], {"widget": part}, renderer) for part in pair))
            for label, *pair in rows
        ]
        # Sort by number, with hidden sections last.
        order = sorted(zip(placed(value), drawn, strict=True), key=lambda row: row[0])
        context = {"rows": [row for _place, row in order]}
        return mark_safe(render_to_string("admin/conference/edition/_home_sections.html", context))


def placed(raw: Any) -> list[tuple[bool, float, int]]:
    """Return for each section: whether it is hidden, its number (else infinity), and its default place."""
    found = []
    for usual, (number, is_off) in enumerate(zip(raw[::2], raw[1::2], strict=True)):
        try:
            place = float(int(number))
        except (TypeError, ValueError, OverflowError):
            place = float("inf")
        found.append((bool(is_off), place, usual))
    return found


class HomeSectionsField(forms.Field):
    """Field of the names of visible sections, in order; empty for the default ones."""

    widget = HomeSectionsWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def prepare_value(self, value: Any) -> list[object]:
        """Return a flat list of number and checkbox of each section; posted values have that form already."""
        if isinstance(value, list) and len(value) == 2 * len(HOME_SECTIONS):
            return value
        shown: Sequence[str] = value or [*HOME_SECTIONS]
        names = [*shown, *(name for name in HOME_SECTIONS if name not in shown)]
        places = {name: place for place, name in enumerate(names, start=1)}
        return [part for name in HOME_SECTIONS for part in (places[name], name not in shown)]

    def to_python(self, value: Any) -> list[str]:
        names = [*HOME_SECTIONS]
        shown = [names[usual] for is_off, _place, usual in sorted(placed(value)) if not is_off]
        if not shown:
            raise ValidationError(_("Show at least one section."))
        return [] if shown == names else shown

    def has_changed(self, initial: object, data: object) -> bool:
        try:
            return self.to_python(data) != (initial or [])
        except ValidationError:
            return True
