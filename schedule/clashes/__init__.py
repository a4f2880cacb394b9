"""What gets in each other's way in the timetable: warnings for chairs, never a block.

`plan` (what takes place), `rules` and `findings` are pure; `reading` fetches. How a clash is shown, and where
its rows have their addresses, is up to the caller.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from conference.models import Edition
from schedule.clashes.findings import Clash, ClashKind, Severity
from schedule.clashes.plan import ClashProgram, ClashSubject, PlannedEdit
from schedule.clashes.reading import Stored, read
from schedule.clashes.rules import find
from schedule.models import Presentation, Session

__all__ = [
    "Clash",
    "ClashDifference",
    "ClashKind",
    "ClashSubject",
    "PlannedEdit",
    "Severity",
    "difference",
    "of",
    "touching",
]


def of(edition: Edition) -> list[Clash]:
    """Return all clashes of an edition by time, drafts included. Six queries, however many rows.

    Nothing that is called off clashes, nor a paper that is withdrawn. Of a paper's authors those marked as
    presenting count. Each clash names its rows as `subjects` (model, key, uid, name); give them addresses.
    """
    return find(read(edition))


def touching(rows: Iterable[Session | Presentation]) -> list[Clash]:
    """Return the clashes that concern any of these rows, as they are stored now, edition by edition.

    A session brings its presentations with it. Six queries for each edition.
    """
    keys: dict[Edition, set[tuple[str, int]]] = {}
    for row in rows:
        keys.setdefault(row.edition, set()).add((str(row._meta.model_name), row.pk))
    return [clash for edition, given in keys.items() for clash in about(read(edition), given)]


def about(plan: ClashProgram, keys: set[tuple[str, int]]) -> list[Clash]:
    """Return the clashes of rows with these models and keys, and of what is in them."""
    parts = {talk.subject.key for talk in plan.talks if talk.session and talk.session.subject.key in keys}
    return [clash for clash in find(plan) if any(subject.key in keys | parts for subject in clash.subjects)]


@dataclass(frozen=True, slots=True)
class ClashDifference:
    """What plans do to the clashes of an edition: all that there would be, what is new, what is solved."""

    all: list[Clash]
    new: list[Clash]
    solved: list[Clash]
    # The session of each presentation that takes place in one, by key.
    session_of: dict[int, int]

    def sessions(self, clash: Clash) -> set[int]:
        """Return the keys of the sessions that a clash concerns, itself or through what is in them."""
        own = {subject.pk for subject in clash.subjects if subject.model == "session"}
        talks = (subject.pk for subject in clash.subjects if subject.model == "presentation")
        return own | {self.session_of[pk] for pk in talks if pk in self.session_of}


def difference(edition: Edition, planned: PlannedEdit) -> ClashDifference:
    """Return what plans that are not stored yet would do. Six queries, however many rows."""
    stored = Stored(edition)
    plan = stored.plan(planned)
    after = find(plan)
    before = find(stored.plan()) if planned.sessions or planned.talks else after
    known, kept = ({signature(clash) for clash in clashes} for clashes in (before, after))
    return ClashDifference(
        after,
        [clash for clash in after if signature(clash) not in known],
        [clash for clash in before if signature(clash) not in kept],
        {talk.subject.pk: talk.session.subject.pk for talk in plan.talks if talk.session},
    )


def signature(clash: Clash) -> tuple[ClashKind, frozenset[tuple[str, int]]]:
    """Return what makes two warnings the same one, whenever they are given: what clashes, and how."""
    return clash.kind, frozenset(subject.key for subject in clash.subjects)
