"""The client address of a request.

It is the address that the outermost trusted proxy received. A client can therefore neither evade a limit nor
cause that of another address, by sending its own X-Forwarded-For.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from django.http import HttpRequest

# The prefix length of an IPv6 customer network: clients could evade limits per single address.
CUSTOMER_BITS = 64
# That of the smallest IPv4 networks that are routed apart.
NETWORK_BITS = 24


def client_address(request: "HttpRequest") -> str:
    """Return the client address; for IPv6 its /64 network."""
    ip = single_address(request)
    if isinstance(ip, IPv6Address):
        return ip.exploded[: CUSTOMER_BITS // 4 + 3]
    return str(ip)


def client_network(request: "HttpRequest") -> str:
    """Return the network of the client: /24 for IPv4, /64 for IPv6."""
    ip = single_address(request)
    if isinstance(ip, str):
        return ip
    bits = NETWORK_BITS if isinstance(ip, IPv4Address) else CUSTOMER_BITS
    return str(ip_network((ip, bits), strict=False))


def single_address(request: "HttpRequest") -> IPv4Address | IPv6Address | str:
    """Return the client's own address; a text if a proxy sent something else."""
    proxies: int = settings.TRUSTED_PROXIES
    forwarded: list[str] = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    address: str = request.META.get("REMOTE_ADDR", "")
    if proxies and forwarded != [""]:
        address = forwarded[-min(proxies, len(forwarded))]
    try:
        ip = ip_address(address)
    except ValueError:
        return address[:45]
    return ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip
