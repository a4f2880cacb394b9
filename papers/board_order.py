"""In which order one meets what a session holds: by time, then along the poster boards (pure)."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

NO_TIME = datetime.max.replace(tzinfo=UTC)
# The number of cached label keys; halls use the same ones every day.
CACHE_ENTRIES = 4_000
# What a board is sorted by.
type Board = tuple[tuple[int, str], ...]


class OrderedTalk(Protocol):
    """A row of a session: with a time of its own, on a board, or only with a position."""

    @property
    def starts(self) -> datetime | None: ...
    @property
    def board(self) -> str: ...
    @property
    def position(self) -> int: ...


@lru_cache(maxsize=CACHE_ENTRIES)
def natural(label: str) -> Board:
    """Return a key that sorts "Position 9" before "Position 10"."""
    parts = re.split(r"([0-9]+)", label.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part.strip()) for part in parts if part)


def running_order[T: OrderedTalk](talks: Iterable[T]) -> list[T]:
    """Sort talks as one meets them: by time, then along the boards, then as the chairs ordered them.

    A poster without a board comes after the one that it follows in the chairs' order.
    """
    ranked, board = [], ""
    for talk in sorted(talks, key=lambda talk: talk.position):
        board = talk.board or board
        start = talk.starts.astimezone(UTC) if talk.starts else NO_TIME
        ranked.append(((start, natural(board), talk.position), talk))
    return [talk for _, talk in sorted(ranked, key=lambda pair: pair[0])]
