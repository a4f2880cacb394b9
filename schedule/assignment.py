"""The load of sessions, and suggestions of sessions for papers. Pure.

Suggestions compare topics, words of titles and keywords, as `papers.related` does for papers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

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
    free_places = {session.key: inf if session.free is None else session.free for session in sessions}
    ignored_words = common_words(paper.words for paper in papers)
    open_sessions = [session for session in sessions if session.free != 0]
    matches = [match for paper in papers for match in score_sessions(paper, open_sessions, ignored_words)]
    # `sorted` is stable: among equal scores, the order of papers and sessions decides.
    suggestions: dict[int, Suggestion] = {}
    for _score, suggestion in sorted(matches, key=lambda match: -match[0]):
        if suggestion.paper not in suggestions and free_places[suggestion.session]:
            free_places[suggestion.session] -= 1
            suggestions[suggestion.paper] = suggestion
    remaining = [paper for paper in papers if paper.key not in suggestions]
    used_sessions = {suggestion.session for suggestion in suggestions.values()}
    empty_sessions = [
        session.key for session in sessions if not session.papers and session.key not in used_sessions
    ]
    any_topic_sessions = [session.key for session in sessions if session.takes_any_topic]
    suggest_by_topic(remaining, empty_sessions, any_topic_sessions, free_places, suggestions)
    return [suggestions[paper.key] for paper in papers if paper.key in suggestions]


def suggest_by_topic(
    papers: Iterable[PaperFeatures],
    empty_sessions: Sequence[int],
    any_topic_sessions: Sequence[int],
    free_places: dict[int, float],
    suggestions: dict[int, Suggestion],
) -> None:
    """Fill each empty session with one topic, the largest first; use sessions with any topic for the rest."""
    groups: dict[int, list[PaperFeatures]] = {}
    for paper in papers:
        groups.setdefault(paper.topic or 0, []).append(paper)
    unused_sessions = [key for key in empty_sessions if free_places[key] != 0]
    for topic, group in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        remaining = group
        while remaining and topic and unused_sessions:
            session = unused_sessions.pop(0)
            remaining = _fill_session(remaining, session, Reason.EMPTY, free_places, suggestions)
        for session in any_topic_sessions:
            remaining = _fill_session(remaining, session, Reason.ROOM, free_places, suggestions)


def _fill_session(
    papers: list[PaperFeatures],
    session: int,
    reason: Reason,
    free_places: dict[int, float],
    suggestions: dict[int, Suggestion],
) -> list[PaperFeatures]:
    """Suggest a session for as many papers as it takes; return the others."""
    count = int(min(len(papers), free_places[session]))
    free_places[session] -= count
    for paper in papers[:count]:
        suggestions[paper.key] = Suggestion(paper.key, session, reason, count)
    return papers[count:]


def common_words(titles: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the words that are in too large a share of the titles to distinguish any."""
    word_sets = list(titles)
    if len(word_sets) < MIN_COMMON_TITLES:
        return frozenset()
    counts = Counter(word for words in word_sets for word in words)
    return frozenset(word for word, count in counts.items() if count > COMMON_WORD_SHARE * len(word_sets))


def score_sessions(
    paper: PaperFeatures, sessions: Iterable[SessionProfile], ignored_words: frozenset[str]
) -> Iterator[tuple[float, Suggestion]]:
    """Yield a score and a suggestion for each session that has enough in common with the paper."""
    title_words = paper.words - ignored_words
    paper_words = (
        title_words
        | {word for keyword in paper.keywords for word in distinctive_words(keyword)} - ignored_words
    )
    for session in sessions:
        paper_count = max(1, session.papers)
        same_topic_count = session.topics[paper.topic] if paper.topic else 0
        topic_words_in_title = paper.topic_words & session.words
        other_words_in_title = (paper_words & session.words) - topic_words_in_title
        likeness = _shared_weight(paper.keywords, session.keywords, SAME_KEYWORD_WEIGHT) + _shared_weight(
            title_words, session.title_words, 1
        )
        scores = {
            Reason.TOPIC: TOPIC_SHARE * same_topic_count / paper_count,
            Reason.TITLE: TOPIC_NAMED * bool(topic_words_in_title) + len(other_words_in_title),
            Reason.LIKENESS: likeness / paper_count,
        }
        score = sum(scores.values())
        if score < MIN_SCORE:
            continue
        reason = max(scores, key=scores.__getitem__)
        shared_words: set[str] = set()
        if reason is Reason.TITLE:
            shared_words = {*topic_words_in_title, *other_words_in_title}
        elif reason is Reason.LIKENESS:
            shared_words = {
                *(paper.keywords & session.keywords.keys()),
                *(title_words & session.title_words.keys()),
            }
        named_words = tuple(sorted(shared_words)[:MAX_NAMED_WORDS])
        yield score, Suggestion(paper.key, session.key, reason, same_topic_count, named_words)


def _shared_weight(words: frozenset[str], counts: Mapping[str, int], weight: int) -> int:
    return weight * sum(counts[word] for word in words if word in counts)
