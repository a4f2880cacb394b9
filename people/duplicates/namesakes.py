"""Finding people who may be two people: their papers have no common co-authors or affiliations (pure)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from people.duplicates.evidence import PersonCandidate, distinctive_words, probability, weigh_evidence
from people.duplicates.finder import ASSUMED_OTHERS, MAX_AUTHORS, MIN_SCORE, Frequencies
from people.duplicates.spelling import compare_names

# The prior probability that a person is only one, and its factor for identifiers.
JOINED_SHARE, ID_FACTOR = 0.5, 10


@dataclass(frozen=True, slots=True)
class MixedPerson:
    """A person who may be two: the likelihood in percent, and the papers of the presumed other person."""

    key: int
    score: int
    papers: tuple[int, ...]


def find_mixed_people(people: Sequence[PersonCandidate]) -> list[MixedPerson]:
    """Return people who may be two, most likely first."""
    authors_by_paper: dict[int, set[int]] = defaultdict(set)
    for person in people:
        for paper in person.papers:
            authors_by_paper[paper].add(person.key)
    frequencies = Frequencies([person.names[0] for person in people], at_least=ASSUMED_OTHERS)
    mixed_people = []
    for person in people:
        groups = group_papers(person, authors_by_paper) if len(person.papers) > 1 else []
        match = compare_names(person.names[0], person.names[0]) if len(groups) > 1 else None
        if match is None:
            continue
        first, second = (_candidate(person, group, authors_by_paper) for group in groups[:2])
        weights = [weight for weight, _ in weigh_evidence(first, second, match, {})]
        share = JOINED_SHARE * identifier_factor(person)
        score = 100 - probability(match, frequencies.namesakes(match), weights, share)
        if score >= MIN_SCORE and weights:
            mixed_people.append(MixedPerson(person.key, score, tuple(sorted(groups[1]))))
    return sorted(mixed_people, key=lambda mixed: (-mixed.score, mixed.key))


def identifier_factor(person: PersonCandidate) -> float:
    """Return the factor of the identifiers: for one person, unless two are of one scheme."""
    counts = Counter(scheme for scheme, _value in person.ids)
    if any(count > 1 for count in counts.values()):
        return 1 / ID_FACTOR
    return ID_FACTOR if person.orcid or counts else 1


def group_papers(person: PersonCandidate, authors_by_paper: dict[int, set[int]]) -> list[set[int]]:
    """Return groups of papers without common co-authors or affiliations, the largest first.

    Papers without co-authors and affiliations are omitted.
    """
    groups: list[tuple[set[object], set[int]]] = []
    for paper in sorted(person.papers):
        clues, papers = set(_clues(person, paper, authors_by_paper)), {paper}
        if not clues:
            continue
        for group in [group for group in groups if group[0] & clues]:
            groups.remove(group)
            clues |= group[0]
            papers |= group[1]
        groups.append((clues, papers))
    return sorted((papers for _, papers in groups), key=lambda papers: (-len(papers), min(papers)))


def _clues(person: PersonCandidate, paper: int, authors_by_paper: dict[int, set[int]]) -> Iterator[object]:
    if len(authors_by_paper[paper]) <= MAX_AUTHORS:
        yield from authors_by_paper[paper] - {person.key}
    for affiliation in person.papers[paper]:
        yield affiliation
        yield from distinctive_words(affiliation)


def _candidate(
    person: PersonCandidate, papers: set[int], authors_by_paper: dict[int, set[int]]
) -> PersonCandidate:
    teams = [authors_by_paper[paper] for paper in papers if len(authors_by_paper[paper]) <= MAX_AUTHORS]
    affiliations = [person.papers[paper] for paper in papers]
    return PersonCandidate(
        person.key,
        person.names,
        affiliations=set[str]().union(*affiliations),
        coauthors=set[int]().union(*teams) - {person.key},
    )
