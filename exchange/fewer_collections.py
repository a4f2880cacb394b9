"""Fewer garbage collections while an import creates many objects, nearly all of which it keeps."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

USUAL_THRESHOLDS = gc.get_threshold()
# Python collects after 2,000 new objects, which takes a quarter of the time of an import.
NEW_OBJECTS = 20_000


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect less often in this process during the block."""
    gc.set_threshold(NEW_OBJECTS, *USUAL_THRESHOLDS[1:])
    try:
        yield
    finally:
        gc.set_threshold(*USUAL_THRESHOLDS)
