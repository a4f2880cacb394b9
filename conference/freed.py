"""Memory that is free again goes back to the system: the C library keeps what lies between other things."""

import ctypes
import threading
from collections.abc import Callable
from functools import cache

# So long after a large answer (seconds) it has left, with all that it was made of. Giving back takes some
# milliseconds, in which nobody here gets memory: all answers until then are one occasion.
SOON = 2.0


class Freed:
    """Gives back what is free, after what left much."""

    def __init__(self) -> None:
        self._waiting = threading.Lock()

    def give_back_soon(self) -> None:
        """Give back what is free a while from now, unless that is going to happen anyway."""
        if self._waiting.acquire(blocking=False):
            timer = threading.Timer(SOON, self._give_back)
            timer.daemon = True
            try:
                timer.start()
            except RuntimeError:
                # No thread is left, or the process ends.
                self._waiting.release()

    def _give_back(self) -> None:
        self._waiting.release()
        trim()(0)


@cache
def trim() -> Callable[[int], object]:
    """Return the function of the GNU C library that does it; elsewhere one that does nothing."""
    try:
        found: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return lambda _left: None
    return found
