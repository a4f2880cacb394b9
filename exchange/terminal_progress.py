"""Progress of long commands: a bar for each stage on a terminal, a line for each stage elsewhere."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

# Is called with a stage, what is done of it, and its total.
type Progress = Callable[[str, int, int], None]


def no_progress(stage: str, done: int, total: int) -> None:
    """Show nothing."""


class TerminalProgress:
    """Displays counts of stages, as `show(stage, done, total)`; nothing if `is_shown` is false.

    A context manager, which leaves the terminal in order, also after an error.
    """

    def __init__(self, stream: TextIO, *, is_shown: bool = True) -> None:
        self.stream, self.is_shown = stream, is_shown
        self._bars: Bars | None = None
        self._stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self.is_shown and self.stream.isatty():
            # Rich is imported by those who see it, as it takes a tenth of a second.
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bars

            counts = MofNCompleteColumn(), TimeElapsedColumn()
            columns = TextColumn("{task.description:<24}"), BarColumn(), *counts
            self._bars = Bars(*columns, console=Console(file=self.stream))
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._bars:
            if stage not in self._stages:
                self._stages[stage] = self._bars.add_task(stage, total=total)
            self._bars.update(self._stages[stage], completed=done, total=total)
        elif self.is_shown and done >= total:
            self.stream.write(f"{stage}: {done}\n")
            self.stream.flush()
