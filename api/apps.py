"""The REST API as an app of Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApiConfig(AppConfig):
    name = "api"
    label = "api"
    verbose_name = _("API")

    def ready(self) -> None:
        from accounts.roles import ALL, grant
        from api.models import Token

        # All roles may manage their own tokens, which never have more permissions than their owner.
        grant([Token], ALL, ALL, ALL, ALL, ALL, track_chair=ALL, awards=ALL, sponsors=ALL, importer=ALL)
