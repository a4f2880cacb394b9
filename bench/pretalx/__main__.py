"""Benchmark beside pretalx: the same program in both, and what a page of each takes without the page cache.

`uv run -m bench.pretalx [--papers 600] [--environment var/pretalx]`. README.md says how to install pretalx
into an environment of its own; without it nothing is measured. pretalx uses SQLite; both use a test client.
"""

import json
import os
import subprocess
from pathlib import Path
from statistics import median

from bench.harness import HOST, ROOT, client, measure, parser, program, report, sample

TIMES, WARM_UPS = 5, 2
API_RATIO = 4


def main() -> None:
    options = parser(__doc__, papers=600)
    options.add_argument("--environment", type=Path, default=ROOT / "var" / "pretalx")
    arguments = options.parse_args()
    python = arguments.environment.resolve() / "bin" / "python"
    if not python.exists():
        print(f"pretalx isn't installed in {arguments.environment}: bench/README.md says how. Skipped.")
        return
    with program("pretalx", arguments) as folder:
        rows = sample()
        slug, paper = rows.edition.slug, rows.paper
        theirs = measure_pretalx(python, folder, slug, paper.uid, rows.person.uid)
        root, browser = rows.edition.get_absolute_url(), client()
        pages = {
            "paper": paper.get_absolute_url(),
            "person": rows.person.get_absolute_url(),
            "calendar of a paper": f"{root}papers/{paper.uid}.ics",
            "calendar of all papers": f"{root}papers.ics",
            "API, 50 papers": f"/api/v1/papers/?edition={slug}&page_size=50&expand=authors,presentations",
        }
        for name, address in pages.items():
            their_milliseconds, their_size = theirs[name]
            milliseconds = median([measure(browser.get, address) for _ in range(WARM_UPS + TIMES)][WARM_UPS:])
            size = len(browser.get(address).getvalue())
            report(f"{name}: pretalx, {their_size / 1000:,.0f} KB", their_milliseconds, "ms")
            report(f"{name}: Plenary, {size / 1000:,.0f} KB", milliseconds, "ms")
            least = API_RATIO if name.startswith("API") else None
            report(f"{name}: times as fast", their_milliseconds / milliseconds, "", at_least=least)


def measure_pretalx(
    python: Path, folder: Path, slug: str, paper: str, person: str
) -> dict[str, tuple[float, int]]:
    """Return pretalx's milliseconds and bytes by page. Raises `SystemExit` if it fails."""
    from django.core.management import call_command

    file, home = folder / "program.json", folder / "pretalx"
    home.mkdir()
    call_command("export_program", "program_json", edition=slug, output=str(file))
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "pretalx.settings",
        "PRETALX_DATA_DIR": str(home),
        "PRETALX_SITE_URL": f"http://{HOST}",
    }
    script = str(Path(__file__).with_name("measure.py"))
    command = [str(python), "-P", script, str(file), paper, person]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"pretalx cannot be measured:\n{done.stderr[-2000:]}")
    pages: dict[str, tuple[float, int]] = json.loads(done.stdout.splitlines()[-1])
    return pages


if __name__ == "__main__":
    main()
