"""What a browser would send of a form that nobody touched."""

from html.parser import HTMLParser
from typing import Any


class Inputs(HTMLParser):
    """What a browser would send of the forms of a page, untouched."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[str, Any] = {}
        self.select, self.text = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        name, kind = own.get("name", ""), own.get("type", "text")
        if tag == "select":
            self.select = name
        elif tag == "option" and "selected" in own and self.select:
            self.sent.setdefault(self.select, []).append(own.get("value", ""))
        elif tag == "textarea":
            self.text = name
        elif tag == "input" and kind not in {"submit", "file", "image"}:
            self.enter(name, own, is_box=kind in {"checkbox", "radio"})

    def enter(self, name: str, own: dict[str, str], is_box: bool) -> None:
        if name and (not is_box or "checked" in own):
            self.sent[name] = own.get("value", "on" if is_box else "")

    def handle_endtag(self, tag: str) -> None:
        self.select = "" if tag == "select" else self.select
        self.text = "" if tag == "textarea" else self.text

    def handle_data(self, data: str) -> None:
        if self.text:
            # A browser leaves out the line break that a text begins with.
            self.sent[self.text] = f"{self.sent.get(self.text, '')}{data}".removeprefix("\n")


def harvest(page: str) -> dict[str, Any]:
    """Return what a form sends as it stands."""
    parser = Inputs()
    parser.feed(page)
    left_out = {name for name in parser.sent if "__prefix__" in name} | {"action"}
    return {name: value for name, value in parser.sent.items() if name not in left_out}
