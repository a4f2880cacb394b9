"""`manage.py release_planned`: carry out the planned releases whose moment has passed."""

from django.core.management.base import BaseCommand
from django.utils import timezone

from content.unreleased.worker_report import report
from schedule.unreleased.releasing import release_due


class Command(BaseCommand):
    help = (
        "Carry out the planned releases whose time has come. The worker (manage.py worker) does so too: run "
        "this each minute on a site without a worker."
    )

    def handle(self, *args: object, **options: object) -> None:
        at = timezone.now()
        report(at)
        for plan in release_due(at):
            self.stdout.write(f"Released: {plan.edition}.")
