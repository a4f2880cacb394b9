"""Pin every package: the constraints in pyproject.toml and the hashed files in requirements/, as uv resolves.

Run it as `python tools/pin.py` after changing a dependency; `--upgrade` lets the indirect packages move too.
It uses the standard library alone, so that it runs where the old pins no longer resolve.
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
# The development file is what `uv run` installs; production takes the extras along and leaves the tools out.
FILES = {"dev.txt": ["--all-groups"], "production.txt": ["--no-dev", "--all-extras"]}


def export(*options: str) -> str:
    """Resolve the project and return it as requirement lines with their markers; no index is named."""
    command = ["uv", "export", "--quiet", "--no-emit-project", "--no-annotate", "--no-header", *options]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def package(requirement: str) -> str:
    """Return the normalized name that a requirement begins with."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def direct(project: dict[str, Any]) -> set[str]:
    """Name what pyproject.toml itself pins: an old constraint must not contradict a new pin."""
    extras = project["project"].get("optional-dependencies", {})
    groups = [project["project"]["dependencies"], *extras.values(), *project["dependency-groups"].values()]
    return {package(line) for group in groups for line in group}


def constrain(constraints: list[str]) -> None:
    """Write the block of constraints into pyproject.toml, in place of the present one."""
    block = "".join(f'    "{line}",\n' for line in constraints)
    text, found = BLOCK.subn(f"constraint-dependencies = [\n{block}]\n", PYPROJECT.read_text("utf-8"))
    if found != 1:
        raise SystemExit("pyproject.toml: [tool.uv] needs its constraint-dependencies, one package per line")
    PYPROJECT.write_text(text, "utf-8")


def resolve(upgrade: bool) -> None:
    """Resolve and write; the indirect packages stay where they are unless they are upgraded."""
    if upgrade:
        (ROOT / "uv.lock").unlink(missing_ok=True)
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))
    pinned = direct(project)
    old = [] if upgrade else project["tool"]["uv"]["constraint-dependencies"]
    constrain([line for line in old if package(line) not in pinned])
    constrain(export("--no-hashes", "--all-groups", "--all-extras").splitlines())
    for name, options in FILES.items():
        (ROOT / "requirements" / name).write_text(export(*options), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Pin every package.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest indirect packages too")
    before = PYPROJECT.read_text("utf-8")
    try:
        resolve(parser.parse_args().upgrade)
    except subprocess.CalledProcessError as error:  # uv has said why on stderr
        PYPROJECT.write_text(before, "utf-8")
        raise SystemExit(error.returncode) from None


if __name__ == "__main__":
    main()
