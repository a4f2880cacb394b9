"""Update the message catalogs of the public pages: extract strings, merge and compile.

Run `uv run python tools/messages.py` after a change of strings; `--language pt-br` adds a language. It needs
GNU gettext. The catalogs do not contain strings of the admin, the API, imports and commands.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from django.conf import settings
from django.utils.translation import templatize, to_language, to_locale

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "conference" / "locale"
TOOLS = ("xgettext", "msgmerge", "msgattrib", "msgfmt")
EXCLUDED_TEMPLATES = ("templates/admin/", "templates/api/", "templates/schedule/invitation/")
# Folders of modules with strings of public pages, except for those below.
FOLDERS = (
    "conference", "content", "exchange/exports", "exchange/formats", "papers", "people", "schedule", "search",
    "website",
)  # fmt: skip
EXCLUDED_MODULES = (
    "*/admin/*", "*/management/*", "*/migrations/*", "*/apps.py",
    "conference/environment.py", "conference/front_matter_copy.py", "conference/home_sections.py",
    "conference/pictures.py", "conference/publishing.py", "conference/settings.py", "content/history/*",
    "exchange/exports/list_files.py", "people/duplicates/*",
    "people/invitation*.py", "people/membership.py", "people/merging/*", "people/pairs.py",
    "people/printed_names.py", "schedule/board_plan.py", "schedule/clashes/*", "schedule/editing.py",
    "schedule/entries.py", "schedule/invitations/*", "schedule/notices/announced_change.py",
    "schedule/program_copy.py",
    "content/unreleased/*",
    "schedule/unreleased/*",
)  # fmt: skip
CALLS = {
    name + lazy for name in ("gettext", "ngettext", "pgettext", "npgettext") for lazy in ("", "_lazy")
} | {"_"}
# Strings for the admin only: names and help texts of fields, names of models, and validation errors.
ADMIN_NAMES = {
    "help_text", "verbose_name", "verbose_name_plural", "error_messages", "violation_error_message",
    "ENDS_BEFORE_START", "GIVE_ONE_DATE", "IDENTIFIER_HELP", "OTHER_EDITION",
}  # fmt: skip
ADMIN_CALLS = re.compile(r"(Validator|ValidationError|Constraint|EditionPart)$")
ADMIN_PARTS = re.compile(r"(clean|validate\w*|Status)$")
FIELDS = re.compile(r"(Field|ForeignKey|SlugKey|__init__)$")
# Strings of formats are for the admin, except for the names of formats.
FORMATS = ROOT / "exchange" / "formats"
SHOWN_OF_FORMATS = "FORMAT"
KEYWORDS = [
    "gettext_lazy", "ngettext_lazy:1,2", "pgettext:1c,2", "npgettext:1c,2,3", "pgettext_lazy:1c,2",
    "npgettext_lazy:1c,2,3", "gettext_noop", "ngettext:1,2",
]  # fmt: skip
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural}\\n"
"""
PLURALS = {
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
    "zh-hans": "nplurals=1; plural=0;",
}


def called_name(node: ast.AST) -> str:
    """Return the name of the called function; empty if the node is not a call."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "id", "") or getattr(function, "attr", "")


def is_admin_only(node: ast.AST) -> bool:
    """Return whether strings in this node are shown only in the admin."""
    if isinstance(node, ast.Assign):
        return any(getattr(target, "id", "") in ADMIN_NAMES for target in node.targets)
    if isinstance(node, ast.keyword):
        return node.arg in ADMIN_NAMES
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return bool(ADMIN_PARTS.match(node.name))
    return bool(ADMIN_CALLS.search(called_name(node)))


def hidden_calls(tree: ast.AST, *, is_hidden: bool = False) -> Iterator[ast.Call]:
    """Yield the calls of gettext whose strings are not on public pages."""
    first = (
        tree.args[0]
        if FIELDS.search(called_name(tree)) and isinstance(tree, ast.Call) and tree.args
        else None
    )
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and called_name(node) in CALLS and (is_hidden or node is first):
            yield node
        else:
            is_shown = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == SHOWN_OF_FORMATS
            yield from hidden_calls(node, is_hidden=not is_shown and (is_hidden or is_admin_only(node)))


def public_source(path: Path) -> str:
    """Return the source of a module with hidden strings replaced by None; line numbers do not change."""
    source = path.read_text("utf-8")
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    hidden = hidden_calls(ast.parse(source), is_hidden=FORMATS in path.parents)
    for call in sorted(hidden, key=lambda call: (-call.lineno, -call.col_offset)):
        last = call.end_lineno or call.lineno
        before, after = lines[call.lineno - 1][: call.col_offset], lines[last - 1][call.end_col_offset or 0 :]
        lines[call.lineno - 1 : last] = [before + b"None" + b"\n" * (last - call.lineno) + after]
    return b"".join(lines).decode()


def sources() -> Iterator[tuple[str, str]]:
    """Yield the name of each file with strings of public pages, and its source as Python for xgettext."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(EXCLUDED_TEMPLATES):
            yield name, templatize(path.read_text("utf-8"), origin=name)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not any(fnmatch(name, pattern) for pattern in EXCLUDED_MODULES):
                yield name, public_source(path)


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a gettext command and return its standard error; exit with that if the command fails."""
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return result.stderr


def extract(folder: Path) -> Path:
    """Write the template of the catalogs to the folder, and return its path."""
    names = []
    for name, source in sources():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, "utf-8")
        names.append(name)
    keywords = [f"--keyword={keyword}" for keyword in KEYWORDS]
    options = ["--language=Python", "--from-code=UTF-8", "--add-comments=Translators", "--add-location=file"]
    template = folder / "django.pot"
    run(
        "xgettext",
        *options,
        "--no-wrap",
        "--sort-by-file",
        "--keyword=_",
        *keywords,
        "-o",
        template,
        *names,
        cwd=folder,
    )
    # Remove header lines that change with each run.
    text = re.sub(
        r'^"(POT-Creation-Date|Project-Id-Version|Report-Msgid).*\n',
        "",
        template.read_text("utf-8"),
        flags=re.M,
    )
    template.write_text(text, "utf-8")
    return template


def catalog(language: str) -> Path:
    return LOCALE / to_locale(language) / "LC_MESSAGES" / "django.po"


def languages() -> list[str]:
    """Return the languages that have a catalog."""
    return sorted(to_language(path.name) for path in LOCALE.iterdir() if path.is_dir())


def update(language: str, template: Path) -> None:
    """Merge the strings into a catalog, and compile it. Translations of changed strings become fuzzy."""
    path = catalog(language)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        plural = PLURALS.get(language, "nplurals=2; plural=(n != 1);")
        path.write_text(HEADER.format(language=to_locale(language), plural=plural), "utf-8")
    run("msgmerge", "--update", "--quiet", "--backup=none", "--previous", "--no-wrap", path, template)
    run("msgattrib", "--no-obsolete", "--no-wrap", "-o", path, path)
    compile_catalog(path)


def compile_catalog(path: Path) -> None:
    run("msgfmt", "--check-format", "-o", path.with_suffix(".mo"), path)


def statistics(path: Path) -> str:
    """Return the numbers of translated, fuzzy and untranslated messages as text."""
    return run("msgfmt", "--statistics", "-o", os.devnull, path).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--language", default=[], action="append", help="add a language, such as pt-br")
    parser.add_argument("--compile", action="store_true", help="only compile the catalogs as they are")
    options = parser.parse_args()
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        sys.exit(f"GNU gettext is not installed ({', '.join(missing)}).")
    LOCALE.mkdir(exist_ok=True)
    codes = sorted({*languages(), *options.language})
    with tempfile.TemporaryDirectory() as folder:
        template = None if options.compile else extract(Path(folder))
        for code in codes:
            if template:
                update(code, template)
            else:
                compile_catalog(catalog(code))
            print(f"{code}: {statistics(catalog(code))}")


if __name__ == "__main__":
    if not settings.configured:
        settings.configure()
    main()
