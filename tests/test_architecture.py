"""Rules of the architecture: layers of apps, visibility in querysets, size limits, strict CSP."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import Model

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
PROJECT = tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]
# The layers from the top down.
FLOORS = [name for layer in PROJECT["contracts"][0]["layers"] for name in layer.split(" | ")]
# Folders outside of the layers: they may import any app, and no app imports them.
OUTSIDE = {"bench", "demo", "deploy", "docs", "tests", "tools"}
APPS = ["conference", "people", "papers", "schedule", "search"]
# Models without content of their own: revisions, and history, members and likely duplicates, which only
# staff see. Hits of the search index are filtered by the `published()` of the rows that they link to.
BOOKKEEPING = {
    "accounts.AccountSession",
    "content.ChangeSet",
    "accounts.Membership",
    "content.RowChange",
    "content.SiteRevision",
    "content.Invalidation",
    "people.Comparison",
    "people.InstitutionPair",
    "people.Invitation",
    "people.LikelyNamesake",
    "people.PersonAccount",
    "people.PersonPair",
    "schedule.ProgramInvitation",
    "schedule.ProgramInvitationLink",
    "schedule.Unavailability",
    "search.Document",
    "search.Indexed",
    "search.Word",
}
# Modules whose types are also imported, for type checkers alone, by modules that they import.
TYPES_BELOW_THEIR_MODULE = {
    "conference.models": "Edition, which lower packages reach through `settings.EDITION_MODEL`",
    "content.models": "Content, whose save() is made of functions that take its rows",
    "papers.models": "Paper, which its queryset compares with others",
    "people.models": "Person and Institution, which their querysets return",
}
MODULE_LINES = 600
TEMPLATE_LINES = 120
MODULES_IN_A_FOLDER = 25
# Modules that render content. Only querysets decide what is public.
FRONT = {"api", "context_processors", "feeds", "sitemaps", "templatetags", "views", "website"}
LOOKUPS = {"Q", "exclude", "filter", "get", "get_list_or_404", "get_object_or_404"}
PUBLICATION = re.compile(r"(^|__)(status|papers_public_from|schedule_public_from)(__|$)")


def modules(*folders: str) -> Iterator[Path]:
    """Walk the Python files below the folders, without the migrations that Django writes."""
    for folder in folders:
        found = (ROOT / folder).rglob("*.py")
        yield from (path for path in sorted(found) if "migrations" not in path.parts)


def product() -> list[Path]:
    return [ROOT / "manage.py", *modules(*FLOORS)]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports absolutely, including imports inside functions."""
    return imports_in(tree(path))


def imports_in(source: ast.Module) -> set[str]:
    nodes = list(ast.walk(source))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    origins = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return plain | {f"{node.module}.{alias.name}" for node in origins for alias in node.names}


def status_lookups(source: ast.Module) -> list[int]:
    """Return the lines where a query or a comparison decides by itself whether a row is public."""
    found = []
    for node in ast.walk(source):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = [keyword.arg or "" for keyword in node.keywords]
            if name in LOOKUPS and any(map(PUBLICATION.search, words)):
                found.append(node.lineno)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Attribute) and PUBLICATION.search(side.attr) for side in sides):
                found.append(node.lineno)
    return found


# The house


def test_floors_stand_and_have_contracts() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - OUTSIDE

    assert packages == set(FLOORS) == set(PROJECT["root_packages"])


def test_import_contracts_hold() -> None:
    # Run it in its own process, because it disables all existing loggers.
    command = [str(Path(sys.executable).with_name("lint-imports")), "--config", str(PYPROJECT), "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_no_floor_imports_what_stands_beside_the_house() -> None:
    roots = {short(path): {name.split(".")[0] for name in imports(path)} & OUTSIDE for path in product()}

    assert {path: names for path, names in roots.items() if names} == {}


def module_name(path: Path) -> str:
    return short(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def without_type_imports(source: ast.Module, modules: Collection[str]) -> ast.Module:
    """Remove what is imported from these modules for type checkers alone."""
    for node in ast.walk(source):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [
                one for one in node.body if not isinstance(one, ast.ImportFrom) or one.module not in modules
            ]
    return source


def import_graph(*, allowed: Collection[str]) -> dict[str, set[str]]:
    """Return the product modules that each of them imports, including imports inside functions.

    An import for type checkers alone counts unless its module is `allowed`.
    """
    paths = {module_name(path): path for path in product()}
    graph = {}
    for module, path in paths.items():
        names = imports_in(without_type_imports(tree(path), allowed))
        found = {name if name in paths else name.rpartition(".")[0] for name in names}
        graph[module] = (found & paths.keys()) - {module}
    return graph


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one import cycle, the first of them again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_modules_import_each_other_in_no_cycle() -> None:
    assert cycle(import_graph(allowed=TYPES_BELOW_THEIR_MODULE)) == []


@pytest.mark.parametrize("module", TYPES_BELOW_THEIR_MODULE)
def test_listed_types_do_close_cycles(module: str) -> None:
    others = TYPES_BELOW_THEIR_MODULE.keys() - {module}

    assert module in cycle(import_graph(allowed=others))


def test_cycles_are_recognized() -> None:
    assert {*cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})} == {"a", "b", "c"}
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_formats_and_records_know_no_app_and_no_database() -> None:
    known = re.compile(
        rf"({'|'.join(set(FLOORS) - {'exchange', 'markup'})}|django\.(apps|contrib|db)|rest_framework)\b"
    )
    pure = [ROOT / "exchange/records.py", *modules("exchange/formats")]
    found = {short(path): sorted(filter(known.match, imports(path))) for path in pure}

    assert len(pure) > 1
    assert {path: names for path, names in found.items() if names} == {}


def test_no_module_is_a_drawer() -> None:
    drawers = {"common", "helpers", "misc", "services", "utils"}
    paths = [Path(short(path)) for path in [*product(), *modules(*OUTSIDE)]]

    assert [str(path) for path in paths if drawers & {*path.with_suffix("").parts}] == []


def test_modules_stay_small() -> None:
    sizes = {short(path): lines(path) for path in [*product(), *modules(*OUTSIDE - {"tests"})]}

    assert {path: size for path, size in sizes.items() if size > MODULE_LINES} == {}


def test_folders_show_their_parts() -> None:
    counts = Counter(short(path.parent) for path in product() if path.name != "__init__.py")

    assert {folder: count for folder, count in counts.items() if count > MODULES_IN_A_FOLDER} == {}


# One gate out


def test_only_querysets_judge_what_is_public() -> None:
    front = [path for path in product() if FRONT & {*Path(short(path)).with_suffix("").parts}]
    found = {short(path): status_lookups(tree(path)) for path in front}

    assert {path: where for path, where in found.items() if where} == {}


def test_status_lookups_are_recognized() -> None:
    source = """
Paper.objects.filter(status="published")
get_object_or_404(Paper, session__status__in=[1])
Q(edition__papers_public_from__lte=now)
paper.status == "draft"
Paper.objects.published().filter(edition=edition)
response.status_code == 404
"""
    assert status_lookups(ast.parse(source)) == [2, 3, 4, 5]


def content_models() -> list[type[Model]]:
    found = [model for label in APPS for model in apps.get_app_config(label).get_models()]
    return [model for model in found if model._meta.label not in BOOKKEEPING]


def test_every_model_has_published_with_its_own_clock() -> None:
    asks = {
        model._meta.label: getattr(model._default_manager, "published", None) for model in content_models()
    }
    at = {label: inspect.signature(ask).parameters.get("at") for label, ask in asks.items() if ask}

    assert asks != {}
    assert [label for label, ask in asks.items() if ask is None] == []
    assert [
        label for label, parameter in at.items() if parameter is None or parameter.default is not None
    ] == []


# Strict pages

TAG = re.compile(r"<[a-zA-Z][^<>]*>")
REFUSED = {
    "inline script": re.compile(
        r"<script\b(?![^>]*\s(?:src=|type=\"?application/(?:ld\+)?json))", re.IGNORECASE
    ),
    "inline style": re.compile(r"<style\b|\sstyle\s*=", re.IGNORECASE),
    "event handler": re.compile(r"\son[a-z]+\s*=", re.IGNORECASE),
    "script address": re.compile(r"=\s*[\"']?\s*javascript:", re.IGNORECASE),
    "foreign asset": re.compile(
        r"<(?!a\b)[^>]*\s(?:src|srcset|href|poster|data|action)\s*=\s*[\"']?\s*(?:https?:)?//", re.IGNORECASE
    ),
}


def templates() -> list[Path]:
    return sorted(path for path in (ROOT / "templates").rglob("*") if path.is_file())


def refused(text: str) -> list[str]:
    """Return the parts of a template's tags that a strict content security policy would refuse."""
    # Remove comments, and replace template syntax by a word, because it may contain `<`, `>` and quotes.
    text = re.sub(r"(?s)<!--.*?-->|\{#.*?#\}|\{% comment.*?endcomment %\}", "", text)
    tags = TAG.findall(re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}", " x ", text))
    return sorted({name for tag in tags for name, pattern in REFUSED.items() if pattern.search(tag)})


def test_templates_stay_small() -> None:
    sizes = {short(path): lines(path) for path in templates()}

    assert sizes != {}
    assert {path: size for path, size in sizes.items() if size > TEMPLATE_LINES} == {}


def test_templates_are_strict() -> None:
    found = {short(path): refused(path.read_text("utf-8")) for path in templates()}

    assert {path: names for path, names in found.items() if names} == {}


def test_templates_judge_no_status() -> None:
    judge = re.compile(r"\{%\s*(?:el)?if\b[^%]*\.(?:status|papers_public_from|schedule_public_from)\b")

    assert [short(path) for path in templates() if judge.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("markup", "names"),
    [
        ("<script>let a = 1</script>", ["inline script"]),
        ('<script type="module" src="{% static "js/a.js" %}"></script>', []),
        ('<script type="application/ld+json">{"@type": "Event"}</script>', []),
        ('<p class="{% if a > b %}x{% endif %}" style="color: red">', ["inline style"]),
        ("<style>p { color: red }</style>", ["inline style"]),
        ('<img src="{{ photo.url }}" onerror="x()">', ["event handler"]),
        ('<a href="javascript:x()">', ["script address"]),
        ('<link rel="stylesheet" href="https://fonts.example/x.css">', ["foreign asset"]),
        ('<a href="https://example.org/">One = two, style = three, on = four</a>', []),
        ("<!-- <script>old()</script> -->", []),
    ],
)
def test_strict_check_recognizes(markup: str, names: list[str]) -> None:
    assert refused(markup) == names


def test_static_files_load_nothing_foreign() -> None:
    load = re.compile(r"""(?:url\(|@import|\bimport\b[^;\n]*|\bfrom)\s*\(?["']?(?:https?:)?//""")
    files = [path for path in (ROOT / "static").rglob("*") if path.suffix in {".css", ".js", ".svg"}]

    assert files != []
    assert [short(path) for path in files if load.search(path.read_text("utf-8"))] == []


# Strings in which an app names a model or URL of a higher layer, and why they remain.
UPWARD_STRINGS = {
    "editorial/model_admin.py": "only who may change people searches e-mail addresses and former names"
}


def strings_that_name_upper_apps() -> set[str]:
    """Return the files with a string such as "papers.paper" or "website:edition" of a higher layer."""
    found = set()
    for file in modules(*FLOORS):
        name = str(file.relative_to(ROOT))
        floor = FLOORS.index(file.relative_to(ROOT).parts[0])
        if floor == 0 or name == "conference/settings.py":
            continue
        upper = re.compile(rf"(admin:)?({'|'.join(FLOORS[:floor])})(\.[a-z]\w*|:\w+|_\w+_\w+)")
        nodes = [*ast.walk(tree(file))]
        texts = [
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        lookups = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "get_model"]
        if any(upper.fullmatch(text) and "_public_from" not in text for text in texts) or any(
            getattr(label, "value", "") in FLOORS[:floor] for label in lookups
        ):
            found.add(name)
    return found


def test_no_floor_names_an_upper_one_in_a_string() -> None:
    assert strings_that_name_upper_apps() == {*UPWARD_STRINGS}
