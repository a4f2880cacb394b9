"""Guids, numbers and slugs of events, rooms and people: made of lasting uids, so they last as long."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, UUID, uuid5

from exchange.files import Context

GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
NOT_IN_ACRONYMS = re.compile(r"[^a-z0-9_]+")
# Apps keep numbers in 32 bits with a sign; small ones are left out, so that slugs are long enough.
FIRST_NUMBER, LAST_NUMBER = 100_000, 2**31 - 1
NOWHERE = "https://plenary.invalid"


def site_of(context: Context) -> str:
    """Return the site's address without a slash at its end."""
    return context.site_url.rstrip("/") or NOWHERE


def event_guid(context: Context, kind: str, uid: str) -> str:
    """Return the guid of a session or presentation; a session that came with one keeps it."""
    if kind == "session" and GUID.match(uid):
        return uid.lower()
    return made(f"{site_of(context)}/{context.edition}/{kind}/{uid}")


def made(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, name))


def number_of(guid: str) -> int:
    """Return the number that belongs to a guid."""
    return FIRST_NUMBER + UUID(guid).int % (LAST_NUMBER - FIRST_NUMBER)


def numbered(guids: Iterable[str], *, odd: bool = False) -> dict[str, int]:
    """Number all guids with even or odd numbers, none twice.

    The first has its own; a later one whose number is taken moves on. So what comes later moves nobody.
    """
    taken: set[int] = set()
    found: dict[str, int] = {}
    for guid in dict.fromkeys(guids):
        value = number_of(guid) & ~1 | odd
        while value in taken:
            value = value + 2 if value + 2 <= LAST_NUMBER else FIRST_NUMBER + odd
        taken.add(value)
        found[guid] = value
    return found


def acronym_of(conference: str, context: Context) -> str:
    """Return a short name such as "mlsys2021": small letters, digits and underscores, at least four."""
    words = f"{conference}{context.edition}" if conference else f"program_{context.edition}"
    name = NOT_IN_ACRONYMS.sub("_", words.lower())
    return name if len(name) >= 4 else f"{name}_{context.year or 'program'}"


def host_of(address: str) -> str:
    """Return the host of an address, under which the numbers of its people are kept."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def is_web(address: str) -> bool:
    """Whether an app can open the address."""
    return address.startswith(("https://", "http://"))
