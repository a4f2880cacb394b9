"""Texts that other programs hold in HTML, as Markdown."""

import re
from html import unescape

import markup
from exchange.reading.links import is_web_address

SIGNS = {"strong": "**", "b": "**", "em": "*", "i": "*", "cite": "*", "code": "`"}
HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
LISTS = frozenset(("ul", "ol"))
BLOCKS = frozenset(
    (
        *("p", "div", "section", "article", "header", "footer", "blockquote", "pre", "table", "hr", "dl"),
        *("figure", "figcaption", *LISTS, *HEADINGS),
    )
)
LINES = frozenset(("tr", "dt", "dd"))
# The text in these is no part of what is read.
HIDDEN = frozenset(("script", "style"))
# Elements of which only the text is read.
TEXT_ONLY = (
    *("span", "u", "s", "small", "big", "font", "center", "sub", "sup", "mark", "abbr", "tbody", "thead"),
    *("img", "td", "th", "html", "body", "o:p"),
)
NAMES = "|".join(
    sorted((*SIGNS, *BLOCKS, *LINES, *HIDDEN, *TEXT_ONLY, "li", "a", "br"), key=len, reverse=True)
)
TAG = re.compile(rf"<(/?)({NAMES})((?:\s[^<>]*)?)/?>|<!--[^<>]*-->", re.IGNORECASE)
# A text that only speaks of a tag has neither.
PAIR_OR_BREAK = re.compile(rf"</(?:{NAMES})\s*>|<br\s*/?>", re.IGNORECASE)
HREF = re.compile(r"""\shref\s?=\s?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
BLANKS = re.compile(r"[ \t\r\n\f\xa0]+")
BLANK_LINES = re.compile(r"\n{3,}")
HARD_BREAK = "\\\n"


def has_html(text: str) -> bool:
    """Return whether a text is HTML or has elements of it. Text with code in Markdown has none."""
    return "<" in text and "`" not in text and bool(PAIR_OR_BREAK.search(text))


def is_html(text: str) -> bool:
    """Return whether a text is HTML as a whole: it begins with a tag."""
    return bool(TAG.match(text.lstrip())) and has_html(text)


def html_to_markdown(text: str) -> str:
    """Return the text of HTML with its emphasis, links, lists and headings as Markdown.

    In a text that does not begin with a tag, what is no tag is Markdown already.
    """
    return _Writer(has_markdown=not is_html(text)).write(text)


class _Writer:
    def __init__(self, *, has_markdown: bool) -> None:
        self.has_markdown = has_markdown
        self.parts: list[str] = []
        self.is_hidden = False
        # The address of the open link.
        self.address = ""
        # For each open list, the number of its next item; 0 if its items have none.
        self.numbers: list[int] = []

    def write(self, html: str) -> str:
        end = 0
        for tag in TAG.finditer(html):
            self._add_text(html[end : tag.start()])
            end = tag.end()
            name = (tag[2] or "").lower()
            if name in HIDDEN:
                self.is_hidden = not tag[1]
            elif tag[1]:
                self._close(name)
            elif name:
                self._open(name, tag[3])
        self._add_text(html[end:])
        lines = "".join(self.parts).split("\n")
        return BLANK_LINES.sub("\n\n", "\n".join(line.rstrip(" ") for line in lines)).strip("\n\\ ")

    def _add_text(self, text: str) -> None:
        if self.is_hidden or not text:
            return
        text = unescape(text)
        if self.has_markdown:
            self.parts.append(text.replace("\xa0", " "))
            return
        text = BLANKS.sub(" ", text)
        if not self.parts or self.parts[-1].endswith(("\n", " ")):
            text = text.lstrip(" ")
        if text:
            self.parts.append(markup.escape_markup(text, has_tex=True))

    def _open(self, name: str, attributes: str) -> None:
        if name in SIGNS:
            self._add_sign(SIGNS[name])
        elif name == "a":
            address = unescape(
                next(filter(None, match.groups()), "") if (match := HREF.search(attributes)) else ""
            )
            self.address = address if is_web_address(address) else ""
            self.parts += ["["] if self.address else []
        elif name == "br":
            self.parts.append(HARD_BREAK)
        elif name == "li":
            self.parts.append(f"\n{self._next_bullet()} ")
        elif name in BLOCKS or name in LINES:
            self.numbers += [int(name == "ol")] if name in LISTS else []
            beginning = f"{HEADINGS[name]} " if name in HEADINGS else "> " if name == "blockquote" else ""
            self.parts.append(("\n" if name in LINES else "\n\n") + beginning)
        elif name in ("td", "th"):
            self.parts.append(" ")

    def _add_sign(self, sign: str) -> None:
        """Begin emphasis, or go on with the same one that has just ended."""
        if self.parts and self.parts[-1] == sign:
            self.parts.pop()
        else:
            self.parts.append(sign)

    def _next_bullet(self) -> str:
        if not (self.numbers and self.numbers[-1]):
            return "-"
        self.numbers[-1] += 1
        return f"{self.numbers[-1] - 1}."

    def _close(self, name: str) -> None:
        if name in SIGNS:
            self._end(SIGNS[name], SIGNS[name])
        elif name == "a" and self.address:
            self._end("[", f"]({self.address})")
            self.address = ""
        elif name in BLOCKS or name in LINES:
            if name in LISTS and self.numbers:
                self.numbers.pop()
            self.parts.append("\n" if name in LINES else "\n\n")

    def _end(self, opening: str, sign: str) -> None:
        """End emphasis or a link before the blanks at its end, and drop it if it is empty."""
        last = self.parts[-1] if self.parts else ""
        if last == opening:
            self.parts.pop()
            return
        stripped = last.rstrip(" ")
        if not stripped and self.parts[-2:-1] == [opening]:
            self.parts[-2:] = [last]
            return
        self.parts[-1:] = [stripped, sign, *([last[len(stripped) :]] if last != stripped else [])]
