"""Finding people who may be two people: their papers have no common co-authors or affiliations (pure)."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from people.duplicates.evidence import PersonCandidate, distinctive_words, probability, weigh_evidence
from people.duplicates.finder import ASSUMED_OTHERS, MAX_AUTHORS, MIN_SCORE, Frequencies
from people.duplicates.spelling import compare_names

# The prior probability that a person is only one, and its factor if the person has an identifier.
JOINED_SHARE, ID_FACTOR = 0.5, 10


@dataclass(frozen=True, slots=True)
class MixedPerson:
    """A person who may be two: the likelihood in percent, and the papers of the presumed other person."""

    key: int
    score: int
    papers: tuple[int, ...]


def find_mixed_people(people: Sequence[PersonCandidate]) -> list[MixedPerson]:
    """Return people who may be two, most likely first."""
    authors: dict[int, set[int]] = defaultdict(set)
    for one in people:
        for paper in one.papers:
            authors[paper].add(one.key)
    frequencies = Frequencies([one.names[0] for one in people], at_least=ASSUMED_OTHERS)
    found = []
    for one in people:
        groups = group_papers(one, authors) if len(one.papers) > 1 else []
        match = compare_names(one.names[0], one.names[0]) if len(groups) > 1 else None
        if match is None:
            continue
        first, second = (_candidate(one, group, authors) for group in groups[:2])
        weights = [weight for weight, _ in weigh_evidence(first, second, match, {})]
        share = JOINED_SHARE * (ID_FACTOR if one.orcid or one.ids else 1)
        score = 100 - probability(match, frequencies.namesakes(match), weights, share)
        if score >= MIN_SCORE and weights:
            found.append(MixedPerson(one.key, score, tuple(sorted(groups[1]))))
    return sorted(found, key=lambda mixed: (-mixed.score, mixed.key))


def group_papers(one: PersonCandidate, authors: dict[int, set[int]]) -> list[set[int]]:
    """Return groups of papers without common co-authors or affiliations, the largest first.

    Papers without co-authors and affiliations are omitted.
    """
    groups: list[tuple[set[object], set[int]]] = []
    for paper in sorted(one.papers):
        clues, papers = set(_clues(one, paper, authors)), {paper}
        if not clues:
            continue
        for group in [group for group in groups if group[0] & clues]:
            groups.remove(group)
            clues |= group[0]
            papers |= group[1]
        groups.append((clues, papers))
    return sorted((papers for _, papers in groups), key=lambda papers: (-len(papers), min(papers)))


def _clues(one: PersonCandidate, paper: int, authors: dict[int, set[int]]) -> Iterator[object]:
    if len(authors[paper]) <= MAX_AUTHORS:
        yield from authors[paper] - {one.key}
    for place in one.papers[paper]:
        yield place
        yield from distinctive_words(place)


def _candidate(one: PersonCandidate, papers: set[int], authors: dict[int, set[int]]) -> PersonCandidate:
    teams = [authors[paper] for paper in papers if len(authors[paper]) <= MAX_AUTHORS]
    places = [one.papers[paper] for paper in papers]
    return PersonCandidate(
        one.key,
        one.names,
        affiliations=set[str]().union(*places),
        coauthors=set[int]().union(*teams) - {one.key},
    )
