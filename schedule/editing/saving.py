"""Plans become rows: all of a sitting in one act of the history, or nothing."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db.models import Q, prefetch_related_objects

from content import revision
from content.ordering import reorder
from content.recording import together
from schedule.clashes import PlannedEdit
from schedule.editing.edit_session import SessionRow, Sitting
from schedule.editing.lineup import Lineup
from schedule.editing.placing import along
from schedule.editing.poster_assignment import AssignmentPlan, made
from schedule.editing.poster_boards import Hanging
from schedule.models import Presentation

if TYPE_CHECKING:
    from content.models import Content


def timed_talks(delays: Mapping[int, timedelta]) -> list[Presentation]:
    """Return the presentations with own times in sessions that move, at their new times. One query."""
    moving = [key for key, by in delays.items() if by]
    timed = Q(start__isnull=False) | Q(end__isnull=False)
    rows = Presentation.objects.filter(timed, session__in=moving).order_by("pk") if moving else ()
    talks = list(rows)
    for talk in talks:
        news = along(delays[talk.session_id or 0], {"start": talk.start, "end": talk.end})
        talk.start, talk.end = news.get("start"), news.get("end")
    return talks


def planned(sitting: Sitting) -> PlannedEdit:
    """Return the plan as the clashes are asked about it."""
    sessions = {
        row.pk: {"start": row.after.start, "end": row.after.end, "room": row.after.room}
        for row in sitting.moved
    }
    talks = {talk.pk: {"start": talk.start, "end": talk.end} for talk in timed_talks(sitting.delays())}
    return PlannedEdit(sessions, talks)


def save(sitting: Sitting) -> bool:
    """Store the moves. Validation errors go to `errors` of their row, and nothing is stored."""
    rows = sitting.moved
    for row in rows:
        place(row)
    prefetch_related_objects([row.session for row in rows], "parts")
    for row in rows:
        shown = row.values
        try:
            row.session.clean_in_memory()
        except ValidationError as error:
            row.errors, row.sent = error.message_dict, shown
    if sitting.wrong:
        return False
    with together(), revision.lock():
        talks = timed_talks(sitting.delays())
        store((row.session for row in rows), ["start", "end", "room"])
        store(talks, ["start", "end"])
    return bool(rows)


def save_lineup(lineup: Lineup) -> bool:
    """Store the times and the order of a session's presentations; errors go to `errors`."""
    rows = lineup.retimed
    for row in rows:
        row.talk.start, row.talk.end = row.after
        row.errors = refusals(row.talk)
    if lineup.wrong:
        return False
    with together(), revision.lock():
        store((row.talk for row in rows), ["start", "end"])
        if lineup.is_reordered:
            reorder(Presentation.objects.filter(session=lineup.session), lineup.order)
    return bool(rows) or lineup.is_reordered


def save_boards(hanging: Hanging) -> bool:
    """Store the boards of a session's posters; errors go to `errors`, and nothing is stored."""
    rows = hanging.moved
    if hanging.wrong:
        return False
    before = {row.pk: row.before for row in rows}
    for row in rows:
        row.talk.board = row.after
        row.errors = refusals(row.talk)
    if hanging.wrong:
        for row in rows:
            row.talk.board = before[row.pk]
        return False
    store((row.talk for row in rows), ["board"])
    return bool(rows)


def save_posters(plan: AssignmentPlan) -> bool:
    """Store the posters of papers that have none in a session, unless the plan gets `problems` by it."""
    new, waiting = made(plan.sendings)
    for poster in [*new, *waiting]:
        plan.problems += [f"{poster.paper}: {line}" for line in refusals(poster)]
    if plan.problems:
        return False
    with together(), revision.lock():
        if new:
            Presentation.objects.bulk_create(new, batch_size=500)
        store(waiting, ["session", "position"])
    return True


def refusals(row: "Content") -> list[str]:
    """Return what its own rules say against a row."""
    try:
        row.clean_in_memory()
    except ValidationError as error:
        return list(error.messages)
    return []


def place(row: SessionRow) -> None:
    """Write the plan into the row in memory."""
    session: Any = row.session
    session.start, session.end = row.after.start, row.after.end
    session.room = row.room


def store(rows: "Iterable[Content]", fields: list[str]) -> None:
    """Write rows of one kind."""
    found = list(rows)
    if found:
        type(found[0])._default_manager.bulk_update(found, fields, batch_size=200)
