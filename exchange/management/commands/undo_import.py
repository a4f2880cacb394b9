"""`manage.py undo_import RUN`: revert an import, preserving later edits."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from content.history.revert import CannotRevertError
from content.unreleased.plan import planned
from exchange.jobs.undo import plan_undo, summarize_undo, undo
from exchange.models import ImportRun


class Command(BaseCommand):
    help = (
        "Revert an import: the rows that it made are deleted, its changes undone. What was edited "
        "by hand since then stays, and is listed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, help="the number of the import, as its page in the admin has it")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen; change nothing")

    def handle(self, *args: object, **options: Any) -> None:
        run = ImportRun.objects.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"There is no import {options['run']}.")
        try:
            if options["dry_run"]:
                with planned(run.edition):
                    plan = plan_undo(run)
            else:
                plan = undo(run)
        except CannotRevertError as error:
            raise CommandError("Nothing was reverted. " + " ".join(error.reasons)) from None
        for line in summarize_undo(plan) or ["Nothing to revert."]:
            self.stdout.write(line)
        for label in plan.kept:
            self.stdout.write(f"kept, as it was edited or is needed: {label}")
        if options["dry_run"]:
            self.stdout.write("This was a preview: nothing was changed.")
