"""Operation of the site: backup and restore, verification, privacy, monitoring, search index, and demo."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationsConfig(AppConfig):
    name = "operations"
    verbose_name = _("Operations")

    def ready(self) -> None:
        from django.core.checks import Tags, register
        from django.db.models.signals import post_migrate
        from django.tasks.signals import task_finished

        from content.history.changed_rows import FOLLOWERS
        from exchange.imports.load import after_import
        from operations.background_tasks import return_failed_task
        from operations.database_history import check_database_history
        from operations.derived_text import derive_after_upgrade
        from operations.indexing.update import follow, is_current, refresh
        from operations.monitoring import notes
        from operations.table_statistics import analyze
        from people.duplicates.storage import search_all
        from search.freshness import CHECKS

        register(check_database_history, Tags.database)
        post_migrate.connect(derive_after_upgrade, sender=self)
        task_finished.connect(return_failed_task)
        # Run this first, because the next ones query the imported rows.
        after_import.append(analyze)
        # An import is too much to be followed in its transaction where a worker runs.
        after_import.append(refresh)
        after_import.append(search_all)
        FOLLOWERS.append(follow)
        CHECKS.append(is_current)
        notes.start_reporting()
