"""Pages that one process wrote and all others take: the second tier of the page cache, in Redis or Valkey.

An entry tells the stamp that it hangs on: who takes it sees whether it still stands, and else writes another
in its place. Without a shared cache, and while it is away, each process writes its own pages.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache

from pagecache.entries import PACKED, Headers, KeptPage, Key
from pagecache.revisions import Stamp, State

# How long a process waits for a page that another is writing, how often it looks, and after how long it
# takes the other for dead (seconds).
WAIT, LOOK_EVERY, DEAD = 1.0, 0.01, 5
# A shared cache that takes so long to answer is left alone for a while (seconds).
SLOW, PAUSE = 0.4, 10
# What pages are made by.
CODE = ("*.py", "*.html", "*.css", "*.js", "*.mo", "*.json")

# Its stamp, when it ends (seconds since 1970), when its content changed, its headers, its ETag, its body as
# it is held, and whether that is packed.
type Entry = tuple[Stamp, float, datetime, Headers, str, bytes, bool]


def folders() -> list[Path]:
    """Return where the code is, in order: the apps of the project, templates, styles, translations."""
    base = Path(settings.BASE_DIR)
    own = {Path(config.path) for config in apps.get_app_configs() if Path(config.path).parent == base}
    return sorted(own | {base / "templates", base / "static", base / "locale"})


@cache
def code() -> str:
    """Return what stands for the code: after an upgrade no process takes pages of one before it."""
    digest = hashlib.blake2b(f"{settings.SITE_URL} {settings.LANGUAGE_CODE}".encode(), digest_size=9)
    files = (path for folder in folders() for pattern in CODE for path in folder.rglob(pattern))
    for path in sorted(files):
        digest.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()


class SharedPages:
    """Kept pages by key, for all processes."""

    def __init__(self, shared: BaseCache | None) -> None:
        self.shared = shared
        self._paused_until = float("-inf")

    def _answering(self) -> BaseCache | None:
        """The cache, unless there is none or it is left alone for a while."""
        return None if time.monotonic() < self._paused_until else self.shared

    @classmethod
    def configured(cls) -> "SharedPages":
        """Return those of the site's cache, if processes share one."""
        return cls(caches["default"] if settings.CACHE_URL else None)

    @contextmanager
    def turn(self, key: Key, state: State) -> Iterator[KeptPage | None]:
        """Give the page, where another process has written it or is about to; else the turn to write it."""
        shared = self._answering()
        if shared is None:
            yield None
            return
        turn = f"{named(*key, repr(state.stamp))}:turn"
        found = self._awaited(shared, key, state, turn)
        try:
            yield found if isinstance(found, KeptPage) else None
        finally:
            if found is True:
                shared.delete(turn)

    def keep(self, key: Key, page: KeptPage, most: float) -> None:
        """Let the others have a page, for so many seconds at most."""
        shared = self._answering()
        if shared is None:
            return
        left = min(page.expires - time.monotonic(), most)
        is_packed = PACKED in page.compressed
        entry: Entry = (
            *(page.stamp, time.time() + left, page.changed_at, page.headers, page.etag),
            *(page.packed, is_packed),
        )
        shared.set(named(*key), entry, timeout=max(1, int(left)))

    def _awaited(self, shared: BaseCache, key: Key, state: State, turn: str) -> KeptPage | bool:
        """Return the page; without it whether the turn was taken."""
        name, until, refused = named(*key), time.monotonic() + WAIT, None
        while (asked_at := time.monotonic()) < until:
            entry: Entry | None = shared.get(name)
            # What took long and came tells of a busy machine, not of a cache that hangs.
            is_hanging = entry is None and time.monotonic() - asked_at > SLOW
            if entry is not None and entry[0] != refused:
                page, refused = _page(entry), entry[0]
                if page.stands(key, state):
                    return page
            if is_hanging:
                self._paused_until = time.monotonic() + PAUSE
                return False
            if shared.add(turn, True, timeout=DEAD):
                return True
            time.sleep(LOOK_EVERY)
        return False


def named(*parts: str) -> str:
    """Return a name for what tells pages, or turns, apart: of any length and letters, so a digest."""
    whole = "\n".join((code(), *parts))
    return f"page:{hashlib.blake2b(whole.encode(), digest_size=18).hexdigest()}"


def _page(entry: Entry) -> KeptPage:
    stamp, ends, changed_at, headers, etag, body, is_packed = entry
    expires = time.monotonic() + ends - time.time()
    if is_packed:
        return KeptPage(stamp, expires, changed_at, headers, etag=etag, compressed={PACKED: body})
    return KeptPage(stamp, expires, changed_at, headers, body, etag)
