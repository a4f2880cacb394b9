"""Property tests of the clash rules: they find the same clashes as comparing all pairs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from schedule.clashes.findings import ClashEvent, ClashKind, ClashProgram, ClashSubject, RoomCapacity
from schedule.clashes.rules import apply_rules, peak
from schedule.timetable import overlaps

DAY = datetime(2026, 10, 24, 21, 0, tzinfo=UTC)  # In Berlin over midnight, and the hour that comes twice.
PEOPLE = {key: ClashSubject("person", key, f"p{key}", f"Person {key}") for key in (1, 2, 3)}
ROOMS = {
    key: RoomCapacity(ClashSubject("room", key, f"r{key}", f"Room {key}"), virtual=key == 3)
    for key in (1, 2, 3)
}

people = st.sets(st.sampled_from([*PEOPLE]), max_size=2).map(frozenset)


def span(draw: st.DrawFn) -> tuple[datetime, datetime]:
    start = DAY + timedelta(minutes=30 * draw(st.integers(0, 10)))
    return start, start + timedelta(minutes=30 * draw(st.integers(0, 4)))


@st.composite
def plans(draw: st.DrawFn) -> ClashProgram:
    """Return a few sessions, some part of the first, and talks with own times or the session's."""
    sessions: list[ClashEvent] = []
    for pk in range(1, draw(st.integers(1, 5)) + 1):
        is_part: bool = draw(st.booleans())
        parent = sessions[0] if sessions and is_part else None
        room, kind = draw(st.sampled_from([None, *ROOMS])), draw(st.sampled_from(["oral", "poster"]))
        subject = ClashSubject("session", pk, f"s{pk}", "Session", "Oral")
        sessions.append(ClashEvent(subject, kind, *span(draw), parent=parent, room=room, people=draw(people)))
    talks = []
    for pk in range(1, draw(st.integers(0, 5)) + 1):
        session, timed = draw(st.sampled_from(sessions)), draw(st.booleans())
        start, end = span(draw) if timed else (session.start, session.end)
        subject = ClashSubject("presentation", pk, f"t{pk}", "Talk", "Oral")
        board = draw(st.sampled_from(["", "1", "2"]))
        about: dict[str, Any] = {"session": session, "timed": timed, "people": draw(people), "board": board}
        talks.append(ClashEvent(subject, "oral", start, end, **about))
    return ClashProgram(ZoneInfo("Europe/Berlin"), sessions, talks, ROOMS, PEOPLE)


def is_whole_of(one: ClashEvent, other: ClashEvent) -> bool:
    """Return whether `other` takes place inside `one`: a session, its parts, and the talks in both."""
    if not one.is_session:
        # A talk without its own time takes place with its session.
        place = None if one.timed or one.is_poster else one.session
        return place is not None and (other is place or is_whole_of(place, other))
    inside = other if other.is_session else other.session
    return inside is not None and one in (inside, inside.parent)


def expected(events: Sequence[ClashEvent], name: str) -> set[frozenset[tuple[str, int]]]:
    found = set()
    for one, other in combinations(events, 2):
        shared = bool(getattr(one, name) & getattr(other, name))
        if shared and overlaps(one, other) and not (is_whole_of(one, other) or is_whole_of(other, one)):
            found.add(frozenset({one.subject.key, other.subject.key}))
    return found


def found(plan: ClashProgram, *kinds: ClashKind) -> set[frozenset[tuple[str, int]]]:
    return {
        frozenset(subject.key for subject in clash.subjects[:2])
        for clash in apply_rules(plan)
        if clash.kind in kinds
    }


@given(plans())
def test_people_in_two_places_are_those_that_comparing_finds(plan: ClashProgram) -> None:
    assert found(plan, ClashKind.PERSON, ClashKind.POSTER) == expected(plan.events, "people")


@given(plans())
def test_rooms_used_twice_are_those_that_comparing_finds(plan: ClashProgram) -> None:
    wanted = {
        frozenset({one.subject.key, other.subject.key})
        for one, other in combinations(plan.sessions, 2)
        if one.room == other.room in (1, 2) and overlaps(one, other)
        if one is not other.parent and other is not one.parent
    }

    assert found(plan, ClashKind.ROOM) == wanted


@given(plans())
def test_every_part_that_does_not_lie_in_its_whole_is_told(plan: ClashProgram) -> None:
    outside = {
        event.subject.key
        for event in plan.events
        if (whole := event.parent or event.session)
        and not whole.start <= event.start <= event.end <= whole.end
    }
    parts = [
        clash
        for clash in apply_rules(plan)
        if clash.kind in (ClashKind.OUTSIDE_PARENT, ClashKind.OUTSIDE_SESSION)
    ]
    early = {clash.subjects[0].key for clash in apply_rules(plan) if clash.kind == ClashKind.ENDS_EARLY}
    told = {clash.subjects[0].key for clash in parts}
    over = {event.subject.key for event in plan.talks if event.session and event.session.subject.key in early}

    assert told <= outside <= told | over


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(1, 5)), max_size=8))
def test_most_at_once_is_the_highest_count_at_a_start(spans: list[tuple[int, int]]) -> None:
    events = [
        ClashEvent(PEOPLE[1], "poster", DAY + timedelta(hours=start), DAY + timedelta(hours=start + length))
        for start, length in spans
    ]
    counts = [sum(other.start <= one.start < other.end for other in events) for one in events]

    assert peak(events) == max(counts, default=0)
