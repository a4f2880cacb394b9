"""`manage.py check`: Django's command, which also checks the database unless `--database` names another."""

from typing import Any

from django.core.management.commands import check
from django.db import DEFAULT_DB_ALIAS


class Command(check.Command):
    def handle(self, *app_labels: Any, **options: Any) -> None:
        super().handle(*app_labels, **{**options, "databases": options["databases"] or [DEFAULT_DB_ALIAS]})
