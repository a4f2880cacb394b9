"""Helpers that return the form data that a browser would send."""

from typing import Any

from tests.reading import Page


def fields_of(page: Any, form: str = "timetable") -> dict[str, Any]:
    """Return the data that the form would send, each name once; a select without a choice sends ""."""
    found: dict[str, Any] = {}
    (shown,) = Page(page.text).all("form", id=form)
    for one in shown.elements:
        given = one.attributes
        name, is_box = given.get("name"), given.get("type") in ("checkbox", "radio")
        if name and one.tag == "textarea":
            found[name] = "".join(one.words)
        elif name and one.tag == "select":
            chosen = [
                row.attributes.get("value", "")
                for row in one.inside("option")
                if "selected" in row.attributes
            ]
            found[name] = chosen[-1] if chosen else ""
        elif name and one.tag == "input" and (not is_box or "checked" in given):
            found.setdefault(name, given.get("value") or ("on" if is_box else ""))
    return found


def resolve_conflicts(page: Any, **choices: str) -> dict[str, Any]:
    """Return the form data of the page that compares two versions, with these choices by field."""
    carried = dict(page.context["carried"]) | {"_shown": page.context["shown"]}
    return carried | {f"_choose-{name}": choice for name, choice in choices.items()}
