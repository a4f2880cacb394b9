"""What is said about a file: where, what is wrong, what a chair should look at. Knows no app, no format."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a source file, for messages: `papers.csv, row 12` or `program.json, papers[3]`."""

    file: str = ""
    place: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.file, self.place) if part)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file. `message` is a sentence that says what, and what to do."""

    where: Where
    field: str
    message: str

    def __str__(self) -> str:
        place = ", ".join(part for part in (str(self.where), self.field) if part)
        return f"{place}: {self.message}" if place else self.message


class ProgramError(Exception):
    """A file that cannot be taken. Carries every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Note:
    """Something a chair should look at, though the file was taken. `kind`: "doubt", "repeat" or "warning"."""

    kind: str
    where: Where
    message: str
