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


def draw_span(draw: st.DrawFn) -> tuple[datetime, datetime]:
    start = DAY + timedelta(minutes=30 * draw(st.integers(0, 10)))
    return start, start + timedelta(minutes=30 * draw(st.integers(0, 4)))


@st.composite
def programs(draw: st.DrawFn) -> ClashProgram:
    """Return a few sessions, some part of the first, and talks with own times or the session's."""
    sessions: list[ClashEvent] = []
    for pk in range(1, draw(st.integers(1, 5)) + 1):
        is_part: bool = draw(st.booleans())
        parent = sessions[0] if sessions and is_part else None
        room, kind = draw(st.sampled_from([None, *ROOMS])), draw(st.sampled_from(["oral", "poster"]))
        subject = ClashSubject("session", pk, f"s{pk}", "Session", "Oral")
        start, end = draw_span(draw)
        fields: dict[str, Any] = {"parent": parent, "room": room, "people": draw(people)}
        sessions.append(ClashEvent(subject, kind, start, end, **fields))
    talks = []
    for pk in range(1, draw(st.integers(0, 5)) + 1):
        session, timed = draw(st.sampled_from(sessions)), draw(st.booleans())
        start, end = draw_span(draw) if timed else (session.start, session.end)
        subject = ClashSubject("presentation", pk, f"t{pk}", "Talk", "Oral")
        board = draw(st.sampled_from(["", "1", "2"]))
        fields = {"session": session, "timed": timed, "people": draw(people), "board": board}
        talks.append(ClashEvent(subject, "oral", start, end, **fields))
    return ClashProgram(ZoneInfo("Europe/Berlin"), sessions, talks, ROOMS, PEOPLE)


def contains(event: ClashEvent, other: ClashEvent) -> bool:
    """Return whether `other` takes place inside `event`: a session, its parts, and the talks in both."""
    if not event.is_session:
        # A talk without its own time takes place with its session.
        session = None if event.timed or event.is_poster else event.session
        return session is not None and (other is session or contains(session, other))
    session_of_other = other if other.is_session else other.session
    return session_of_other is not None and event in (session_of_other, session_of_other.parent)


def pairs_by_comparison(events: Sequence[ClashEvent], name: str) -> set[frozenset[tuple[str, int]]]:
    pairs = set()
    for one, other in combinations(events, 2):
        is_shared = bool(getattr(one, name) & getattr(other, name))
        if is_shared and overlaps(one, other) and not (contains(one, other) or contains(other, one)):
            pairs.add(frozenset({one.subject.key, other.subject.key}))
    return pairs


def pairs_by_rules(program: ClashProgram, *kinds: ClashKind) -> set[frozenset[tuple[str, int]]]:
    return {
        frozenset(subject.key for subject in clash.subjects[:2])
        for clash in apply_rules(program)
        if clash.kind in kinds
    }


@given(programs())
def test_person_clashes_equal_a_comparison_of_all_pairs(program: ClashProgram) -> None:
    expected = pairs_by_comparison(program.events, "people")

    assert pairs_by_rules(program, ClashKind.PERSON, ClashKind.POSTER) == expected


@given(programs())
def test_room_clashes_equal_a_comparison_of_all_pairs(program: ClashProgram) -> None:
    expected = {
        frozenset({one.subject.key, other.subject.key})
        for one, other in combinations(program.sessions, 2)
        if one.room == other.room in (1, 2) and overlaps(one, other)
        if one is not other.parent and other is not one.parent
    }

    assert pairs_by_rules(program, ClashKind.ROOM) == expected


@given(programs())
def test_every_part_outside_its_parent_is_reported(program: ClashProgram) -> None:
    outside = {
        event.subject.key
        for event in program.events
        if (parent := event.parent or event.session)
        and not parent.start <= event.start <= event.end <= parent.end
    }
    first_subjects = [(clash.kind, clash.subjects[0].key) for clash in apply_rules(program)]
    reported = {
        key for kind, key in first_subjects if kind in (ClashKind.OUTSIDE_PARENT, ClashKind.OUTSIDE_SESSION)
    }
    sessions_ending_early = {key for kind, key in first_subjects if kind == ClashKind.ENDS_EARLY}
    talks_of_those = {
        event.subject.key
        for event in program.talks
        if event.session and event.session.subject.key in sessions_ending_early
    }

    assert reported <= outside <= reported | talks_of_those


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(1, 5)), max_size=8))
def test_peak_is_the_highest_count_at_any_start(spans: list[tuple[int, int]]) -> None:
    events = [
        ClashEvent(PEOPLE[1], "poster", DAY + timedelta(hours=start), DAY + timedelta(hours=start + length))
        for start, length in spans
    ]
    counts = [sum(other.start <= event.start < other.end for other in events) for event in events]

    assert peak(events) == max(counts, default=0)
