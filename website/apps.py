"""The roof: what spans the apps."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebsiteConfig(AppConfig):
    name = "website"
    verbose_name = _("Website")

    def ready(self) -> None:
        from exchange.load import after_import
        from website.freshness import refresh

        # Not left to the next search, which would have to wait for all of a new program.
        after_import.append(refresh)
