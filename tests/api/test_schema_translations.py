"""Texts of the OpenAPI schema go through gettext: in a pseudolocale, none is outside of brackets."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.schema import CODES, build_schema, schema
from api.shapes import RESOURCES
from tests.pseudolocale import pseudolocale, text_outside_brackets

TEXT_KEYS = ("summary", "description")
# Names of schemas, which are not translated.
TITLES = [one.title for one in RESOURCES.values()]


@pytest.fixture
def pseudo_schema() -> dict[str, Any]:
    """Return the schema in the pseudolocale, built after the plain one, which caches names of choices."""
    schema()
    with pseudolocale():
        return build_schema()


def texts(node: Any, location: str = "") -> Iterator[tuple[str, str]]:
    """Yield the location and text of each summary and description, recursively."""
    if isinstance(node, list):
        for number, child in enumerate(node):
            yield from texts(child, f"{location}[{number}]")
    elif isinstance(node, dict):
        for name, child in node.items():
            if name in TEXT_KEYS and isinstance(child, str):
                yield location, child
            else:
                yield from texts(child, f"{location}.{name}")


def field_texts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the location and text of each description of a field."""
    for name, component in document["components"]["schemas"].items():
        yield from texts(component.get("properties", {}), name)


def test_every_description_is_translatable(pseudo_schema: dict[str, Any]) -> None:
    paths = {path: methods for path, methods in pseudo_schema["paths"].items() if path != "/api/v1/"}
    descriptions = [*texts(paths), *field_texts(pseudo_schema)]

    assert len(descriptions) > 500
    assert [
        f"{location}: {untranslated}"
        for location, text in descriptions
        if (untranslated := text_outside_brackets(text, TITLES))
    ] == []


def test_error_descriptions_are_translatable() -> None:
    with pseudolocale():
        assert [code for code, text in CODES.items() if text_outside_brackets(str(text))] == []


def test_schema_has_the_same_paths_and_components_in_any_language(pseudo_schema: dict[str, Any]) -> None:
    plain = schema()

    assert pseudo_schema["paths"].keys() == plain["paths"].keys()
    assert pseudo_schema["components"]["schemas"].keys() == plain["components"]["schemas"].keys()
