"""App of imports and exports."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExchangeConfig(AppConfig):
    name = "exchange"
    verbose_name = _("Import and export")

    def ready(self) -> None:
        import_module("exchange.registration")
