"""Finding likely duplicates among institutions, by the words of their names and by initials (pure)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from rapidfuzz.distance import OSA

from markup import fold
from people.duplicates.evidence import LikelyDuplicate, Reason

STOP_WORDS = frozenset(
    {"the", "of", "at", "in", "for", "and", "de", "di", "do", "da", "del", "der", "des", "du", "la", "le",
     "el", "et", "y", "e", "fur", "fuer", "und", "zu", "inc", "ltd", "llc", "gmbh", "corp", "corporation",
     "co", "plc", "ag", "sa", "bv", "limited", "company"}
)  # fmt: skip
SYNONYMS = {
    **dict.fromkeys(("univ", "uni", "universite", "universitat", "universitaet", "universidad", "universitas",
                     "universidade", "universita", "universiteit", "universitet"), "university"),
    **dict.fromkeys(("inst", "institut", "instituto", "istituto", "instituut"), "institute"),
    **dict.fromkeys(("tech", "technol", "technische", "technical", "tecnologia", "technologie", "polytechnic",
                     "technological", "tecnico"), "technology"),
    **dict.fromkeys(("lab", "labs", "laboratories", "laboratoire"), "laboratory"),
    **dict.fromkeys(("sci", "sciences", "scienze"), "science"),
    **dict.fromkeys(("natl", "nationale", "nacional"), "national"),
    "dept": "department", "acad": "academy", "coll": "college", "ctr": "center", "centre": "center",
    "munchen": "munich", "muenchen": "munich", "koln": "cologne", "koeln": "cologne", "wien": "vienna",
    "zuerich": "zurich", "milano": "milan", "roma": "rome", "torino": "turin", "praha": "prague",
    "warszawa": "warsaw", "lisboa": "lisbon", "geneve": "geneva", "moskva": "moscow", "beograd": "belgrade",
    "napoli": "naples", "firenze": "florence", "kobenhavn": "copenhagen", "koebenhavn": "copenhagen",
}  # fmt: skip
# Words for a part of an institution. Names that differ only in these may name the same institution.
UNITS = frozenset(
    {"research", "ai", "laboratory", "department", "computer", "science", "school", "engineering"}
)
MIN_SCORE, LARGE_BLOCK, MIN_INITIALS, MAX_INITIALS = 50, 40, 3, 7
ALIAS_SCORE, SAME_WORDS_SCORE, TYPO_SCORE, INITIALS_SCORE, PART_SCORE = 96, 94, 75, 60, 55
SHARED_PERSON_SCORE, OTHER_COUNTRY_PENALTY, MAX_SHARED_PEOPLE = 12, 45, 3


@dataclass(frozen=True, slots=True)
class InstitutionCandidate:
    """The fields of an institution that are compared. The first of `names` is its name."""

    key: int
    names: tuple[str, ...]
    ror: str = ""
    country: str = ""
    people: frozenset[int] = frozenset()


@lru_cache(maxsize=65_536)
def words(name: str) -> tuple[str, ...]:
    """Return the distinctive words of a name in order, translated to English."""
    folded = re.sub(r"[^0-9a-z]+", " ", fold(name).replace("'", "")).split()
    distinctive = [SYNONYMS.get(word, word) for word in folded if word not in STOP_WORDS]
    return tuple(distinctive or folded)


@lru_cache(maxsize=65_536)
def short_forms(name: str) -> frozenset[str]:
    """Return the initials of a name, with and without stop words. A single word is a short form itself."""
    folded = re.sub(r"[^0-9a-z]+", " ", fold(name).replace("'", "")).split()
    if len(folded) == 1:
        return frozenset(folded) if MIN_INITIALS <= len(folded[0]) <= MAX_INITIALS else frozenset()
    all_initials = "".join(word[0] for word in folded)
    distinctive = "".join(word[0] for word in folded if word not in STOP_WORDS)
    return frozenset(
        form for form in (all_initials, distinctive) if MIN_INITIALS <= len(form) <= MAX_INITIALS
    )


def is_short(name: str) -> bool:
    """Return whether a name is a short form, such as MIT."""
    return name.isupper() and " " not in name.strip() and MIN_INITIALS <= len(name.strip()) <= MAX_INITIALS


def find_duplicate_institutions(
    institutions: Sequence[InstitutionCandidate], distinct: Set[frozenset[int]] = frozenset()
) -> list[LikelyDuplicate]:
    """Return likely duplicates, most likely first, without the pairs of keys that are `distinct`."""
    duplicates = []
    for left, right in _candidate_pairs(institutions):
        first, second = institutions[left], institutions[right]
        if frozenset((first.key, second.key)) in distinct or (
            first.ror and second.ror and first.ror != second.ror
        ):
            continue
        match = best_match(first, second)
        if match is None:
            continue
        score, reasons = _weigh_evidence(first, second, *match)
        if score >= MIN_SCORE:
            first_key, second_key = sorted((first.key, second.key))
            duplicates.append(LikelyDuplicate(first_key, second_key, score, reasons))
    return sorted(duplicates, key=lambda pair: (-pair.score, pair.first, pair.second))


def _weigh_evidence(
    first: InstitutionCandidate, second: InstitutionCandidate, score: int, code: str
) -> tuple[int, tuple[Reason, ...]]:
    reasons: list[Reason] = [(code, {})]
    common = len(first.people & second.people)
    if common:
        score += SHARED_PERSON_SCORE * min(common, MAX_SHARED_PEOPLE)
        reasons.append(("shared_people", {"count": common}))
    if first.country and second.country and fold(first.country) != fold(second.country):
        score -= OTHER_COUNTRY_PENALTY
        reasons.append(("other_country", {}))
    return min(score, 99), tuple(reasons)


def best_match(first: InstitutionCandidate, second: InstitutionCandidate) -> tuple[int, str] | None:
    """Return the best score of their names and its reason, or `None` if no names match."""
    matches = [match for a in first.names for b in second.names if (match := compare_institutions(a, b))]
    best = max(matches, default=None)
    if best and best[1] == "place_words" and not compare_institutions(first.names[0], second.names[0]):
        return ALIAS_SCORE, "place_alias"
    return best


def compare_institutions(first: str, second: str) -> tuple[int, str] | None:
    """Return the score and reason of two similar names, or `None` if they differ."""
    a, b = words(first), words(second)
    if not (a and b):
        return None
    if sorted(a) == sorted(b):
        return SAME_WORDS_SCORE, "place_words"
    words_a, words_b = set(a), set(b)
    only_a, only_b = words_a - words_b, words_b - words_a
    if words_a & words_b and len(only_a) == len(only_b) == 1:
        (word_a,), (word_b,) = only_a, only_b
        if (
            min(len(word_a), len(word_b)) > MAX_INITIALS - 2
            and OSA.distance(word_a, word_b, score_cutoff=1) <= 1
        ):
            return TYPO_SCORE, "place_slip"
    if words_a & words_b and (only_a | only_b) <= UNITS and not (only_a and only_b):
        return PART_SCORE, "place_part"
    if is_short(first) != is_short(second) and short_forms(first) & short_forms(second):
        return INITIALS_SCORE, "place_initials"
    return None


def _candidate_pairs(institutions: Sequence[InstitutionCandidate]) -> Iterator[tuple[int, int]]:
    blocks: dict[str, list[int]] = defaultdict(list)
    for index, institution in enumerate(institutions):
        for key in {key for name in institution.names for key in _block_keys(name)}:
            blocks[key].append(index)
    seen: set[tuple[int, int]] = set()
    for members in blocks.values():
        for pair in combinations(members, 2) if len(members) <= LARGE_BLOCK else ():
            if pair not in seen:
                seen.add(pair)
                yield pair


def _block_keys(name: str) -> Iterator[str]:
    distinctive = words(name)
    yield " ".join(sorted(distinctive))
    yield " ".join(sorted(set(distinctive) - UNITS))
    yield from (f"={form}" for form in short_forms(name))
    for omitted in distinctive if len(distinctive) > 1 else ():
        # Names with a typing error in one word share the key of their other words.
        yield "~" + " ".join(sorted(word for word in distinctive if word != omitted))
