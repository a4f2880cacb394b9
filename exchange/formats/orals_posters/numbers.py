"""Whole numbers for things that have lasting uids: what consumers of `orals-posters.json` join by."""

from collections.abc import Iterable
from hashlib import sha256

# Below 2**53, so that every reader of JSON takes the numbers exactly.
DIGITS = 12


def is_number(uid: str) -> bool:
    """Whether a uid is a number already, written as numbers are."""
    return uid.isascii() and uid.isdigit() and len(uid) < 16 and str(int(uid)) == uid and uid != "0"


def number(edition: str, kind: str, uid: str) -> int:
    """Return the number of a uid: itself where it is one, else always the same one of its digest."""
    if is_number(uid):
        return int(uid)
    return int(sha256(f"{edition}/{kind}/{uid}".encode()).hexdigest()[:DIGITS], 16) + 1


def numbered(edition: str, kind: str, uids: Iterable[str]) -> dict[str, int]:
    """Number all uids, no number twice: a taken one moves on by one, in the order of the uids."""
    wanted = sorted(set(uids), key=lambda uid: (not is_number(uid), uid))
    taken: set[int] = set()
    found: dict[str, int] = {}
    for uid in wanted:
        value = number(edition, kind, uid)
        while value in taken:
            value += 1
        taken.add(value)
        found[uid] = value
    return found
