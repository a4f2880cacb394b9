"""The check before a search whether the index is current. The app with the indexed rows registers it."""

from collections.abc import Callable

CHECKS: list[Callable[[], bool]] = []


def check_index() -> bool:
    """Return whether the index is current; if not, see to its update, without waiting for it."""
    return all(check() for check in CHECKS)
