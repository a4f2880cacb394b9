"""Evidence for and against two people with similar names being one person: weights and reasons (pure).

Weights are natural logarithms of likelihood ratios, of one person to two people.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp, log
from typing import TypedDict

from people.duplicates.spelling import SpellingDifference, SpellingMatch

# The share of people who are listed twice.
USUAL_SHARE = 0.03
# The factor by which given and family names of one language occur together more often than by chance.
SAME_LANGUAGE = 3.0
# Likelihood ratios of differences: two records of one person to those of two people with similar names.
DIFFERENCE_RATIOS = {
    SpellingDifference.SAME: 0.5,
    SpellingDifference.CASE: 2.0,
    SpellingDifference.ACCENTS: 2.0,
    SpellingDifference.PUNCTUATION: 1.5,
    SpellingDifference.ORDER: 1.5,
    SpellingDifference.DOUBLED: 2.0,
    SpellingDifference.PLACEHOLDER: 3.0,
    SpellingDifference.JOINED: 1.2,
    SpellingDifference.MIDDLE: 1.0,
    SpellingDifference.CALLED: 1.5,
    SpellingDifference.EXTRA: 0.4,
    SpellingDifference.INITIALS: 0.8,
    SpellingDifference.SHORT: 0.4,
    SpellingDifference.TYPO: 0.3,
}
# Differences between names with which one person may be listed twice on a paper.
LISTED_TWICE = frozenset(DIFFERENCE_RATIOS) - {
    SpellingDifference.INITIALS,
    SpellingDifference.SHORT,
    SpellingDifference.TYPO,
}
LARGE_TEAM = 3
# Shorter words of affiliations are not distinctive.
MIN_WORD_CHARS = 4
CONTACT_WEIGHT, FIRST_COAUTHOR_WEIGHT, MORE_COAUTHORS_WEIGHT = log(10_000), log(25), log(4)
NO_COAUTHOR_WEIGHT, OTHER_AFFILIATION_WEIGHT, OTHER_IDS_WEIGHT = log(0.5), log(0.4), log(0.2)
SAME_TOPIC_WEIGHT, OTHER_TOPICS_WEIGHT, LONG_AGO_WEIGHT = log(2), log(0.6), log(0.3)
MIN_YEARS_APART = 15
LISTED_TWICE_WEIGHT, OTHER_PLACE_THERE_WEIGHT = log(12), log(0.1)
SAME_PAPER_WEIGHT, SAME_PAPERS_WEIGHT = log(0.05), log(0.001)
# The lower bound of expected namesakes. Smaller estimates are unreliable.
MIN_NAMESAKES = 1e-3
MAX_AFFILIATION_RATIO, MIN_AFFILIATION_RATIO, SAME_PLACE_SHARE = 60.0, 3.0, 0.5


@dataclass(slots=True)
class PersonCandidate:
    """The fields of a person that are compared. Affiliations are folded."""

    key: int
    names: tuple[str, ...]
    orcid: str = ""
    ids: frozenset[tuple[str, str]] = frozenset()
    contacts: frozenset[str] = frozenset()
    affiliations: set[str] = field(default_factory=set)
    # Keys of papers with the affiliations printed there.
    papers: dict[int, frozenset[str]] = field(default_factory=dict)
    coauthors: set[int] = field(default_factory=set)
    # The topics of the papers, as slugs, and their years.
    topics: set[str] = field(default_factory=set)
    years: set[int] = field(default_factory=set)

    def include(self, other: "PersonCandidate") -> None:
        """Add the fields of another record of the same person."""
        self.affiliations |= other.affiliations
        self.coauthors |= other.coauthors
        self.topics |= other.topics
        self.years |= other.years


class ReasonValues(TypedDict, total=False):
    """Values in the sentence of a reason: a number, keys of people and papers, an affiliation, schemes."""

    count: int
    people: list[int]
    paper: int
    place: str
    schemes: list[str]


type Reason = tuple[str, ReasonValues]
# The code of pairs for which an import created a new person. They are listed even if they are unlikely.
KEPT_APART = "kept_apart"


@dataclass(frozen=True, slots=True)
class LikelyDuplicate:
    """Two rows that may be duplicates: the likelihood in percent, and reasons for and against as codes."""

    first: int
    second: int
    score: int
    reasons: tuple[Reason, ...]

    @property
    def signs(self) -> tuple[str, ...]:
        """The codes of the reasons."""
        return tuple(code for code, _ in self.reasons)


def weigh_evidence(
    first: PersonCandidate, second: PersonCandidate, match: SpellingMatch, shares: dict[str, float]
) -> list[tuple[float, Reason]]:
    """Return the evidence with weights. `shares` maps affiliations to their share of all people."""
    evidence: list[tuple[float, Reason]] = []
    if first.contacts & second.contacts:
        evidence.append((CONTACT_WEIGHT, ("contact", {})))
    evidence.extend(_weigh_papers(first, second, match))
    evidence.extend(_weigh_coauthors(first, second))
    evidence.extend(_weigh_affiliations(first, second, shares))
    evidence.extend(_weigh_topics(first, second))
    evidence.extend(_weigh_years(first, second))
    schemes = {scheme for scheme, _ in first.ids} & {scheme for scheme, _ in second.ids}
    if schemes:
        evidence.append((OTHER_IDS_WEIGHT, ("other_ids", {"schemes": sorted(schemes)})))
    return evidence


def _weigh_papers(
    first: PersonCandidate, second: PersonCandidate, match: SpellingMatch
) -> Iterator[tuple[float, Reason]]:
    common = first.papers.keys() & second.papers.keys()
    if len(common) > 1:
        yield SAME_PAPERS_WEIGHT, ("together", {"count": len(common)})
    elif common:
        (paper,) = common
        first_affiliations, second_affiliations = first.papers[paper], second.papers[paper]
        yield (
            (LISTED_TWICE_WEIGHT if match.kind in LISTED_TWICE else SAME_PAPER_WEIGHT),
            ("same_paper", {"paper": paper}),
        )
        if first_affiliations and second_affiliations and not first_affiliations & second_affiliations:
            yield OTHER_PLACE_THERE_WEIGHT, ("other_place_there", {})


def _weigh_coauthors(first: PersonCandidate, second: PersonCandidate) -> Iterator[tuple[float, Reason]]:
    common = first.coauthors & second.coauthors
    if first.papers.keys() & second.papers.keys():
        # Authors of the same paper always have its other authors in common.
        return
    if common:
        weight = FIRST_COAUTHOR_WEIGHT + MORE_COAUTHORS_WEIGHT * min(len(common) - 1, LARGE_TEAM)
        yield weight, ("coauthors", {"count": len(common), "people": sorted(common)[:LARGE_TEAM]})
    elif min(len(first.coauthors), len(second.coauthors)) >= LARGE_TEAM:
        yield NO_COAUTHOR_WEIGHT, ("no_coauthor", {})


def _weigh_affiliations(
    first: PersonCandidate, second: PersonCandidate, shares: dict[str, float]
) -> Iterator[tuple[float, Reason]]:
    common = first.affiliations & second.affiliations
    if common:
        rarest = min(common, key=lambda affiliation: (shares.get(affiliation, 0.0), affiliation))
        ratio = SAME_PLACE_SHARE / max(shares.get(rarest, 0.0), 1e-9)
        weight = log(min(MAX_AFFILIATION_RATIO, max(MIN_AFFILIATION_RATIO, ratio)))
        yield weight, ("affiliation", {"place": rarest})
    elif (
        first.affiliations
        and second.affiliations
        and not _share_words(first.affiliations, second.affiliations)
    ):
        yield OTHER_AFFILIATION_WEIGHT, ("elsewhere", {})


def _weigh_topics(first: PersonCandidate, second: PersonCandidate) -> Iterator[tuple[float, Reason]]:
    if first.papers.keys() & second.papers.keys():
        # Authors of the same paper always have its topic in common.
        return
    if first.topics & second.topics:
        yield SAME_TOPIC_WEIGHT, ("same_topic", {})
    elif first.topics and second.topics:
        yield OTHER_TOPICS_WEIGHT, ("other_topics", {})


def _weigh_years(first: PersonCandidate, second: PersonCandidate) -> Iterator[tuple[float, Reason]]:
    if first.years and second.years:
        gap = max(min(first.years) - max(second.years), min(second.years) - max(first.years))
        if gap >= MIN_YEARS_APART:
            yield LONG_AGO_WEIGHT, ("long_ago", {"count": gap})


def _share_words(first: set[str], second: set[str]) -> bool:
    """Return whether affiliations have words in common, such as “Univ. of Basel” and “Basel”."""
    return not distinctive_words(" ".join(first)).isdisjoint(distinctive_words(" ".join(second)))


def distinctive_words(affiliation: str) -> set[str]:
    """Return the words of an affiliation except short and common ones."""
    words = {word.strip(",.;()") for word in affiliation.split()}
    return {word for word in words if len(word) >= MIN_WORD_CHARS} - COMMON_AFFILIATION_WORDS


COMMON_AFFILIATION_WORDS = frozenset(
    {"university", "universite", "universitat", "universidad", "institute", "technology", "research",
     "college", "school", "department", "science", "sciences", "computer", "national", "laboratory"}
)  # fmt: skip


def probability(
    match: SpellingMatch, namesakes: float, weights: list[float], share: float = USUAL_SHARE
) -> int:
    """Return the probability in percent that a pair is one person.

    `namesakes` is the expected number of other people with that name. `share` is the prior probability.
    """
    odds = log(share * DIFFERENCE_RATIOS[match.kind] / max(namesakes, MIN_NAMESAKES)) + sum(weights)
    return min(99, int(100 / (1 + exp(-min(max(odds, -50), 50)))))
