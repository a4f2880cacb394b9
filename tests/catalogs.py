"""The catalogs of the public pages, read without GNU gettext."""

import ast
import gettext
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django

ROOT = Path(__file__).resolve().parent.parent
CATALOGS = {
    path.parent.parent.name: path for path in sorted(ROOT.glob("conference/locale/*/LC_MESSAGES/django.po"))
}
CONTEXT = "\x04"
LINE = re.compile(r'^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)? ?(".*")$')


@dataclass
class Message:
    """An entry of a .po file."""

    parts: dict[str, str] = field(default_factory=dict)
    is_fuzzy: bool = False

    @property
    def key(self) -> str:
        """Return the id by which gettext looks it up, with its context."""
        context = self.parts.get("msgctxt")
        return self.parts["msgid"] if context is None else f"{context}{CONTEXT}{self.parts['msgid']}"

    @property
    def identity(self) -> tuple[str, str]:
        return self.key, self.parts.get("msgid_plural", "")

    @property
    def translations(self) -> list[str]:
        return [text for name, text in self.parts.items() if name.startswith("msgstr")]


def messages(path: Path) -> Iterator[Message]:
    """Yield the entries of a catalog, without its header."""
    for block in path.read_text("utf-8").split("\n\n")[1:]:
        message, name = Message(), ""
        for line in block.splitlines():
            message.is_fuzzy |= line.startswith("#,") and "fuzzy" in line
            if match := LINE.match(line):
                name = match[1] or name
                message.parts[name] = message.parts.get(name, "") + ast.literal_eval(match[2])
        if message.parts:
            yield message


def header(path: Path) -> str:
    return path.read_text("utf-8").partition("\n\n")[0]


def public_messages() -> set[str]:
    """Return the ids of the messages in the catalogs."""
    return {message.key for path in CATALOGS.values() for message in messages(path)}


def compiled(path: Path) -> dict[Any, str]:
    """Return the texts of a .mo file by id, or by id and plural form. The header has an empty id."""
    with path.open("rb") as file:
        return dict(vars(gettext.GNUTranslations(file))["_catalog"])


def django_messages() -> set[str]:
    """Return the ids that Django translates itself, such as the names of months."""
    path = Path(django.__file__).parent / "conf" / "locale" / "de" / "LC_MESSAGES" / "django.mo"
    return {key[0] if isinstance(key, tuple) else key for key in compiled(path)}
