"""The roof: what spans the apps."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WebsiteConfig(AppConfig):
    name = "website"
    verbose_name = _("Website")

    def ready(self) -> None:
        from exchange.load import after_import
        from people.duplicates.keeping import look_at_all
        from website.freshness import refresh
        from website.running import reporting, tasks

        # Not left to the next search, which would have to wait for all of a new program.
        after_import.append(refresh)
        # The desk tells of likely duplicates as soon as a program is in.
        after_import.append(look_at_all)
        # In the server, in the worker and in commands alike.
        reporting.start()
        tasks.follow()
