"""Text as words without accents and case: what is indexed, asked for and marked. Pure.

Both databases see the words that are made here and nothing else, so that they find the same.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

# Controls, halves of characters, and marks that turn the direction of the page.
CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
# Chinese characters are written without spaces; each is a word, and what was typed together is a phrase.
IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# `12e3a` is two words, because PostgreSQL's parser reads a number in it.
WORD = re.compile(r"[0-9]+e[0-9]+|[a-z0-9]+")
LONGEST_WORD = 64
# A letter that folding never leaves in a text. Alone it keeps neighbours apart, before a word it makes the
# word one that nobody can type: `жe5` is edition 5.
MARK = "ж"


class Place(NamedTuple):
    """A word of a text, and where its letters stand in the original."""

    word: str
    start: int
    end: int


def fold(source: str) -> str:
    """Without accents, case and surplus space, in ASCII."""
    if not source.isascii():
        source = anyascii(unicodedata.normalize("NFKC", CONTROLS.sub("", source)))
    return " ".join(source.casefold().split())


def words(source: str) -> list[str]:
    """Return the words of a text in their order; an apostrophe joins: `O’Brien` is `obrien`."""
    source = CONTROLS.sub("", source)
    if not source.isascii():
        source = IDEOGRAPH.sub(r" \g<0> ", unicodedata.normalize("NFKC", source))
    return [word[:LONGEST_WORD] for word in WORD.findall(fold(source).replace("'", ""))]


def joined(texts: Iterable[str]) -> str:
    """Return the words of several texts, kept apart so that no phrase reaches from one into the next."""
    return f" {MARK} ".join(filter(None, (" ".join(words(text)) for text in texts)))


def places(source: str) -> list[Place]:
    """Return the words of a text with their places in it, for marking them there."""
    if source.isascii() and "'" not in source and not CONTROLS.search(source):
        # Nothing is left out or becomes longer, so that each letter stays where it is.
        plain = WORD.finditer(source.casefold())
        return [Place(match[0][:LONGEST_WORD], match.start(), match.end()) for match in plain]
    letters: list[str] = []
    origins: list[tuple[int, int]] = []
    for start, end in _clusters(source):
        folded = _folded_cluster(source[start:end])
        letters.append(folded)
        origins += [(start, end)] * len(folded)
    found = WORD.finditer("".join(letters))
    return [
        Place(match[0][:LONGEST_WORD], origins[match.start()][0], origins[match.end() - 1][1])
        for match in found
    ]


def _clusters(source: str) -> Iterator[tuple[int, int]]:
    """Walk the characters, each with what follows and belongs to it."""
    start = 0
    for end in range(1, len(source) + 1):
        if end == len(source) or not _follows(source[end]):
            yield start, end
            start = end


def _follows(sign: str) -> bool:
    """Whether it is an accent, the rest of a Korean syllable, or a control, which may stand before these."""
    is_of_syllable = "\u1160" <= sign <= "\u11ff"
    return bool(unicodedata.combining(sign)) or is_of_syllable or CONTROLS.match(sign) is not None


@lru_cache(maxsize=4096)
def _folded_cluster(cluster: str) -> str:
    """Fold one character; unlike `fold` it keeps the space between words."""
    cluster = CONTROLS.sub("", cluster)
    if cluster.isascii():
        return cluster.casefold().replace("'", "")
    composed = unicodedata.normalize("NFKC", cluster)
    return anyascii(IDEOGRAPH.sub(r" \g<0> ", composed)).casefold().replace("'", "")
