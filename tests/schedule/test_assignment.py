"""Tests of suggesting sessions for papers, within the sessions' capacity. They use no database."""

from collections.abc import Iterable

from schedule.assignment import Load, PaperFeatures, Reason, SessionProfile, Unit, suggest

VISION, LOGIC = 1, 2


def paper(
    key: int, topic: int | None = None, words: Iterable[str] = (), named: Iterable[str] = ()
) -> PaperFeatures:
    return PaperFeatures(key, topic, frozenset(named), frozenset(), frozenset(words))


def session(
    key: int,
    free: int | None = 5,
    papers: Iterable[PaperFeatures] = (),
    words: Iterable[str] = (),
    *,
    hall: bool = False,
) -> SessionProfile:
    found = SessionProfile(key, frozenset(words), free, takes_any_topic=hall)
    for one in papers:
        found.add(one)
    return found


def suggested(papers: list[PaperFeatures], sessions: list[SessionProfile]) -> dict[int, tuple[int, Reason]]:
    return {one.paper: (one.session, one.reason) for one in suggest(papers, sessions)}


def test_topic_of_the_papers_there_comes_before_words_in_common() -> None:
    vision = session(1, papers=[paper(91, VISION), paper(92, VISION)])
    logic = session(2, papers=[paper(93, LOGIC, ["compilers"])])
    assert suggested([paper(1, VISION, ["compilers"]), paper(2, None, ["compilers"])], [vision, logic]) == {
        1: (1, Reason.TOPIC),
        2: (2, Reason.LIKENESS),
    }


def test_title_of_an_empty_session_names_a_topic() -> None:
    sessions = [session(1, words=["logic"]), session(2, words=["computer", "vision"])]
    assert suggested([paper(1, VISION, named=["vision"])], sessions) == {1: (2, Reason.TITLE)}


def test_no_session_gets_more_than_it_takes() -> None:
    full, some = session(1, 0, [paper(90, VISION)]), session(2, 2, [paper(91, VISION), paper(92, LOGIC)])
    found = suggested([paper(key, VISION) for key in (1, 2, 3)], [full, some])
    assert found == {1: (2, Reason.TOPIC), 2: (2, Reason.TOPIC)}


def test_what_matches_nothing_goes_by_topic_to_empty_sessions_and_halls() -> None:
    papers = [paper(1, LOGIC), paper(2, VISION), paper(3, VISION), paper(4)]
    found = suggested(papers, [session(1, 2), session(2, None, [paper(9)], hall=True)])
    hall = (2, Reason.ROOM)
    assert found == {1: hall, 2: (1, Reason.EMPTY), 3: (1, Reason.EMPTY), 4: hall}
    # Without a poster hall, papers without a topic get no suggestion.
    assert 4 not in suggested(papers, [session(1, 9)])


def test_room_left_counts_whole_papers() -> None:
    assert Load(Unit.MINUTES, 50, 90, 15).free == 2
    assert Load(Unit.BOARDS, 50, None).free is None
    load = Load(Unit.MINUTES, 80, 90, 15)
    load.put(1)
    assert (load.over, load.free) == (5, 0)
