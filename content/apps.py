"""The app with the common base of the program's models: publication, order, history, revision."""

from django.apps import AppConfig
from django.db import connections
from django.utils.translation import gettext_lazy as _


class ContentConfig(AppConfig):
    name = "content"
    verbose_name = _("History")

    def ready(self) -> None:
        # Django probes SQLite's JSON support inside a transaction, which would wait for the write lock.
        for connection in connections.all():
            if connection.vendor == "sqlite":
                connection.features.supports_json_field = True
