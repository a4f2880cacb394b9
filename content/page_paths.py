"""Cached paths of pages: lists request those of the same people and papers many times."""

from functools import lru_cache

from django.urls import get_script_prefix, reverse
from django.utils.translation import get_language

from content.languages import path_prefix

CACHE_ENTRIES = 20_000


def with_edition(path: str, slug: str) -> str:
    """Add the edition from which the reader comes to the path of a page that covers all years."""
    return f"{path}?edition={slug}" if slug else path


def page_path(view: str, *parts: str) -> str:
    """Return the path of the page that this view shows, in the current language, as `reverse` does."""
    return _reverse(get_script_prefix(), path_prefix(get_language()), view, *parts)


@lru_cache(maxsize=CACHE_ENTRIES)
def _reverse(_script_prefix: str, _language_prefix: str, view: str, *parts: str) -> str:
    """Cache by both prefixes too, which `reverse` adds."""
    return reverse(view, args=parts)
