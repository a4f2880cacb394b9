"""Limits on new agendas, and the removal of unused agendas."""

import time
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest

from accounts.client_address import client_network, single_address
from accounts.rate_limits import count_in_minute
from schedule.following import Agenda, AgendaStar

# New agendas in a minute. A venue may share one address, a provider a network.
MAX_PER_ADDRESS = 60
MAX_PER_NETWORK = 600
MAX_ON_SITE = 20_000
# How long after its last use an agenda without stars, and one with stars, is removed.
EMPTY_AGE = timedelta(days=1)
UNUSED_AGE = timedelta(days=365)
# A use is recorded if the last one is older, so that reading seldom writes.
USE_INTERVAL = timedelta(hours=12)
# How often a new agenda looks for agendas to remove, and how many it removes then.
REMOVAL_SECONDS = 3600
BATCH_SIZE = 5000


def may_create(request: HttpRequest, now: float | None = None) -> bool:
    """Count a new agenda of this client; return whether the limits of this minute allow it.

    What the limit of an address refuses is not counted for its network, nor that of a network for the site.
    """
    now = time.time() if now is None else now
    counters = (
        (f"agenda address {single_address(request)}", MAX_PER_ADDRESS),
        (f"agenda network {client_network(request)}", MAX_PER_NETWORK),
        ("agenda site", MAX_ON_SITE),
    )
    return all(count_in_minute(name, limit, now) for name, limit in counters)


def record_use(agenda: Agenda, at: datetime) -> None:
    """Store that an agenda was opened, at most twice a day. A full disk does not prevent that it is shown."""
    if at - agenda.used_at < USE_INTERVAL:
        return
    agenda.used_at = at
    with suppress(OperationalError):
        Agenda.objects.filter(pk=agenda.pk).update(used_at=at)


def remove_if_due(at: datetime) -> None:
    """Remove some unused agendas, unless a process of this site did in the last hour."""
    with suppress(*settings.CACHE_ERRORS):
        if cache.add("agendas-removed", 1, timeout=REMOVAL_SECONDS):
            remove_batch(at)


def remove_unused(at: datetime) -> int:
    """Remove agendas without a star and those unused for a year; return their number."""
    total = 0
    while count := remove_batch(at):
        total += count
    return total


def remove_batch(at: datetime) -> int:
    has_star = Exists(AgendaStar.objects.filter(agenda=OuterRef("pk"), removed_at__isnull=True))
    is_empty = Q(~has_star, used_at__lt=at - EMPTY_AGE)
    unused = Agenda.objects.filter(Q(used_at__lt=at - UNUSED_AGE) | is_empty)
    keys = list(unused.order_by("used_at").values_list("pk", flat=True)[:BATCH_SIZE])
    Agenda.objects.filter(pk__in=keys).delete()
    return len(keys)
