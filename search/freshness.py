"""Update of the index before a search. The app with the indexed rows registers a function in `UPDATES`."""

from collections.abc import Callable

UPDATES: list[Callable[[], object]] = []


def update_index() -> None:
    for update in UPDATES:
        update()
