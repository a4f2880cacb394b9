"""A conflict as a chair decides it: the three values in words, with what differs marked."""

from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from content.timeline import word_diff
from content.versions import mark
from exchange.imports.kinds import KINDS
from exchange.jobs.conflicts import CannotTakeError, Finder, current
from exchange.models import Conflict
from exchange.wording import Naming, label, told

# A list of conflicts resolves no names: it shows keys.
BY_KEY = Naming(lambda uid: uid, lambda kind, key: key)


def as_it_is(conflict: Conflict, value: object) -> str:
    """Return one of the three values for a list."""
    return told(KINDS[conflict.provenance.kind], conflict.field, value, BY_KEY, None)


def naming(finder: Finder) -> Naming:
    """Return the labels of keys; an unresolved key is its own label."""

    def name(kind: str, key: str) -> str:
        try:
            return str(finder.row(kind, key))
        except CannotTakeError:
            return key

    return Naming(lambda uid: name("person", uid), name)


@dataclass(slots=True)
class Sides:
    """The three values of a conflict, with our current value. `seen` detects later changes."""

    title: str
    ours: Any
    seen: str
    base: str | SafeString = ""
    here: str | SafeString = ""
    there: str | SafeString = ""
    is_settled: bool = False
    has_moved: bool = False
    reasons: list[str] = field(default_factory=list)


def sides(conflict: Conflict, row: Any) -> Sides:
    """Return the three values as a page shows them, in the zone of the edition."""
    kind, edition = KINDS[conflict.provenance.kind], conflict.run.edition
    ours = current(kind, row, conflict.field, edition) if row is not None else conflict.ours
    names = naming(Finder(edition))
    base, here, there = (
        told(kind, conflict.field, value, names, edition) for value in (conflict.base, ours, conflict.theirs)
    )
    found = Sides(label(kind, conflict.field), ours, mark(ours))
    if conflict.base is None:
        found.base, (found.here, found.there) = _("Never imported before"), word_diff(here, there)
    else:
        found.base, found.here, found.there = base, word_diff(base, here)[1], word_diff(base, there)[1]
    found.is_settled = ours == conflict.theirs
    found.has_moved = ours != conflict.ours
    return found
