"""Plans become rows: all of a sitting in one act of the history, or nothing."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Q, prefetch_related_objects

from conference import revision
from conference.places import reorder
from conference.recording import together
from schedule.clashes import Planned
from schedule.editing.hanging import Hanging
from schedule.editing.lineup import Lineup
from schedule.editing.placing import along
from schedule.editing.sending import Plan, made
from schedule.editing.sitting import Row, Sitting
from schedule.models import Presentation


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


def planned(sitting: Sitting) -> Planned:
    """Return the plan as the clashes are asked about it."""
    sessions = {
        row.pk: {"start": row.after.start, "end": row.after.end, "room": row.after.room}
        for row in sitting.moved
    }
    talks = {talk.pk: {"start": talk.start, "end": talk.end} for talk in timed_talks(sitting.delays())}
    return Planned(sessions, talks)


def save(sitting: Sitting) -> bool:
    """Store the moves. What does not pass the rules stands in `errors` of its row, and nothing is stored."""
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
    with together(), revision.hold():
        talks = timed_talks(sitting.delays())
        store((row.session for row in rows), ["start", "end", "room"])
        store(talks, ["start", "end"])
    return bool(rows)


def save_lineup(lineup: Lineup) -> bool:
    """Store the times and the order of a session's presentations; what is wrong stands in `errors`."""
    rows = lineup.retimed
    for row in rows:
        row.talk.start, row.talk.end = row.after
        try:
            row.talk.clean_in_memory()
        except ValidationError as error:
            row.errors = error.messages
    if lineup.wrong:
        return False
    with together(), revision.hold():
        store((row.talk for row in rows), ["start", "end"])
        if lineup.is_reordered:
            reorder(Presentation.objects.filter(session=lineup.session), lineup.order)
    return bool(rows) or lineup.is_reordered


def save_boards(hanging: Hanging) -> bool:
    """Store the boards of a session's posters."""
    rows = hanging.moved
    if hanging.wrong:
        return False
    for row in rows:
        row.talk.board = row.after
        row.talk.clean_in_memory()
    store((row.talk for row in rows), ["board"])
    return bool(rows)


def save_posters(plan: Plan) -> None:
    """Store the posters of papers that have none in a session."""
    new, waiting = made(plan.sendings)
    for poster in [*new, *waiting]:
        poster.clean_in_memory()
    with together(), revision.hold():
        if new:
            Presentation.objects.bulk_create(new, batch_size=500)
        store(waiting, ["session", "position"])


def place(row: Row) -> None:
    """Write the plan into the row in memory."""
    session: Any = row.session
    session.start, session.end = row.after.start, row.after.end
    session.room = row.room


def store(rows: Iterable[Any], fields: list[str]) -> None:
    """Write rows of one kind."""
    found = list(rows)
    if found:
        type(found[0]).objects.bulk_update(found, fields, batch_size=200)
