"""Helpers that return the form data that a browser would send."""

from typing import Any

from tests.html_pages import Page


def fields_of(page: Any, form: str = "timetable") -> dict[str, Any]:
    """Return the data that the form would send, each name once; a select without a choice sends ""."""
    data: dict[str, Any] = {}
    (form_element,) = Page(page.text).all("form", id=form)
    for element in form_element.elements:
        attributes = element.attributes
        name, is_box = attributes.get("name"), attributes.get("type") in ("checkbox", "radio")
        if name and element.tag == "textarea":
            data[name] = "".join(element.text_parts)
        elif name and element.tag == "select":
            selected = [
                option.attributes.get("value", "")
                for option in element.inside("option")
                if "selected" in option.attributes
            ]
            data[name] = selected[-1] if selected else ""
        elif name and element.tag == "input" and (not is_box or "checked" in attributes):
            data.setdefault(name, attributes.get("value") or ("on" if is_box else ""))
    return data


def resolve_conflicts(page: Any, **choices: str) -> dict[str, Any]:
    """Return the form data of the page that compares two versions, with these choices by field."""
    data = dict(page.context["submitted_fields"]) | {"_shown": page.context["shown_marks"]}
    return data | {f"_choose-{name}": choice for name, choice in choices.items()}
