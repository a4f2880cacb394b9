"""What becomes of unreleased changes whose rows are changed in public at once, as by a live notice."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db.models import Q

from content.unreleased.plan import publishing
from schedule.models import Session, UnreleasedChange
from schedule.unreleased.conflicts import attach_rows, drop_fields, locked, public_values


def changes_within(session: Session) -> list[UnreleasedChange]:
    """Return the unreleased changes of a session, its parts and their presentations, with their rows."""
    changes = [*UnreleasedChange.objects.filter(_is_within(session)).order_by("pk")]
    attach_rows(changes)
    return changes


def _is_within(session: Session) -> Q:
    keys = [session.pk, *Session._base_manager.filter(parent=session.pk).values_list("pk", flat=True)]
    return Q(session__in=keys) | Q(presentation__session__in=keys)


@contextmanager
def publishing_within(session: Session) -> Iterator[None]:
    """Write to the public rows of a session in the block, and keep what waits for them.

    A change that began with the former public value begins with the new one; a field that is public now waits
    no longer. Fields that began with another value stay conflicts.
    """
    with publishing():
        changes = locked(UnreleasedChange.objects.filter(_is_within(session)))
        before = public_values(changes)
        yield
        begin_again(changes, before)


def begin_again(changes: Iterable[UnreleasedChange], before: dict[int, dict[str, object]]) -> None:
    """Compare changes with the public values `before` and now, and store new beginnings."""
    current = [*UnreleasedChange.objects.filter(pk__in=[change.pk for change in changes])]
    attach_rows(current)
    public = public_values(current)
    for change in current:
        state = change.on_release, dict(change.values), dict(change.began)
        for name, value in public[change.pk].items():
            if name in change.values and change.began.get(name) == before[change.pk].get(name):
                change.began[name] = value
        if change.on_release and getattr(change.row, "status", "") == change.on_release:
            change.on_release = ""
        same = [name for name, value in change.values.items() if public[change.pk].get(name) == value]
        if same or state != (change.on_release, change.values, change.began):
            drop_fields(change, same)
