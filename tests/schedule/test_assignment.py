"""Tests of suggesting sessions for papers, within the sessions' capacity. They use no database."""

from collections.abc import Iterable

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
    suggestions = suggestions_by_paper(papers, [session(1, 2), session(2, None, [paper(9)], hall=True)])
    hall = (2, Reason.ROOM)
    assert suggestions == {1: hall, 2: (1, Reason.EMPTY), 3: (1, Reason.EMPTY), 4: hall}
    # Without a poster hall, papers without a topic get no suggestion.
    assert 4 not in suggestions_by_paper(papers, [session(1, 9)])


def test_free_capacity_is_in_whole_papers() -> None:
    assert Load(Unit.MINUTES, 50, 90, 15).free == 2
    assert Load(Unit.BOARDS, 50, None).free is None
    load = Load(Unit.MINUTES, 80, 90, 15)
    load.put(1)
    assert (load.over, load.free) == (5, 0)
