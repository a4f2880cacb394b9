"""Poster boards: the list of a hall's boards as chairs write it, and the assignment of posters. Pure.

A list has one row of boards in each line, such as "A1-A20"; an empty line is an aisle.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from django.core.exceptions import ValidationError
from django.utils.translation import gettext, ngettext

# The maximum number of boards, so that a typing error such as 1-4000000 is refused.
MAX_BOARDS = 5_000
MAX_BOARD_CHARS = 60
# Two boards and the text between them. A longer text is neither a range nor a valid board.
MAX_RANGE_CHARS = 3 * MAX_BOARD_CHARS
RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\s*[-\u2013\u2026]\s*(?P<again>.*?)(?P<last>[0-9]+)")


def board_key(board: str) -> str:
    """Return the form of a board for comparisons, which ignore case and repeated spaces."""
    return " ".join(board.casefold().split())


@dataclass(frozen=True, slots=True)
class Poster[K: Hashable]:
    """A poster to be assigned, with its fixed board (or empty), presenters and position of its topic."""

    key: K
    board: str = ""
    presenters: frozenset[int] = frozenset()
    topic: int = 0


def board_rows(text: str) -> list[list[str]]:
    """Return the boards of a list, row by row. Raises `ValidationError`."""
    rows: list[list[str]] = []
    count = 0
    for line in text.splitlines():
        row: list[str] = []
        for part in re.split(r"[,;]", line):
            if entry := " ".join(part.split()):
                row += board_range(entry)
        count += len(row)
        if count > MAX_BOARDS:
            raise ValidationError(
                gettext("At most %(maximum)d boards are allowed.") % {"maximum": MAX_BOARDS}
            )
        if row:
            rows.append(row)
    seen: set[str] = set()
    for board in chain.from_iterable(rows):
        if len(board) > MAX_BOARD_CHARS:
            raise ValidationError(
                gettext("“%(board)s” is too long for a board.") % {"board": board[:MAX_BOARD_CHARS]}
            )
        if board_key(board) in seen:
            raise ValidationError(gettext("Board %(board)s is listed twice.") % {"board": board})
        seen.add(board_key(board))
    return rows


def board_range(entry: str) -> list[str]:
    """Return the boards of one entry: "A1-A20" or "A1-20", upwards or downwards; "P-12" is one board."""
    match = RANGE.fullmatch(entry) if len(entry) <= MAX_RANGE_CHARS else None
    if match is None or match["again"].strip() not in ("", match["prefix"].strip()):
        return [entry]
    first, last = int(match["first"]), int(match["last"])
    if abs(last - first) >= MAX_BOARDS:
        raise ValidationError(
            gettext("“%(entry)s” is more than %(maximum)d boards.") % {"entry": entry, "maximum": MAX_BOARDS}
        )
    is_padded = len(match["first"]) > 1 and match["first"].startswith("0")
    width = len(match["first"]) if is_padded else 0
    step = 1 if first <= last else -1
    return [f"{match['prefix']}{number:0{width}d}" for number in range(first, last + step, step)]


def validate_boards(text: str) -> None:
    """Validate the list of a room's poster boards."""
    board_rows(text)


def back_and_forth(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the rows in walking order: every second row from its end."""
    return [row[::-1] if number % 2 else row for number, row in enumerate(rows)]


def assign_boards[K: Hashable](
    rows: Sequence[Sequence[str]], posters: Sequence[Poster[K]], *, new_rows: bool = False
) -> dict[K, str]:
    """Return a board for each poster, in the given order along the rows; fixed boards do not change.

    Posters that share a presenter follow the first of them, or get the boards nearest to a fixed one. With
    `new_rows`, each topic starts in a new row. Raises `ValidationError` if there are too few boards or rows.
    """
    boards = list(chain.from_iterable(rows))
    index_of = {board_key(board): index for index, board in enumerate(boards)}
    used_boards = {board_key(poster.board) for poster in posters if poster.board}
    free = [index for index, board in enumerate(boards) if board_key(board) not in used_boards]
    board_by_poster = {poster.key: poster.board for poster in posters if poster.board}
    unassigned = [poster for poster in posters if not poster.board]
    if len(unassigned) > len(free):
        raise ValidationError(too_few_boards(len(free), len(unassigned)))
    groups = presenter_groups(posters)
    for group in groups:
        fixed_indexes = [
            index_of[key] for poster in group if poster.board and (key := board_key(poster.board)) in index_of
        ]
        for poster in group if fixed_indexes else ():
            if not poster.board:
                nearest = min(
                    free, key=lambda index: (min(abs(index - fixed) for fixed in fixed_indexes), index)
                )
                free.remove(nearest)
                fixed_indexes.append(nearest)
                board_by_poster[poster.key] = boards[nearest]
    remaining = [[poster for poster in group if poster.key not in board_by_poster] for group in groups]
    if new_rows:
        row_of = [row_number for row_number, row in enumerate(rows) for _board in row]
        assigned = _assign_in_new_rows(remaining, free, row_of)
    else:
        assigned = list(zip(chain.from_iterable(remaining), free, strict=False))
    return board_by_poster | {poster.key: boards[index] for poster, index in assigned}


def presenter_groups[K: Hashable](posters: Sequence[Poster[K]]) -> list[list[Poster[K]]]:
    """Group the posters that share a presenter, in the order of the first poster of each group."""
    group_of: dict[int, list[Poster[K]]] = {}
    groups: list[list[Poster[K]]] = []
    for poster in posters:
        shared = [group_of[person] for person in sorted(poster.presenters) if person in group_of]
        group = shared[0] if shared else []
        if not shared:
            groups.append(group)
        for other in shared[1:]:
            if other is not group and other in groups:
                group += other
                groups.remove(other)
                group_of |= {person: group for member in other for person in member.presenters}
        group.append(poster)
        group_of |= dict.fromkeys(poster.presenters, group)
    return groups


def _assign_in_new_rows[K: Hashable](
    groups: Sequence[Sequence[Poster[K]]], free: Sequence[int], row_of: Sequence[int]
) -> list[tuple[Poster[K], int]]:
    """Assign boards so that each topic begins in a new row. Raises `ValidationError` if rows are too few."""
    assigned: list[tuple[Poster[K], int]] = []
    position = 0
    for _topic, topic_groups in groupby(
        (group for group in groups if group), key=lambda group: group[0].topic
    ):
        if assigned:
            last_row = row_of[assigned[-1][1]]
            position = next(
                (index for index in range(position, len(free)) if row_of[free[index]] != last_row), len(free)
            )
        for poster in chain.from_iterable(topic_groups):
            if position == len(free):
                raise ValidationError(
                    gettext(
                        "There are too few rows to start each topic in a new one. Add rows, or let topics "
                        "share rows. Nothing was assigned."
                    )
                )
            assigned.append((poster, free[position]))
            position += 1
    return assigned


def too_few_boards(free: int, unassigned: int) -> str:
    missing = unassigned - free
    free_part = ngettext("%(count)d board is free", "%(count)d boards are free", free) % {"count": free}
    unassigned_part = ngettext("%(count)d poster needs a board", "%(count)d posters need a board", unassigned)
    unassigned_part %= {"count": unassigned}
    missing_part = ngettext("%(count)d is missing", "%(count)d are missing", missing) % {"count": missing}
    parts = {"there": free_part, "needed": unassigned_part, "short": missing_part}
    return (
        gettext("%(there)s and %(needed)s: %(short)s. Add boards to the list. Nothing was assigned.") % parts
    )
