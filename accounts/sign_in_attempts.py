"""Limits failed sign-ins per account and per address, counted in Django's cache.

Unknown accounts are counted like existing ones, so that responses reveal nothing. An address from which
an account signed in before has its own counter, so that others cannot lock the account out there.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.core.cache import cache
from django.dispatch import receiver

from accounts.client_address import client_address

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model
    from django.http import HttpRequest

WINDOW_SECONDS = 15 * 60
KNOWN_BROWSER_SECONDS = 60 * 24 * 3600


def cache_key(*parts: str) -> str:
    """Return a cache key that reveals neither name nor address."""
    text = "\n".join(parts).encode("utf-8", "replace")
    return f"sign-in:{blake2b(text, digest_size=16).hexdigest()}"


def fold_username(name: object) -> str:
    return str(name or "").strip().casefold()[:254]


def counters(request: "HttpRequest", name: object) -> Iterator[tuple[str, int]]:
    """Yield the cache keys that count an attempt, each with the number of allowed failures."""
    address, username = client_address(request), fold_username(name)
    pair = cache_key("pair", username, address)
    yield cache_key("address", address), settings.SIGN_IN_FAILURES_PER_ADDRESS
    yield (
        pair if cache.get(cache_key("known", pair)) else cache_key("account", username),
        settings.SIGN_IN_FAILURES_PER_ACCOUNT,
    )


def is_blocked(request: "HttpRequest", name: str) -> bool:
    """Return whether sign-in to this account from this address is blocked for now."""
    try:
        return any((cache.get(key) or 0) >= maximum for key, maximum in counters(request, name))
    except settings.CACHE_ERRORS:
        # Without the cache sign-in stays possible; `/readyz` reports the failure.
        return False


@receiver(user_login_failed)
def record_failure(
    sender: "type[Model]",
    credentials: "Mapping[str, object]",
    request: "HttpRequest | None" = None,
    **kwargs: object,
) -> None:
    if request is None:
        return
    with suppress(*settings.CACHE_ERRORS):
        for key, _maximum in counters(request, credentials.get("username")):
            if not cache.add(key, 1, WINDOW_SECONDS):
                try:
                    cache.incr(key)
                except ValueError:
                    cache.set(key, 1, WINDOW_SECONDS)


@receiver(user_logged_in)
def record_success(sender: "type[Model]", request: "HttpRequest", user: "User", **kwargs: object) -> None:
    """Remember this address for the account, and reset its counters."""
    account = fold_username(user.get_username())
    pair = cache_key("pair", account, client_address(request))
    with suppress(*settings.CACHE_ERRORS):
        cache.delete_many([pair, cache_key("account", account)])
        cache.set(cache_key("known", pair), 1, KNOWN_BROWSER_SECONDS)
