"""Bringing the index up to date before a search: the app that knows what is indexed registers how."""

from collections.abc import Callable

UPDATES: list[Callable[[], object]] = []


def update_index() -> None:
    for update in UPDATES:
        update()
