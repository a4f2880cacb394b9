"""Tests of suggesting sessions for papers, within the sessions' capacity. They use no database."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schedule.assignment import Load, PaperFeatures, Reason, SessionProfile, Unit, suggest

VISION, LOGIC = 1, 2


def paper(
    key: int, topic: int | None = None, words: Iterable[str] = (), topic_words: Iterable[str] = ()
) -> PaperFeatures:
    return PaperFeatures(key, topic, frozenset(topic_words), frozenset(), frozenset(words))


def session(
    key: int,
    free: int | None = 5,
    papers: Iterable[PaperFeatures] = (),
    words: Iterable[str] = (),
    *,
    hall: bool = False,
) -> SessionProfile:
    profile = SessionProfile(key, frozenset(words), free, takes_any_topic=hall)
    for features in papers:
        profile.add(features)
    return profile


def suggestions_by_paper(
    papers: list[PaperFeatures], sessions: list[SessionProfile]
) -> dict[int, tuple[int, Reason]]:
    return {row.paper: (row.session, row.reason) for row in suggest(papers, sessions)}


def test_topic_of_a_sessions_papers_outranks_common_words() -> None:
    vision = session(1, papers=[paper(91, VISION), paper(92, VISION)])
    logic = session(2, papers=[paper(93, LOGIC, ["compilers"])])
    papers = [paper(1, VISION, ["compilers"]), paper(2, None, ["compilers"])]
    assert suggestions_by_paper(papers, [vision, logic]) == {
        1: (1, Reason.TOPIC),
        2: (2, Reason.LIKENESS),
    }


def test_empty_session_is_matched_by_the_topic_in_its_title() -> None:
    sessions = [session(1, words=["logic"]), session(2, words=["computer", "vision"])]
    suggestions = suggestions_by_paper([paper(1, VISION, topic_words=["vision"])], sessions)
    assert suggestions == {1: (2, Reason.TITLE)}


def test_suggestions_do_not_exceed_the_capacity_of_a_session() -> None:
    full, free = session(1, 0, [paper(90, VISION)]), session(2, 2, [paper(91, VISION), paper(92, LOGIC)])
    suggestions = suggestions_by_paper([paper(key, VISION) for key in (1, 2, 3)], [full, free])
    assert suggestions == {1: (2, Reason.TOPIC), 2: (2, Reason.TOPIC)}


def test_unmatched_papers_fill_empty_sessions_by_topic_or_halls() -> None:
    papers = [paper(1, LOGIC), paper(2, VISION), paper(3, VISION), paper(4)]
    empty = replace(session(1, 2), is_empty=True)
    suggestions = suggestions_by_paper(papers, [empty, session(2, None, [paper(9)], hall=True)])
    hall = (2, Reason.UNLIMITED)
    assert suggestions == {1: hall, 2: (1, Reason.EMPTY), 3: (1, Reason.EMPTY), 4: hall}
    # Without a poster hall, papers without a topic get no suggestion.
    assert 4 not in suggestions_by_paper(papers, [replace(empty, free=9)])


def test_free_capacity_is_in_whole_papers() -> None:
    assert Load(Unit.MINUTES, 50, 90, 15).free == 2
    assert Load(Unit.BOARDS, 50, None).free is None
    load = Load(Unit.MINUTES, 80, 90, 15)
    load.put(1)
    assert (load.over, load.free) == (5, 0)


NINE = datetime(2027, 5, 4, 9, tzinfo=UTC)


def at(profile: SessionProfile, hours: int) -> SessionProfile:
    """Return the session from so many hours after nine, for an hour."""
    start = NINE + timedelta(hours=hours)
    return replace(profile, span=(start, start + timedelta(hours=1)))


def by(features: PaperFeatures, *authors: int) -> PaperFeatures:
    return replace(features, authors=frozenset(authors))


@pytest.mark.parametrize(
    ("free", "expected"),
    [
        ((0, 400, 200, 200), {2: 377, 3: 188, 4: 188}),
        ((0, None, None, None), {2: 251, 3: 251, 4: 251}),
        ((None, 10, 10, 10), {1: 723, 2: 10, 3: 10, 4: 10}),
    ],
)
def test_753_posters_are_spread_by_the_capacity_of_halls(
    free: tuple[int | None, ...], expected: dict[int, int]
) -> None:
    halls = [session(key, places, hall=True) for key, places in enumerate(free, 1)]
    papers = [paper(key, key % 7 + 1) for key in range(753)]
    suggestions = suggest(papers, halls)
    counts = Counter(row.session for row in suggestions)

    # Shares are rounded up.
    assert {key: abs(counts[key] - count) <= 2 for key, count in expected.items()} == dict.fromkeys(
        expected, True
    )
    assert (len(suggestions), {*counts}) == (753, {*expected})


def test_halls_end_equally_full_and_keep_topics_together() -> None:
    half_full = session(1, 10, [paper(900 + key) for key in range(10)], hall=True)
    halls = [half_full, session(2, 20, hall=True)]
    papers = [paper(key, VISION if key < 6 else LOGIC) for key in range(10)]
    few = suggestions_by_paper(papers, halls)
    papers += [paper(key, LOGIC) for key in range(10, 20)]
    many = suggestions_by_paper(papers, halls)

    assert {hall for hall, _reason in few.values()} == {2}
    assert Counter(hall for hall, _reason in many.values()) == {1: 5, 2: 15}
    # The larger topic stays in one hall.
    assert len({many[key] for key in range(6, 20)}) == 1


def test_papers_with_a_common_author_are_kept_apart_in_time() -> None:
    ada, bo = 1, 2
    same_hall = suggestions_by_paper(
        [by(paper(1), ada), by(paper(2), ada, bo), paper(3)],
        [at(session(1, 9, hall=True), 0), at(session(2, 9, hall=True), 4)],
    )
    vision = session(11, papers=[paper(91, VISION)])
    parallel = at(session(12, 0, [by(paper(92), bo)]), 0)
    talks = [by(paper(1, VISION), ada), by(paper(2, VISION), ada), by(paper(3, VISION), bo)]

    assert same_hall[1][0] != same_hall[2][0]
    # Talks of a session follow each other. The third author is in a session at the same time.
    assert {*suggestions_by_paper(talks, [at(vision, 0), parallel])} == {1, 2}
    assert {*suggestions_by_paper(talks, [at(vision, 1), parallel])} == {1, 2, 3}


def test_reason_says_if_only_room_beside_another_paper_of_an_author_is_left() -> None:
    papers = [by(paper(1), 7), by(paper(2), 7)]

    assert suggestions_by_paper(papers, [at(session(1, 5, hall=True), 0)]) == {
        1: (1, Reason.ROOM),
        2: (1, Reason.AUTHORS),
    }


def test_session_with_talks_that_are_no_papers_is_not_called_empty() -> None:
    assert suggestions_by_paper([paper(1, VISION)], [session(1, 5)]) == {}
