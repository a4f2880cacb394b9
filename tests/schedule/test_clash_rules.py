"""Tests of the clash rules without a database: the limits of each rule, and its message."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from schedule.clashes.findings import (
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


def talk(pk: int, first: int, last: int, whole: ClashEvent | None = None, **fields: Any) -> ClashEvent:
    kind = fields.pop("kind", "oral")
    subject = ClashSubject("presentation", pk, f"t{pk}", f"T{pk}", "Talk")
    return ClashEvent(subject, kind, at(first), at(last), session=whole, **fields)


def hung(pk: int, whole: ClashEvent, **fields: Any) -> ClashEvent:
    """Return a poster with the times of its session."""
    times = {"start": whole.start, "end": whole.end, "timed": False, **fields}
    return ClashEvent(
        ClashSubject("presentation", pk, f"t{pk}", f"T{pk}", "Talk"), "poster", session=whole, **times
    )


def found(*events: ClashEvent) -> list[Clash]:
    sessions = [event for event in events if event.is_session]
    talks = [event for event in events if not event.is_session]
    return apply_rules(ClashProgram(ZONE, sessions, talks, ROOMS, PEOPLE))


def told(*events: ClashEvent) -> list[str]:
    return [clash.message for clash in found(*events)]


def weighed(*events: ClashEvent) -> list[tuple[ClashKind, Severity]]:
    return [(clash.kind, clash.severity) for clash in found(*events)]


def spans(*events: ClashEvent) -> list[tuple[datetime, datetime]]:
    return [(clash.start, clash.end) for clash in found(*events)]


ADA: Any = {"people": frozenset({1})}
BO: Any = {"people": frozenset({2})}


# Messages, times and order


def test_a_clash_lasts_while_both_take_place() -> None:
    outer, inner = session(1, 0, 90, **ADA), session(2, 30, 60, **ADA)

    assert spans(outer, inner) == [(at(30), at(60))]
    assert spans(inner, outer) == [(at(30), at(60))]
    assert spans(session(1, 0, 60, **ADA), session(2, 30, 90, **ADA)) == [(at(30), at(60))]


def test_a_clash_with_what_has_no_length_is_a_moment() -> None:
    assert spans(session(1, 0, 60, **ADA), session(2, 30, 30, **ADA)) == [(at(30), at(30))]


def test_a_clash_in_the_hour_that_comes_twice_lasts_as_the_clock_really_runs() -> None:
    def berlin(hour: int, minute: int, fold: int = 0) -> datetime:
        return datetime(2026, 10, 25, hour, minute, tzinfo=ZONE, fold=fold)

    one = ClashEvent(PEOPLE[1], "oral", berlin(2, 0), berlin(2, 40, 1), **ADA)
    other = ClashEvent(PEOPLE[2], "oral", berlin(2, 50), berlin(2, 20, 1), **ADA)
    [clash] = apply_rules(ClashProgram(ZONE, [], [one, other], ROOMS, PEOPLE))

    assert (clash.start, clash.start.fold) == (berlin(2, 50), 0)
    assert (clash.end, clash.end.fold) == (berlin(2, 20, 1), 1)


def test_clashes_stand_by_time_then_serious_ones_first_then_by_kind() -> None:
    coffee = session(1, 0, 60, "break", room=ANNEX)
    panel = session(2, 0, 60, room=ANNEX, **ADA)
    late = session(3, 90, 120, room=HALL, **BO)
    others = (session(4, 0, 60, **ADA), session(5, 90, 120, room=HALL, **BO))

    assert weighed(coffee, panel, late, *others) == [
        (ClashKind.PERSON, Severity.SERIOUS),
        (ClashKind.ROOM, Severity.LIGHT),
        (ClashKind.PERSON, Severity.SERIOUS),
        (ClashKind.ROOM, Severity.SERIOUS),
    ]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, ""),
        (1, "1"),
        (5, "1, 2, 3, 4, 5"),
        (6, "1, 2, 3, 4, 5 and 1 more"),
        (8, "1, 2, 3, 4, 5 and 3 more"),
    ],
)
def test_five_names_are_told_and_how_many_more_there_are(number: int, words: str) -> None:
    assert str(NameList(tuple(range(1, number + 1)))) == words


def test_rows_without_a_kind_are_called_by_their_names_alone() -> None:
    assert str(ClashSubject("room", 1, "r", "Hall *A*")) == "Hall *A*"
    assert str(ClashSubject("session", 1, "s", "On *speed*", "Oral session")) == "Oral session “On speed”"


# People


def test_people_are_named_by_name_and_namesakes_by_key() -> None:
    everybody = frozenset(PEOPLE)
    [clash] = found(session(1, people=everybody), session(2, people=everybody))

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
def test_posters_demos_and_all_of_a_poster_session_hang(
    kind: str, in_session: str, kinds: list[ClashKind]
) -> None:
    whole, other = session(1, kind=in_session), session(2)
    standing = talk(1, 0, 60, whole, kind=kind, **ADA)
    given = talk(2, 0, 15, other, **ADA)

    assert [clash.kind for clash in found(whole, other, standing, given)] == kinds


def test_the_poster_is_named_first_whichever_began_first() -> None:
    posters, orals = session(1, 10, 60, "poster"), session(2)
    early, late = talk(2, 0, 15, orals, **ADA), talk(3, 20, 30, orals, **ADA)
    poster = hung(1, posters, **ADA)

    for given, name in ((early, "T2"), (late, "T3")):
        assert told(posters, orals, poster, given) == [f"Talk “T1” is up while Ada presents Talk “{name}”."]


def test_a_poster_and_the_chair_of_another_session_are_two_places() -> None:
    posters, other = session(1, kind="poster"), session(2, **ADA)

    assert weighed(posters, other, hung(1, posters, **ADA)) == [(ClashKind.PERSON, Severity.SERIOUS)]


def test_paper_without_anybody_marked_clashes_only_as_poster_and_talk() -> None:
    posters, orals, others = session(1, kind="poster"), session(2), session(3)
    poster = hung(1, posters, paper=7)
    given = [talk(2, 0, 15, orals, paper=7), talk(3, 0, 15, others, paper=7)]

    assert weighed(posters, orals, poster, given[0]) == [(ClashKind.POSTER, Severity.SERIOUS)]
    assert found(orals, others, *given) == []
    assert found(posters, orals, poster, talk(2, 0, 15, orals, paper=8)) == []
    assert found(posters, orals, poster, talk(2, 0, 15, orals)) == []
    assert found(posters, orals, poster, talk(2, 0, 15, orals, paper=7, **ADA)) == []


@pytest.mark.parametrize("number", [3, 6, 9])
def test_of_many_at_one_moment_each_is_told_with_five_others(number: int) -> None:
    pairs = sum(min(place, 5) for place in range(number))

    assert len(found(*(session(pk, **ADA) for pk in range(1, number + 1)))) == pairs


# Rooms


@pytest.mark.parametrize("kind", ["break", "meal", "registration", "social"])
def test_what_is_served_beside_a_session_is_worth_a_look(kind: str) -> None:
    side, main = session(1, kind=kind, room=HALL), session(2, room=HALL)

    assert weighed(side, main) == weighed(main, side) == [(ClashKind.ROOM, Severity.LIGHT)]


def test_a_room_that_clashes_is_one_of_the_rows() -> None:
    [clash] = found(session(1, room=ANNEX), session(2, room=ANNEX))

    assert clash.message == "Annex is double-booked: Session “S1” and Session “S2”."
    assert [subject.key for subject in clash.subjects] == [("session", 1), ("session", 2), ("room", ANNEX)]


def test_talks_of_one_session_in_another_room_are_no_second_use_of_it() -> None:
    whole, other = session(1, room=HALL), session(2)
    first, second = talk(1, 0, 30, whole, room=ANNEX), talk(2, 0, 30, whole, room=ANNEX)
    elsewhere = talk(3, 0, 30, other, room=ANNEX)

    assert [kind for kind, _ in weighed(whole, first, second)] == [ClashKind.TALKS]
    assert [clash.kind for clash in found(whole, other, first, elsewhere)] == [ClashKind.ROOM]


def test_talks_without_a_session_use_their_rooms() -> None:
    assert weighed(talk(1, 0, 30, room=ANNEX), talk(2, 15, 45, room=ANNEX)) == [
        (ClashKind.ROOM, Severity.SERIOUS)
    ]
    assert found(talk(1, 0, 30, room=ANNEX), talk(2, 15, 45, room=HALL)) == []
    assert found(talk(1, 0, 30), talk(2, 15, 45)) == []


def test_posters_of_one_session_in_another_room_use_it_once() -> None:
    posters, dance = session(1, kind="poster", room=HALL), session(2, room=ANNEX)
    rows = [hung(pk, posters, room=ANNEX) for pk in (1, 2, 3)]

    assert told(posters, dance, *rows) == ["Annex is double-booked: Session “S2” and Talk “T1”."]
    assert found(posters, *rows) == []


# Talks of one session


def test_talks_at_once_name_their_session() -> None:
    whole = session(1)
    [clash] = found(whole, talk(1, 0, 30, whole), talk(2, 15, 45, whole))

    assert clash.message == "Two talks at once in Session “S1”: Talk “T1”, and Talk “T2”."
    assert (clash.start, clash.end) == (at(15), at(30))
    assert [subject.key for subject in clash.subjects] == [
        ("presentation", 1),
        ("presentation", 2),
        ("session", 1),
    ]


def test_talks_in_two_rooms_and_posters_may_be_at_once() -> None:
    whole, posters = session(1, room=HALL), session(2, kind="poster")
    apart = [talk(1, 0, 30, whole), talk(2, 0, 30, whole, room=ANNEX)]
    standing = [talk(pk, 0, 30, posters, kind="poster") for pk in (3, 4)]

    assert found(whole, posters, *apart, *standing) == []
    assert len(found(whole, apart[0], talk(2, 0, 30, whole, room=HALL))) == 1


def test_a_talk_without_an_end_lasts_until_the_next_begins() -> None:
    whole = session(1, 0, 60)
    rows = [talk(1, 0, 60, whole), talk(2, 20, 60, whole), talk(3, 40, 60, whole), talk(4, 40, 50, whole)]

    ended = close_open_ends(rows, {1, 2, 3})

    assert [(row.subject.pk, row.end) for row in ended] == [
        (1, at(20)),
        (2, at(40)),
        (3, at(60)),
        (4, at(50)),
    ]
    assert [row.end for row in close_open_ends(rows, set())] == [at(60), at(60), at(60), at(50)]


def test_a_talk_without_an_end_is_not_cut_by_those_without_a_time() -> None:
    whole = session(1, 0, 60)
    rows = [talk(1, 0, 60, whole), talk(2, 30, 60, whole, timed=False)]

    assert [row.end for row in close_open_ends(rows, {1})] == [at(60), at(60)]


def test_a_talk_whose_session_has_ended_has_no_length() -> None:
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
def test_talk_that_begins_or_ends_outside_its_session(first: int, last: int, kinds: list[ClashKind]) -> None:
    whole = session(1)
    clashes = found(whole, talk(1, first, last, whole))

    assert [(clash.kind, clash.severity) for clash in clashes] == [(kind, Severity.SERIOUS) for kind in kinds]
    assert [(clash.start, clash.end) for clash in clashes] == [(at(first), at(last)) for _ in kinds]


def test_session_that_ends_early_is_told_by_its_last_talk() -> None:
    whole = session(1, 0, 60)
    rows = [talk(1, 20, 70, whole, room=HALL), talk(2, 30, 90, whole), talk(3, 40, 80, whole, room=ANNEX)]

    [sentence] = told(whole, *rows)

    assert sentence == (
        "Session “S1” (Mon 1 Jun, 09:00 to 10:00 CEST) ends before its last talk does, "
        "Talk “T2” (Mon 1 Jun, 09:30 to 10:30 CEST)."
    )


@pytest.mark.parametrize(("first", "last", "number"), [(0, 60, 0), (-1, 60, 1), (0, 61, 1), (10, 50, 0)])
def test_part_that_begins_or_ends_outside_its_whole(first: int, last: int, number: int) -> None:
    whole = session(1)

    assert (
        weighed(whole, session(2, first, last, parent=whole))
        == [(ClashKind.OUTSIDE_PARENT, Severity.SERIOUS)] * number
    )


# Boards and halls


def test_board_is_told_once_however_many_share_it() -> None:
    whole = session(1, 0, 60, "poster")
    spans = {1: (10, 30), 2: (0, 40), 3: (30, 35), 4: (40, 60)}
    rows = [talk(pk, *span, whole, kind="poster", board=" a  1") for pk, span in spans.items()]
    [clash] = found(whole, *rows)

    assert clash.message == "Board  a  1 is used 3 times in Session “S1”: Talk “T2”, Talk “T1”, Talk “T3”."
    assert (clash.severity, clash.start, clash.end) == (Severity.SERIOUS, at(0), at(40))
    assert [subject.key for subject in clash.subjects] == [
        *(("presentation", pk) for pk in (2, 1, 3)),
        ("session", 1),
    ]


def test_a_board_is_the_same_whatever_its_capitals_and_spaces() -> None:
    whole = session(1, 0, 60, "poster")
    for one, other, number in (("A 1", "a  1 ", 1), ("A1", "A 1", 0), ("", "", 0), (" ", " ", 0)):
        assert len(found(whole, hung(1, whole, board=one), hung(2, whole, board=other))) == number


@pytest.mark.parametrize(
    ("room", "number", "kinds"),
    [(HALL, 2, []), (HALL, 3, [ClashKind.BOARDS_FULL]), (ANNEX, 3, []), (ONLINE, 3, []), (None, 3, [])],
)
def test_hall_is_full_beyond_its_boards(room: int | None, number: int, kinds: list[ClashKind]) -> None:
    whole = session(1, 0, 60, "poster", room=room)
    rows = [hung(pk, whole) for pk in range(number)]

    assert weighed(whole, *rows) == [(kind, Severity.SERIOUS) for kind in kinds]


def test_full_hall_is_told_with_its_numbers_for_the_whole_session() -> None:
    whole = session(1, 0, 60, "poster", room=HALL)
    rows = [talk(pk, 0, 30, whole, kind="poster") for pk in (1, 2, 3)]
    [clash] = found(whole, *rows)

    assert clash.message == "Session “S1” has 3 posters at once; Hall holds 2."
    assert (clash.start, clash.end) == (at(0), at(60))
    assert [subject.key for subject in clash.subjects] == [("session", 1), ("room", HALL)]


def test_boards_of_a_hall_are_counted_in_poster_sessions_alone() -> None:
    whole = session(1, kind="oral", room=HALL)

    assert found(whole, *(hung(pk, whole) for pk in (1, 2, 3))) == []


def test_boards_that_are_free_again_are_not_counted() -> None:
    assert peak([]) == 0
    assert peak([talk(1, 0, 30), talk(2, 30, 60)]) == 1
    assert peak([talk(1, 0, 30), talk(2, 29, 60), talk(3, 10, 60)]) == 3
