"""Metadata in the head of a session's page: card, and linked data of the session as an event. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Model

from conference.page_metadata import (
    CANCELLED,
    RESCHEDULED,
    SCHEDULED,
    Card,
    Head,
    Thing,
    absolute,
    attendance,
    conference_event,
    json_ld,
    language_neutral_url,
    lead,
    open_graph,
    organizer,
    venue_time,
)
from content import times

if TYPE_CHECKING:
    from schedule.models import Session

# The roles of people who perform on stage.
PERFORMER_ROLES = frozenset(("speaker", "panelist"))


def session_head(
    session: "Session", parts: Iterable[object], moves: Mapping[str, datetime], card: Card
) -> Head:
    """Return the head of a session's page; `moves` are the earlier starts of moved rows by key."""
    when = times.day_and_time_range(session.start, session.end, session.edition.zone)
    kind_and_time = f"{session.get_kind_display()}, {when}"
    room = f", {session.room.name}" if session.room else ""
    description = lead(f"{kind_and_time}{room}. {session.abstract}")
    event = session_event(session, parts, moves) | {
        "description": description,
        "image": absolute(card.url),
        "organizer": organizer(session.edition),
    }
    return Head(str(session), open_graph("article", description, card), (), [json_ld(event)])


def card_text(session: "Session") -> str:
    """Return the alternative text of the session's card."""
    time = times.day_and_time_range(session.start, session.end, session.edition.zone)
    return f"{session.get_kind_display()}, {time}: {session}. {session.edition.name}"


def session_event(session: "Session", parts: Iterable[Any], moves: Mapping[str, datetime]) -> Thing:
    """Return the linked data of the session as an event, with the earlier start if it has moved."""
    edition, parent = session.edition, session.parent
    earlier_start = moves.get(f"session:{session.uid}")
    has_moved = earlier_start is not None and earlier_start != session.start and not session.cancelled
    return event_summary(session, session.room) | {
        **({"eventStatus": RESCHEDULED} if has_moved else {}),
        "previousStartDate": venue_time(earlier_start, edition) if earlier_start and has_moved else "",
        "superEvent": event_summary(parent) if parent else conference_event(edition),
        "subEvent": [event_summary(part, part.room) for part in parts],
        "performer": [performer(role) for role in session.shown_roles if role.role in PERFORMER_ROLES],
    }


def performer(role: Any) -> Thing:
    """Return the linked data of a performer, with the name as shown."""
    return {
        "@type": "Person",
        "name": role.shown_name,
        "url": absolute(role.person.get_absolute_url()),
        "affiliation": role.affiliation and {"@type": "Organization", "name": role.affiliation},
    }


def event_summary(session: "Session", room: Model | None = None) -> Thing:
    """Return the linked data of an event: name, time and place; without a room, the venue."""
    edition, url = session.edition, absolute(session.get_absolute_url())
    mode, locations = attendance(edition, url, room)
    return {
        "@type": "Event",
        "@id": language_neutral_url(session.get_absolute_url()),
        "name": str(session),
        "url": url,
        "startDate": venue_time(session.start, edition),
        "endDate": venue_time(session.end, edition),
        "eventStatus": CANCELLED if session.cancelled else SCHEDULED,
        "eventAttendanceMode": mode,
        "location": locations,
    }
