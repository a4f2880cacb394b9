"""Compare the pinned packages with a saved vulnerability database, for use without a network.

`python tools/audit.py DATABASE requirements/production.txt`. The database is the archive of the ecosystem
PyPI from osv.dev, a zip with a JSON file for each vulnerability. Exits with 1 if one applies.
"""

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def entries(database: Path) -> Iterator[dict[str, Any]]:
    """Yield the vulnerabilities that were not withdrawn."""
    with zipfile.ZipFile(database) as archive:
        for name in archive.namelist():
            entry = json.loads(archive.read(name)) if name.endswith(".json") else {"withdrawn": True}
            if not entry.get("withdrawn"):
                yield entry


def is_within(version: Version, events: list[dict[str, str]]) -> bool:
    """Return whether a version is affected, according to the events of a range in order of versions."""
    is_affected = False
    for event in events:
        (kind, value), *_ = event.items()
        try:
            bound = Version(value)
        except InvalidVersion:
            continue
        if kind == "last_affected":
            is_affected = is_affected and version <= bound
        elif version >= bound:
            is_affected = kind == "introduced"
    return is_affected


def affects(affected: dict[str, Any], version: str) -> bool:
    ranges = [item["events"] for item in affected.get("ranges", ()) if item["type"] == "ECOSYSTEM"]
    versions = affected.get("versions", ())
    return version in versions or any(is_within(Version(version), events) for events in ranges)


def vulnerabilities(pins: dict[str, str], database: Path) -> Iterator[str]:
    """Yield a line for each vulnerability of a pinned version."""
    for entry in entries(database):
        for affected in entry.get("affected", ()):
            package = affected.get("package", {})
            name = canonicalize_name(package.get("name", ""))
            if package.get("ecosystem") == "PyPI" and name in pins and affects(affected, pins[name]):
                yield f"{name} {pins[name]}: {entry['id']} {entry.get('summary', '')}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database", type=Path)
    parser.add_argument("requirements", type=Path)
    options = parser.parse_args()
    pin_lines = PIN.findall(options.requirements.read_text("utf-8"))
    pins: dict[str, str] = {canonicalize_name(name): version for name, version in pin_lines}
    lines = sorted(set(vulnerabilities(pins, options.database)))
    print(*lines, f"{len(pins)} packages compared, {len(lines)} holes known.", sep="\n")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
