"""The catalogs of the public pages are current, compiled, and fit their messages."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.catalogs import CATALOGS, Message, compiled, header, messages
from tools.messages import PLURALS, TOOLS, extract

PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*\}|</?\w+|&\w+;")
needs_gettext = pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason="GNU gettext is not installed")
every_catalog = pytest.mark.parametrize("name", CATALOGS)


def test_catalog_languages() -> None:
    assert sorted(CATALOGS) == ["de", "es", "fr", "zh_Hans"]


@needs_gettext
def test_catalogs_contain_the_messages_of_the_code(tmp_path: Path) -> None:
    """Run `uv run python tools/messages.py` where this fails."""
    expected = {message.identity for message in messages(extract(tmp_path))}
    identities_by_name = {
        name: {message.identity for message in messages(path)} for name, path in CATALOGS.items()
    }

    assert {
        name: (expected - identities, identities - expected)
        for name, identities in identities_by_name.items()
        if identities != expected
    } == {}


@every_catalog
def test_compiled_catalog_matches_its_source(name: str) -> None:
    path = CATALOGS[name]
    source: dict[object, str] = {}
    for message in messages(path):
        if message.is_fuzzy or not all(message.translations):
            continue
        if "msgid_plural" in message.parts:
            source |= {(message.key, form): text for form, text in enumerate(message.translations)}
        else:
            source[message.key] = message.translations[0]
    compiled_messages = compiled(path.with_suffix(".mo"))
    compiled_messages.pop("", None)

    assert compiled_messages == source


@every_catalog
def test_catalog_has_the_plural_forms_of_its_language(name: str) -> None:
    path = CATALOGS[name]
    rule = PLURALS[name.lower().replace("_", "-")]
    forms = int(rule[len("nplurals=")])

    assert f"Plural-Forms: {rule}" in header(path)
    assert [
        message.key
        for message in messages(path)
        if "msgid_plural" in message.parts and len(message.translations) != forms
    ] == []


def has_same_placeholders(message: Message) -> bool:
    """Return whether translations have all placeholders and tags. One plural form may omit the number."""
    singular = Counter(PLACEHOLDER.findall(message.parts["msgid"]))
    plural = Counter(PLACEHOLDER.findall(message.parts.get("msgid_plural", message.parts["msgid"])))
    counts = [
        (form, Counter(PLACEHOLDER.findall(text))) for form, text in enumerate(message.translations) if text
    ]
    return all(count == plural or (form == 0 and count == singular) for form, count in counts)


@every_catalog
def test_translations_keep_placeholders_and_tags(name: str) -> None:
    assert [message.key for message in messages(CATALOGS[name]) if not has_same_placeholders(message)] == []


def test_placeholders_are_compared() -> None:
    plural = {"msgid": "one <b>paper</b>", "msgid_plural": "%(n)s <b>papers</b>"}
    assert has_same_placeholders(
        Message({**plural, "msgstr[0]": "ein <b>Beitrag</b>", "msgstr[1]": "%(n)s <b>Beiträge</b>"})
    )
    assert not has_same_placeholders(Message({**plural, "msgstr[0]": "", "msgstr[1]": "<b>Beiträge</b>"}))
    assert not has_same_placeholders(Message({"msgid": "%(a)s to {b}", "msgstr": "%(a)s bis {c}"}))


@every_catalog
def test_no_message_is_untranslated_or_fuzzy(name: str) -> None:
    entries = list(messages(CATALOGS[name]))

    assert {
        "untranslated": [entry.key for entry in entries if not all(entry.translations)],
        "fuzzy": [entry.key for entry in entries if entry.is_fuzzy],
    } == {"untranslated": [], "fuzzy": []}
