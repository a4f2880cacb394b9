"""A least-recently-used cache that is bounded in bytes or in number of values."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable


class LRUCache[K: Hashable, V]:
    """Values by key, of which the least recently used are evicted first. Thread-safe.

    `size_of` returns the bytes of a value in memory, or 1 if `max_size` is a number of values.
    """

    def __init__(self, max_size: int, size_of: Callable[[V], int]) -> None:
        self.max_size, self.size_of = max_size, size_of
        self._values: OrderedDict[K, V] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value and mark it as used; `None` if there is none."""
        value = self._values.get(key)
        if value is not None:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V, replaces: Callable[[V], bool] | None = None) -> None:
        """Store a value. An existing one is replaced only if `replaces` returns true for it."""
        with self._lock:
            existing = self._values.get(key)
            if existing is not None and replaces is not None and not replaces(existing):
                return
            self._values.pop(key, None)
            self._size += self.size_of(value) - (self.size_of(existing) if existing is not None else 0)
            self._values[key] = value
            while self._size > self.max_size and len(self._values) > 1:
                _, evicted = self._values.popitem(last=False)
                self._size -= self.size_of(evicted)

    def discard(self, key: K) -> None:
        """Delete the value of a key, if there is one."""
        with self._lock:
            value = self._values.pop(key, None)
            self._size -= self.size_of(value) if value is not None else 0

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._size = 0
