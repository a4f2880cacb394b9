"""Problems and notes about a file, each with its place. Imports no app and no format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Self

from django.utils.translation import gettext, gettext_lazy, ngettext


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a source file, for messages: `papers.csv, row 12` or `program.json, papers[3]`."""

    file: str = ""
    place: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.file, self.place) if part)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in a file. `message` is a sentence that explains it and how to fix it."""

    where: Where
    field: str
    message: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (str(self.where), self.field) if part)
        return f"{place}: {self.message}" if place else self.message


class ProgramError(Exception):
    """A file cannot be imported. `problems` has every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def program_error(message: str, file: str = "", /, **values: object) -> ProgramError:
    """Return an error with a single problem; `values` fill the placeholders of the message."""
    return ProgramError([Problem(Where(file), "", message % values if values else message)])


@dataclass(frozen=True, slots=True)
class Note:
    """A remark for chairs on a file that was accepted. `kind`: one of `NOTE_KINDS`."""

    kind: str
    where: Where
    message: str
    # The message without values, by which similar notes are grouped.
    pattern: str = field(default="", compare=False)

    @property
    def stored(self) -> list[str]:
        """The note as stored in JSON fields. `Note.restored` reverses it."""
        return [self.kind, str(self.where), self.message, self.pattern]

    @classmethod
    def restored(cls, kind: str, where: str, message: str, pattern: str = "") -> Self:
        return cls(kind, Where(where), message, pattern)


# The kinds of notes, in order of display.
NOTE_KINDS = {
    "alarm": gettext_lazy("Check first"),
    "warning": gettext_lazy("Imported with changes"),
    "doubt": gettext_lazy("To check"),
    "clash": gettext_lazy("New clashes in the timetable"),
    "joined": gettext_lazy("Joined by name"),
    "repeat": gettext_lazy("Listed twice"),
    "name": gettext_lazy("Unusual names"),
}


@dataclass(frozen=True, slots=True)
class NoteSection:
    """Notes of one kind, with similar ones grouped. The smallest group comes first."""

    title: str
    groups: list[list[Note]]

    @property
    def count(self) -> int:
        return sum(map(len, self.groups))


def note_sections(notes: Iterable[Note]) -> list[NoteSection]:
    """Return notes by kind for display, the most important first."""
    by_kind: dict[str, dict[str, list[Note]]] = {kind: {} for kind in NOTE_KINDS}
    for note in notes:
        by_kind[note.kind].setdefault(note.pattern or note.message, []).append(note)
    return [
        NoteSection(str(NOTE_KINDS[kind]), sorted(groups.values(), key=len))
        for kind, groups in by_kind.items()
        if groups
    ]


PROBLEMS_SHOWN = 50
PROBLEMS_COUNTED = 10_000


# What the files of an import may take in memory as rows, cells, values and notes, by their size.
BASE_MEMORY, MEMORY_PER_BYTE, MAX_MEMORY = 120_000_000, 10, 1_000_000_000
# A step takes about two microseconds: an element of a workbook, for example.
BASE_STEPS = 1_500_000
# What a note takes in memory.
NOTE_BYTES = 500


class Findings:
    """Problems and notes of one import. Problems beyond fifty are only counted; 10,000 more stop reading.

    It also limits what the files may expand to: `size` is how many bytes they have together. Readers call
    `spend_memory` and `spend_steps` while they expand something.
    """

    def __init__(self, size: int = 0) -> None:
        self._problems: list[Problem] = []
        self._more = 0
        self._notes: dict[Note, None] = {}
        self.max_memory = min(BASE_MEMORY + MEMORY_PER_BYTE * size, MAX_MEMORY)
        self._memory_left, self._steps_left = self.max_memory, BASE_STEPS + size

    def spend_memory(self, size: int, where: Where) -> None:
        """Count bytes of memory. Raises `ProgramError` when the files take too much for their size."""
        self._memory_left -= size
        if self._memory_left < 0:
            message = gettext(
                "Up to here, the file expands to more than %(megabytes)d MB in memory, which is too much for "
                "its size. Delete empty and repeated rows and values, or split the file."
            )
            self._stop(where, message % {"megabytes": self.max_memory // 1_000_000})

    def spend_steps(self, count: int, where: Where) -> None:
        """Count steps of work. Raises `ProgramError` when the files take too many for their size."""
        self._steps_left -= count
        if self._steps_left < 0:
            message = gettext(
                "Up to here, the file holds more than is reasonable for its size. Delete empty rows, columns "
                "and formats, or save the table as CSV."
            )
            self._stop(where, message)

    def _stop(self, where: Where, message: str) -> None:
        self._problems.insert(0, Problem(where, "", message))
        self.raise_problems()

    def problem(self, where: Where, field: str, message: str, /, **values: object) -> None:
        """Report that something is wrong; `values` fill the placeholders of the message."""
        if self.is_full:
            self._count_one_more()
        else:
            self._problems.append(Problem(where, field, message % values if values else message))

    def unknown(self, where: Where, name: str, what: str, known_names: Iterable[str], path: str = "") -> None:
        """Report an unknown name, with the nearest known name."""
        if self.is_full:
            self._count_one_more()
            return
        field = f"{path}.{short(name)}" if path else short(name)
        message = gettext("There is no such %(thing)s.") % {"thing": what}
        self.problem(where, field, f"{message}{did_you_mean(name, known_names)}")

    def note(self, kind: str, where: Where, message: str, /, **values: object) -> None:
        self.spend_memory(NOTE_BYTES, where)
        self._notes[Note(kind, where, message % values if values else message, message)] = None

    @property
    def is_full(self) -> bool:
        """Return whether further problems are only counted, so that callers can skip building messages."""
        return len(self._problems) >= PROBLEMS_SHOWN

    @property
    def has_problems(self) -> bool:
        return bool(self._problems)

    @property
    def problem_count(self) -> int:
        return len(self._problems) + self._more

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def raise_problems(self) -> None:
        """Raise `ProgramError` if there is any problem."""
        if self._more:
            message = ngettext(
                "There is %(count)d more problem.", "There are %(count)d more problems.", self._more
            )
            if self._more >= PROBLEMS_COUNTED:
                message = ngettext(
                    "There is at least %(count)d more problem.",
                    "There are at least %(count)d more problems.",
                    self._more,
                )
            self._problems.append(Problem(Where(), "", message % {"count": self._more}))
        if self._problems:
            raise ProgramError(self._problems)

    def _count_one_more(self) -> None:
        """Count a problem; stop reading a file that has too many."""
        self._more += 1
        if self._more >= PROBLEMS_COUNTED:
            self.raise_problems()


# The number of names that are compared with a misspelled one, each for up to a tenth of a millisecond.
MAX_COMPARED_NAMES = 2_000


def closest_name(name: str, known_names: Iterable[str]) -> str:
    """Return the known name most similar to a misspelled one among the first 2,000, or an empty text."""
    compared_names = islice(known_names, MAX_COMPARED_NAMES)
    folded = {known_name[:100].lower(): known_name for known_name in compared_names}
    matches = get_close_matches(name[:100].lower(), folded, n=1)
    return folded[matches[0]] if matches else ""


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Return a sentence that suggests the known name that was probably meant, or an empty text."""
    closest = closest_name(name, known_names)
    if not closest:
        return ""
    hint = gettext('Did you mean "%(name)s"?') % {"name": closest}
    return f" {hint}"


def short(text: str, limit: int = 60) -> str:
    """Shorten a text from a file for use in a sentence, and replace unprintable characters."""
    shortened = text if len(text) <= limit else f"{text[:limit]}…"
    return "".join(char if char.isprintable() else "?" for char in shortened)
