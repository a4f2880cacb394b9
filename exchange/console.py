"""What the import command shows on a console: a progress bar, the table of counts, remarks and conflicts."""

import json
import time
from collections.abc import Iterator
from typing import TextIO

from exchange.imports.compare import WORDS
from exchange.imports.kinds import KINDS
from exchange.imports.load import Report

WIDTH = 30
NOTES_SHOWN = 20
VALUE_SHOWN = 60
REDRAW_SECONDS = 0.1


class ProgressBar:
    """Progress: one line that is redrawn on a terminal, a plain line per stage elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.drawn_at, self.is_live = stream, 0.0, stream.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        is_last = done >= total
        if not self.is_live:
            if is_last:
                self.stream.write(f"{what}: {done}\n")
        elif is_last or time.monotonic() - self.drawn_at > REDRAW_SECONDS:
            self.drawn_at = time.monotonic()
            full = WIDTH * done // total if total else WIDTH
            self.stream.write(f"\r{what:<24} [{'#' * full}{' ' * (WIDTH - full)}] {done}/{total}")
            self.stream.write("\n" if is_last else "")
        self.stream.flush()


def table(report: Report) -> Iterator[str]:
    """Yield the counts per kind and in total as lines of a table."""
    yield "".join([" " * 14, *(f"{word:>13}" for word in WORDS)])
    rows = [(KINDS[name].many or name, tally) for name, tally in report.tallies.items()]
    for name, tally in [*rows, ("total", report.total)]:
        yield "".join([f"{name:<14}", *(f"{getattr(tally, word):>13}" for word in WORDS)])


def remarks(report: Report, *, everything: bool = False) -> Iterator[str]:
    """Yield notes and conflicts as lines: the first of them, or all."""
    notes = [f"{note.kind}: {place}{note.message}" for note in report.notes for place in [_place(note.where)]]
    yield from _first(notes, everything=everything)
    conflicts = [
        f"conflict: {one.kind} {one.label}, {one.field}: kept {_short(one.ours)}; the file says "
        f"{_short(one.theirs)}; last imported: {_short(one.base)}"
        for one in report.conflicts
    ]
    yield from _first(conflicts, everything=everything)


def _first(lines: list[str], *, everything: bool) -> Iterator[str]:
    shown = len(lines) if everything else NOTES_SHOWN
    yield from lines[:shown]
    if len(lines) > shown:
        yield f"and {len(lines) - shown} more (--verbosity 2 shows all)"


def _place(where: object) -> str:
    return f"{where}: " if str(where) else ""


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_SHOWN else f"{text[:VALUE_SHOWN]}…"
