"""The clock of the page cache, which also runs while the machine sleeps, unlike `time.monotonic()`."""

import time

# Linux alone has it.
_BOOT_TIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def now() -> float:
    """Return seconds that never run backwards and are unaffected by changes of the wall clock."""
    return time.monotonic() if _BOOT_TIME is None else time.clock_gettime(_BOOT_TIME)
