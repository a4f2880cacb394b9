"""`manage.py restore`: replace all data by a backup, which may be from another database engine."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from exchange.terminal_progress import TerminalProgress
from operations.backup.archive import Archive, BadArchiveError
from operations.backup.restore import is_in_use, restore


class Command(BaseCommand):
    help = (
        "Put a backup in place of what is here: rows, accounts, uploaded files. Everybody signs in again. "
        "What fails leaves everything as it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that “manage.py backup” wrote")
        parser.add_argument("--replace", action="store_true", help="although there is a program here already")
        parser.add_argument("--check", action="store_true", help="only look whether the file is whole")

    def handle(self, *args: object, file: Path, replace: bool, check: bool, **options: object) -> None:
        try:
            with Archive(file) as archive:
                if check:
                    archive.check()
                elif is_in_use() and not replace:
                    raise CommandError(
                        "There is a program here already. To replace all of it, say --replace."
                    )
                else:
                    with TerminalProgress(sys.stderr, is_shown=bool(options["verbosity"])) as progress:
                        restore(archive, progress)
                rows = sum(table["rows"] for table in archive.tables.values())
                files, made_at = len(archive.files), archive.manifest["made_at"]
        except (BadArchiveError, DatabaseError) as error:
            raise CommandError(str(error)) from error
        if options["verbosity"]:
            outcome = "are whole" if check else "are here"
            self.stdout.write(f"{rows:,} rows and {files:,} files of {made_at} {outcome}.")
            if not check:
                self.stdout.write("Next: compare the settings in manifest.json, and run “manage.py verify”.")
