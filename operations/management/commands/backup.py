"""`manage.py backup`: write all data into one file, while the site is in use."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from exchange.terminal_progress import TerminalProgress
from operations.backup.archive import BadArchiveError, write

NAME = "plenary-{:%Y%m%dT%H%M%SZ}.zip"
# Matches these names only: an archive that was named by hand is neither counted nor deleted.
NAME_PATTERN = f"plenary-{'[0-9]' * 8}T{'[0-9]' * 6}Z.zip"


class Command(BaseCommand):
    help = (
        "Write all rows, all uploaded files and the list of settings into one file, and read it back. "
        "The site may be in use. Keep the file where only you can read it: it holds personal data."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "target", nargs="?", type=Path, help="a file ending in .zip, or a folder (default: var/backups)"
        )
        parser.add_argument(
            "--keep", type=int, help="of the backups in the folder, keep so many of the newest"
        )

    def handle(
        self, *args: object, target: Path | None, keep: int | None, verbosity: int, **options: object
    ) -> None:
        if keep is not None and keep < 1:
            raise CommandError("--keep needs at least 1.")
        at = timezone.now()
        path: Path = target or settings.VAR_DIR / "backups"
        if path.suffix != ".zip":
            path /= NAME.format(at)
        try:
            with TerminalProgress(sys.stderr, is_shown=bool(verbosity)) as progress:
                summary = write(path, at, progress)
        except (BadArchiveError, DatabaseError, OSError) as error:
            raise CommandError(f"No backup was made: {error}") from error
        if verbosity:
            contents = f"{summary.rows:,} rows and {summary.files:,} files in {summary.size / 1e6:.1f} MB"
            self.stdout.write(f"{summary.path}: {contents}, verified.")
        if keep:
            for old in sorted(path.parent.glob(NAME_PATTERN), reverse=True)[keep:]:
                old.unlink()
