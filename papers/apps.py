"""App of papers, topics and awards."""

from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PapersConfig(AppConfig):
    name = "papers"
    verbose_name = _("Program")

    def ready(self) -> None:
        import_module("papers.registration")
        import_module("papers.thumbnails").connect_signals()
        # Importing it registers the parameters of the list of papers with the page cache.
        import_module("papers.facets")
