"""Pin all packages: resolve with uv, and write constraints in pyproject.toml and files in requirements/.

Run `python tools/pin.py` after changing a dependency; `--upgrade` upgrades indirect packages, too. It uses
only the standard library, so that it runs even if the old pins cannot be resolved.
"""

import argparse
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
BLOCK = re.compile(r"^constraint-dependencies = \[\n(?:    .*\n)*\]\n", re.MULTILINE)
# The development file contains the packages of `uv run`; production adds the extras and omits the tools.
FILES = {"dev.txt": ["--all-groups"], "production.txt": ["--no-dev", "--all-extras"]}


def export(*options: str) -> str:
    """Resolve the project, and return requirement lines with markers but without an index."""
    command = ["uv", "export", "--quiet", "--no-emit-project", "--no-annotate", "--no-header", *options]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def package(requirement: str) -> str:
    """Return the normalized name that a requirement begins with."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def direct_dependencies(project: dict[str, Any]) -> set[str]:
    """Return the direct dependencies, for which old constraints must not contradict new pins."""
    extras = project["project"].get("optional-dependencies", {})
    groups = [project["project"]["dependencies"], *extras.values(), *project["dependency-groups"].values()]
    return {package(line) for group in groups for line in group}


def constrain(constraints: list[str]) -> None:
    """Replace the block of constraints in pyproject.toml."""
    block = "".join(f'    "{line}",\n' for line in constraints)
    text, count = BLOCK.subn(f"constraint-dependencies = [\n{block}]\n", PYPROJECT.read_text("utf-8"))
    if count != 1:
        raise SystemExit("pyproject.toml: [tool.uv] needs its constraint-dependencies, one package per line")
    PYPROJECT.write_text(text, "utf-8")


def resolve(upgrade: bool) -> None:
    """Resolve and write all pins; versions of indirect packages change only if `upgrade` is true."""
    if upgrade:
        (ROOT / "uv.lock").unlink(missing_ok=True)
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))
    direct_names = direct_dependencies(project)
    old_constraints = [] if upgrade else project["tool"]["uv"]["constraint-dependencies"]
    constrain([line for line in old_constraints if package(line) not in direct_names])
    constrain(export("--no-hashes", "--all-groups", "--all-extras").splitlines())
    for name, options in FILES.items():
        (ROOT / "requirements" / name).write_text(export(*options), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Pin every package.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest indirect packages too")
    before = PYPROJECT.read_text("utf-8")
    try:
        resolve(parser.parse_args().upgrade)
    except subprocess.CalledProcessError as error:  # uv has printed the reason
        PYPROJECT.write_text(before, "utf-8")
        raise SystemExit(error.returncode) from None


if __name__ == "__main__":
    main()
