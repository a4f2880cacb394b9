"""What gets in each other's way in the timetable: warnings for chairs, never a block.

`plan` (what takes place), `rules` and `findings` are pure; `reading` fetches. How a clash is shown, and where
its rows have their addresses, is the business of whoever asks.
"""

from collections.abc import Iterable

from conference.models import Edition
from schedule.clashes.findings import Clash, Kind, Severity
from schedule.clashes.plan import Plan, Subject
from schedule.clashes.reading import read
from schedule.clashes.rules import find
from schedule.models import Presentation, Session

__all__ = ["Clash", "Kind", "Severity", "Subject", "of", "touching"]


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


def about(plan: Plan, keys: set[tuple[str, int]]) -> list[Clash]:
    """Return the clashes of rows with these models and keys, and of what is in them."""
    parts = {talk.subject.key for talk in plan.talks if talk.session and talk.session.subject.key in keys}
    return [clash for clash in find(plan) if any(subject.key in keys | parts for subject in clash.subjects)]
