"""A language that puts every translated message in brackets, to find texts that bypass gettext.

with pseudolocale():
    page = client.get("/2027/").text
assert untranslated(page, known=["MLSys 2027"]) == []
"""

import re
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

from django.conf import settings
from django.utils.translation import trans_real

from pagecache.fragments import fragments

CONTEXT = "\x04"
# Matches innermost brackets, because a translated sentence may contain translated parts.
BRACKETED = re.compile(r"⟦[^⟦⟧]*⟧")
WORD = re.compile(r"[^\W\d_]{2,}")
SKIPPED_TAGS = {"script", "style", "svg", "math", "code", "pre", "time"}
TEXT_ATTRIBUTES = {"alt", "aria-description", "aria-label", "placeholder", "title"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}


def wrap(message: str) -> str:
    """Return the translation of a message: that of "Save" is "⟦Save⟧"."""
    text = message.rpartition(CONTEXT)[2]
    return f"⟦{text}⟧" if text.strip() else text


class Brackets(trans_real.DjangoTranslation):
    """Catalog of every message, or of the given messages alone, with their contexts."""

    def __init__(self, messages: Container[str] | None) -> None:
        super().__init__(settings.LANGUAGE_CODE)
        self.messages = messages

    def gettext(self, message: str) -> str:
        return wrap(message) if self.knows(message) else message.rpartition(CONTEXT)[2]

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        message = singular if number == 1 else plural
        return wrap(message) if self.knows(singular) else message.rpartition(CONTEXT)[2]

    def knows(self, message: str) -> bool:
        return self.messages is None or message in self.messages


@contextmanager
def pseudolocale(messages: Container[str] | None = None) -> Iterator[None]:
    """Activate the language in this thread while the block runs. Messages other than these stay English."""
    # Django stores the catalog of this thread here. No public function activates one without files.
    active: Any = vars(trans_real)["_active"]
    # Fragments are cached by language code, and this language has the code of a real one.
    fragments.clear()
    before = getattr(active, "value", None)
    active.value = Brackets(messages)
    try:
        yield
    finally:
        fragments.clear()
        if before is None:
            del active.value
        else:
            active.value = before


def text_outside_brackets(text: str, known: Iterable[str] = ()) -> str:
    """Return the parts of a text outside of brackets that are not `known`; "" if they contain no word.

    `known` are texts that people entered, such as titles and names. Longer ones are removed first.
    """
    count = 1
    while count:
        text, count = BRACKETED.subn(" ", text)
    for known_text in sorted(known, key=len, reverse=True):
        text = text.replace(known_text, " ")
    return " ".join(text.split()) if WORD.search(text) else ""


class _TextParser(HTMLParser):
    """Parser of the texts of a page, including those that only screen readers read."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[tuple[str, bool]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.texts += [value for name, value in values.items() if name in TEXT_ATTRIBUTES]
        if tag == "input" and values.get("type") in {"submit", "button", "reset"}:
            self.texts.append(values.get("value", ""))
        if tag not in VOID:
            self.open.append((tag, tag in SKIPPED_TAGS or values.get("translate") == "no"))

    def handle_endtag(self, tag: str) -> None:
        while any(name == tag for name, _ in self.open) and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_skipped for _, is_skipped in self.open):
            self.texts.append(data)


def untranslated(markup: str, known: Iterable[str] = ()) -> list[str]:
    """Return the texts of a page that no catalog can translate, each once, in order.

    Code, formulas, drawings, `<time>` and elements with `translate="no"` are skipped.
    A message may span elements, as in `{% blocktranslate %}`: brackets are matched over the whole page.
    """
    text = "\x00".join(_TextParser(markup).texts)
    count = 1
    while count:
        text, count = BRACKETED.subn(lambda match: "\x00" * match[0].count("\x00"), text)
    known = list(known)
    return list(
        dict.fromkeys(
            outside for part in text.split("\x00") if (outside := text_outside_brackets(part, known))
        )
    )
