"""Poster boards: a list as chairs write it, "1-40, A1-A20", and who gets which board. Pure."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from schedule.clashes.rules import board_key

# No hall has more; a slip such as 1-4000000 is refused rather than written out.
MAX_BOARDS = 5_000
RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\s*[-\u2013\u2026]\s*(?P<again>.*?)(?P<last>[0-9]+)")
MAX_BOARD_CHARS = 60
# Two boards and the text between them. What is longer is no range, and too long for a board.
MAX_RANGE_CHARS = 3 * MAX_BOARD_CHARS


class BoardsError(ValueError):
    """What is wrong with a list of boards, in a sentence."""


def expand(written: str) -> list[str]:
    """Return the boards of a list in its order: the order in which one walks past them."""
    found: list[str] = []
    for part in re.split(r"[,;\n]", written):
        if entry := " ".join(part.split()):
            found += run(entry)
        if len(found) > MAX_BOARDS:
            raise BoardsError(_("These are more than %(most)d boards.") % {"most": MAX_BOARDS})
    seen: set[str] = set()
    for board in found:
        if len(board) > MAX_BOARD_CHARS:
            raise BoardsError(_("“%(board)s” is too long for a board.") % {"board": board[:MAX_BOARD_CHARS]})
        if board_key(board) in seen:
            raise BoardsError(_("Board %(board)s is listed twice.") % {"board": board})
        seen.add(board_key(board))
    return found


def run(entry: str) -> list[str]:
    """Return the boards of one entry: "A1-A20" or "A1-20", upwards or downwards; "P-12" is one board."""
    match = RANGE.fullmatch(entry) if len(entry) <= MAX_RANGE_CHARS else None
    if match is None or match["again"].strip() not in ("", match["prefix"].strip()):
        return [entry]
    first, last = int(match["first"]), int(match["last"])
    if abs(last - first) >= MAX_BOARDS:
        raise BoardsError(
            _("“%(entry)s” is more than %(most)d boards.") % {"entry": entry, "most": MAX_BOARDS}
        )
    is_padded = len(match["first"]) > 1 and match["first"].startswith("0")
    width = len(match["first"]) if is_padded else 0
    step = 1 if first <= last else -1
    return [f"{match['prefix']}{number:0{width}d}" for number in range(first, last + step, step)]


@dataclass(frozen=True, slots=True)
class PosterBoard[K: Hashable]:
    """A poster: its key, and the board that it keeps, if any."""

    key: K
    fixed: str = ""


def assign[K: Hashable](boards: Sequence[str], posters: Iterable[PosterBoard[K]]) -> Mapping[K, str]:
    """Return a board for each poster, in the order given; nobody else gets one that is fixed.

    Raises `BoardsError` where there are too few.
    """
    rows = list(posters)
    taken = {board_key(row.fixed) for row in rows if row.fixed}
    free = [board for board in boards if board_key(board) not in taken]
    waiting = [row.key for row in rows if not row.fixed]
    if len(waiting) > len(free):
        missing = len(waiting) - len(free)
        raise BoardsError(too_few(len(free), len(waiting), missing))
    return {
        **{row.key: row.fixed for row in rows if row.fixed},
        **dict(zip(waiting, free, strict=False)),
    }


def too_few(free: int, waiting: int, missing: int) -> str:
    """Say how many boards there are, how many are needed, and how many are missing."""
    there = ngettext("%(count)d board is free", "%(count)d boards are free", free) % {"count": free}
    needed = ngettext("%(count)d poster needs one", "%(count)d posters need one", waiting)
    needed %= {"count": waiting}
    short = ngettext("%(count)d is missing", "%(count)d are missing", missing) % {"count": missing}
    words = {"there": there, "needed": needed, "short": short}
    return _("%(there)s and %(needed)s: %(short)s. Add boards to the list. Nothing was assigned.") % words
