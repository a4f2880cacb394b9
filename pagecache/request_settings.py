"""The settings that requests ask for again and again, read once: Django takes a while to look one up."""

from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.core.signals import setting_changed


class Door(NamedTuple):
    """Where it is, who is let in, and what is noted of them."""

    # The address of the site, without a slash at its end.
    site: str
    hosts: tuple[str, ...]
    # The header and its value that tell https, where all else is sent there; `None` where anything goes.
    secure: tuple[str, str] | None
    # Cookies of readers whose answers are their own.
    cookies: frozenset[str]
    is_behind_proxy: bool
    is_counting: bool


@lru_cache(maxsize=1)
def door() -> Door:
    """Return what the settings say."""
    header: tuple[str, str] | None = settings.SECURE_PROXY_SSL_HEADER
    return Door(
        site=settings.SITE_URL,
        hosts=tuple(settings.ALLOWED_HOSTS),
        secure=(header or ("wsgi.url_scheme", "https")) if settings.SECURE_SSL_REDIRECT else None,
        cookies=frozenset((settings.SESSION_COOKIE_NAME, settings.AGENDA_COOKIE_NAME)),
        is_behind_proxy=bool(settings.BEHIND_PROXY),
        is_counting=bool(settings.METRICS_TOKEN),
    )


def _read_again(**changed: Any) -> None:
    door.cache_clear()


setting_changed.connect(_read_again)
