"""Addresses of pages, composed once: lists ask for those of the same people and papers over and over."""

from functools import lru_cache

from django.urls import get_script_prefix, reverse

CACHE_ENTRIES = 20_000


def path_of(view: str, *parts: str) -> str:
    """Return the path of the page that this view shows, as `reverse` does."""
    return _composed(get_script_prefix(), view, *parts)


@lru_cache(maxsize=CACHE_ENTRIES)
def _composed(prefix: str, view: str, *parts: str) -> str:
    """`prefix` is what the addresses of the site begin with at this time."""
    return reverse(view, args=parts)
