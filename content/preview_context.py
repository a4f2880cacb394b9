"""The preview state of the current request: which unpublished rows `published()` includes, and whether rows
are those of the planned state (`content.unreleased`).

Only pages for staff (`conference.request_edition`), and counts of rows that a gate would open, set it.
Shared caches (the page cache, the search index, files) are built outside of it. Data that is
always hidden, such as hidden names, stays hidden.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

# Fields with the times from which an edition, its papers and its timetable are public.
GATES = ("public_from", "papers_public_from", "schedule_public_from")


@dataclass(frozen=True, slots=True)
class PreviewScope:
    """An edition (by primary key), its gates that count as open, and whether its drafts are shown."""

    edition: int
    gates: frozenset[str] = frozenset(GATES)
    drafts: bool = False


_preview_scope: ContextVar[PreviewScope | None] = ContextVar("preview_scope", default=None)
# The edition whose planned state is read, and the version of its unreleased changes.
_planned_state: ContextVar[tuple[int, str] | None] = ContextVar("planned_state", default=None)


@contextmanager
def preview_as(scope: PreviewScope | None) -> Iterator[None]:
    """Let `published()` treat these gates as open in the block; with `None`, as for the public."""
    token = _preview_scope.set(scope)
    try:
        yield
    finally:
        _preview_scope.reset(token)


def edition_with_open_gate(gate: str) -> int | None:
    """Return the key of the edition whose gate a preview treats as open."""
    scope = _preview_scope.get()
    return scope.edition if scope and gate in scope.gates else None


def edition_with_drafts() -> int | None:
    """Return the key of the edition whose drafts a preview shows."""
    scope = _preview_scope.get()
    return scope.edition if scope and scope.drafts else None


@contextmanager
def planned_state(edition: int, version: str) -> Iterator[None]:
    """Mark the rows of an edition read in the block as planned: as they will be after the next release."""
    token = _planned_state.set((edition, version))
    try:
        yield
    finally:
        _planned_state.reset(token)


@contextmanager
def public_state() -> Iterator[None]:
    """End the planned state in the block."""
    token = _planned_state.set(None)
    try:
        yield
    finally:
        _planned_state.reset(token)


def planned_edition() -> int | None:
    """Return the key of the edition whose planned state is read."""
    state = _planned_state.get()
    return state[0] if state else None


def cache_key_part() -> tuple[object, ...]:
    """Return the part of cache keys that marks a preview or a planned state; otherwise empty."""
    parts = (_preview_scope.get(), _planned_state.get())
    return tuple(part for part in parts if part)
