"""`manage.py verify`: check every invariant of the data; `--repair` mends what can be mended."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from operations.verify.checks import CHECKS, Check

MAX_SHOWN_ROWS = 10


class Command(BaseCommand):
    help = (
        "Check every invariant of the data, and say which row breaks it. Ends with 1 if something is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="mend what can be mended")

    def handle(self, *args: Any, repair: bool, **options: Any) -> None:
        try:
            left = sum(self.ask(check, repair, options["verbosity"]) for check in CHECKS)
        except DatabaseError as error:
            raise CommandError(f"The database cannot be read as it should: {error}") from error
        if left:
            advice = "" if repair else " “manage.py verify --repair” mends what can be mended."
            raise CommandError(f"{left} faults.{advice}")

    def ask(self, check: Check, repair: bool, verbosity: int) -> int:
        """Ask one check; return how many faults are left."""
        found = [*check.find()]
        if found and repair and check.mend:
            self.show("mended", check.title, found)
            check.mend()
            found = [*check.find()]
        if found:
            self.show("WRONG", check.title, found)
        elif verbosity:
            self.stdout.write(f"ok: {check.title}")
        return len(found)

    def show(self, word: str, title: str, found: list[str]) -> None:
        self.stdout.write(f"{word}: {title}")
        for line in found[:MAX_SHOWN_ROWS]:
            self.stdout.write(f"    {line}")
        if len(found) > MAX_SHOWN_ROWS:
            self.stdout.write(f"    and {len(found) - MAX_SHOWN_ROWS} more")
