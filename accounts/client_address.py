"""The client address of a request.

It is the address that the outermost trusted proxy received. A client can therefore neither evade a limit nor
cause that of another address, by sending its own X-Forwarded-For.
"""

from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

# The prefix length of an IPv6 customer network: clients could evade limits per single address.
CUSTOMER_BITS = 64


def client_address(request: "HttpRequest") -> str:
    """Return the client address; for IPv6 its /64 network."""
    proxies: int = settings.TRUSTED_PROXIES
    forwarded: list[str] = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    address: str = request.META.get("REMOTE_ADDR", "")
    if proxies and forwarded != [""]:
        address = forwarded[-min(proxies, len(forwarded))]
    try:
        ip = ip_address(address)
    except ValueError:
        return address[:45]
    if isinstance(ip, IPv6Address):
        return str(ip.ipv4_mapped or ip.exploded[: CUSTOMER_BITS // 4 + 3])
    return str(ip)
