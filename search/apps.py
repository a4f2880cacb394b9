"""Finding: the documents of the index and the vocabulary in them."""

from django.apps import AppConfig


class SearchConfig(AppConfig):
    name = "search"
    verbose_name = "Search"
