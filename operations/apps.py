"""Operation of the site: backup and restore, verification, privacy, monitoring, search index, and demo."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationsConfig(AppConfig):
    name = "operations"
    verbose_name = _("Operations")

    def ready(self) -> None:
        from exchange.imports.load import after_import
        from operations.indexing.update import refresh
        from operations.monitoring import notes
        from operations.table_statistics import analyze
        from people.duplicates.storage import search_all
        from search.freshness import UPDATES

        # Run this first, because the next ones query the imported rows.
        after_import.append(analyze)
        # Update the index now, so that the first search after an import does not have to.
        after_import.append(refresh)
        after_import.append(search_all)
        UPDATES.append(refresh)
        notes.start_reporting()
