"""Attributes that templates read are defined. Django renders an unknown one as empty text."""

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from django.apps import apps
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
OUTSIDE = {"tests", "tools", "bench"}
PRODUCT = [
    path
    for package in ROOT.glob("*/__init__.py")
    if package.parent.name not in OUTSIDE
    for path in package.parent.rglob("*.py")
]
# The parts of Django whose objects our templates read.
DJANGO = (
    "contrib.admin",
    "contrib.auth",
    "core.paginator",
    "db.models.options",
    "forms",
    "http.request",
    "template",
)

COMMENT = re.compile(r"{#.*?#}|{% comment.*?endcomment %}", re.DOTALL)
TOKEN = re.compile(r"{[{%](.*?)[%}]}", re.DOTALL)
TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
LOOKUPS = re.compile(r"(?<![\w.])[A-Za-z_]\w*((?:\.\w+)+)")


def django_sources() -> Iterator[Path]:
    for name in DJANGO:
        spec = find_spec(f"django.{name}")
        assert spec is not None
        path = Path(str(spec.origin))
        yield from path.parent.rglob("*.py") if path.name == "__init__.py" else [path]


def defined_names(path: Path) -> Iterator[str]:
    """Yield methods, attributes of classes and instances, and texts that may be keys or columns."""
    tree = ast.parse(path.read_text())
    # The right sides of messages hold keys of their placeholders.
    values = [node.right for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
    placeholders = {id(key) for value in values if isinstance(value, ast.Dict) for key in value.keys}
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=statements):
                for statement in statements:
                    match statement:
                        case (
                            ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])
                        ):
                            yield name
            case ast.FunctionDef(name=name) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.Constant(value=str(name)) if id(node) not in placeholders:
                yield name
            case ast.Call(func=ast.Attribute(attr="annotate" | "alias"), keywords=keywords):
                yield from (keyword.arg for keyword in keywords if keyword.arg)


def model_names() -> Iterator[str]:
    """Yield the attributes that Django adds to models."""
    for model in apps.get_models():
        for field in model._meta.get_fields():
            yield from (field.name, getattr(field, "attname", ""), f"get_{field.name}_display")


def read_names(template: str) -> set[str]:
    """Return the attributes and keys that a template reads, without indexes."""
    tokens = (TEXT.sub("", token) for token in TOKEN.findall(COMMENT.sub("", template)))
    lookups = (name for token in tokens for path in LOOKUPS.findall(token) for name in path[1:].split("."))
    return {name for name in lookups if not name.isdigit()}


def test_attributes_that_templates_read_are_defined() -> None:
    defined = {name for path in (*PRODUCT, *django_sources()) for name in defined_names(path)}
    defined.update(model_names())
    templates = {path.relative_to(ROOT): path for path in (ROOT / "templates").rglob("*.html")}

    unknown = {name: read_names(path.read_text()) - defined for name, path in templates.items()}

    assert len(templates) > 100
    assert {name: names for name, names in unknown.items() if names} == {}
