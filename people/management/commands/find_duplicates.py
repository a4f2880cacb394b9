"""Command that searches for likely duplicates, which the admin lists."""

from django.core.management.base import BaseCommand

from people.duplicates.storage import PAIR_MODELS, search


class Command(BaseCommand):
    help = "Looks for likely duplicates among people and institutions; chairs find them in the admin."

    def handle(self, *args: object, **options: object) -> None:
        for model in PAIR_MODELS:
            count = search(model)
            self.stdout.write(f"{model._meta.verbose_name_plural}: {count} likely duplicates")
