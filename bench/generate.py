"""Create synthetic editions as files, and import them with `import_program`.

`uv run -m bench.generate --papers 600` fills the database in `DATABASE_URL`, which should contain nothing
else. The result is the same for the same numbers.
"""

import argparse
import os
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

FIRST_YEAR, LAST_YEAR = 1901, 2031
MAX_PAPERS = 100_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Make synthetic editions and import them.")
    parser.add_argument("--papers", type=int, default=600, help="papers of each edition (default: 600)")
    parser.add_argument("--editions", type=int, default=1, help="how many years (default: 1)")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "conference.settings")
    django.setup()
    fill(options.papers, options.editions)


def generate(
    papers: int, editions: int = 1, seed: int = 1, last_year: int = LAST_YEAR, into: Path | None = None
) -> list[Path]:
    """Write one `program_json` file for each year, and return their paths, oldest first.

    Raises `ValueError` for numbers out of range.
    """
    # Import formats after the setup of Django, because they translate their labels.
    from bench.synthetic.program import synthetic
    from exchange.files import Context
    from exchange.formats import program_json

    if not (1 <= papers <= MAX_PAPERS and 1 <= editions <= last_year - FIRST_YEAR + 1 and last_year <= 2100):
        raise ValueError(f"Ask for 1 to {MAX_PAPERS:,} papers, and for years from {FIRST_YEAR} to 2100.")
    folder = into or settings.VAR_DIR / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for year in range(last_year - editions + 1, last_year + 1):
        program = synthetic(seed, papers, year, last_year - editions + 1)
        (file,) = program_json.write(program, Context(str(year), year, "UTC"))
        paths.append(folder / file.name)
        paths[-1].write_bytes(b"".join(file.chunks))
    return paths


def load(path: Path) -> None:
    """Import a file that `generate` wrote."""
    call_command(
        "import_program", "program_json", str(path), edition=path.stem, verbosity=0, no_progress=True
    )


def fill(papers: int, editions: int = 1, seed: int = 1) -> None:
    """Generate a program and import it."""
    for path in generate(papers, editions, seed, max(LAST_YEAR, FIRST_YEAR + editions - 1)):
        load(path)


if __name__ == "__main__":
    main()
