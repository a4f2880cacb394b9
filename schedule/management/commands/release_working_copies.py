"""`manage.py release_working_copies`: release the working copies whose planned moment has passed."""

from django.core.management.base import BaseCommand
from django.utils import timezone

from schedule.working_copy.release import release_due


class Command(BaseCommand):
    help = (
        "Release the working copies whose time has come. The worker (TASKS=database) and the desk do so too: "
        "run this each minute on a site without a worker."
    )

    def handle(self, *args: object, **options: object) -> None:
        for copy in release_due(timezone.now()):
            self.stdout.write(f"Released: {copy.edition}.")
