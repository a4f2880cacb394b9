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
    telling = [SYNONYMS.get(word, word) for word in folded if word not in STOP_WORDS]
    return tuple(telling or folded)


@lru_cache(maxsize=65_536)
def short_forms(name: str) -> frozenset[str]:
    """Return the initials of a name, with and without stop words. A single word is a short form itself."""
    folded = re.sub(r"[^0-9a-z]+", " ", fold(name).replace("'", "")).split()
    if len(folded) == 1:
        return frozenset(folded) if MIN_INITIALS <= len(folded[0]) <= MAX_INITIALS else frozenset()
    whole, telling = "".join(w[0] for w in folded), "".join(w[0] for w in folded if w not in STOP_WORDS)
    return frozenset(form for form in (whole, telling) if MIN_INITIALS <= len(form) <= MAX_INITIALS)


def is_short(name: str) -> bool:
    """Return whether a name is a short form, such as MIT."""
    return name.isupper() and " " not in name.strip() and MIN_INITIALS <= len(name.strip()) <= MAX_INITIALS


def find_duplicate_institutions(
    institutions: Sequence[InstitutionCandidate], distinct: Set[frozenset[int]] = frozenset()
) -> list[LikelyDuplicate]:
    """Return likely duplicates, most likely first, without the pairs of keys that are `distinct`."""
    found = []
    for left, right in _candidates(institutions):
        one, other = institutions[left], institutions[right]
        if frozenset((one.key, other.key)) in distinct or (one.ror and other.ror and one.ror != other.ror):
            continue
        named = best_match(one, other)
        if named is None:
            continue
        score, reasons = _weigh(one, other, *named)
        if score >= MIN_SCORE:
            first, second = sorted((one.key, other.key))
            found.append(LikelyDuplicate(first, second, score, reasons))
    return sorted(found, key=lambda pair: (-pair.score, pair.first, pair.second))


def _weigh(
    one: InstitutionCandidate, other: InstitutionCandidate, score: int, code: str
) -> tuple[int, tuple[Reason, ...]]:
    reasons: list[Reason] = [(code, {})]
    common = len(one.people & other.people)
    if common:
        score += SHARED_PERSON_SCORE * min(common, MAX_SHARED_PEOPLE)
        reasons.append(("shared_people", {"count": common}))
    if one.country and other.country and fold(one.country) != fold(other.country):
        score -= OTHER_COUNTRY_PENALTY
        reasons.append(("other_country", {}))
    return min(score, 99), tuple(reasons)


def best_match(one: InstitutionCandidate, other: InstitutionCandidate) -> tuple[int, str] | None:
    """Return the best score of their names and its reason, or `None` if no names match."""
    found = [like for a in one.names for b in other.names if (like := compare_institutions(a, b))]
    best = max(found, default=None)
    if best and best[1] == "place_words" and not compare_institutions(one.names[0], other.names[0]):
        return ALIAS_SCORE, "place_alias"
    return best


def compare_institutions(one: str, other: str) -> tuple[int, str] | None:
    """Return the score and reason of two similar names, or `None` if they differ."""
    a, b = words(one), words(other)
    if not (a and b):
        return None
    if sorted(a) == sorted(b):
        return SAME_WORDS_SCORE, "place_words"
    here, there = set(a), set(b)
    left, right = here - there, there - here
    if here & there and len(left) == len(right) == 1:
        (x,), (y,) = left, right
        if min(len(x), len(y)) > MAX_INITIALS - 2 and OSA.distance(x, y, score_cutoff=1) <= 1:
            return TYPO_SCORE, "place_slip"
    if here & there and (left | right) <= UNITS and not (left and right):
        return PART_SCORE, "place_part"
    if is_short(one) != is_short(other) and short_forms(one) & short_forms(other):
        return INITIALS_SCORE, "place_initials"
    return None


def _candidates(institutions: Sequence[InstitutionCandidate]) -> Iterator[tuple[int, int]]:
    blocks: dict[str, list[int]] = defaultdict(list)
    for number, place in enumerate(institutions):
        for key in {key for name in place.names for key in _keys(name)}:
            blocks[key].append(number)
    seen: set[tuple[int, int]] = set()
    for members in blocks.values():
        for pair in combinations(members, 2) if len(members) <= LARGE_BLOCK else ():
            if pair not in seen:
                seen.add(pair)
                yield pair


def _keys(name: str) -> Iterator[str]:
    telling = words(name)
    yield " ".join(sorted(telling))
    yield " ".join(sorted(set(telling) - UNITS))
    yield from (f"={form}" for form in short_forms(name))
    for left_out in telling if len(telling) > 1 else ():
        # Names with a typing error in one word share the key of their other words.
        yield "~" + " ".join(sorted(word for word in telling if word != left_out))
