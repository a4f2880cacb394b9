"""Addresses of pages, composed once: lists ask for those of the same people and papers over and over."""

from functools import lru_cache

from django.urls import get_script_prefix, reverse
from django.utils.translation import get_language

CACHE_ENTRIES = 20_000


def with_edition(path: str, slug: str) -> str:
    """Return the address of a page of all years in the frame of an edition, from which the reader comes."""
    return f"{path}?edition={slug}" if slug else path


def page_path(view: str, *parts: str) -> str:
    """Return the path of the page that this view shows, in the current language, as `reverse` does."""
    return _reverse(get_script_prefix(), get_language(), view, *parts)


@lru_cache(maxsize=CACHE_ENTRIES)
def _reverse(prefix: str, _language: str | None, view: str, *parts: str) -> str:
    """Cache by script prefix and language too: `reverse` depends on both."""
    return reverse(view, args=parts)
