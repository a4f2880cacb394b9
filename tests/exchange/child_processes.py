"""Helper that runs each reader in a child process, so that readers share no memory."""

import json
import os
from collections.abc import Callable, Iterable
from typing import Any


def run_in_child_processes(function: Callable[[str], Any], names: Iterable[str]) -> dict[str, Any]:
    """Call a function with each name in a child process; return its JSON-serializable results."""
    results = {}
    for name in names:
        read_end, write_end = os.pipe()
        if not os.fork():
            with os.fdopen(write_end, "w") as file:
                json.dump(function(name), file)
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end) as file:
            results[name] = json.load(file)
        os.wait()
    return results
