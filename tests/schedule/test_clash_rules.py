"""Tests of the clash rules without a database: the limits of each rule, and its message."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from schedule.clashes.findings import (
    Away,
    Clash,
    ClashEvent,
    ClashKind,
    ClashProgram,
    ClashSubject,
    NameList,
    RoomCapacity,
    Severity,
    close_open_ends,
)
from schedule.clashes.rules import apply_rules, peak

ZONE = ZoneInfo("Europe/Berlin")
NINE = datetime(2026, 6, 1, 7, 0, tzinfo=UTC)
HALL, ANNEX, ONLINE = 1, 2, 3
ROOMS = {
    HALL: RoomCapacity(ClashSubject("room", HALL, "hall", "Hall"), capacity=2),
    ANNEX: RoomCapacity(ClashSubject("room", ANNEX, "annex", "Annex")),
    ONLINE: RoomCapacity(ClashSubject("room", ONLINE, "online", "Online"), capacity=0, virtual=True),
}
PEOPLE = {
    key: ClashSubject("person", key, f"u{key}", name) for key, name in ((1, "Ada"), (2, "Bo"), (3, "Ada"))
}


def at(minute: int) -> datetime:
    return NINE + timedelta(minutes=minute)


def session(pk: int, first: int = 0, last: int = 60, kind: str = "oral", **fields: Any) -> ClashEvent:
    subject = ClashSubject("session", pk, f"s{pk}", f"S{pk}", "Session")
    return ClashEvent(subject, kind, at(first), at(last), **fields)


def talk(pk: int, first: int, last: int, parent: ClashEvent | None = None, **fields: Any) -> ClashEvent:
    kind = fields.pop("kind", "oral")
    subject = ClashSubject("presentation", pk, f"t{pk}", f"T{pk}", "Talk")
    return ClashEvent(subject, kind, at(first), at(last), session=parent, **fields)


def untimed_poster(pk: int, parent: ClashEvent, **fields: Any) -> ClashEvent:
    """Return a poster with the times of its session."""
    times = {"start": parent.start, "end": parent.end, "timed": False, **fields}
    return ClashEvent(
        ClashSubject("presentation", pk, f"t{pk}", f"T{pk}", "Talk"), "poster", session=parent, **times
    )


def find_clashes(*events: ClashEvent) -> list[Clash]:
    sessions = [event for event in events if event.is_session]
    talks = [event for event in events if not event.is_session]
    return apply_rules(ClashProgram(ZONE, sessions, talks, ROOMS, PEOPLE))


def messages(*events: ClashEvent) -> list[str]:
    return [clash.message for clash in find_clashes(*events)]


def kinds_and_severities(*events: ClashEvent) -> list[tuple[ClashKind, Severity]]:
    return [(clash.kind, clash.severity) for clash in find_clashes(*events)]


def clash_spans(*events: ClashEvent) -> list[tuple[datetime, datetime]]:
    return [(clash.start, clash.end) for clash in find_clashes(*events)]


ADA: Any = {"people": frozenset({1})}
BO: Any = {"people": frozenset({2})}


# Messages, times and order


def test_clash_spans_the_overlap_of_both_events() -> None:
    outer, inner = session(1, 0, 90, **ADA), session(2, 30, 60, **ADA)

    assert clash_spans(outer, inner) == [(at(30), at(60))]
    assert clash_spans(inner, outer) == [(at(30), at(60))]
    assert clash_spans(session(1, 0, 60, **ADA), session(2, 30, 90, **ADA)) == [(at(30), at(60))]


def test_clash_with_a_zero_length_event_is_a_moment() -> None:
    assert clash_spans(session(1, 0, 60, **ADA), session(2, 30, 30, **ADA)) == [(at(30), at(30))]


def test_clash_with_nested_absences_lasts_until_the_later_end() -> None:
    absences = [Away(PEOPLE[1], at(0), at(50)), Away(PEOPLE[1], at(10), at(20))]
    program = ClashProgram(ZONE, [session(1, 5, 60, **ADA)], [], ROOMS, PEOPLE, absences)
    [clash] = apply_rules(program)

    assert (clash.start, clash.end) == (at(5), at(50))


def test_clash_in_the_repeated_dst_hour_spans_the_elapsed_time() -> None:
    def berlin(hour: int, minute: int, fold: int = 0) -> datetime:
        return datetime(2026, 10, 25, hour, minute, tzinfo=ZONE, fold=fold)

    first = ClashEvent(PEOPLE[1], "oral", berlin(2, 0), berlin(2, 40, 1), **ADA)
    second = ClashEvent(PEOPLE[2], "oral", berlin(2, 50), berlin(2, 20, 1), **ADA)
    [clash] = apply_rules(ClashProgram(ZONE, [], [first, second], ROOMS, PEOPLE))

    assert (clash.start, clash.start.fold) == (berlin(2, 50), 0)
    assert (clash.end, clash.end.fold) == (berlin(2, 20, 1), 1)


def test_clashes_are_sorted_by_time_then_severity_then_kind() -> None:
    coffee = session(1, 0, 60, "break", room=ANNEX)
    panel = session(2, 0, 60, room=ANNEX, **ADA)
    late = session(3, 90, 120, room=HALL, **BO)
    others = (session(4, 0, 60, **ADA), session(5, 90, 120, room=HALL, **BO))

    assert kinds_and_severities(coffee, panel, late, *others) == [
        (ClashKind.PERSON, Severity.SERIOUS),
        (ClashKind.ROOM, Severity.LIGHT),
        (ClashKind.PERSON, Severity.SERIOUS),
        (ClashKind.ROOM, Severity.SERIOUS),
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, ""),
        (1, "1"),
        (5, "1, 2, 3, 4, 5"),
        (6, "1, 2, 3, 4, 5 and 1 more"),
        (8, "1, 2, 3, 4, 5 and 3 more"),
    ],
)
def test_name_list_shows_5_names_and_the_number_of_others(number: int, text: str) -> None:
    assert str(NameList(tuple(range(1, number + 1)))) == text


def test_subject_is_named_with_its_kind_if_it_has_one() -> None:
    assert str(ClashSubject("room", 1, "r", "Hall *A*")) == "Hall *A*"
    assert str(ClashSubject("session", 1, "s", "On *speed*", "Oral session")) == "Oral session “On speed”"


# People


def test_people_are_sorted_by_name_and_namesakes_by_key() -> None:
    all_people = frozenset(PEOPLE)
    [clash] = find_clashes(session(1, people=all_people), session(2, people=all_people))

    assert clash.message == "Ada, Ada, Bo: in two places at once: Session “S1”, and Session “S2”."
    assert [subject.pk for subject in clash.subjects] == [1, 2, 1, 3, 2]


@pytest.mark.parametrize(
    ("kind", "in_session", "kinds"),
    [
        ("poster", "oral", [ClashKind.POSTER]),
        ("demo", "oral", [ClashKind.POSTER]),
        ("oral", "poster", [ClashKind.POSTER]),
        ("oral", "oral", [ClashKind.PERSON]),
    ],
)
def test_posters_demos_and_talks_of_poster_sessions_are_poster_clashes(
    kind: str, in_session: str, kinds: list[ClashKind]
) -> None:
    parent, oral_session = session(1, kind=in_session), session(2)
    presented = talk(1, 0, 60, parent, kind=kind, **ADA)
    oral_talk = talk(2, 0, 15, oral_session, **ADA)

    assert [clash.kind for clash in find_clashes(parent, oral_session, presented, oral_talk)] == kinds


def test_poster_is_named_before_the_talk_regardless_of_start() -> None:
    posters, orals = session(1, 10, 60, "poster"), session(2)
    early, late = talk(2, 0, 15, orals, **ADA), talk(3, 20, 30, orals, **ADA)
    poster = untimed_poster(1, posters, **ADA)

    for oral_talk, name in ((early, "T2"), (late, "T3")):
        assert messages(posters, orals, poster, oral_talk) == [
            f"Talk “T1” is up while Ada presents Talk “{name}”."
        ]


def test_presenter_of_a_poster_chairing_elsewhere_is_a_person_clash() -> None:
    posters, other = session(1, kind="poster"), session(2, **ADA)

    assert kinds_and_severities(posters, other, untimed_poster(1, posters, **ADA)) == [
        (ClashKind.PERSON, Severity.SERIOUS)
    ]


def test_paper_without_marked_presenter_clashes_only_as_poster_and_talk() -> None:
    posters, orals, others = session(1, kind="poster"), session(2), session(3)
    poster = untimed_poster(1, posters, paper=7)
    talks = [talk(2, 0, 15, orals, paper=7), talk(3, 0, 15, others, paper=7)]

    assert kinds_and_severities(posters, orals, poster, talks[0]) == [(ClashKind.POSTER, Severity.SERIOUS)]
    assert find_clashes(orals, others, *talks) == []
    assert find_clashes(posters, orals, poster, talk(2, 0, 15, orals, paper=8)) == []
    assert find_clashes(posters, orals, poster, talk(2, 0, 15, orals)) == []
    assert find_clashes(posters, orals, poster, talk(2, 0, 15, orals, paper=7, **ADA)) == []


@pytest.mark.parametrize("event_count", [3, 6, 9])
def test_each_of_many_simultaneous_events_clashes_with_at_most_5_others(event_count: int) -> None:
    clash_count = sum(min(index, 5) for index in range(event_count))

    assert len(find_clashes(*(session(pk, **ADA) for pk in range(1, event_count + 1)))) == clash_count


# Rooms


@pytest.mark.parametrize("kind", ["break", "meal", "registration", "social"])
def test_break_or_meal_in_the_room_of_a_session_is_a_light_clash(kind: str) -> None:
    side, main = session(1, kind=kind, room=HALL), session(2, room=HALL)

    assert (
        kinds_and_severities(side, main)
        == kinds_and_severities(main, side)
        == [(ClashKind.ROOM, Severity.LIGHT)]
    )


def test_double_booked_room_is_a_subject_of_the_clash() -> None:
    [clash] = find_clashes(session(1, room=ANNEX), session(2, room=ANNEX))

    assert clash.message == "Annex is double-booked: Session “S1” and Session “S2”."
    assert [subject.key for subject in clash.subjects] == [("session", 1), ("session", 2), ("room", ANNEX)]


def test_talks_of_one_session_in_another_room_do_not_double_book_it() -> None:
    parent, other_parent = session(1, room=HALL), session(2)
    first, second = talk(1, 0, 30, parent, room=ANNEX), talk(2, 0, 30, parent, room=ANNEX)
    elsewhere = talk(3, 0, 30, other_parent, room=ANNEX)

    assert [kind for kind, _ in kinds_and_severities(parent, first, second)] == [ClashKind.TALKS]
    assert [clash.kind for clash in find_clashes(parent, other_parent, first, elsewhere)] == [ClashKind.ROOM]


def test_talks_without_a_session_can_double_book_a_room() -> None:
    assert kinds_and_severities(talk(1, 0, 30, room=ANNEX), talk(2, 15, 45, room=ANNEX)) == [
        (ClashKind.ROOM, Severity.SERIOUS)
    ]
    assert find_clashes(talk(1, 0, 30, room=ANNEX), talk(2, 15, 45, room=HALL)) == []
    assert find_clashes(talk(1, 0, 30), talk(2, 15, 45)) == []


def test_posters_of_one_session_in_another_room_are_one_room_clash() -> None:
    posters, dance = session(1, kind="poster", room=HALL), session(2, room=ANNEX)
    rows = [untimed_poster(pk, posters, room=ANNEX) for pk in (1, 2, 3)]

    assert messages(posters, dance, *rows) == ["Annex is double-booked: Session “S2” and Talk “T1”."]
    assert find_clashes(posters, *rows) == []


# Talks of one session


def test_clash_of_overlapping_talks_names_their_session() -> None:
    parent = session(1)
    [clash] = find_clashes(parent, talk(1, 0, 30, parent), talk(2, 15, 45, parent))

    assert clash.message == "Two talks at once in Session “S1”: Talk “T1”, and Talk “T2”."
    assert (clash.start, clash.end) == (at(15), at(30))
    assert [subject.key for subject in clash.subjects] == [
        ("presentation", 1),
        ("presentation", 2),
        ("session", 1),
    ]


def test_talks_in_two_rooms_and_posters_may_overlap() -> None:
    parent, posters = session(1, room=HALL), session(2, kind="poster")
    talks = [talk(1, 0, 30, parent), talk(2, 0, 30, parent, room=ANNEX)]
    poster_talks = [talk(pk, 0, 30, posters, kind="poster") for pk in (3, 4)]

    assert find_clashes(parent, posters, *talks, *poster_talks) == []
    assert len(find_clashes(parent, talks[0], talk(2, 0, 30, parent, room=HALL))) == 1


def test_open_ended_talk_ends_when_the_next_begins() -> None:
    parent = session(1, 0, 60)
    rows = [talk(1, 0, 60, parent), talk(2, 20, 60, parent), talk(3, 40, 60, parent), talk(4, 40, 50, parent)]

    ended = close_open_ends(rows, {1, 2, 3})

    assert [(row.subject.pk, row.end) for row in ended] == [
        (1, at(20)),
        (2, at(40)),
        (3, at(60)),
        (4, at(50)),
    ]
    assert [row.end for row in close_open_ends(rows, set())] == [at(60), at(60), at(60), at(50)]


def test_open_ended_talk_is_not_cut_by_talks_without_times() -> None:
    parent = session(1, 0, 60)
    rows = [talk(1, 0, 60, parent), talk(2, 30, 60, parent, timed=False)]

    assert [row.end for row in close_open_ends(rows, {1})] == [at(60), at(60)]


def test_open_ended_talk_after_the_end_of_its_session_has_zero_length() -> None:
    rows = [talk(1, 70, 60), talk(2, 90, 100)]

    assert [(row.start, row.end) for row in close_open_ends(rows, {1})] == [
        (at(70), at(70)),
        (at(90), at(100)),
    ]


# Sessions and their parts


@pytest.mark.parametrize(
    ("first", "last", "kinds"),
    [
        (0, 60, []),
        (-1, 30, [ClashKind.OUTSIDE_SESSION]),
        (0, 61, [ClashKind.ENDS_EARLY]),
        (59, 61, [ClashKind.ENDS_EARLY]),
        (60, 61, [ClashKind.OUTSIDE_SESSION]),
        (60, 60, []),
        (-1, 61, [ClashKind.OUTSIDE_SESSION]),
    ],
)
def test_talk_that_begins_or_ends_outside_its_session_is_a_clash(
    first: int, last: int, kinds: list[ClashKind]
) -> None:
    parent = session(1)
    clashes = find_clashes(parent, talk(1, first, last, parent))

    assert [(clash.kind, clash.severity) for clash in clashes] == [(kind, Severity.SERIOUS) for kind in kinds]
    assert [(clash.start, clash.end) for clash in clashes] == [(at(first), at(last)) for _ in kinds]


def test_session_that_ends_early_is_one_clash_with_its_last_talk() -> None:
    parent = session(1, 0, 60)
    rows = [talk(1, 20, 70, parent, room=HALL), talk(2, 30, 90, parent), talk(3, 40, 80, parent, room=ANNEX)]

    [message] = messages(parent, *rows)

    assert message == (
        "Session “S1” (Mon 1 Jun, 09:00 to 10:00 CEST) ends before its last talk does, "
        "Talk “T2” (Mon 1 Jun, 09:30 to 10:30 CEST)."
    )


@pytest.mark.parametrize(("first", "last", "clash_count"), [(0, 60, 0), (-1, 60, 1), (0, 61, 1), (10, 50, 0)])
def test_part_that_begins_or_ends_outside_its_parent_is_a_clash(
    first: int, last: int, clash_count: int
) -> None:
    parent = session(1)

    expected = [(ClashKind.OUTSIDE_PARENT, Severity.SERIOUS)] * clash_count

    assert kinds_and_severities(parent, session(2, first, last, parent=parent)) == expected


# Boards and halls


def test_board_used_by_several_talks_is_one_clash() -> None:
    parent = session(1, 0, 60, "poster")
    minutes = {1: (10, 30), 2: (0, 40), 3: (30, 35), 4: (40, 60)}
    rows = [talk(pk, *span, parent, kind="poster", board=" a  1") for pk, span in minutes.items()]
    [clash] = find_clashes(parent, *rows)

    assert clash.message == "Board  a  1 is used 3 times in Session “S1”: Talk “T2”, Talk “T1”, Talk “T3”."
    assert (clash.severity, clash.start, clash.end) == (Severity.SERIOUS, at(0), at(40))
    assert [subject.key for subject in clash.subjects] == [
        *(("presentation", pk) for pk in (2, 1, 3)),
        ("session", 1),
    ]


@pytest.mark.parametrize(
    ("first", "second", "clash_count"),
    [("A 1", "a  1 ", 1), ("A1", "A 1", 0), ("", "", 0), (" ", " ", 0)],
)
def test_boards_are_compared_ignoring_case_and_repeated_spaces(
    first: str, second: str, clash_count: int
) -> None:
    parent = session(1, 0, 60, "poster")
    posters = [untimed_poster(pk, parent, board=board) for pk, board in ((1, first), (2, second))]

    assert len(find_clashes(parent, *posters)) == clash_count


@pytest.mark.parametrize(
    ("room", "poster_count", "kinds"),
    [(HALL, 2, []), (HALL, 3, [ClashKind.BOARDS_FULL]), (ANNEX, 3, []), (ONLINE, 3, []), (None, 3, [])],
)
def test_more_posters_than_boards_are_a_clash(
    room: int | None, poster_count: int, kinds: list[ClashKind]
) -> None:
    parent = session(1, 0, 60, "poster", room=room)
    rows = [untimed_poster(pk, parent) for pk in range(poster_count)]

    assert kinds_and_severities(parent, *rows) == [(kind, Severity.SERIOUS) for kind in kinds]


def test_clash_of_a_full_hall_has_its_counts_and_spans_the_session() -> None:
    parent = session(1, 0, 60, "poster", room=HALL)
    rows = [talk(pk, 0, 30, parent, kind="poster") for pk in (1, 2, 3)]
    [clash] = find_clashes(parent, *rows)

    assert clash.message == "Session “S1” has 3 posters at once; Hall holds 2."
    assert (clash.start, clash.end) == (at(0), at(60))
    assert [subject.key for subject in clash.subjects] == [("session", 1), ("room", HALL)]


def test_capacity_of_boards_is_checked_only_in_poster_sessions() -> None:
    parent = session(1, kind="oral", room=HALL)

    assert find_clashes(parent, *(untimed_poster(pk, parent) for pk in (1, 2, 3))) == []


def test_peak_counts_only_simultaneous_talks() -> None:
    assert peak([]) == 0
    assert peak([talk(1, 0, 30), talk(2, 30, 60)]) == 1
    assert peak([talk(1, 0, 30), talk(2, 29, 60), talk(3, 10, 60)]) == 3
