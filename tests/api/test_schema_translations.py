"""Texts of the OpenAPI schema go through gettext: in a pseudolocale, none is outside of brackets."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.schema import CODES, build_schema, schema
from api.shapes import RESOURCES
from tests.pseudolocale import bare, pseudolocale

SAID = ("summary", "description")
# Names of schemas, which are not translated.
TITLES = [one.title for one in RESOURCES.values()]


@pytest.fixture
def bracketed() -> dict[str, Any]:
    """Return the schema in the pseudolocale, built after the plain one, which caches names of choices."""
    schema()
    with pseudolocale():
        return build_schema()


def said(part: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield the location and text of each summary and description, recursively."""
    if isinstance(part, list):
        for number, one in enumerate(part):
            yield from said(one, f"{where}[{number}]")
    elif isinstance(part, dict):
        for name, one in part.items():
            if name in SAID and isinstance(one, str):
                yield where, one
            else:
                yield from said(one, f"{where}.{name}")


def fields(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the location and text of each description of a field."""
    for name, one in document["components"]["schemas"].items():
        yield from said(one.get("properties", {}), name)


def test_every_help_text_is_translatable(bracketed: dict[str, Any]) -> None:
    paths = {path: ways for path, ways in bracketed["paths"].items() if path != "/api/v1/"}
    descriptions = [*said(paths), *fields(bracketed)]

    assert len(descriptions) > 500
    assert [f"{where}: {words}" for where, text in descriptions if (words := bare(text, TITLES))] == []


def test_refusals_are_translatable() -> None:
    with pseudolocale():
        assert [code for code, words in CODES.items() if bare(str(words))] == []


def test_description_is_the_same_in_any_language_but_for_words(bracketed: dict[str, Any]) -> None:
    plain = schema()

    assert bracketed["paths"].keys() == plain["paths"].keys()
    assert bracketed["components"]["schemas"].keys() == plain["components"]["schemas"].keys()
