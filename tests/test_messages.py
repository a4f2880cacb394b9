"""The catalogs of the public pages are current, compiled, and fit their messages."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.catalogs import CATALOGS, Message, compiled, header, messages
from tools.messages import PLURALS, TOOLS, extract

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*\}|</?\w+|&\w+;")
NEEDS_GETTEXT = pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="GNU gettext is not installed")
EVERY = pytest.mark.parametrize("name", CATALOGS)


def test_there_are_catalogs() -> None:
    assert sorted(CATALOGS) == ["de", "es", "fr", "zh_Hans"]


@NEEDS_GETTEXT
def test_catalogs_hold_the_strings_of_public_pages(tmp_path: Path) -> None:
    """Run `uv run python tools/messages.py` where this fails."""
    wanted = {message.identity for message in messages(extract(tmp_path))}
    held = {name: {message.identity for message in messages(path)} for name, path in CATALOGS.items()}

    assert {name: (wanted - own, own - wanted) for name, own in held.items() if own != wanted} == {}


@EVERY
def test_compiled_catalog_is_that_of_the_source(name: str) -> None:
    path = CATALOGS[name]
    source: dict[object, str] = {}
    for message in messages(path):
        if message.is_fuzzy or not all(message.translations):
            continue
        if "msgid_plural" in message.parts:
            source |= {(message.key, form): text for form, text in enumerate(message.translations)}
        else:
            source[message.key] = message.translations[0]
    held = compiled(path.with_suffix(".mo"))
    held.pop("", None)

    assert held == source


@EVERY
def test_catalog_has_the_plural_forms_of_its_language(name: str) -> None:
    path = CATALOGS[name]
    rule = PLURALS[name.lower().replace("_", "-")]
    forms = int(rule[len("nplurals=")])

    assert f"Plural-Forms: {rule}" in header(path)
    assert [
        one.key for one in messages(path) if "msgid_plural" in one.parts and len(one.translations) != forms
    ] == []


def fits(message: Message) -> bool:
    """Return whether translations have all placeholders and tags. One plural form may omit the number."""
    singular = Counter(PLACEHOLDER.findall(message.parts["msgid"]))
    plural = Counter(PLACEHOLDER.findall(message.parts.get("msgid_plural", message.parts["msgid"])))
    found = [
        (place, Counter(PLACEHOLDER.findall(text))) for place, text in enumerate(message.translations) if text
    ]
    return all(one == plural or (place == 0 and one == singular) for place, one in found)


@EVERY
def test_translations_keep_placeholders_and_tags(name: str) -> None:
    assert [one.key for one in messages(CATALOGS[name]) if not fits(one)] == []


def test_placeholders_are_compared() -> None:
    plural = {"msgid": "one <b>paper</b>", "msgid_plural": "%(n)s <b>papers</b>"}
    assert fits(Message({**plural, "msgstr[0]": "ein <b>Beitrag</b>", "msgstr[1]": "%(n)s <b>Beiträge</b>"}))
    assert not fits(Message({**plural, "msgstr[0]": "", "msgstr[1]": "<b>Beiträge</b>"}))
    assert not fits(Message({"msgid": "%(a)s to {b}", "msgstr": "%(a)s bis {c}"}))


@EVERY
def test_nothing_is_untranslated_or_fuzzy(name: str) -> None:
    found = list(messages(CATALOGS[name]))

    assert {
        "untranslated": [one.key for one in found if not all(one.translations)],
        "fuzzy": [one.key for one in found if one.is_fuzzy],
    } == {"untranslated": [], "fuzzy": []}
