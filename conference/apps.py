"""Conferences, their editions, and the content of the sites other than the program."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConferenceConfig(AppConfig):
    name = "conference"
    verbose_name = _("Conference")

    def ready(self) -> None:
        import_module("conference.registration")
