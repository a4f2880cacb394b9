"""Purging of a shared cache in front of the site: after a commit, it receives the invalidated tags.

With the `PURGE_METHOD` POST, a request contains up to 30 tags, for Fastly and Cloudflare. With PURGE, it
contains one, for Varnish and Souin. A failed purge is repeated a few times. Then it is an error in the log,
and the entries expire after `s-maxage`.
"""

import json
import logging
import threading
import time
import urllib.request
from collections.abc import Iterable
from itertools import batched
from typing import TYPE_CHECKING

from django.conf import settings
from django.dispatch import receiver

from content.invalidation import EDITIONS_TAG, SITE_TAG
from content.revision import invalidated
from pagecache.revisions import CURRENT_SECONDS

if TYPE_CHECKING:
    from django.db.models import Model

log = logging.getLogger(__name__)
# Seconds after which all web processes have noticed a change, so that responses after the purge are new.
DELAY_SECONDS = CURRENT_SECONDS
# Seconds before each repetition of a failed purge.
RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0)
TIMEOUT_SECONDS = 5
# More tags than this are purged as the site's, which every response has.
MAX_PENDING_TAGS = 1_000
TAGS_PER_REQUEST = 30


class Purger:
    """Collects tags and sends them from a thread that ends when none is left."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, tags: Iterable[str]) -> None:
        """Purge these tags soon."""
        with self._lock:
            self._pending.update(tags)
            if len(self._pending) > MAX_PENDING_TAGS:
                self._pending = {SITE_TAG, EDITIONS_TAG}
            if self._thread is not None:
                return
            # Not a daemon: a command that ends sends what is left.
            self._thread = threading.Thread(target=self._send_all, name="purge")
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None
                log.exception("No thread could be started to purge %s", self._pending)
                self._pending.clear()

    def wait(self) -> None:
        """Wait until everything is sent."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _send_all(self) -> None:
        failures, delays = 0, (DELAY_SECONDS, *RETRY_SECONDS)
        while True:
            time.sleep(delays[failures])
            with self._lock:
                tags, self._pending = sorted(self._pending), set()
                if not tags:
                    self._thread = None
                    return
            batch_size = TAGS_PER_REQUEST if settings.PURGE_METHOD == "POST" else 1
            failed = [
                tag for batch in batched(tags, batch_size, strict=False) if not send(batch) for tag in batch
            ]
            failures = failures + 1 if failed else 0
            if failures == len(delays):
                log.error("The shared cache may serve outdated pages until they expire: %s", " ".join(failed))
                failures = 0
            elif failed:
                with self._lock:
                    self._pending.update(failed)


def send(tags: Iterable[str]) -> bool:
    """Send these tags to the shared cache; return whether it took them. A failure is logged."""
    tag_list = [*tags]
    request = urllib.request.Request(  # noqa: S310  the operator names the address
        settings.PURGE_URL,
        data=json.dumps({"tags": tag_list}).encode(),
        headers={
            "Content-Type": "application/json",
            "Surrogate-Key": " ".join(tag_list),
            "Cache-Tag": ",".join(tag_list),
            **dict([settings.PURGE_HEADER.split(": ", 1)] if settings.PURGE_HEADER else []),
        },
        method=settings.PURGE_METHOD,
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310
            return True
    except (OSError, ValueError) as error:
        log.warning("Purging %s failed: %s", " ".join(tag_list), error)
        return False


purger = Purger()


@receiver(invalidated)
def purge_after(sender: "type[Model]", tags: Iterable[str], **kwargs: object) -> None:
    """Purge the tags that a committed change invalidated, if there is a shared cache."""
    if settings.PURGE_URL:
        purger.add([*tags, EDITIONS_TAG])
