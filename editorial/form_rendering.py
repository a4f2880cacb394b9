"""Plain inputs of forms written at once, as Django's own templates write them.

Other widgets are rendered by their templates as usual.
"""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.forms.utils import ErrorList
from django.utils.safestring import SafeString, mark_safe

INPUT = frozenset(("checkbox", "date", "email", "hidden", "input", "number", "text", "time", "url"))
FOLDER = "django/forms/widgets/"
OPTION = f"{FOLDER}select_option.html"


def said(value: object) -> str:
    """Return a value escaped for an attribute."""
    text = value if isinstance(value, str) else str(value)
    return text if hasattr(text, "__html__") else escape(text)


def attributes(attrs: Mapping[str, object]) -> str:
    """Return the attributes of an element; `True` gives an attribute without a value."""
    shown = ((name, value) for name, value in attrs.items() if value is not False)
    return "".join(f" {name}" if value is True else f' {name}="{said(value)}"' for name, value in shown)


def plain_input(widget: Mapping[str, Any]) -> str:
    value = "" if widget["value"] is None else f' value="{said(widget["value"])}"'
    kind, name = said(widget["type"]), said(widget["name"])
    return f'<input type="{kind}" name="{name}"{value}{attributes(widget["attrs"])}>'


def plain_text(widget: Mapping[str, Any]) -> str:
    value = said(widget["value"]) if widget["value"] else ""
    return f'<textarea name="{said(widget["name"])}"{attributes(widget["attrs"])}>\n{value}</textarea>'


def plain_choice(widget: Mapping[str, Any]) -> str | None:
    """Return a choice without groups; `None` for any other."""
    groups = widget["optgroups"]
    options = [option for _name, some, _index in groups for option in some]
    if any(name for name, _some, _index in groups) or any(one["template_name"] != OPTION for one in options):
        return None
    shown = "".join(
        f'\n  <option value="{said(one["value"])}"{attributes(one["attrs"])}>{said(one["label"])}</option>\n'
        for one in options
    )
    return f'<select name="{said(widget["name"])}"{attributes(widget["attrs"])}>{shown}\n</select>'


WRITERS: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    **{f"{FOLDER}{name}.html": plain_input for name in INPUT},
    f"{FOLDER}textarea.html": plain_text,
    f"{FOLDER}select.html": plain_choice,
}


class QuickRenderer(DjangoTemplates):
    """Django's renderer, which does not go through two templates for one input."""

    def render(self, template_name: str, context: Any, request: Any = None) -> SafeString:
        if template_name == ErrorList.template_name and not context["errors"]:
            return mark_safe("")
        write = WRITERS.get(template_name)
        written = write(context["widget"]) if write else None
        return mark_safe(super().render(template_name, context, request) if written is None else written)
