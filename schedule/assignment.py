"""The load of sessions, and suggestions of sessions for papers. Pure.

Suggestions compare topics, words of titles and keywords, as `papers.related` does for papers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from papers.related import SAME_KEYWORD_WEIGHT, distinctive_words

# Scores if all papers of a session have the paper's topic, and if its title names the topic.
TOPIC_SHARE, TOPIC_NAMED = 10.0, 8.0
# Lower scores are regarded as chance.
MIN_SCORE = 1.0
# A word in a larger share of the titles is ignored.
COMMON_WORD_SHARE = 0.2
MIN_COMMON_TITLES = 10
# The maximum number of shared words that are named as the reason.
MAX_NAMED_WORDS = 3


class Unit(StrEnum):
    """The unit of a session's capacity."""

    MINUTES = "minutes"
    BOARDS = "boards"


@dataclass(slots=True)
class Load:
    """The load of a session. Without a `limit`, its capacity is unknown."""

    unit: Unit
    used: int
    limit: int | None
    # The number of units that one more paper needs.
    size: int = 1

    @property
    def over(self) -> int:
        return 0 if self.limit is None else max(0, self.used - self.limit)

    @property
    def free(self) -> int | None:
        """The number of papers that still fit; `None` without a limit."""
        return None if self.limit is None else max(0, self.limit - self.used) // self.size

    def put(self, papers: int) -> None:
        self.used += papers * self.size


@dataclass(frozen=True, slots=True)
class PaperFeatures:
    """The compared features of a paper: `keywords` are folded, `words` the distinctive ones of its title."""

    key: int
    topic: int | None = None
    topic_words: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(slots=True)
class SessionProfile:
    """The features of a session that papers are compared with: of its title, and counts of its papers'."""

    key: int
    words: frozenset[str]
    # The number of papers that still fit; `None` means any number.
    free: int | None
    takes_any_topic: bool = False
    papers: int = 0
    topics: Counter[int] = field(default_factory=Counter)
    keywords: Counter[str] = field(default_factory=Counter)
    title_words: Counter[str] = field(default_factory=Counter)

    def add(self, paper: PaperFeatures) -> None:
        self.papers += 1
        self.topics.update([paper.topic] if paper.topic else ())
        self.keywords.update(paper.keywords)
        self.title_words.update(paper.words)


class Reason(StrEnum):
    TOPIC = "topic"
    TITLE = "title"
    LIKENESS = "likeness"
    EMPTY = "empty"
    ROOM = "room"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A session for a paper. `count`: papers of its topic there or suggested too; `words`: shared ones."""

    paper: int
    session: int
    reason: Reason
    count: int = 0
    words: tuple[str, ...] = ()


def suggest(papers: Sequence[PaperFeatures], sessions: Sequence[SessionProfile]) -> list[Suggestion]:
    """Return at most one session for each paper. The best matches are assigned first, up to the capacity.

    The remaining papers are assigned by topic, to empty sessions and to sessions that take any topic.
    """
    free = {session.key: session.free for session in sessions}
    common = common_words(paper.words for paper in papers)
    takers = [session for session in sessions if session.free != 0]
    matches = [match for paper in papers for match in score_sessions(paper, takers, common)]
    # `sorted` is stable: among equal scores, the order of papers and sessions decides.
    found: dict[int, Suggestion] = {}
    for _score, one in sorted(matches, key=lambda match: -match[0]):
        if one.paper not in found and _take(free, one.session):
            found[one.paper] = one
    rest = [paper for paper in papers if paper.key not in found]
    used = {one.session for one in found.values()}
    empty = [session.key for session in sessions if not session.papers and session.key not in used]
    anything = [session.key for session in sessions if session.takes_any_topic]
    suggest_by_topic(rest, empty, anything, free, found)
    return [found[paper.key] for paper in papers if paper.key in found]


def suggest_by_topic(
    papers: Iterable[PaperFeatures],
    empty: Sequence[int],
    anything: Sequence[int],
    free: dict[int, int | None],
    found: dict[int, Suggestion],
) -> None:
    """Fill each empty session with one topic, the largest first; use sessions with any topic for the rest."""
    groups: dict[int, list[PaperFeatures]] = {}
    for paper in papers:
        groups.setdefault(paper.topic or 0, []).append(paper)
    waiting = [key for key in empty if free[key] != 0]
    for topic, group in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        rest = group
        while rest and topic and waiting:
            session = waiting.pop(0)
            rest = _fill(rest, session, Reason.EMPTY, free, found)
        for session in anything:
            rest = _fill(rest, session, Reason.ROOM, free, found)


def _fill(
    papers: list[PaperFeatures],
    session: int,
    reason: Reason,
    free: dict[int, int | None],
    found: dict[int, Suggestion],
) -> list[PaperFeatures]:
    """Suggest a session for as many papers as it takes; return the others."""
    number = len(papers) if free[session] is None else min(len(papers), free[session] or 0)
    for paper in papers[:number]:
        _take(free, session)
        found[paper.key] = Suggestion(paper.key, session, reason, number)
    return papers[number:]


def _take(free: dict[int, int | None], session: int) -> bool:
    left = free[session]
    if left == 0:
        return False
    if left is not None:
        free[session] = left - 1
    return True


def common_words(titles: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the words that are in too large a share of the titles to distinguish any."""
    listed = list(titles)
    if len(listed) < MIN_COMMON_TITLES:
        return frozenset()
    counts = Counter(word for words in listed for word in words)
    return frozenset(word for word, count in counts.items() if count > COMMON_WORD_SHARE * len(listed))


def score_sessions(
    paper: PaperFeatures, sessions: Iterable[SessionProfile], common: frozenset[str] = frozenset()
) -> Iterator[tuple[float, Suggestion]]:
    """Yield a score and a suggestion for each session that has enough in common with the paper."""
    words = paper.words - common
    own = words | {word for keyword in paper.keywords for word in distinctive_words(keyword)} - common
    for session in sessions:
        number = max(1, session.papers)
        same = session.topics[paper.topic] if paper.topic else 0
        named = paper.topic_words & session.words
        shared_with_title = (own & session.words) - named
        alike = _shared(paper.keywords, session.keywords, SAME_KEYWORD_WEIGHT) + _shared(
            words, session.title_words, 1
        )
        scores = {
            Reason.TOPIC: TOPIC_SHARE * same / number,
            Reason.TITLE: TOPIC_NAMED * bool(named) + len(shared_with_title),
            Reason.LIKENESS: alike / number,
        }
        score = sum(scores.values())
        if score < MIN_SCORE:
            continue
        reason = max(scores, key=scores.__getitem__)
        shared: set[str] = set()
        if reason is Reason.TITLE:
            shared = {*named, *shared_with_title}
        elif reason is Reason.LIKENESS:
            shared = {*(paper.keywords & session.keywords.keys()), *(words & session.title_words.keys())}
        some = tuple(sorted(shared)[:MAX_NAMED_WORDS])
        yield score, Suggestion(paper.key, session.key, reason, same, some)


def _shared(mine: frozenset[str], theirs: Mapping[str, int], weight: int) -> int:
    return weight * sum(theirs[word] for word in mine if word in theirs)
