"""Tests of finding clashes in the database: every kind, and cases that are no clash."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content import revision
from papers.models import Paper
from people.models import Person
from schedule import clashes
from schedule.models import Presentation, Session, Unavailability
from tests.factories import (
    MORNING,
    add_author,
    add_role,
    make_edition,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
)

pytestmark = pytest.mark.django_db

type Minutes = tuple[int, int]


def at(minute: int) -> datetime:
    return MORNING + timedelta(minutes=minute)


def session(edition: Edition, first: int = 0, last: int = 60, **fields: Any) -> Session:
    return make_session(edition, start=at(first), end=at(last), **fields)


def paper_by(edition: Edition, *presenting: Person, **fields: Any) -> Paper:
    """Create a paper of an author who is not marked as presenting, and of these, who are."""
    paper = make_paper(edition, [f"Coauthor {make_person().pk}"], **fields)
    for person in presenting:
        add_author(paper, person, presenting=True)
    return paper


def talk(parent: Session | None, first: int, last: int, **fields: Any) -> Presentation:
    return make_presentation(parent, **{"start": at(first), "end": at(last), **fields})


def clash_kinds(edition: Edition) -> list[str]:
    return [str(clash.kind.value) for clash in clashes.find_clashes(edition).all]


def clash_messages(edition: Edition) -> list[str]:
    return [clash.message for clash in clashes.find_clashes(edition).all]


# People


@pytest.mark.parametrize("role", ["speaker", "moderator", "chair", "panelist"])
def test_person_with_roles_in_two_simultaneous_sessions_is_a_clash(role: str, edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition, title="First", kind="panel"), ada, role)
    add_role(session(edition, 30, 90, title="Second"), ada, "chair")
    [clash] = clashes.find_clashes(edition).all

    assert clash.message == "Ada: in two places at once: Panel “First”, and Oral session “Second”."
    assert (clash.kind, clash.severity) == (clashes.ClashKind.PERSON, clashes.Severity.SERIOUS)
    assert clash.when == "Tue 6 Apr, 08:30 to 09:00 PDT"
    assert [(row.model, str(row)) for row in clash.subjects][2] == ("person", "Ada")


@pytest.mark.parametrize(
    ("minutes", "count"),
    [((0, 60), 1), ((0, 15), 1), ((59, 70), 1), ((60, 90), 0), ((10, 10), 1), ((0, 0), 1)],
    ids=["equal", "same minute", "overlapping", "touching", "of no length", "of no length at the start"],
)
def test_trap_equal_overlapping_and_touching_times(minutes: Minutes, count: int, edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition), ada, "chair")
    add_role(session(edition, *minutes), ada, "speaker")

    assert len(clashes.find_clashes(edition).all) == count


def test_organizers_and_authors_who_do_not_present_never_clash(edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition), ada, "organizer")
    paper = make_paper(edition, [ada])
    talk(session(edition), 0, 15, paper=paper)
    add_role(session(edition), ada, "chair")

    assert clash_kinds(edition) == []


def test_chair_may_present_in_the_own_session_and_in_its_parts(edition: Edition) -> None:
    ada = make_person("Ada")
    workshop = session(edition, 0, 120, kind="workshop")
    part = session(edition, 0, 60, parent=workshop)
    for parent in (workshop, part):
        add_role(parent, ada, "chair")
    talk(part, 0, 15, paper=paper_by(edition, ada))
    talk(part, 15, 30, paper=paper_by(edition, ada))

    assert clash_kinds(edition) == []


def test_presenter_who_chairs_or_speaks_elsewhere_is_a_clash(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    talk(session(edition), 15, 30, paper=paper_by(edition, ada, bob, title="Compilers"))
    other = session(edition, title="Other")
    add_role(other, ada, "chair")
    talk(other, 20, 25, title="Keynote", speakers=[bob])

    assert clash_messages(edition) == [
        "Ada: in two places at once: Oral session “Other”, and Oral “Compilers”.",
        "Bob: in two places at once: Oral “Compilers”, and Talk “Keynote”.",
    ]


def test_talks_without_own_times_do_not_clash_within_their_session(edition: Edition) -> None:
    ada, parent = make_person("Ada"), session(edition)
    for _ in range(2):
        make_presentation(parent, paper_by(edition, ada))
    add_role(session(edition, 30, 90, title="Other"), ada, "chair")

    assert clash_kinds(edition) == ["person", "person"]


def test_two_simultaneous_posters_of_one_presenter_are_a_light_clash(edition: Edition) -> None:
    ada, posters = make_person("Ada"), session(edition, kind="poster")
    for title in ("First", "Second"):
        make_presentation(posters, paper_by(edition, ada, title=title), kind="poster")
    [clash] = clashes.find_clashes(edition).all

    assert clash.message == "Ada: in two places at once: Poster “First”, and Poster “Second”."
    assert clash.severity == clashes.Severity.LIGHT


# Posters and talks


def test_poster_during_another_talk_of_its_presenter_is_a_clash(edition: Edition) -> None:
    ada = make_person("Ada")
    posters, orals = session(edition, 0, 120, kind="poster"), session(edition)
    make_presentation(posters, paper_by(edition, ada, title="Hung"), kind="poster")
    talk(orals, 0, 15, paper=paper_by(edition, ada, title="Given"))

    assert clash_messages(edition) == ["Poster “Hung” is up while Ada presents Oral “Given”."]
    assert clash_kinds(edition) == ["poster"]


def test_poster_during_a_talk_about_the_same_paper_is_a_clash(edition: Edition) -> None:
    paper = make_paper(edition, ["Ada"], title="Both")
    make_presentation(session(edition, kind="poster"), paper, kind="poster")
    talk(session(edition), 0, 15, paper=paper)

    assert clash_messages(edition) == ["Poster “Both” is up while its paper is being presented: Oral “Both”."]


# Rooms


def test_virtual_rooms_never_clash_and_breaks_are_light_clashes(edition: Edition) -> None:
    online, foyer = make_room(edition, "Online", virtual=True), make_room(edition, "Foyer")
    for kind in ("oral", "panel"):
        session(edition, room=online, kind=kind)
    for kind in ("break", "poster"):
        session(edition, room=foyer, kind=kind)

    assert [(clash.kind.value, clash.severity.value) for clash in clashes.find_clashes(edition).all] == [
        ("room", "light")
    ]


def test_presentation_in_its_own_room_can_double_book_it(edition: Edition) -> None:
    hall, annex = make_room(edition, "Hall"), make_room(edition, "Annex")
    session(edition, title="There", room=annex)
    parent = session(edition, title="Away", room=hall)
    talk(parent, 0, 15, title="Demo", room=annex)
    talk(parent, 15, 30, title="At home", room=hall)

    assert clash_messages(edition) == ["Annex is double-booked: Talk “Demo” and Oral session “There”."]


def test_open_ended_talks_do_not_overlap_the_next(edition: Edition) -> None:
    parent, ada = session(edition), make_person("Ada")
    for first in (0, 20, 40):
        talk(parent, first, first, end=None, speakers=[ada])
    add_role(session(edition, 60, 90), ada, "chair")

    assert clash_kinds(edition) == []


# Sessions and their parts


def test_part_outside_its_workshop_is_a_clash(edition: Edition) -> None:
    workshop = session(edition, 0, 60, kind="workshop", title="W")
    session(edition, 60, 90, title="Late", parent=workshop)
    session(edition, 0, 60, parent=workshop)

    [message] = clash_messages(edition)

    assert message == (
        "Oral session “Late” (Tue 6 Apr, 09:00 to 09:30 PDT) is outside its parent, "
        "Workshop “W” (Tue 6 Apr, 08:00 to 09:00 PDT)."
    )


def test_outside_and_ending_early_querysets_agree_with_the_clashes(edition: Edition) -> None:
    hour_long, instant = session(edition, 0, 60), session(edition, 0, 0)
    spans = [(0, 60), (-15, 0), (-15, 75), (60, 75), (60, 60), (50, 70), (75, None), (-15, None), (None, 70)]
    for parent in (hour_long, instant):
        for first, last in spans:
            start, end = (minute if minute is None else at(minute) for minute in (first, last))
            make_presentation(parent, start=start, end=end, title="T", kind="talk")

    pks_by_kind: dict[str, set[int]] = defaultdict(set)
    for clash in clashes.find_clashes(edition).all:
        pks_by_kind[clash.kind.value].add(clash.subjects[0].pk)

    ending_early = {row.pk for row in Session.objects.ending_early()}
    assert {row.pk for row in Presentation.objects.outside_session()} == pks_by_kind["outside_session"]
    assert ending_early == pks_by_kind["ends_early"] == {hour_long.pk}


# Boards


def test_board_used_twice_in_one_session_is_a_clash(edition: Edition) -> None:
    posters, later = session(edition, kind="poster", title="P"), session(edition, 60, 90, kind="poster")
    for title, board in (("A", "B 7"), ("B", "b  7 "), ("C", "B 8")):
        make_presentation(posters, make_paper(edition, title=title), kind="poster", board=board)
    make_presentation(later, make_paper(edition), kind="poster", board="B 7")

    [message] = clash_messages(edition)

    assert message == "Board B 7 is used 2 times in Poster session “P”: Poster “A”, Poster “B”."


def test_board_may_be_used_again_later_or_in_another_room(edition: Edition) -> None:
    posters = session(edition, kind="poster")
    talk(posters, 0, 30, paper=make_paper(edition), kind="poster", board="1")
    talk(posters, 30, 60, paper=make_paper(edition), kind="poster", board="1")
    make_presentation(
        posters, make_paper(edition), kind="poster", board="1", room=make_room(edition, "Other")
    )

    assert clash_kinds(edition) == []


# Cancellations, times, queries


def test_cancelled_rows_never_clash_and_drafts_do(edition: Edition) -> None:
    ada = make_person("Ada")
    workshop = session(edition, kind="workshop", status="cancelled")
    add_role(session(edition, parent=workshop), ada, "chair")
    add_role(session(edition, status="cancelled"), ada, "chair")
    talk(session(edition), 0, 15, paper=paper_by(edition, ada), status="cancelled")
    talk(session(edition), 0, 15, paper=paper_by(edition, ada, status="withdrawn"))
    add_role(session(edition, status="draft"), ada, "chair")
    assert clash_kinds(edition) == []

    add_role(session(edition, status="draft"), ada, "chair")
    assert clash_kinds(edition) == ["person"]


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ((0, 30), (0, 90), 1),  # 02:30 CEST to 03:30 CET, and 02:30 CET: the hour comes twice
        ((0, 30), (60, 30), 0),  # 02:30 CEST for half an hour, and an hour later by the same clock
        ((-180, 181), (0, 30), 1),  # over midnight
    ],
)
def test_clashes_over_the_end_of_dst_and_midnight(first: Minutes, second: Minutes, count: int) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin")
    ada, half_past_two = make_person("Ada"), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    for begin, length in (first, second):
        start = half_past_two + timedelta(minutes=begin)
        add_role(make_session(edition, start=start, minutes=length), ada, "chair")

    assert len(clashes.find_clashes(edition).all) == count


def test_find_clashes_about_returns_the_clashes_of_the_given_rows(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    first, second, third = (session(edition) for _ in range(3))
    for person, chaired in ((ada, first), (ada, second), (bob, second), (bob, third)):
        add_role(chaired, person, "chair")
    presentation = talk(third, 0, 15, paper=paper_by(edition, ada))

    counts = [len(clashes.find_clashes_about([row])) for row in (first, second, third, presentation)]
    assert counts == [2, 3, 3, 2]
    assert len(clashes.find_clashes_about([first, second, third])) == 4
    assert clashes.find_clashes_about([]) == []


def make_crowded_program(edition: Edition, seed: int) -> None:
    """Create sessions, talks and posters of few people in few rooms, so that many clash."""
    chance = random.Random(seed)
    people = [make_person(f"Person {number}") for number in range(8)]
    rooms = [make_room(edition, f"Hall {number}", capacity=1) for number in range(3)]
    for number in range(10):
        first = chance.randrange(0, 120, 15)
        parent = session(
            edition,
            first,
            first + chance.choice([30, 60]),
            uid=f"s{number}",
            room=chance.choice([*rooms, None]),
            kind=chance.choice(["oral", "poster"]),
        )
        add_role(parent, chance.choice(people), "chair")
        for _ in range(3):
            paper = paper_by(edition, *chance.sample(people, chance.randrange(3)))
            kind = chance.choice(["talk", "poster"])
            for target in dict.fromkeys([parent, chance.choice([*edition.sessions.order_by("uid"), parent])]):
                begin = first + chance.randrange(0, 45, 5)
                talk(
                    target,
                    begin,
                    begin + chance.choice([5, 30]),
                    # Without an end, it lasts until the next one begins.
                    **({"end": None} if chance.random() < 0.3 else {}),
                    paper=paper,
                    kind=kind,
                    board=chance.choice(["", "1", "2"]),
                    room=chance.choice([*rooms, None, None]),
                    speakers=chance.sample(people, chance.randrange(2)),
                )
    for target in ({"person": people[0]}, {"room": rooms[0]}):
        Unavailability.objects.create(edition=edition, start=at(0), end=at(60), **target)


@pytest.mark.parametrize("seed", range(3))
def test_clashes_about_a_row_are_those_of_the_edition_that_name_it(edition: Edition, seed: int) -> None:
    make_crowded_program(edition, seed)
    edition_clashes = clashes.find_clashes(edition)
    rows = [*edition.sessions.all(), *edition.presentations.all(), *edition.rooms.all()]

    assert len({clash.kind for clash in edition_clashes.all}) >= 8
    for row in rows:
        about_row = clashes.find_clashes_about([row])
        assert [clash.message for clash in about_row] == [
            clash.message for clash in edition_clashes.about([row])
        ]


def test_find_clashes_about_a_session_omits_talks_without_a_session(edition: Edition) -> None:
    ada, free_session = make_person("Ada"), make_session(edition)
    make_presentation(None, edition=edition, speakers=[ada], start=at(0), end=at(15))
    add_role(session(edition), ada, "chair")

    assert clash_kinds(edition) == ["person"]
    assert clashes.find_clashes_about([free_session]) == []


# Clashes of planned changes


def test_clash_difference_separates_new_and_solved_clashes(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    first, second, third = (session(edition, hour * 60, hour * 60 + 60) for hour in (0, 0, 1))
    for row, person in ((first, ada), (second, ada), (second, bob), (third, bob)):
        add_role(row, person, "chair")
    unchanged = clashes.clash_difference(edition, clashes.PlannedEdit())
    difference = clashes.clash_difference(
        edition, clashes.PlannedEdit({second.pk: {"start": third.start, "end": third.end}})
    )

    assert (len(unchanged.all), unchanged.new, unchanged.solved) == (1, [], [])
    groups = difference.all, difference.new, difference.solved
    assert [[clash.message[:3] for clash in group] for group in groups] == [["Bob"], ["Bob"], ["Ada"]]


def test_clash_difference_of_one_moved_talk(edition: Edition) -> None:
    parent = session(edition)
    late = talk(parent, 60, 70)
    difference = clashes.clash_difference(
        edition, clashes.PlannedEdit(talks={late.pk: {"start": at(0), "end": at(10)}})
    )

    assert (difference.all, difference.new, len(difference.solved)) == ([], [], 1)


def test_sessions_of_a_clash_include_those_of_its_talks(edition: Edition) -> None:
    for _ in range(3):
        make_person()  # Extra people make the primary keys of people and talks differ.
    ada = make_person("Ada")
    parent, other = session(edition), session(edition)
    talk(parent, 0, 15, paper=paper_by(edition, ada))
    make_presentation(None, edition=edition, speakers=[ada], start=at(0), end=at(15))
    add_role(other, ada, "chair")
    difference = clashes.clash_difference(edition, clashes.PlannedEdit())

    assert sorted(sorted(difference.sessions(clash)) for clash in difference.all) == [
        [parent.pk],
        [parent.pk, other.pk],
        [other.pk],
    ]


@pytest.mark.parametrize("row_count", [1, 3])
def test_query_counts_are_the_same_for_1_and_3_rows(
    row_count: int, edition: Edition, django_assert_num_queries: Any
) -> None:
    ada, hall = make_person("Ada"), make_room(edition)
    parent = moved = None
    for _ in range(row_count):
        parent = session(edition, room=hall)
        add_role(parent, ada, "chair")
        moved = talk(parent, 0, 15, paper=paper_by(edition, ada))
        talk(parent, 15, 30, speakers=[ada])
        for target in ({"person": ada}, {"room": hall}):
            Unavailability.objects.create(edition=edition, start=at(0), end=at(60), **target)
    assert parent
    assert moved
    planned = clashes.PlannedEdit(talks={moved.pk: {"session": parent.pk, "start": at(5), "end": at(20)}})

    with django_assert_num_queries(5):
        all_clashes = clashes.find_clashes(edition).all
    with django_assert_num_queries(19):
        clashes.find_clashes_about([parent])
    # The clashes of the stored program are cached for each revision.
    for count in (7, 2):
        with django_assert_num_queries(count):
            clashes.clash_difference(edition, planned)
    with django_assert_num_queries(14):
        nearby_difference = clashes.clash_difference(edition, planned, nearby=True)

    away_kinds = {clashes.ClashKind.PERSON_AWAY, clashes.ClashKind.ROOM_AWAY}
    assert away_kinds <= {clash.kind for clash in all_clashes}
    assert away_kinds <= {clash.kind for clash in nearby_difference.all}


# The cache


def test_clashes_are_cached_until_the_revision_advances(edition: Edition) -> None:
    room = make_room(edition)
    first, second = session(edition, room=room), session(edition, room=room)
    with CaptureQueriesContext(connection) as cold:
        before = clashes.cached_clashes(edition)
    with CaptureQueriesContext(connection) as warm:
        cached = clashes.cached_clashes(edition)
    fresh = clashes.find_clashes_about([first])
    with revision.lock():
        Session.objects.filter(pk=second.pk).update(start=at(60), end=at(90))
        # The revision advances when the lock is released, so clashes found before are not cached.
        uncached = clashes.cached_clashes(edition)
        Session.objects.filter(pk=second.pk).update(start=at(30))

    assert cached is before
    assert (len(cold), len(warm)) == (7, 2)
    assert [len(clash_list.all) for clash_list in (before, uncached, clashes.cached_clashes(edition))] == [
        1,
        0,
        1,
    ]
    assert before.about([first]) == before.all == fresh
    assert before.about([]) == []
