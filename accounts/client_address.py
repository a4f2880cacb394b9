"""From which address somebody asks, as far as it can be trusted.

It is that which the last of our own proxies saw: what a client writes into X-Forwarded-For itself neither
dodges a limit nor puts it on somebody else.
"""

from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

# The network of one customer of a provider: counting its addresses one by one would limit nothing.
CUSTOMER_BITS = 64


def client_address(request: "HttpRequest") -> str:
    """Return the address that asks, as far as it can be trusted; IPv6 by the network of the customer."""
    proxies: int = settings.TRUSTED_PROXIES
    forwarded: list[str] = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    address: str = request.META.get("REMOTE_ADDR", "")
    if proxies and forwarded != [""]:
        address = forwarded[-min(proxies, len(forwarded))]
    try:
        found = ip_address(address)
    except ValueError:
        return address[:45]
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or found.exploded[: CUSTOMER_BITS // 4 + 3])
    return str(found)
