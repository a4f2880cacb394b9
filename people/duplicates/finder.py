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
    has_other_orcid,
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
DIFFERENCE_RANKS = {kind: place for place, kind in enumerate(SpellingDifference)}

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
    names = Frequencies([one.names[0] for one in people])
    places = Counter(place for one in people for place in one.affiliations)
    shares = {place: count / len(people) for place, count in places.items()}
    found = []
    index = {one.key: place for place, one in enumerate(people)} if kept_apart else {}
    asked = {
        (min(index[one], index[other]), max(index[one], index[other]))
        for one, other in kept_apart
        if one in index and other in index
    }
    for left, right in chain(asked, (pair for pair in candidate_pairs(people) if pair not in asked)):
        one, other = people[left], people[right]
        if has_other_orcid(one, other) or (distinct and frozenset((one.key, other.key)) in distinct):
            continue
        match = best_match(one, other)
        is_asked = (left, right) in asked
        if match is None or (names.are_both_usual(match) and not is_asked):
            continue
        weighed = weigh_evidence(one, other, match, shares)
        score = probability(match, names.namesakes(match), [weight for weight, _ in weighed])
        if score >= min_score or is_asked:
            said: list[Reason] = [(KEPT_APART, {})] if is_asked else []
            said += [("name_" + match.kind, {}), *(reason for _, reason in weighed)]
            first, second = sorted((one.key, other.key))
            found.append(LikelyDuplicate(first, second, score, tuple(said)))
    return sorted(found, key=lambda pair: (-pair.score, pair.first, pair.second))


def add_coauthors(people: Sequence[PersonCandidate]) -> None:
    """Set the co-authors of each person."""
    authors: dict[int, list[PersonCandidate]] = defaultdict(list)
    for one in people:
        for paper in one.papers:
            authors[paper].append(one)
    for together in authors.values():
        keys = {one.key for one in together}
        for one in together if len(together) <= MAX_AUTHORS else ():
            one.coauthors |= keys
    for one in people:
        one.coauthors.discard(one.key)


def best_match(one: PersonCandidate, other: PersonCandidate) -> SpellingMatch | None:
    """Return the match of the most similar spellings of two people's names."""
    if len(one.names) == len(other.names) == 1:
        return compare_names(one.names[0], other.names[0])
    found = [like for a in one.names for b in other.names if (like := compare_names(a, b))]
    return min(found, key=lambda like: DIFFERENCE_RANKS[like.kind], default=None)


class Frequencies:
    """Frequencies of words and initials in names. `names` has one name of each person.

    `at_least` is the minimum number of people to assume.
    """

    def __init__(self, names: Collection[str], at_least: int = 0) -> None:
        self.here, self.total = max(len(names), at_least), len(names) + ASSUMED_OTHERS
        self.words: Counter[str] = Counter()
        self.initials: Counter[str] = Counter()
        for name in names:
            found = {word for reading in readings(name) for word in reading}
            self.words.update(found)
            self.initials.update({word[0] for word in found})

    def share(self, word: str) -> float:
        """Return the share of people with this word in their name."""
        counted = max(self.words[word] - 1, 0) + ASSUMED_OTHERS * name_share(word)
        return max(counted, 0.5) / self.total

    def initial(self, letter: str) -> float:
        return max((self.initials[letter] + ASSUMED_OTHERS / 13) / self.total, 0.02)

    def namesakes(self, match: SpellingMatch) -> float:
        """Return the expected number of other people whose names match as well by chance."""
        shares = sorted(map(self.share, match.shared))[:MAX_SHARES]
        shares += [self.initial(letter) for letter in match.initials]
        if match.unlike[0]:
            # Typing errors are rare, but many names begin with another name.
            which = min if match.kind == SpellingDifference.TYPO else max
            shares.append(3 * which(map(self.share, match.unlike)))
        expected = float(self.here)
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
        for left, right in _pairs(*block, people):
            pair = min(left, right) * total + max(left, right)
            if left != right and pair not in seen:
                seen.add(pair)
                yield divmod(pair, total)


def blocks(people: Sequence[PersonCandidate]) -> Iterator[Block]:
    """Yield blocks: a list to compare pairwise, or two to compare with each other, and the size limit."""
    whole: dict[str, list[int]] = defaultdict(list)
    short: dict[str, list[int]] = defaultdict(list)
    full: dict[str, list[int]] = defaultdict(list)
    papers: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(people):
        for name in dict.fromkeys(reading for spelling in one.names for reading in readings(spelling)):
            for key in whole_keys(name):
                whole[key].append(place)
            for is_short, key in initial_keys(name):
                (short if is_short else full)[key].append(place)
        for paper in one.papers:
            papers[paper].append(place)
    for key, members in whole.items():
        if len(members) > 1:
            yield members, None, LARGE_BLOCK_OF_PARTS if "-" in key else LARGE_BLOCK
    yield from ((members, full[key], LARGE_BLOCK) for key, members in short.items() if key in full)
    yield from (
        (members, None, MAX_AUTHORS) for members in papers.values() if 1 < len(members) <= MAX_AUTHORS
    )


def whole_keys(name: tuple[str, ...]) -> Iterator[str]:
    """Yield keys that are common to names that differ in order, spaces, additions or a typing error."""
    if not name:
        return
    some = sorted(set(name[:MAX_NAME_WORDS]))
    yield "".join(name)
    yield "".join([name[-1], *name[:-1]])
    for one, other in combinations(some, 2):
        yield f"{one} {other}"
        for whole, cut in ((one, other), (other, one)):
            if len(cut) >= PART_CHARS and len(whole) > 1:
                yield f"{whole} {cut[:PART_CHARS]}-"
                yield f"{whole} -{cut[-PART_CHARS:]}"
    if len(name) > 2:
        yield " ".join(sorted([name[-1], "".join(name[:-1])]))
        yield " ".join(sorted([name[0], "".join(name[1:])]))


def initial_keys(name: tuple[str, ...]) -> Iterator[tuple[bool, str]]:
    """Yield whether the other word is only an initial, and a key of a word and the initial of the other."""
    for word in name[:MAX_NAME_WORDS]:
        for other in name[:MAX_NAME_WORDS]:
            if word != other and len(word) > 1:
                yield len(other) == 1, f"{word} {other[0]}"


def _pairs(
    members: list[int], others: list[int] | None, limit: int, people: Sequence[PersonCandidate]
) -> Iterator[Pair]:
    if len(members) * (len(others) if others else len(members)) <= limit**2:
        yield from ((a, b) for a in members for b in others) if others else combinations(members, 2)
        return
    shared: dict[tuple[str, object], list[int]] = defaultdict(list)
    known = set(members)
    for place in {*members, *(others or ())}:
        for clue in _evidence_of(people[place]):
            shared[clue].append(place)
    for found in shared.values():
        if len(found) > LARGE_BLOCK:
            continue
        for a, b in combinations(found, 2):
            if others is None or a in known or b in known:
                yield a, b


def _evidence_of(one: PersonCandidate) -> Iterator[tuple[str, object]]:
    yield from (("person", key) for key in one.coauthors)
    yield from (("place", place) for place in one.affiliations)
    yield from (("paper", paper) for paper in one.papers)
    yield from (("contact", contact) for contact in one.contacts)
