"""`manage.py verify`: check all invariants of the data; `--repair` repairs some automatically."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from operations.verify import CHECKS, Check

MAX_SHOWN_ROWS = 10


class Command(BaseCommand):
    help = "Check every invariant of the data and list the rows that break it. Exits with 1 if any does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair what can be repaired automatically")

    def handle(self, *args: object, repair: bool, verbosity: int, **options: object) -> None:
        try:
            left = sum(self.run_check(check, repair, verbosity) for check in CHECKS)
        except DatabaseError as error:
            raise CommandError(f"The database cannot be read: {error}") from error
        if left:
            advice = (
                ""
                if repair
                else " Run “manage.py verify --repair” to repair what can be repaired automatically."
            )
            raise CommandError(f"{left} problems found.{advice}")

    def run_check(self, check: Check, repair: bool, verbosity: int) -> int:
        """Run a check; return the number of remaining problems."""
        found = [*check.find()]
        if found and repair and check.repair:
            self.show("repaired", check.title, found)
            check.repair()
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
