"""What a browser would send of the timetable editor's page: the fields of its form as they stand."""

from html.parser import HTMLParser
from typing import Any

from django.http import QueryDict


class _Form(HTMLParser):
    """The successful fields of one form, by name."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form, self.is_inside = form, False
        self.select, self.area = "", ""
        self.fields: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.is_inside = values.get("id") == self.form
        name = values.get("name") or ""
        if not self.is_inside or (tag != "option" and not name):
            return
        if tag == "input":
            is_box = values.get("type") in ("checkbox", "radio")
            if not is_box or "checked" in values:
                self.fields.setdefault(name, []).append(values.get("value") or ("on" if is_box else ""))
        elif tag == "select":
            self.select = name
            self.fields.setdefault(name, [])
        elif tag == "textarea":
            self.area = name
            self.fields[name] = [""]
        elif tag == "option" and "selected" in values:
            self.fields[self.select] = [values.get("value") or ""]

    def handle_data(self, data: str) -> None:
        if self.area:
            self.fields[self.area][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.is_inside = False
        elif tag == "textarea":
            self.area = ""


def fields_of(page: Any, form: str = "timetable") -> dict[str, Any]:
    """Return what the form would send, each name once; a select without a choice sends nothing chosen."""
    found = _Form(form)
    found.feed(page.text)
    assert found.fields, f"no form {form}"
    return {name: values[0] if values else "" for name, values in found.fields.items()}


def query(sent: dict[str, Any]) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, value in sent.items():
        data[name] = value
    return data
