"""The preview state of the current request: which unpublished rows `published()` includes, and whether rows
are as in a working copy (`schedule.working_copy`).

Only a page for staff (`conference.request_edition`), and a count of what a moment would show, say so.
Shared caches (the page cache, the search index, files) are built outside of it. What is
always hidden, such as hidden names, stays hidden.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# From when an edition, its papers and its timetable are public.
GATES = ("public_from", "papers_public_from", "schedule_public_from")


@dataclass(frozen=True, slots=True)
class PreviewScope:
    """An edition (by key) whose gates are taken as open, with its drafts or without."""

    edition: int
    gates: frozenset[str] = frozenset(GATES)
    drafts: bool = False


_lifted: ContextVar[PreviewScope | None] = ContextVar("lifted", default=None)
# The version of the working copy that is being read, or nothing.
_working: ContextVar[str] = ContextVar("working_state", default="")


@contextmanager
def preview_as(lifted: PreviewScope | None) -> Iterator[None]:
    """Let `published()` judge as if these gates were open while the block runs; `None`: as for everybody."""
    token = _lifted.set(lifted)
    try:
        yield
    finally:
        _lifted.reset(token)


def edition_with_open_gate(gate: str) -> int | None:
    """Return the key of the edition whose gate counts as open though it may not be."""
    lifted = _lifted.get()
    return lifted.edition if lifted and gate in lifted.gates else None


def edition_with_drafts() -> int | None:
    """Return the key of the edition whose drafts are shown."""
    lifted = _lifted.get()
    return lifted.edition if lifted and lifted.drafts else None


@contextmanager
def working_state(version: str) -> Iterator[None]:
    """Mark what is read inside as the state of a working copy, not that of the public."""
    token = _working.set(version)
    try:
        yield
    finally:
        _working.reset(token)


def is_working_state() -> bool:
    return bool(_working.get())


def cache_key_part() -> tuple[object, ...]:
    """Return a cache key part that marks what is read in a preview or a working copy; else empty."""
    return tuple(part for part in (_lifted.get(), _working.get()) if part)
