"""Installed packages are the pinned ones, and no file of the repository names a registry's host."""

import ast
import re
import subprocess
import tomllib
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONSTRAINTS: list[str] = PROJECT["tool"]["uv"]["constraint-dependencies"]
# Installers that an environment may include. Nothing in the project depends on them.
INSTALLERS = {"pip", "setuptools", "uv", "wheel"}
# In pieces, so that this file does not name them either.
REGISTRIES = ["py" + "pi.", "python" + "hosted.", "npm" + "js.", "yarn" + "pkg.", "ana" + "conda."]

Pins = dict[str, str]


def pins(lines: list[str]) -> Pins:
    """Return the version of each package, for lines whose marker applies to this environment."""
    parsed = [Requirement(requirement) for requirement in lines]
    applicable = [
        requirement for requirement in parsed if requirement.marker is None or requirement.marker.evaluate()
    ]
    return {canonicalize_name(line.name): str(line.specifier).removeprefix("==") for line in applicable}


def requirements(name: str) -> list[str]:
    """Read the requirement lines of a generated file, without the hashes."""
    text = (ROOT / "requirements" / name).read_text("utf-8")
    return re.findall(r"^(\S+==.*?)(?: \\)?$", text, re.MULTILINE)


def direct_dependencies() -> list[str]:
    extras = PROJECT["project"].get("optional-dependencies", {})
    groups = [PROJECT["project"]["dependencies"], *extras.values(), *PROJECT["dependency-groups"].values()]
    return [line for group in groups for line in group]


def tracked_files() -> list[str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode:
        pytest.skip(f"only a git checkout knows its tracked files: {listing.stderr.strip()}")
    return listing.stdout.split("\0")[:-1]


def test_installed_packages_are_the_pinned_ones() -> None:
    installed = {
        canonicalize_name(distribution.name): distribution.version for distribution in distributions()
    }
    pinned = pins(CONSTRAINTS)
    drift = {name: version for name, version in installed.items() if pinned.get(name) != version}

    assert {name: version for name, version in drift.items() if name not in INSTALLERS} == {}
    assert pins(requirements("dev.txt")).keys() - installed.keys() == set()


@pytest.mark.parametrize("name", ["dev.txt", "production.txt"])
def test_requirements_agree_with_constraints(name: str) -> None:
    lines = requirements(name)

    assert lines != []
    assert set(lines) - set(CONSTRAINTS) == set()


def test_requirements_together_contain_every_constraint() -> None:
    assert {*requirements("dev.txt"), *requirements("production.txt")} == set(CONSTRAINTS)


@pytest.mark.parametrize("name", ["dev.txt", "production.txt"])
def test_every_requirement_has_a_hash(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text("utf-8")

    assert len(re.findall(r"^\S.* \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)) == len(
        requirements(name)
    )


def test_constraints_are_exact() -> None:
    assert [line for line in CONSTRAINTS if not re.fullmatch(r"[a-z0-9-]+==[^ ,*]+(?: ; .+)?", line)] == []


def test_direct_dependencies_are_exact() -> None:
    assert [
        line
        for line in direct_dependencies()
        if not re.fullmatch(r"[a-z0-9-]+(?:\[[a-z0-9,-]+\])?==[^ ,*]+", line)
    ] == []
    assert pins(direct_dependencies()).items() - pins(CONSTRAINTS).items() == set()


def product_imports() -> set[str]:
    """Return the top-level packages that the product imports, including imports inside functions."""
    roots = PROJECT["tool"]["importlinter"]["root_packages"]
    paths = [path for package in roots for path in (ROOT / package).rglob("*.py")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    origins = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
    return {name.split(".")[0] for name in plain | origins}


def test_product_imports_only_packages_of_production() -> None:
    providers = packages_distributions()
    needed = {
        canonicalize_name(distribution)
        for name in product_imports()
        for distribution in providers.get(name, [])
    }

    assert needed - pins(requirements("production.txt")).keys() == set()


def test_lock_file_is_not_tracked() -> None:
    assert [name for name in tracked_files() if Path(name).name in {"uv.lock", "pylock.toml"}] == []


def test_no_tracked_file_names_a_registry() -> None:
    present = [name for name in tracked_files() if (ROOT / name).is_file()]
    text = {name: (ROOT / name).read_bytes().lower() for name in present}

    assert [(name, host) for name in text for host in REGISTRIES if host.encode() in text[name]] == []
