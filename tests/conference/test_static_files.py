"""Stylesheets: one component a file, bundled into two files when static files are collected."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from pytest_django import Settings

from conference.static_files import IMPORT, STYLESHEETS, bundle, minify

STATIC = Path(settings.BASE_DIR) / "static"
FILES = sorted((STATIC / "css").rglob("*.css"))


def relative_path(path: Path) -> str:
    return path.relative_to(STATIC / "css").as_posix()


@pytest.mark.parametrize(
    ("css", "minified"),
    [
        ("a {\n  color: red;\n  margin: 0 auto;\n}\n", "a{color:red;margin:0 auto}"),
        ("ul,\nol {\n  li::before {\n    top: 0;\n  }\n}\n", "ul,ol{li::before{top:0}}"),
        ("/* it's\n{ } */\na /* b */ :hover {\n}\n", "a :hover{}"),
        ('a {\n  content: " /* , ; */ \\"  " / "";\n}\n', 'a{content:" /* , ; */ \\"  " / ""}'),
        ("@media (min-width: 1rem) {\n}\n", "@media (min-width:1rem){}"),
        ("a {\n  top: calc(\n    1px + 2px\n  );\n}\n", "a{top:calc( 1px + 2px )}"),
        (".a > .b + .c:not(.d, .e) {\n}\n", ".a > .b + .c:not(.d,.e){}"),
        ("a {\n  --empty: ;\n  --x: 1;\n}\n", "a{--empty:;--x:1}"),
    ],
)
def test_minified_css_keeps_its_meaning(css: str, minified: str) -> None:
    assert minify(css) == minified
    assert minify(minified) == minified


def test_imports_are_replaced_by_their_files(tmp_path: Path) -> None:
    (tmp_path / "css" / "site").mkdir(parents=True)
    (tmp_path / "css" / "site.css").write_text(
        '@layer base;\n@import "fonts.css";\n@import "site/a.css" layer(base);\n'
    )
    (tmp_path / "css" / "fonts.css").write_text('@font-face {\n  src: url("../f.woff2");\n}\n')
    (tmp_path / "css" / "site" / "a.css").write_text("a {\n  top: 0;\n}\n")

    assert bundle(FileSystemStorage(tmp_path), "css/site.css") == (
        '@layer base;@font-face{src:url("../f.woff2")}@layer base{a{top:0}}'
    )


def test_every_component_is_imported_once_and_tokens_come_first() -> None:
    imports = {name: IMPORT.findall((STATIC / name).read_text("utf-8")) for name in sorted(STYLESHEETS)}
    # The site and the admin have the same fonts and hues.
    shared = {"fonts.css", "plenary/hues.css"}
    components = [file for files in imports.values() for file, _ in files if file not in shared]
    components.append("plenary/hues.css")

    assert [files[0][0] for files in imports.values()] == ["fonts.css", "fonts.css"]
    assert [files[1][0] for files in imports.values()] == ["admin/tokens.css", "plenary/tokens.css"]
    assert sorted(components) == [relative_path(path) for path in FILES if path.parent != STATIC / "css"]


def test_components_are_imported_in_the_order_of_their_layers() -> None:
    css = (STATIC / "css" / "plenary.css").read_text("utf-8")
    order = re.findall(r"\w+", css.partition("@layer ")[2].partition(";")[0])

    assert list(dict.fromkeys(layer for _, layer in IMPORT.findall(css) if layer)) == order


@pytest.mark.parametrize("path", FILES, ids=relative_path)
def test_stylesheets_have_one_declaration_per_line(path: Path) -> None:
    """Run `npx prettier --write static/css` where this fails."""
    css = path.read_text("utf-8")
    code = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    depth, violations = 0, []
    for number, line in enumerate(code.splitlines(), 1):
        text = re.sub(r'"[^"]*"', '""', line.strip())
        depth -= text.startswith("}")
        indent = len(line) - len(line.lstrip())
        if text and (indent < 2 * depth or indent % 2 or line != line.rstrip() or re.search(r"[;{}].", text)):
            violations.append((number, line))
        depth += text.endswith("{")

    assert violations == []
    assert depth == 0
    assert css.endswith("}\n") or path.parent == STATIC / "css"
    assert "\n\n\n" not in css


def test_collected_stylesheets_are_one_file_each(tmp_path: Path, settings: Settings) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "conference.static_files.HashedStorage"},
    }
    call_command("collectstatic", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    names = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]

    for name in STYLESHEETS:
        plain, hashed = ((tmp_path / file).read_text("utf-8") for file in (name, names[name]))
        assert "@import" not in plain
        assert re.sub(r"\.[0-9a-f]{12}\.woff2", ".woff2", hashed) == plain
        assert hashed.count(names["fonts/sans-latin.woff2"].partition("/")[2]) == 1
        assert (tmp_path / f"{names[name]}.gz").stat().st_size < 16_000
    assert [name for name in names if name.startswith(("css/plenary/", "css/admin/"))] == []
