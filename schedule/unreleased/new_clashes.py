"""Clashes that a release would bring, which someone has to confirm."""

from collections.abc import Collection, Iterable

from conference.models import Edition
from content.unreleased.plan import planned, public_state
from schedule import clashes
from schedule.clashes import Clash
from schedule.unreleased.conflicts import RefusedError
from schedule.unreleased.models import UnreleasedChange, new_rows


class NewClashesError(RefusedError):
    """Raised if a release brings clashes that nobody confirmed; `clashes` are all new ones."""

    def __init__(self, new: Collection[Clash]) -> None:
        super().__init__(*(str(clash.message) for clash in new))
        self.clashes = list(new)

    @property
    def keys(self) -> list[str]:
        """The keys with which the clashes are confirmed."""
        return [clash_key(clash) for clash in self.clashes]


def clash_key(clash: Clash) -> str:
    """Return a text that names a clash by its kind and its rows, such as "room:session-1,session-2"."""
    kind, rows = clashes.signature(clash)
    return f"{kind}:{','.join(sorted(f'{model}-{key}' for model, key in rows))}"


def without_added(found: Iterable[Clash], changes: Collection[UnreleasedChange]) -> list[Clash]:
    """Leave out the clashes of rows that these changes add: drafts clash too, but not in public."""
    added = new_rows(changes)
    return [clash for clash in found if not added & {subject.key for subject in clash.subjects}]


def refuse_unconfirmed(before: list[Clash], after: list[Clash], confirmed: Collection[str]) -> list[str]:
    """Return the keys of the new clashes. Raises `NewClashesError` unless all of them are confirmed."""
    new, _solved = clashes.new_and_solved(before, after)
    if any(clash_key(clash) not in confirmed for clash in new):
        raise NewClashesError(new)
    return [clash_key(clash) for clash in new]


def changed_by_release(
    edition: Edition, changes: Collection[UnreleasedChange]
) -> tuple[list[Clash], list[Clash]]:
    """Return the clashes that a release of all `changes` of an edition would bring, and solve."""
    with public_state():
        before = without_added(clashes.cached_clashes(edition).all, changes)
    with planned(edition):
        return clashes.new_and_solved(before, clashes.cached_clashes(edition).all)
