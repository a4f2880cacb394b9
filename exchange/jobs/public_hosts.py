"""Tell the addresses of public hosts from all others, such as those of the own network."""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

# Public addresses of IPv6 are in this range only. Others embed those of IPv4, which gateways translate back.
UNICAST = IPv6Network("2000::/3")
EMBEDDED = (IPv6Network("2001::/32"), IPv6Network("2002::/16"))
# Reserved for documentation after this version of Python was made.
DOCUMENTATION = IPv6Network("3fff::/20")
# Relays that translated between IPv4 and IPv6, now unused.
RELAYS = IPv4Network("192.88.99.0/24")


def is_public(text: str) -> bool:
    """Return whether an IP address is that of one public host."""
    address = ip_address(text)
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and address not in RELAYS
    is_other = any(address in network for network in (*EMBEDDED, DOCUMENTATION))
    return address.is_global and address in UNICAST and not is_other
