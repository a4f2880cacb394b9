"""Rules of the architecture: layers of apps, visibility in querysets, size limits, strict CSP."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import Model

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
PROJECT = tomllib.loads(PYPROJECT.read_text("utf-8"))["tool"]["importlinter"]
# The layers from the top down.
LAYERS = [name for layer in PROJECT["contracts"][0]["layers"] for name in layer.split(" | ")]
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
    "content.Tombstone",
    "content.WorkerReport",
    "people.Comparison",
    "people.InstitutionPair",
    "people.Invitation",
    "people.LikelyNamesake",
    "people.PersonAccount",
    "people.PersonPair",
    "schedule.ReleasePlan",
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
# Parts of paths of modules that render content. Only querysets decide what is public.
RENDERING_PARTS = {"api", "context_processors", "feeds", "sitemaps", "templatetags", "views", "website"}
LOOKUPS = {"Q", "exclude", "filter", "get", "get_list_or_404", "get_object_or_404"}
PUBLICATION = re.compile(r"(^|__)(status|papers_public_from|schedule_public_from)(__|$)")


def modules(*folders: str) -> Iterator[Path]:
    """Walk the Python files below the folders, without the migrations that Django writes."""
    for folder in folders:
        paths = (ROOT / folder).rglob("*.py")
        yield from (path for path in sorted(paths) if "migrations" not in path.parts)


def product_files() -> list[Path]:
    return [ROOT / "manage.py", *modules(*LAYERS)]


def relative_path(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def line_count(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def import_nodes(path: Path) -> tuple[list[ast.Import | ast.ImportFrom], set[ast.stmt]]:
    """Return the imports of a file, including those inside functions, and those for type checkers alone."""
    nodes = list(ast.walk(parse(path)))
    for_types = {
        statement
        for node in nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
    }
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)], for_types


def imports(path: Path, *, allowed_types: Collection[str] = ()) -> set[str]:
    """Return what a file imports absolutely, without types of these modules for type checkers alone."""
    nodes, for_types = import_nodes(path)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module and not (node in for_types and node.module in allowed_types):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def status_lookups(source: ast.Module) -> list[int]:
    """Return the lines where a query or a comparison decides by itself whether a row is public."""
    line_numbers = []
    for node in ast.walk(source):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            keywords = [keyword.arg or "" for keyword in node.keywords]
            if name in LOOKUPS and any(map(PUBLICATION.search, keywords)):
                line_numbers.append(node.lineno)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Attribute) and PUBLICATION.search(side.attr) for side in sides):
                line_numbers.append(node.lineno)
    return line_numbers


# Layers


def test_import_contracts_cover_every_package() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - OUTSIDE

    assert packages == set(LAYERS) == set(PROJECT["root_packages"])


def test_import_contracts_hold() -> None:
    # Run it in its own process, because it disables all existing loggers.
    command = [str(Path(sys.executable).with_name("lint-imports")), "--config", str(PYPROJECT), "--no-cache"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout + result.stderr


def test_product_imports_no_development_code() -> None:
    roots = {
        relative_path(path): {name.split(".")[0] for name in imports(path)} & OUTSIDE
        for path in product_files()
    }

    assert {path: names for path, names in roots.items() if names} == {}


def module_name(path: Path) -> str:
    return relative_path(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def import_graph(*, allowed_types: Collection[str]) -> dict[str, set[str]]:
    """Return the product modules that each of them imports, including imports inside functions.

    An import for type checkers alone counts unless its module is in `allowed_types`.
    """
    paths = {module_name(path): path for path in product_files()}
    graph = {}
    for module, path in paths.items():
        names = imports(path, allowed_types=allowed_types)
        imported = {name if name in paths else name.rpartition(".")[0] for name in names}
        graph[module] = (imported & paths.keys()) - {module}
    return graph


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of one import cycle, the first of them again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        modules_of_cycle: list[str] = error.args[1]
        return modules_of_cycle
    return []


def test_modules_import_each_other_in_no_cycle() -> None:
    assert find_cycle(import_graph(allowed_types=TYPES_BELOW_THEIR_MODULE)) == []


@pytest.mark.parametrize("module", TYPES_BELOW_THEIR_MODULE)
def test_listed_types_do_close_cycles(module: str) -> None:
    other_modules = TYPES_BELOW_THEIR_MODULE.keys() - {module}

    assert module in find_cycle(import_graph(allowed_types=other_modules))


def test_cycles_are_recognized() -> None:
    assert {*find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})} == {"a", "b", "c"}
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_formats_and_records_import_no_app_and_no_database() -> None:
    forbidden = re.compile(
        rf"({'|'.join(set(LAYERS) - {'exchange', 'markup'})}|django\.(apps|contrib|db)|rest_framework)\b"
    )
    paths = [ROOT / "exchange/records.py", *modules("exchange/formats")]
    imports_by_file = {relative_path(path): sorted(filter(forbidden.match, imports(path))) for path in paths}

    assert len(paths) > 1
    assert {path: names for path, names in imports_by_file.items() if names} == {}


def test_no_module_has_a_generic_name() -> None:
    generic_names = {"common", "helpers", "misc", "services", "utils"}
    paths = [Path(relative_path(path)) for path in [*product_files(), *modules(*OUTSIDE)]]

    assert [str(path) for path in paths if generic_names & {*path.with_suffix("").parts}] == []


def test_modules_stay_small() -> None:
    sizes = {
        relative_path(path): line_count(path) for path in [*product_files(), *modules(*OUTSIDE - {"tests"})]
    }

    assert {path: size for path, size in sizes.items() if size > MODULE_LINES} == {}


def test_folders_have_few_modules() -> None:
    counts = Counter(relative_path(path.parent) for path in product_files() if path.name != "__init__.py")

    assert {folder: count for folder, count in counts.items() if count > MODULES_IN_A_FOLDER} == {}


# Visibility


def test_only_querysets_decide_what_is_public() -> None:
    rendering_files = [
        path
        for path in product_files()
        if RENDERING_PARTS & {*Path(relative_path(path)).with_suffix("").parts}
    ]
    lookups = {relative_path(path): status_lookups(parse(path)) for path in rendering_files}

    assert {path: line_numbers for path, line_numbers in lookups.items() if line_numbers} == {}


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
    models = [model for label in APPS for model in apps.get_app_config(label).get_models()]
    return [model for model in models if model._meta.label not in BOOKKEEPING]


def test_every_model_has_published_with_a_time_parameter() -> None:
    methods = {
        model._meta.label: getattr(model._default_manager, "published", None) for model in content_models()
    }
    parameters = {
        label: inspect.signature(method).parameters.get("at") for label, method in methods.items() if method
    }

    assert methods != {}
    assert [label for label, method in methods.items() if method is None] == []
    assert [
        label for label, parameter in parameters.items() if parameter is None or parameter.default is not None
    ] == []


# Content security policy

TAG = re.compile(r"<[a-zA-Z][^<>]*>")
CSP_VIOLATIONS = {
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


def csp_violations(text: str) -> list[str]:
    """Return the parts of a template's tags that a strict content security policy would refuse."""
    # Remove comments, and replace template syntax by a word, because it may contain `<`, `>` and quotes.
    text = re.sub(r"(?s)<!--.*?-->|\{#.*?#\}|\{% comment.*?endcomment %\}", "", text)
    tags = TAG.findall(re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}", " x ", text))
    return sorted({name for tag in tags for name, pattern in CSP_VIOLATIONS.items() if pattern.search(tag)})


def test_templates_stay_small() -> None:
    sizes = {relative_path(path): line_count(path) for path in templates()}

    assert sizes != {}
    assert {path: size for path, size in sizes.items() if size > TEMPLATE_LINES} == {}


def test_templates_obey_the_content_security_policy() -> None:
    violations = {relative_path(path): csp_violations(path.read_text("utf-8")) for path in templates()}

    assert {path: names for path, names in violations.items() if names} == {}


def test_templates_do_not_compare_the_status() -> None:
    pattern = re.compile(r"\{%\s*(?:el)?if\b[^%]*\.(?:status|papers_public_from|schedule_public_from)\b")

    assert [relative_path(path) for path in templates() if pattern.search(path.read_text("utf-8"))] == []


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
def test_csp_violations_are_recognized(markup: str, names: list[str]) -> None:
    assert csp_violations(markup) == names


def test_static_files_load_no_external_files() -> None:
    pattern = re.compile(r"""(?:url\(|@import|\bimport\b[^;\n]*|\bfrom)\s*\(?["']?(?:https?:)?//""")
    files = [path for path in (ROOT / "static").rglob("*") if path.suffix in {".css", ".js", ".svg"}]

    assert files != []
    assert [relative_path(path) for path in files if pattern.search(path.read_text("utf-8"))] == []


# Strings in which an app names a model or URL of a higher layer, and why they remain.
UPWARD_STRINGS = {
    "content/unreleased/plan.py": "sessions and rooms in the planned state, and the model of a change",
    "editorial/model_admin.py": "only who may change people searches e-mail addresses and former names",
}


def files_that_name_a_higher_layer() -> set[str]:
    """Return the files with a string such as "papers.paper" or "website:edition" of a higher layer."""
    names_of_files = set()
    for file in modules(*LAYERS):
        name = str(file.relative_to(ROOT))
        layer_index = LAYERS.index(file.relative_to(ROOT).parts[0])
        if layer_index == 0 or name == "conference/settings.py":
            continue
        upper = re.compile(rf"(admin:)?({'|'.join(LAYERS[:layer_index])})(\.[a-z]\w*|:\w+|_\w+_\w+)")
        nodes = [*ast.walk(parse(file))]
        texts = [
            node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        lookups = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "get_model"]
        if any(upper.fullmatch(text) and "_public_from" not in text for text in texts) or any(
            getattr(label, "value", "") in LAYERS[:layer_index] for label in lookups
        ):
            names_of_files.add(name)
    return names_of_files


def test_strings_name_no_higher_layer() -> None:
    assert files_that_name_a_higher_layer() == {*UPWARD_STRINGS}
