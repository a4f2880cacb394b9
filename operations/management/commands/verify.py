"""`manage.py verify`: check all invariants of the data; `--repair` repairs some automatically."""

import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from exchange.terminal_progress import TerminalProgress
from operations.verify import CHECKS, Check

MAX_SHOWN_ROWS = 10


class Command(BaseCommand):
    help = "Check every invariant of the data and list the rows that break it. Exits with 1 if any does."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair what can be repaired automatically")

    def handle(self, *args: object, repair: bool, verbosity: int, **options: object) -> None:
        try:
            # Elsewhere, the line of each check is the progress.
            is_shown = bool(verbosity) and sys.stderr.isatty()
            with TerminalProgress(sys.stderr, is_shown=is_shown) as progress:
                problem_count = 0
                for number, check in enumerate(CHECKS, 1):
                    problem_count += self.run_check(check, repair, verbosity)
                    progress("Checks", number, len(CHECKS))
        except DatabaseError as error:
            raise CommandError(f"The database cannot be read: {error}") from error
        if problem_count:
            advice = (
                ""
                if repair
                else " Run “manage.py verify --repair” to repair what can be repaired automatically."
            )
            raise CommandError(f"{problem_count} problems found.{advice}")

    def run_check(self, check: Check, repair: bool, verbosity: int) -> int:
        """Run a check; return the number of remaining problems."""
        problems = [*check.find()]
        if problems and repair and check.repair:
            self.show("repaired", check.title, problems)
            check.repair()
            problems = [*check.find()]
        if problems:
            self.show("WRONG", check.title, problems)
        elif verbosity:
            self.stdout.write(f"ok: {check.title}")
        return len(problems)

    def show(self, status: str, title: str, problems: list[str]) -> None:
        self.stdout.write(f"{status}: {title}")
        for line in problems[:MAX_SHOWN_ROWS]:
            self.stdout.write(f"    {line}")
        if len(problems) > MAX_SHOWN_ROWS:
            self.stdout.write(f"    and {len(problems) - MAX_SHOWN_ROWS} more")
