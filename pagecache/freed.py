"""Memory that is free again goes back to the system: the C library keeps what lies between other things."""

import ctypes
import threading
import time
from collections.abc import Callable
from functools import cache

# So long after a large answer (seconds) it has left, with all that it was made of. Giving back takes some
# milliseconds, in which nobody here gets memory: answers that come until then are waited for.
SOON = 2.0


class Freed:
    """Gives back what is free, a while after the last large answer."""

    def __init__(self) -> None:
        self._waiting = threading.Lock()
        self._last = 0.0

    def give_back_soon(self) -> None:
        """Give back what is free a while from now, and from all that comes until then."""
        self._last = time.monotonic()
        if self._waiting.acquire(blocking=False):
            self._wait(SOON)

    def _wait(self, seconds: float) -> None:
        timer = threading.Timer(seconds, self._give_back)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError:
            # No thread is left, or the process ends.
            self._waiting.release()

    def _give_back(self) -> None:
        left = self._last + SOON - time.monotonic()
        if left > 0:
            self._wait(left)
            return
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
