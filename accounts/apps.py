"""The app for sign-in, and for the roles of accounts in editions."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("Accounts")

    def ready(self) -> None:
        # Connects the signals by which failed sign-ins are counted.
        import_module("accounts.sign_in_attempts")
