"""Helper that runs each reader in a child process, so that readers share no memory."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any


def forked(work: Callable[[str], Any], names: Iterable[str]) -> dict[str, Any]:
    """Call a function with each name in a child process; return its JSON-serializable results."""
    found = {}
    for name in names:
        receiving, sending = os.pipe()
        if not os.fork():
            with os.fdopen(sending, "w") as file:
                json.dump(work(name), file)
            os._exit(0)
        os.close(sending)
        with os.fdopen(receiving) as file:
            found[name] = json.load(file)
        os.wait()
    return found
