"""The ground: editions and their free content; and the admin as the desk of their chairs."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin import apps as admin
from django.db import connections
from django.utils.translation import gettext_lazy as _


class ConferenceConfig(AppConfig):
    default = True
    name = "conference"
    verbose_name = _("Conference")

    def ready(self) -> None:
        # The history listens to relations to many.
        import_module("conference.linking")
        # And sign-ins are counted.
        import_module("conference.attempts")
        # Django asks SQLite in a transaction, which here waits for a turn to write, and takes busy for no.
        for connection in connections.all():
            if connection.vendor == "sqlite":
                connection.features.supports_json_field = True


class DeskConfig(admin.AdminConfig):
    """The admin application, with our site as its default."""

    default = False
    default_site = "conference.adminsite.DeskSite"
