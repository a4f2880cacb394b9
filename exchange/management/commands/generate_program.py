"""`manage.py generate_program --papers N --editions M --seed S`: a program to try and to measure with."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from exchange.files import Context
from exchange.formats import writable
from exchange.inventing.program import invented
from exchange.records import EditionRecord

FORM = "program_json"
LAST_YEAR = 2031
MAX_PAPERS = 100_000


class Command(BaseCommand):
    help = (
        "Make invented editions as files, the same ones for the same numbers, and import them as any other "
        "program. Meant for trials and measurements, in an installation that holds nothing else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--papers", type=int, default=600, help="papers of each edition (default: 600)")
        parser.add_argument("--editions", type=int, default=1, help="how many years (default: 1)")
        parser.add_argument("--seed", type=int, default=1, help="another seed makes another program")
        parser.add_argument(
            "--last-year", type=int, default=LAST_YEAR, help=f"the newest (default: {LAST_YEAR})"
        )
        parser.add_argument(
            "--into", metavar="FOLDER", help="where the files go (default: generated/ in PLENARY_VAR_DIR)"
        )
        parser.add_argument("--no-import", action="store_true", help="only write the files")

    def handle(self, *args: object, **options: Any) -> None:
        papers, editions, last = options["papers"], options["editions"], options["last_year"]
        if not (1 <= papers <= MAX_PAPERS and 1 <= editions <= last - 1900 and last <= 2100):
            raise CommandError(f"Ask for 1 to {MAX_PAPERS:,} papers, and for years from 1900 to 2100.")
        folder = Path(options["into"] or settings.VAR_DIR / "generated")
        folder.mkdir(parents=True, exist_ok=True)
        first = last - editions + 1
        for year in range(first, last + 1):
            start = time.monotonic()
            path = self.write(folder, options["seed"], papers, year, first)
            self.stdout.write(
                f"{path} ({path.stat().st_size / 1e6:.1f} MB, {time.monotonic() - start:.1f} s)"
            )
            if not options["no_import"]:
                start = time.monotonic()
                call_command(
                    "import_program", FORM, str(path), edition=str(year), verbosity=0, no_progress=True
                )
                self.stdout.write(f"  imported in {time.monotonic() - start:.1f} s")

    def write(self, folder: Path, seed: int, papers: int, year: int, first: int) -> Path:
        """Write the file of one year; return where it is."""
        program = invented(seed, papers, year, first)
        write = writable()[FORM].write
        if write is None or not isinstance(program.edition, EditionRecord):
            raise CommandError("There is nothing that writes this file.")
        (file,) = write(program, Context(str(year), year, str(program.edition.timezone)))
        path = folder / file.name
        with path.open("wb") as target:
            target.writelines(file.chunks)
        return path
