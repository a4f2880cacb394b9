"""The REST API as an app of Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApiConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = _("API")
