"""What the description of the API says goes through gettext: in brackets, nothing stands outside of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.schema import CODES, build_schema, schema
from api.shapes import RESOURCES
from tests.pseudolocale import bare, pseudolocale

SAID = ("summary", "description")
# Things are called in every language as the schema calls them.
TITLES = [one.title for one in RESOURCES.values()]


@pytest.fixture
def bracketed() -> dict[str, Any]:
    """The description in brackets, made after the plain one: names of choices are kept from that."""
    schema()
    with pseudolocale():
        return build_schema()


def said(part: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Walk what the paths, and the fields of the schemas, say of themselves."""
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
    """Walk what the fields of all schemas say."""
    for name, one in document["components"]["schemas"].items():
        yield from said(one.get("properties", {}), name)


def test_every_help_text_is_translatable(bracketed: dict[str, Any]) -> None:
    paths = {path: ways for path, ways in bracketed["paths"].items() if path != "/api/v1/"}
    told = [*said(paths), *fields(bracketed)]

    assert len(told) > 500
    assert [f"{where}: {words}" for where, text in told if (words := bare(text, TITLES))] == []


def test_refusals_are_translatable() -> None:
    with pseudolocale():
        assert [code for code, words in CODES.items() if bare(str(words))] == []


def test_description_is_the_same_in_any_language_but_for_words(bracketed: dict[str, Any]) -> None:
    plain = schema()

    assert bracketed["paths"].keys() == plain["paths"].keys()
    assert bracketed["components"]["schemas"].keys() == plain["components"]["schemas"].keys()
