"""The ground: editions and their free content."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ConferenceConfig(AppConfig):
    name = "conference"
    verbose_name = _("Conference")

    def ready(self) -> None:
        # The history listens to relations to many.
        import_module("conference.linking")
