"""The load of sessions, and suggestions of sessions for papers. Pure.

Suggestions compare topics, words of titles and keywords, as `papers.related` does for papers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import ceil, inf

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
    # Keys of people.
    authors: frozenset[int] = frozenset()


@dataclass(slots=True)
class SessionProfile:
    """The features of a session that papers are compared with: of its title, and counts of its papers'."""

    key: int
    words: frozenset[str]
    # The number of papers that still fit; `None` means any number.
    free: int | None
    takes_any_topic: bool = False
    # Whether nothing is in it yet, neither papers nor other talks.
    is_empty: bool = False
    span: tuple[datetime, datetime] | None = None
    papers: int = 0
    authors: set[int] = field(default_factory=set)
    topics: Counter[int] = field(default_factory=Counter)
    keywords: Counter[str] = field(default_factory=Counter)
    title_words: Counter[str] = field(default_factory=Counter)

    def add(self, paper: PaperFeatures) -> None:
        self.papers += 1
        self.authors |= paper.authors
        self.topics.update([paper.topic] if paper.topic else ())
        self.keywords.update(paper.keywords)
        self.title_words.update(paper.words)


class Reason(StrEnum):
    TOPIC = "topic"
    TITLE = "title"
    LIKENESS = "likeness"
    EMPTY = "empty"
    ROOM = "room"
    UNLIMITED = "unlimited"
    AUTHORS = "authors"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A session for a paper. `count`: papers of its topic that are there; `words`: shared ones."""

    paper: int
    session: int
    reason: Reason
    count: int = 0
    words: tuple[str, ...] = ()


def suggest(papers: Sequence[PaperFeatures], sessions: Sequence[SessionProfile]) -> list[Suggestion]:
    """Return at most one session for each paper. The best matches are assigned first, up to the capacity.

    The remaining papers are assigned by topic, to empty sessions and to sessions that take any topic, which
    get shares by capacity. Papers with a common author are not suggested for sessions at the same time,
    unless only that leaves room in a session that takes any topic.
    """
    places = Places(papers, sessions)
    ignored_words = common_words(paper.words for paper in papers)
    open_sessions = [session for session in sessions if session.free != 0]
    papers_by_key = {paper.key: paper for paper in papers}
    matches = [match for paper in papers for match in score_sessions(paper, open_sessions, ignored_words)]
    # `sorted` is stable: among equal scores, the order of papers and sessions decides.
    for _score, suggestion in sorted(matches, key=lambda match: -match[0]):
        paper = papers_by_key[suggestion.paper]
        if paper.key not in places.suggestions and places.fits(paper, suggestion.session):
            places.put(paper, suggestion)
    groups: dict[int, list[PaperFeatures]] = {}
    for paper in papers:
        if paper.key not in places.suggestions:
            groups.setdefault(paper.topic or 0, []).append(paper)
    ordered_groups = sorted(groups.items(), key=lambda pair: -len(pair[1]))
    empty_sessions = [key for key in places.unused if not places.sessions[key].takes_any_topic]
    for topic, group in ordered_groups:
        places.fill_empty(group if topic else [], empty_sessions)
    for _topic, group in ordered_groups:
        for paper in group:
            if paper.key not in places.suggestions:
                places.put_anywhere(paper)
    return [places.suggestions[paper.key] for paper in papers if paper.key in places.suggestions]


class Places:
    """The places that are left while papers are assigned, and the suggestions made."""

    def __init__(self, papers: Sequence[PaperFeatures], sessions: Sequence[SessionProfile]) -> None:
        self.suggestions: dict[int, Suggestion] = {}
        self.sessions = {session.key: session for session in sessions}
        self.free = {session.key: inf if session.free is None else session.free for session in sessions}
        self.topics = {session.key: Counter(session.topics) for session in sessions}
        self.authors = {session.key: {*session.authors} for session in sessions}
        self.halls = [session for session in sessions if session.takes_any_topic and session.free != 0]
        # The places of halls that keep them equally full.
        self.shares = fair_shares(len(papers), self.halls)
        self.simultaneous = {
            session.key: [other.key for other in sessions if is_simultaneous(session, other)]
            for session in sessions
            if session.free != 0
        }

    @property
    def unused(self) -> list[int]:
        """The keys of the sessions in which nothing is, and for which nothing is suggested."""
        used = {suggestion.session for suggestion in self.suggestions.values()}
        return [
            key for key, row in self.sessions.items() if row.is_empty and self.free[key] and key not in used
        ]

    def fits(self, paper: PaperFeatures, session: int) -> bool:
        has_place = self.free[session] > 0 and self.shares.get(session, inf) > 0
        return has_place and not self.has_authors(paper, session)

    def has_authors(self, paper: PaperFeatures, session: int) -> bool:
        """Return whether an author of the paper has another one at the time of the session."""
        return any(not paper.authors.isdisjoint(self.authors[key]) for key in self.simultaneous[session])

    def put(self, paper: PaperFeatures, suggestion: Suggestion) -> None:
        session = suggestion.session
        self.suggestions[paper.key] = suggestion
        self.free[session] -= 1
        if session in self.shares:
            self.shares[session] -= 1
        self.topics[session].update([paper.topic] if paper.topic else ())
        self.authors[session] |= paper.authors

    def fill_empty(self, papers: Sequence[PaperFeatures], empty_sessions: list[int]) -> None:
        """Put papers of one topic into empty sessions, and remove these from the list."""
        remaining = [*papers]
        while remaining and empty_sessions:
            session = empty_sessions.pop(0)
            for paper in remaining:
                if self.fits(paper, session):
                    self.put(paper, Suggestion(paper.key, session, Reason.EMPTY))
            remaining = [paper for paper in remaining if paper.key not in self.suggestions]

    def put_anywhere(self, paper: PaperFeatures) -> None:
        """Put a paper into a hall: where most of its topic is, else where most places are left."""
        halls = [session for session in self.halls if self.free[session.key] > 0]
        apart = [session for session in halls if not self.has_authors(paper, session.key)]
        fair = [session for session in apart if self.shares[session.key] > 0]
        candidates = fair or apart or halls
        if not candidates:
            return
        best = max(
            candidates,
            key=lambda session: (
                self.topics[session.key][paper.topic or 0] if fair else 0,
                self.shares[session.key],
            ),
        )
        reason = Reason.UNLIMITED if best.free is None else Reason.ROOM
        reason = reason if apart else Reason.AUTHORS
        self.put(paper, Suggestion(paper.key, best.key, reason))


def fair_shares(papers: int, halls: Sequence[SessionProfile]) -> dict[int, float]:
    """Return how many papers each hall gets if all end equally full; without a limit, with equal counts."""
    weights = {hall.key: hall.papers + (hall.free or 0) for hall in halls}
    if any(hall.free is None for hall in halls):
        weights = dict.fromkeys(weights, 1)
    total = papers + sum(hall.papers for hall in halls)
    return {
        hall.key: min(
            inf if hall.free is None else hall.free,
            max(0, ceil(total * weights[hall.key] / sum(weights.values())) - hall.papers),
        )
        for hall in halls
    }


def is_simultaneous(session: SessionProfile, other: SessionProfile) -> bool:
    """Return whether an author can't be in both: at the same time, or at two posters of one session."""
    if session.key == other.key:
        return session.takes_any_topic
    if session.span is None or other.span is None:
        return False
    return session.span[0] < other.span[1] and other.span[0] < session.span[1]


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
