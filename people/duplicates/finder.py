"""Finding likely duplicates among many people by comparing those with a common part of their names (pure).

100,000 people have five billion pairs. People are therefore grouped into blocks by two words of a name, by a
word and an initial, or by a word and the first or last letters of another. In a large block, such as all Wei
Wangs, only people with a common co-author, affiliation, paper or address are compared.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from itertools import chain, combinations

from people.duplicates.evidence import (
    KEPT_APART,
    SAME_LANGUAGE,
    LikelyDuplicate,
    PersonCandidate,
    Reason,
    probability,
    weigh_evidence,
)
from people.duplicates.spelling import SpellingDifference, SpellingMatch, compare_names, name_share, readings

MIN_SCORE = 50
LARGE_BLOCK = 30
# Blocks for typing errors and short forms contain many different names.
LARGE_BLOCK_OF_PARTS = 10
# On papers with more authors, co-authorship is no evidence.
MAX_AUTHORS = 40
# The number of people added to the statistics, because few people do not show which names are rare.
ASSUMED_OTHERS = 2_000
# Blocks use only the first words of longer names.
MAX_NAME_WORDS = 6
# The number of first or last letters of a word by which blocks are formed.
PART_CHARS = 3
# Only the rarest parts of a name are used to estimate the number of namesakes.
MAX_SHARES = 3
# A word in the names of more people than this is usual.
MAX_RARE_COUNT = 3
DIFFERENCE_RANKS = {kind: rank for rank, kind in enumerate(SpellingDifference)}

type Pair = tuple[int, int]
type Block = tuple[list[int], list[int] | None, int]


def find_duplicate_people(
    people: Sequence[PersonCandidate],
    distinct: Set[frozenset[int]] = frozenset(),
    min_score: int = MIN_SCORE,
    kept_apart: Set[Pair] = frozenset(),
) -> list[LikelyDuplicate]:
    """Return likely duplicates, most likely first, without the pairs of keys that are `distinct`.

    The pairs that an import `kept_apart` are included even if they are unlikely.
    """
    add_coauthors(people)
    frequencies = Frequencies([person.names[0] for person in people])
    counts = Counter(affiliation for person in people for affiliation in person.affiliations)
    shares = {affiliation: count / len(people) for affiliation, count in counts.items()}
    duplicates = []
    indexes = {person.key: index for index, person in enumerate(people)} if kept_apart else {}
    kept_apart_pairs = {
        (min(indexes[first_key], indexes[second_key]), max(indexes[first_key], indexes[second_key]))
        for first_key, second_key in kept_apart
        if first_key in indexes and second_key in indexes
    }
    other_pairs = (pair for pair in candidate_pairs(people) if pair not in kept_apart_pairs)
    for left, right in chain(kept_apart_pairs, other_pairs):
        first, second = people[left], people[right]
        if first.orcid and second.orcid and first.orcid != second.orcid:
            continue
        if distinct and frozenset((first.key, second.key)) in distinct:
            continue
        match = best_match(first, second)
        is_kept_apart = (left, right) in kept_apart_pairs
        if match is None or (frequencies.are_both_usual(match) and not is_kept_apart):
            continue
        evidence = weigh_evidence(first, second, match, shares)
        score = probability(match, frequencies.namesakes(match), [weight for weight, _ in evidence])
        if score >= min_score or is_kept_apart:
            reasons: list[Reason] = [(KEPT_APART, {})] if is_kept_apart else []
            reasons += [("name_" + match.kind, {}), *(reason for _, reason in evidence)]
            first_key, second_key = sorted((first.key, second.key))
            duplicates.append(LikelyDuplicate(first_key, second_key, score, tuple(reasons)))
    return sorted(duplicates, key=lambda pair: (-pair.score, pair.first, pair.second))


def add_coauthors(people: Sequence[PersonCandidate]) -> None:
    """Set the co-authors of each person."""
    authors_by_paper: dict[int, list[PersonCandidate]] = defaultdict(list)
    for person in people:
        for paper in person.papers:
            authors_by_paper[paper].append(person)
    for team in authors_by_paper.values():
        keys = {person.key for person in team}
        for person in team if len(team) <= MAX_AUTHORS else ():
            person.coauthors |= keys
    for person in people:
        person.coauthors.discard(person.key)


def best_match(first: PersonCandidate, second: PersonCandidate) -> SpellingMatch | None:
    """Return the match of the most similar spellings of two people's names."""
    if len(first.names) == len(second.names) == 1:
        return compare_names(first.names[0], second.names[0])
    matches = [match for a in first.names for b in second.names if (match := compare_names(a, b))]
    return min(matches, key=lambda match: DIFFERENCE_RANKS[match.kind], default=None)


class Frequencies:
    """Frequencies of words and initials in names. `names` has one name of each person.

    `at_least` is the minimum number of people to assume.
    """

    def __init__(self, names: Collection[str], at_least: int = 0) -> None:
        self.people_count, self.total = max(len(names), at_least), len(names) + ASSUMED_OTHERS
        self.words: Counter[str] = Counter()
        self.initials: Counter[str] = Counter()
        for name in names:
            words = {word for reading in readings(name) for word in reading}
            self.words.update(words)
            self.initials.update({word[0] for word in words})

    def share(self, word: str) -> float:
        """Return the share of people with this word in their name."""
        count = max(self.words[word] - 1, 0) + ASSUMED_OTHERS * name_share(word)
        return max(count, 0.5) / self.total

    def initial(self, letter: str) -> float:
        return max((self.initials[letter] + ASSUMED_OTHERS / 13) / self.total, 0.02)

    def namesakes(self, match: SpellingMatch) -> float:
        """Return the expected number of other people whose names match as well by chance."""
        shares = sorted(map(self.share, match.shared))[:MAX_SHARES]
        shares += [self.initial(letter) for letter in match.initials]
        if match.unlike[0]:
            # Typing errors are rare, but many names begin with another name.
            choose = min if match.kind == SpellingDifference.TYPO else max
            shares.append(3 * choose(map(self.share, match.unlike)))
        expected = float(self.people_count)
        for share in shares[:MAX_SHARES]:
            expected *= share
        return expected * SAME_LANGUAGE ** (len(shares[:MAX_SHARES]) - 1)

    def are_both_usual(self, match: SpellingMatch) -> bool:
        """Return whether words that differ by a letter are both common names, such as Zhang and Zheng."""
        is_typo = match.kind == SpellingDifference.TYPO
        return is_typo and min(self.words[word] for word in match.unlike) > MAX_RARE_COUNT


# Blocks


def candidate_pairs(people: Sequence[PersonCandidate]) -> Iterator[Pair]:
    """Yield pairs of indexes of people in the same block, each pair once."""
    seen: set[int] = set()
    total = len(people)
    for block in blocks(people):
        for left, right in _pairs_in_block(*block, people):
            pair = min(left, right) * total + max(left, right)
            if left != right and pair not in seen:
                seen.add(pair)
                yield divmod(pair, total)


def blocks(people: Sequence[PersonCandidate]) -> Iterator[Block]:
    """Yield blocks: a list to compare pairwise, or two to compare with each other, and the size limit."""
    by_whole_key: dict[str, list[int]] = defaultdict(list)
    by_initial: dict[str, list[int]] = defaultdict(list)
    by_full_word: dict[str, list[int]] = defaultdict(list)
    by_paper: dict[int, list[int]] = defaultdict(list)
    for index, person in enumerate(people):
        for name in dict.fromkeys(reading for spelling in person.names for reading in readings(spelling)):
            for key in whole_keys(name):
                by_whole_key[key].append(index)
            for is_short, key in initial_keys(name):
                (by_initial if is_short else by_full_word)[key].append(index)
        for paper in person.papers:
            by_paper[paper].append(index)
    for key, members in by_whole_key.items():
        if len(members) > 1:
            yield members, None, LARGE_BLOCK_OF_PARTS if "-" in key else LARGE_BLOCK
    yield from (
        (members, by_full_word[key], LARGE_BLOCK)
        for key, members in by_initial.items()
        if key in by_full_word
    )
    yield from (
        (members, None, MAX_AUTHORS) for members in by_paper.values() if 1 < len(members) <= MAX_AUTHORS
    )


def whole_keys(name: tuple[str, ...]) -> Iterator[str]:
    """Yield keys that are common to names that differ in order, spaces, additions or a typing error."""
    if not name:
        return
    words = sorted(set(name[:MAX_NAME_WORDS]))
    yield "".join(name)
    yield "".join([name[-1], *name[:-1]])
    for word, other in combinations(words, 2):
        yield f"{word} {other}"
        for full_word, other_word in ((word, other), (other, word)):
            if len(other_word) >= PART_CHARS and len(full_word) > 1:
                yield f"{full_word} {other_word[:PART_CHARS]}-"
                yield f"{full_word} -{other_word[-PART_CHARS:]}"
    if len(name) > 2:
        yield " ".join(sorted([name[-1], "".join(name[:-1])]))
        yield " ".join(sorted([name[0], "".join(name[1:])]))


def initial_keys(name: tuple[str, ...]) -> Iterator[tuple[bool, str]]:
    """Yield whether the other word is only an initial, and a key of a word and the initial of the other."""
    for word in name[:MAX_NAME_WORDS]:
        for other in name[:MAX_NAME_WORDS]:
            if word != other and len(word) > 1:
                yield len(other) == 1, f"{word} {other[0]}"


def _pairs_in_block(
    members: list[int], others: list[int] | None, limit: int, people: Sequence[PersonCandidate]
) -> Iterator[Pair]:
    if len(members) * (len(others) if others else len(members)) <= limit**2:
        yield from ((a, b) for a in members for b in others) if others else combinations(members, 2)
        return
    members_by_evidence: dict[tuple[str, object], list[int]] = defaultdict(list)
    member_set = set(members)
    for index in {*members, *(others or ())}:
        for evidence in _evidence_of(people[index]):
            members_by_evidence[evidence].append(index)
    for group in members_by_evidence.values():
        if len(group) > LARGE_BLOCK:
            continue
        for a, b in combinations(group, 2):
            if others is None or a in member_set or b in member_set:
                yield a, b


def _evidence_of(person: PersonCandidate) -> Iterator[tuple[str, object]]:
    yield from (("person", key) for key in person.coauthors)
    yield from (("place", affiliation) for affiliation in person.affiliations)
    yield from (("paper", paper) for paper in person.papers)
    yield from (("contact", contact) for contact in person.contacts)
