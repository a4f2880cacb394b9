"""Comparison of two spellings of a name: their words, and how they differ (pure)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import OSA

from markup import fold
from people.names import NOT_NAMES, normalize

TITLES = frozenset({"dr", "prof", "professor", "mr", "mrs", "ms"})
# ASCII spellings of umlauts. Folding replaces umlauts by a, o and u instead.
SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "ß": "ss"})
# Shorter words that differ by a letter are different names, such as Li and Lu, or Wang and Yang.
MIN_TYPO_CHARS, MIN_TWO_TYPOS_CHARS, MIN_SHORT_FORM_CHARS = 5, 9, 3


class SpellingDifference(StrEnum):
    """How two spellings differ, the most similar first."""

    SAME = "same"
    CASE = "case"
    ACCENTS = "accents"
    PUNCTUATION = "punctuation"
    ORDER = "order"
    DOUBLED = "doubled"
    PLACEHOLDER = "placeholder"
    JOINED = "joined"
    MIDDLE = "middle"
    CALLED = "called"
    EXTRA = "extra"
    INITIALS = "initials"
    SHORT = "short"
    TYPO = "typo"


@dataclass(frozen=True, slots=True)
class SpellingMatch:
    """A match of two spellings: common words, common initials, and the two words that differ slightly."""

    kind: SpellingDifference
    shared: tuple[str, ...]
    initials: tuple[str, ...] = ()
    unlike: tuple[str, str] = ("", "")


@lru_cache(maxsize=262_144)
def words(name: str) -> tuple[str, ...]:
    """Return the folded words of a name in order, without placeholders, titles and numbers."""
    all_parts = normalize(name).split()
    name_parts = [part for part in all_parts if part.strip("()[],.") not in NOT_NAMES] or all_parts
    folded = fold(" ".join(name_parts)).replace("'", "").replace("’", "")
    name_words = [word for word in re.split(r"[^0-9a-z]+", folded) if word and not word.isdigit()]
    return tuple(word for word in name_words if word not in TITLES) or tuple(name_words)


@lru_cache(maxsize=262_144)
def readings(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a name, and also those with umlauts spelled out if they differ."""
    plain = words(name)
    if name.isascii():
        return (plain,)
    spelled_out = words(name.lower().translate(SPELLED_OUT))
    return (plain,) if spelled_out == plain else (plain, spelled_out)


@lru_cache(maxsize=262_144)
def namesake_number(name: str) -> str:
    """Return the number that distinguishes namesakes in a list, as in “Wei Wang 0002”."""
    match = re.search(r"\d+", name)
    return match[0].lstrip("0") if match else ""


def compare_names(first: str, second: str) -> SpellingMatch | None:
    """Compare two names as written. Return `None` if they do not match, or if one has no letter."""
    if not (words(first) and words(second)):
        return None
    first_number, second_number = namesake_number(first), namesake_number(second)
    if first_number and second_number and first_number != second_number:
        return None
    match = None
    for a in readings(first):
        for b in readings(second):
            match = match or compare_words(a, b)
    if match and match.kind == SpellingDifference.SAME:
        return SpellingMatch(_writing_difference(first, second), match.shared)
    if match and match.kind == SpellingDifference.EXTRA and "(" in first + second:
        return SpellingMatch(SpellingDifference.CALLED, match.shared)
    return match


def _writing_difference(first: str, second: str) -> SpellingDifference:
    """Return how two names with the same words differ."""
    first, second = normalize(first), normalize(second)
    if first == second:
        return SpellingDifference.SAME
    if first.casefold() == second.casefold():
        return SpellingDifference.CASE
    if len(words(first)) != len(first.split()) or len(words(second)) != len(second.split()):
        placeholders = {*first.split(), *second.split()} & NOT_NAMES
        return SpellingDifference.PLACEHOLDER if placeholders else SpellingDifference.PUNCTUATION
    return (
        SpellingDifference.PUNCTUATION if first.isascii() and second.isascii() else SpellingDifference.ACCENTS
    )


def compare_words(a: tuple[str, ...], b: tuple[str, ...]) -> SpellingMatch | None:
    """Compare the words of two names. Return `None` if they do not match."""
    if a == b:
        return SpellingMatch(SpellingDifference.SAME, a)
    (words_a, joined_a), (words_b, joined_b) = _word_sets(a), _word_sets(b)
    if words_a == words_b:
        if len(a) == len(b) == len(words_a):
            return SpellingMatch(SpellingDifference.ORDER, a) if is_rotation(a, b) else None
        return SpellingMatch(SpellingDifference.DOUBLED, tuple(dict.fromkeys(a)))
    if not joined_a.isdisjoint(joined_b):
        return SpellingMatch(SpellingDifference.JOINED, max(a, b, key=len))
    shared = tuple(word for word in a if word in words_b and len(word) > 1)
    return _compare_other_words(a, b, shared) if shared else None


@lru_cache(maxsize=262_144)
def _word_sets(name: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(name), frozenset(joined_forms(name))


def is_rotation(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Return whether one is a rotation of the other. Kim Hee-Soo and Kim Soo-Hee are different names."""
    return any(a[start:] + a[:start] == b for start in range(1, len(a)))


def joined_forms(name: tuple[str, ...]) -> Iterator[str]:
    """Yield a name without spaces, also with its last word first, and with its first word last."""
    if sum(map(len, name)) > len(name):
        yield "".join(name)
        if len(name) > 1:
            yield "".join([name[-1], *name[:-1]])
            yield "".join([*name[1:], name[0]])


def _compare_other_words(
    a: tuple[str, ...], b: tuple[str, ...], shared: tuple[str, ...]
) -> SpellingMatch | None:
    left, right = ([word for word in dict.fromkeys(side) if word not in shared] for side in (a, b))
    if left and "".join(left) == "".join(right):
        return SpellingMatch(SpellingDifference.JOINED, (*shared, max(left, right, key=len)[0]))
    initials = [*_take_initials(left, right), *_take_initials(right, left)]
    kind = SpellingDifference.INITIALS
    unlike = ("", "")
    if left and right:
        similar = _take_similar(left, right)
        if similar is None:
            return None
        kind, unlike = similar
    if len(shared) + len(initials) + bool(unlike[0]) < 2:
        return None
    extra = left or right
    if extra and not initials and not unlike[0]:
        kind = (
            SpellingDifference.MIDDLE if all(len(word) == 1 for word in extra) else SpellingDifference.EXTRA
        )
    return SpellingMatch(kind, shared, tuple(initials), unlike)


def _take_initials(short: list[str], full: list[str]) -> Iterator[str]:
    """Remove initials from one side and the words they abbreviate from the other. Yield the initials."""
    for letter in [word for word in short if len(word) == 1]:
        abbreviated = next((word for word in full if word[0] == letter), None)
        if abbreviated is not None:
            short.remove(letter)
            full.remove(abbreviated)
            yield letter


def _take_similar(left: list[str], right: list[str]) -> tuple[SpellingDifference, tuple[str, str]] | None:
    """Remove a similar word from each side. Return `None` if there is none, or if other words differ."""
    for word in left:
        for other in right:
            kind = word_difference(word, other)
            if kind is not None:
                left.remove(word)
                right.remove(other)
                return None if left and right else (kind, (word, other))
    return None


def word_difference(first: str, second: str) -> SpellingDifference | None:
    """Return `TYPO` or `SHORT` if the words differ by a typing error, or if one is short for the other."""
    shorter, longer = sorted((first, second), key=len)
    first, second = first.replace("ks", "x").replace("ph", "f"), second.replace("ks", "x").replace("ph", "f")
    if len(shorter) >= MIN_TYPO_CHARS:
        max_typos = 2 if len(shorter) >= MIN_TWO_TYPOS_CHARS else 1
        if OSA.distance(first, second, score_cutoff=max_typos) <= max_typos:
            return SpellingDifference.TYPO
    if len(shorter) >= MIN_SHORT_FORM_CHARS and len(longer) > len(shorter) + 1 and longer.startswith(shorter):
        return SpellingDifference.SHORT
    return None


FAMILY_NAME_PERCENT = {
    "wang": 6.0, "zhang": 5.5, "li": 6.0, "liu": 4.5, "chen": 4.5, "yang": 3.0, "zhao": 1.8, "wu": 2.0,
    "huang": 1.8, "zhou": 1.7, "xu": 2.0, "sun": 1.3, "lin": 1.4, "zhu": 1.2, "he": 1.0, "hu": 1.0,
    "guo": 1.0, "luo": 0.8, "gao": 0.8, "zheng": 0.7, "kim": 2.2, "lee": 1.8, "park": 0.8, "choi": 0.6,
    "nguyen": 0.7, "tran": 0.3, "singh": 0.4, "kumar": 0.5, "gupta": 0.3, "sharma": 0.3, "smith": 0.2,
    "garcia": 0.2, "muller": 0.1, "silva": 0.1, "jones": 0.1, "johnson": 0.1, "tanaka": 0.1, "suzuki": 0.1,
}  # fmt: skip
GIVEN_NAME_PERCENT = {
    "wei": 1.0, "yu": 0.9, "jing": 0.7, "yang": 0.7, "lei": 0.7, "jun": 0.7, "xin": 0.6, "hao": 0.6,
    "yi": 0.6, "ming": 0.5, "jie": 0.5, "bo": 0.6, "tao": 0.5, "ying": 0.5, "hui": 0.5, "yan": 0.5,
    "peng": 0.5, "xiang": 0.4, "feng": 0.4, "fei": 0.5, "kai": 0.5, "yong": 0.3, "chao": 0.5, "qi": 0.4,
    "rui": 0.4, "jian": 0.4, "bin": 0.4, "hong": 0.4, "yun": 0.3, "min": 0.4, "ping": 0.2, "xiao": 0.4,
    "michael": 0.4, "david": 0.5, "daniel": 0.4, "john": 0.3, "thomas": 0.3, "alexander": 0.3,
    "andrew": 0.3, "james": 0.2, "christopher": 0.2, "anna": 0.2, "maria": 0.2, "peter": 0.2,
}  # fmt: skip


def name_share(word: str) -> float:
    """Return the share of people with this word in their name, from 0 to 1. Unknown words have 0."""
    return (FAMILY_NAME_PERCENT.get(word, 0.0) + GIVEN_NAME_PERCENT.get(word, 0.0)) / 100
