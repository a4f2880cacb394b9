"""Memory that is free again goes back to the system: the C library keeps what lies between other things."""

import ctypes
import time
from collections.abc import Callable
from functools import cache

# At most so often (seconds): it takes some milliseconds, in which nobody here gets memory.
EVERY = 10.0


class Freed:
    """Gives back what is free, now and then."""

    def __init__(self) -> None:
        self._next = float("-inf")

    def give_back(self) -> None:
        """Give back what is free, unless that was done just now."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY
            trim()(0)


@cache
def trim() -> Callable[[int], object]:
    """Return the function of the GNU C library that does it; elsewhere one that does nothing."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return lambda _left: None
    return found
