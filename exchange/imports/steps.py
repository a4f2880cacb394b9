"""What an import is going to do, row by row, and the counts of it."""

from dataclasses import dataclass, field

from content.models import Content
from exchange.imports.kinds import Kind
from exchange.imports.parts import PartRow
from exchange.imports.provenance import Memory, Merge
from exchange.problems import Where

WORDS = ("new", "changed", "kept", "conflicting", "skipped")


@dataclass(slots=True)
class Tally:
    """How many rows of a kind are new, changed, kept as edited here, conflicting, or skipped as unchanged.

    A row may be changed in one field and kept or conflicting in another; it then counts in both columns.
    """

    new: int = 0
    changed: int = 0
    kept: int = 0
    conflicting: int = 0
    skipped: int = 0

    def add(self, step: "Step") -> None:
        self.new += step.is_new
        self.changed += bool(step.merge.taken) and not step.is_new
        self.kept += bool(step.merge.kept)
        self.conflicting += bool(step.merge.clashes)
        self.skipped += not (step.is_new or step.merge.taken or step.merge.kept or step.merge.clashes)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, word) + getattr(other, word) for word in WORDS))

    def as_dict(self) -> dict[str, int]:
        return {word: getattr(self, word) for word in WORDS}


@dataclass(slots=True)
class Step:
    """One row, and what becomes of it."""

    kind: Kind
    row: Content
    where: Where
    merge: Merge
    is_new: bool = False
    # Somebody whom the file only points at: nothing is compared, nothing remembered.
    is_mentioned: bool = False
    # A reference of its record leads nowhere, which has been reported.
    is_broken: bool = False
    memory: Memory | None = None
    # Values before the change, for whoever wants to take it back.
    old: dict[str, object] = field(default_factory=dict)
    parts: dict[str, list[PartRow]] = field(default_factory=dict)

    @property
    def remembers_more(self) -> bool:
        """Whether the memory of this row differs from what is stored."""
        return self.memory is None or self.memory.values != self.merge.memory

    @property
    def is_idle(self) -> bool:
        """Whether nothing at all is to be written for this row."""
        if self.is_mentioned:
            return True
        return not (self.is_new or self.merge.taken or self.merge.clashes or self.remembers_more)
