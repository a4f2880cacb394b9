"""Tests of finding clashes in the database: every kind, and cases that are no clash."""

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


def talk(whole: Session | None, first: int, last: int, **fields: Any) -> Presentation:
    return make_presentation(whole, **{"start": at(first), "end": at(last), **fields})


def kinds(edition: Edition) -> list[str]:
    return [str(clash.kind.value) for clash in clashes.find_clashes(edition).all]


def told(edition: Edition) -> list[str]:
    return [clash.message for clash in clashes.find_clashes(edition).all]


# People


@pytest.mark.parametrize("role", ["speaker", "moderator", "chair", "panelist"])
def test_person_with_roles_in_two_sessions_at_once(role: str, edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition, title="First", kind="panel"), ada, role)
    add_role(session(edition, 30, 90, title="Second"), ada, "chair")
    [clash] = clashes.find_clashes(edition).all

    assert clash.message == "Ada: in two places at once: Panel “First”, and Oral session “Second”."
    assert (clash.kind, clash.severity) == (clashes.ClashKind.PERSON, clashes.Severity.SERIOUS)
    assert clash.when == "Tue 6 Apr, 08:30 to 09:00 PDT"
    assert [(row.model, str(row)) for row in clash.subjects][2] == ("person", "Ada")


@pytest.mark.parametrize(
    ("minutes", "found"),
    [((0, 60), 1), ((0, 15), 1), ((59, 70), 1), ((60, 90), 0), ((10, 10), 1), ((0, 0), 1)],
    ids=["equal", "same minute", "overlapping", "touching", "of no length", "of no length at the start"],
)
def test_trap_equal_overlapping_and_touching_times(minutes: Minutes, found: int, edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition), ada, "chair")
    add_role(session(edition, *minutes), ada, "speaker")

    assert len(clashes.find_clashes(edition).all) == found


def test_organizers_and_authors_who_do_not_present_are_free(edition: Edition) -> None:
    ada = make_person("Ada")
    add_role(session(edition), ada, "organizer")
    paper = make_paper(edition, [ada])
    talk(session(edition), 0, 15, paper=paper)
    add_role(session(edition), ada, "chair")

    assert kinds(edition) == []


def test_chair_may_present_in_the_session_and_in_its_parts(edition: Edition) -> None:
    ada = make_person("Ada")
    workshop = session(edition, 0, 120, kind="workshop")
    part = session(edition, 0, 60, parent=workshop)
    for one in (workshop, part):
        add_role(one, ada, "chair")
    talk(part, 0, 15, paper=paper_by(edition, ada))
    talk(part, 15, 30, paper=paper_by(edition, ada))

    assert kinds(edition) == []


def test_presenter_of_a_talk_chairs_elsewhere_and_speaks_elsewhere(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    talk(session(edition), 15, 30, paper=paper_by(edition, ada, bob, title="Compilers"))
    other = session(edition, title="Other")
    add_role(other, ada, "chair")
    talk(other, 20, 25, title="Keynote", speakers=[bob])

    assert told(edition) == [
        "Ada: in two places at once: Oral session “Other”, and Oral “Compilers”.",
        "Bob: in two places at once: Oral “Compilers”, and Talk “Keynote”.",
    ]


def test_talks_without_times_of_their_own_do_not_clash_inside_their_session(edition: Edition) -> None:
    ada, whole = make_person("Ada"), session(edition)
    for _ in range(2):
        make_presentation(whole, paper_by(edition, ada))
    add_role(session(edition, 30, 90, title="Other"), ada, "chair")

    assert kinds(edition) == ["person", "person"]


def test_two_posters_of_one_presenter_are_worth_a_look(edition: Edition) -> None:
    ada, posters = make_person("Ada"), session(edition, kind="poster")
    for title in ("First", "Second"):
        make_presentation(posters, paper_by(edition, ada, title=title), kind="poster")
    [clash] = clashes.find_clashes(edition).all

    assert clash.message == "Ada: in two places at once: Poster “First”, and Poster “Second”."
    assert clash.severity == clashes.Severity.LIGHT


# Posters and talks


def test_poster_hung_while_its_author_gives_an_oral(edition: Edition) -> None:
    ada = make_person("Ada")
    posters, orals = session(edition, 0, 120, kind="poster"), session(edition)
    make_presentation(posters, paper_by(edition, ada, title="Hung"), kind="poster")
    talk(orals, 0, 15, paper=paper_by(edition, ada, title="Given"))

    assert told(edition) == ["Poster “Hung” is up while Ada presents Oral “Given”."]
    assert kinds(edition) == ["poster"]


def test_poster_hung_while_its_own_paper_is_given_by_nobody_marked(edition: Edition) -> None:
    paper = make_paper(edition, ["Ada"], title="Both")
    make_presentation(session(edition, kind="poster"), paper, kind="poster")
    talk(session(edition), 0, 15, paper=paper)

    assert told(edition) == ["Poster “Both” is up while its paper is being presented: Oral “Both”."]


# Rooms


def test_virtual_rooms_hold_any_number_and_coffee_is_worth_a_look(edition: Edition) -> None:
    online, foyer = make_room(edition, "Online", virtual=True), make_room(edition, "Foyer")
    for kind in ("oral", "panel"):
        session(edition, room=online, kind=kind)
    for kind in ("break", "poster"):
        session(edition, room=foyer, kind=kind)

    assert [(one.kind.value, one.severity.value) for one in clashes.find_clashes(edition).all] == [
        ("room", "light")
    ]


def test_presentation_in_a_room_of_its_own_uses_it(edition: Edition) -> None:
    hall, annex = make_room(edition, "Hall"), make_room(edition, "Annex")
    session(edition, title="There", room=annex)
    away = session(edition, title="Away", room=hall)
    talk(away, 0, 15, title="Demo", room=annex)
    talk(away, 15, 30, title="At home", room=hall)

    assert told(edition) == ["Annex is double-booked: Talk “Demo” and Oral session “There”."]


def test_talk_without_an_end_lasts_until_the_next(edition: Edition) -> None:
    whole, ada = session(edition), make_person("Ada")
    for first in (0, 20, 40):
        talk(whole, first, first, end=None, speakers=[ada])
    add_role(session(edition, 60, 90), ada, "chair")

    assert kinds(edition) == []


# Sessions and their parts


def test_session_outside_its_workshop(edition: Edition) -> None:
    workshop = session(edition, 0, 60, kind="workshop", title="W")
    session(edition, 60, 90, title="Late", parent=workshop)
    session(edition, 0, 60, parent=workshop)

    [message] = told(edition)

    assert message == (
        "Oral session “Late” (Tue 6 Apr, 09:00 to 09:30 PDT) is outside its parent, "
        "Workshop “W” (Tue 6 Apr, 08:00 to 09:00 PDT)."
    )


def test_desk_counts_what_lies_outside_as_the_clashes_do(edition: Edition) -> None:
    whole, instant = session(edition, 0, 60), session(edition, 0, 0)
    spans = [(0, 60), (-15, 0), (-15, 75), (60, 75), (60, 60), (50, 70), (75, None), (-15, None), (None, 70)]
    for one in (whole, instant):
        for first, last in spans:
            start, end = (minute if minute is None else at(minute) for minute in (first, last))
            make_presentation(one, start=start, end=end, title="T", kind="talk")

    found: dict[str, set[int]] = defaultdict(set)
    for clash in clashes.find_clashes(edition).all:
        found[clash.kind.value].add(clash.subjects[0].pk)

    assert {talk.pk for talk in Presentation.objects.outside_session()} == found["outside_session"]
    assert {one.pk for one in Session.objects.ending_early()} == found["ends_early"] == {whole.pk}


# Boards


def test_board_used_twice_in_one_session(edition: Edition) -> None:
    posters, later = session(edition, kind="poster", title="P"), session(edition, 60, 90, kind="poster")
    for title, board in (("A", "B 7"), ("B", "b  7 "), ("C", "B 8")):
        make_presentation(posters, make_paper(edition, title=title), kind="poster", board=board)
    make_presentation(later, make_paper(edition), kind="poster", board="B 7")

    assert told(edition) == ["Board B 7 is used 2 times in Poster session “P”: Poster “A”, Poster “B”."]


def test_board_may_change_hands_and_stand_in_two_rooms(edition: Edition) -> None:
    posters = session(edition, kind="poster")
    talk(posters, 0, 30, paper=make_paper(edition), kind="poster", board="1")
    talk(posters, 30, 60, paper=make_paper(edition), kind="poster", board="1")
    make_presentation(
        posters, make_paper(edition), kind="poster", board="1", room=make_room(edition, "Other")
    )

    assert kinds(edition) == []


# Cancellations, times, queries


def test_called_off_clashes_with_nothing_and_drafts_do(edition: Edition) -> None:
    ada = make_person("Ada")
    workshop = session(edition, kind="workshop", status="cancelled")
    add_role(session(edition, parent=workshop), ada, "chair")
    add_role(session(edition, status="cancelled"), ada, "chair")
    talk(session(edition), 0, 15, paper=paper_by(edition, ada), status="cancelled")
    talk(session(edition), 0, 15, paper=paper_by(edition, ada, status="withdrawn"))
    add_role(session(edition, status="draft"), ada, "chair")
    assert kinds(edition) == []

    add_role(session(edition, status="draft"), ada, "chair")
    assert kinds(edition) == ["person"]


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((0, 30), (0, 90), 1),  # 02:30 CEST to 03:30 CET, and 02:30 CET: the hour comes twice
        ((0, 30), (60, 30), 0),  # 02:30 CEST for half an hour, and an hour later by the same clock
        ((-180, 181), (0, 30), 1),  # over midnight
    ],
)
def test_clocks_put_back_and_midnight(first: Minutes, second: Minutes, found: int) -> None:
    edition = make_edition(2026, timezone="Europe/Berlin")
    ada, half_past_two = make_person("Ada"), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    for begin, length in (first, second):
        start = half_past_two + timedelta(minutes=begin)
        add_role(make_session(edition, start=start, minutes=length), ada, "chair")

    assert len(clashes.find_clashes(edition).all) == found


def test_touching_names_the_rows_asked_for(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    first, second, third = (session(edition) for _ in range(3))
    for person, one in ((ada, first), (ada, second), (bob, second), (bob, third)):
        add_role(one, person, "chair")
    part = talk(third, 0, 15, paper=paper_by(edition, ada))

    assert [len(clashes.find_clashes_about([row])) for row in (first, second, third, part)] == [2, 3, 3, 2]
    assert len(clashes.find_clashes_about([first, second, third])) == 4
    assert clashes.find_clashes_about([]) == []


def test_touching_a_session_leaves_out_talks_without_one(edition: Edition) -> None:
    ada, alone = make_person("Ada"), make_session(edition)
    make_presentation(None, edition=edition, speakers=[ada], start=at(0), end=at(15))
    add_role(session(edition), ada, "chair")

    assert kinds(edition) == ["person"]
    assert clashes.find_clashes_about([alone]) == []


# Clashes of planned changes


def test_plan_tells_what_is_new_what_is_solved_and_what_stays(edition: Edition) -> None:
    ada, bob = make_person("Ada"), make_person("Bob")
    first, second, third = (session(edition, place * 60, place * 60 + 60) for place in (0, 0, 1))
    for one, person in ((first, ada), (second, ada), (second, bob), (third, bob)):
        add_role(one, person, "chair")
    nothing = clashes.clash_difference(edition, clashes.PlannedEdit())
    found = clashes.clash_difference(
        edition, clashes.PlannedEdit({second.pk: {"start": third.start, "end": third.end}})
    )

    assert (len(nothing.all), nothing.new, nothing.solved) == (1, [], [])
    assert [[one.message[:3] for one in part] for part in (found.all, found.new, found.solved)] == [
        ["Bob"],
        ["Bob"],
        ["Ada"],
    ]


def test_plan_for_a_talk_alone_is_compared_with_what_is_stored(edition: Edition) -> None:
    whole = session(edition)
    late = talk(whole, 60, 70)
    found = clashes.clash_difference(
        edition, clashes.PlannedEdit(talks={late.pk: {"start": at(0), "end": at(10)}})
    )

    assert (found.all, found.new, len(found.solved)) == ([], [], 1)


def test_clash_concerns_its_sessions_and_those_of_its_talks(edition: Edition) -> None:
    for _ in range(3):
        make_person()  # The extra person makes primary keys of people and talks differ.
    ada = make_person("Ada")
    whole, other = session(edition), session(edition)
    talk(whole, 0, 15, paper=paper_by(edition, ada))
    make_presentation(None, edition=edition, speakers=[ada], start=at(0), end=at(15))
    add_role(other, ada, "chair")
    found = clashes.clash_difference(edition, clashes.PlannedEdit())

    assert sorted(sorted(found.sessions(clash)) for clash in found.all) == [
        [whole.pk],
        [whole.pk, other.pk],
        [other.pk],
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_queries_are_the_same_for_few_and_many(
    number: int, edition: Edition, django_assert_num_queries: Any
) -> None:
    ada, hall = make_person("Ada"), make_room(edition)
    whole = moved = None
    for _ in range(number):
        whole = session(edition, room=hall)
        add_role(whole, ada, "chair")
        moved = talk(whole, 0, 15, paper=paper_by(edition, ada))
        talk(whole, 15, 30, speakers=[ada])
        for away in ({"person": ada}, {"room": hall}):
            Unavailability.objects.create(edition=edition, start=at(0), end=at(60), **away)
    assert whole
    assert moved
    planned = clashes.PlannedEdit(talks={moved.pk: {"session": whole.pk, "start": at(5), "end": at(20)}})

    with django_assert_num_queries(5):
        found = clashes.find_clashes(edition).all
    with django_assert_num_queries(5):
        clashes.find_clashes_about([whole])
    # The clashes of the stored program are cached for each revision.
    for count in (7, 2):
        with django_assert_num_queries(count):
            clashes.clash_difference(edition, planned)
    with django_assert_num_queries(13):
        near = clashes.clash_difference(edition, planned, nearby=True)

    away_kinds = {clashes.ClashKind.PERSON_AWAY, clashes.ClashKind.ROOM_AWAY}
    assert away_kinds <= {clash.kind for clash in found}
    assert away_kinds <= {clash.kind for clash in near.all}


# The cache


def test_clashes_are_searched_once_until_something_changes(edition: Edition) -> None:
    room = make_room(edition)
    first, second = session(edition, room=room), session(edition, room=room)
    with CaptureQueriesContext(connection) as cold:
        before = clashes.cached_clashes(edition)
    with CaptureQueriesContext(connection) as warm:
        again = clashes.cached_clashes(edition)
    fresh = clashes.find_clashes_about([first])
    with revision.lock():
        Session.objects.filter(pk=second.pk).update(start=at(60), end=at(90))
        # The revision advances when the lock is released, so clashes found before are not cached.
        inside = clashes.cached_clashes(edition)
        Session.objects.filter(pk=second.pk).update(start=at(30))

    assert again is before
    assert (len(cold), len(warm)) == (7, 2)
    assert [len(found.all) for found in (before, inside, clashes.cached_clashes(edition))] == [1, 0, 1]
    assert before.about([first]) == before.all == fresh
    assert before.about([]) == []
