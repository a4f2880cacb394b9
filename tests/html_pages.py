"""Parser of HTML pages: title, headings, text and links, with the parser of the standard library."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

from django.test import Client

VOID = {"br", "hr", "img", "input", "link", "meta", "source", "use", "path", "circle", "rect"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}


@dataclass
class Element:
    """One element with all text inside it."""

    tag: str
    attributes: dict[str, str]
    text_parts: list[str] = field(default_factory=list)
    elements: list["Element"] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.text_parts).split())

    def inside(self, tag: str) -> list["Element"]:
        return [element for element in self.elements if element.tag == tag]


class Page(HTMLParser):
    """The elements of a page in the order in which they begin."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(markup)
        assert not self.open, [element.tag for element in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        for outer in self.open:
            outer.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open, f"</{tag}> closes nothing"
            assert self.open[-1].tag == tag, f"</{tag}> closes {self.open[-1].tag}"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text_parts.append(data)

    def all(self, tag: str = "", kind: str = "", **attributes: str) -> list[Element]:
        """Return the elements with this tag, class and these attributes."""
        return [
            element
            for element in self.elements
            if (not tag or element.tag == tag)
            and (not kind or kind in element.attributes.get("class", "").split())
            and attributes.items() <= element.attributes.items()
        ]

    def texts(self, tag: str = "", kind: str = "") -> list[str]:
        return [element.text for element in self.all(tag, kind)]

    @property
    def main(self) -> str:
        """Return the text of the element <main>."""
        return self.all("main")[0].text

    @property
    def title(self) -> str:
        return self.all("title")[0].text

    @property
    def canonical(self) -> str:
        return self.all("link", rel="canonical")[0].attributes["href"]

    @property
    def description(self) -> str:
        return self.all("meta", name="description")[0].attributes["content"]

    @property
    def outline(self) -> list[str]:
        """Return the headings in order, each after its level: "1 Papers"."""
        return [f"{e.tag[1]} {e.text}" for e in self.elements if e.tag in HEADINGS]

    def links(self) -> dict[str, str]:
        """Return the URLs of the links by their text."""
        return {e.text: e.attributes["href"] for e in self.all("a") if "href" in e.attributes}


def read(client: Client, path: str, status: int = 200) -> Page:
    """Fetch and parse a page; assert that no heading skips a level."""
    response = client.get(path)
    assert response.status_code == status, f"{path}: {response.status_code}"
    page = Page(response.content.decode())
    levels = [int(line[0]) for line in page.outline]
    assert levels[:1] == [1], page.outline
    assert levels.count(1) == 1, page.outline
    assert all(down - up <= 1 for up, down in pairwise(levels)), page.outline
    return page
