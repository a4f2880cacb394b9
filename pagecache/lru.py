"""Things kept in memory by key, the least asked for of which go when there are too many bytes."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Protocol


class Sized(Protocol):
    """What knows how many bytes of memory it holds at most."""

    @property
    def size(self) -> int: ...


class Shelf[K: Hashable, V: Sized]:
    """Kept things by key. For many threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the thing, which counts as asked for."""
        found = self._kept.get(key)
        if found is not None:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
        return found

    def put(self, key: K, thing: V) -> None:
        """Keep a thing in place of the one that was there."""
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._size += thing.size - (replaced.size if replaced else 0)
            self._kept[key] = thing
            while self._size > self.most_bytes and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.size

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._size = 0
