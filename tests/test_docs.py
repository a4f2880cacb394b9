"""The docs describe all formats, commands and settings of the code, and their links work."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from exchange.formats import formats

ROOT = Path(settings.BASE_DIR)
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    ROOT / "CODE_OF_CONDUCT.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FOLDERS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}


def test_every_format_has_a_section() -> None:
    headings = re.findall(r"^#+ .*", (ROOT / "docs/formats.md").read_text(), re.M)
    missing = [name for name in formats() if not any(f"`{name}`" in heading for heading in headings)]
    assert missing == []


def test_every_command_is_described() -> None:
    commands = [path.stem for path in ROOT.glob("*/management/commands/[a-z]*.py")]
    text = "\n".join(page.read_text() for page in PAGES)
    assert [name for name in commands if f"manage.py {name}" not in text] == []


def test_every_setting_is_described() -> None:
    source = (ROOT / "conference/settings.py").read_text()
    names = set(re.findall(r'env\.\w+\(\s*"(\w+)"', source))
    rows = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M))
    assert rows == names


def test_architecture_page_lists_every_package() -> None:
    rows = set(re.findall(r"`(\w+)/`", (ROOT / "docs/architecture.md").read_text()))
    assert rows >= FOLDERS


def test_page_of_content_models_lists_every_class_attribute() -> None:
    sources = ("content/models.py", "content/changed/dated.py", "content/unreleased/rows.py")
    text = "\n".join((ROOT / source).read_text() for source in sources)
    names = set(re.findall(r"^    (\w+): \"?ClassVar\[", text, re.M))
    table = "\n".join(re.findall(r"^\| (`.*?) \|", (ROOT / "docs/content-models.md").read_text(), re.M))
    assert set(re.findall(r"`(\w+)`", table)) - {"derive"} == names | {"personal_fields", "impersonal_fields"}


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md", "docs/deploying.md", "docs/editors/roles.md"])
def test_docs_mention_missing_account_features(name: str) -> None:
    text = " ".join((ROOT / name).read_text().split())
    assert ("second factor" in text, "single sign-on" in text) == (True, True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_linked_files_exist(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes of the headings of a page."""
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", prose, re.M)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_linked_headings_exist(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
    missing = [
        (name, anchor)
        for name, anchor in targets
        if anchor not in anchors(page.parent / name if name else page)
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_files_exist(page: Path) -> None:
    folders = FOLDERS | {"bench", "deploy", "static", "templates", "tests", "tools"}
    paths = re.findall(r"`([\w/.-]+(?:/|\.(?:py|html|css|js|yaml|conf)))`", page.read_text())
    repository_paths = [path for path in paths if path.split("/")[0] in folders]

    assert [
        path
        for path in repository_paths
        if not any((root / path).exists() for root in (ROOT, ROOT / "templates"))
    ] == []
