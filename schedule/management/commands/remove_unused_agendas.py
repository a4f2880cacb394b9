"""`manage.py remove_unused_agendas`: remove agendas without a star, and those unused for a year."""

from django.core.management.base import BaseCommand
from django.utils import timezone

from schedule.agenda.upkeep import remove_unused


class Command(BaseCommand):
    help = (
        "Remove agendas without a star after a day, and those not opened for a year. New agendas do "
        "so too: this is for a site where none comes."
    )

    def handle(self, *args: object, **options: object) -> None:
        count = remove_unused(timezone.now())
        if options["verbosity"]:
            self.stdout.write(f"{count} removed.")
