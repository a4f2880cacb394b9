"""Messages and docs are in American English, as docs/writing.md requires."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

from tests.test_docs import PAGES

ROOT = Path(settings.BASE_DIR)
BRITISH = re.compile(
    r"cancell(?:ed|ing)|colour|programmes?\b|behaviour|favour|honour|neighbour|\bcentre|licence|\bgrey\b|artefact"
    r"|catalogue|dialogue|\bfulfil\b|labell|modell|travell|whilst|learnt\b|spelt\b|analys(?:e|ing)\b"
    r"|(?:organ|recogn|optim|normal|custom|summar|serial|initial|minim|maxim|priorit|categor)is(?:e|ing|ation)",
    re.IGNORECASE,
)
APPS = [
    path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name not in {"tests", "tools", "bench"}
]
GETTEXT = re.compile(r"^(?:_|n?p?gettext(?:_lazy)?)$")


def messages(source: str) -> Iterator[str]:
    """Yield the literal arguments of calls of gettext."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and GETTEXT.match(call.func.id):
            for argument in call.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def british(text: str) -> list[str]:
    return BRITISH.findall(text)


def test_messages_of_code_are_american() -> None:
    british_words = {
        message: british(message)
        for app in APPS
        for path in app.rglob("*.py")
        if "migrations" not in path.parts
        for message in messages(path.read_text())
    }
    assert len(british_words) > 1000
    assert {message: words for message, words in british_words.items() if words} == {}


def test_messages_of_templates_are_american() -> None:
    # `templatize` blanks everything except the messages.
    british_words = {
        path.name: british(templatize(path.read_text())) for path in (ROOT / "templates").rglob("*.html")
    }
    assert {name: words for name, words in british_words.items() if words} == {}


# The changelog quotes old words, writing.md those to avoid, formats.md those that files may use.
QUOTING = {"CHANGELOG.md", "writing.md", "formats.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in QUOTING])
def test_docs_are_american(page: Path) -> None:
    assert british(re.sub(r"`[^`]*`|\]\([^)]*\)", "", page.read_text())) == []
