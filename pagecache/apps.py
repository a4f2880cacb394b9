"""The app that purges shared caches after a change."""

from importlib import import_module

from django.apps import AppConfig


class PageCacheConfig(AppConfig):
    name = "pagecache"

    def ready(self) -> None:
        # Connects its signal handlers.
        import_module("pagecache.purge")
