"""`manage.py sweep_imports`: remove uploads that were not confirmed within a day."""

from django.core.management.base import BaseCommand

from exchange.jobs.tasks import sweep


class Command(BaseCommand):
    help = (
        "Remove the files of imports that are over or a day old. Each new upload does so too: this is for a "
        "site where none comes."
    )

    def handle(self, *args: object, **options: object) -> None:
        count = sweep()
        if options["verbosity"]:
            self.stdout.write(f"{count} removed.")
