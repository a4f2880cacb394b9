"""`manage.py rebuild_search`: rebuild the search index from the public rows."""

import sys
import time

from django.core.management.base import BaseCommand
from django.db import transaction

from exchange.terminal_progress import TerminalProgress
from operations.indexing.states import is_site, read_states
from operations.indexing.update import update_edition
from search.index import clear_index
from search.models import Document


class Command(BaseCommand):
    help = (
        "Rebuild the search index. It keeps itself up to date; this is for a database that was changed "
        "by other hands, such as one brought back from a copy."
    )

    def handle(self, *args: object, verbosity: int, **options: object) -> None:
        start = time.monotonic()
        with transaction.atomic():
            clear_index()
            keys = sorted(read_states().current, key=is_site)
            with TerminalProgress(sys.stderr, is_shown=bool(verbosity)) as progress:
                for number, key in enumerate(keys, 1):
                    update_edition(key)
                    progress("Editions", number, len(keys))
        if verbosity:
            number, seconds = Document.objects.count(), time.monotonic() - start
            self.stdout.write(f"{number:,} documents in {seconds:.1f} seconds.")
