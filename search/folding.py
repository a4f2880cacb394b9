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
# Letters of which folding leaves out none and makes none more.
UNCHANGED_LETTERS = re.compile(r"[\t-\r -&(-~]+")
MAX_WORD_CHARS = 64
# A letter that folding never leaves in a text. Alone it keeps neighbors apart, before a word it makes the
# word one that users cannot type: `жe5` is edition 5.
MARKER_LETTER = "ж"


class WordPosition(NamedTuple):
    """A word of a text, and the positions of its letters in the original."""

    word: str
    start: int
    end: int


def fold(source: str) -> str:
    """Without accents, case and surplus space, in ASCII."""
    if not source.isascii():
        source = anyascii(unicodedata.normalize("NFKC", CONTROLS.sub("", source)))
    return " ".join(source.casefold().split())


def fold_words(source: str) -> list[str]:
    """Return the words of a text in their order; an apostrophe joins: `O’Brien` is `obrien`."""
    source = CONTROLS.sub("", source)
    if not source.isascii():
        source = IDEOGRAPH.sub(r" \g<0> ", unicodedata.normalize("NFKC", source))
    return [word[:MAX_WORD_CHARS] for word in WORD.findall(fold(source).replace("'", ""))]


def fold_texts(texts: Iterable[str]) -> str:
    """Return the words of several texts, kept apart so that no phrase reaches from one into the next."""
    return f" {MARKER_LETTER} ".join(filter(None, (" ".join(fold_words(text)) for text in texts)))


def word_positions(source: str) -> list[WordPosition]:
    """Return the words of a text with their places in it, for marking them there."""
    if source.isascii() and "'" not in source and not CONTROLS.search(source):
        # Nothing is left out or becomes longer, so that each letter stays where it is.
        plain = WORD.finditer(source.casefold())
        return [WordPosition(match[0][:MAX_WORD_CHARS], match.start(), match.end()) for match in plain]
    letters, starts, ends = "", list[int](), list[int]()
    for start, end in _pieces(source):
        if UNCHANGED_LETTERS.fullmatch(source, start, end):
            letters += source[start:end].casefold()
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            folded = _folded_cluster(source[start:end])
            letters += folded
            starts += [start] * len(folded)
            ends += [end] * len(folded)
    return [
        WordPosition(match[0][:MAX_WORD_CHARS], starts[match.start()], ends[match.end() - 1])
        for match in WORD.finditer(letters)
    ]


def _pieces(source: str) -> Iterator[tuple[int, int]]:
    """Walk the text by runs of letters that stay as they are, and by characters with what belongs to them."""
    start = 0
    while start < len(source):
        run = UNCHANGED_LETTERS.match(source, start)
        end = run.end() if run else start + 1
        if end < len(source) and _follows(source[end]):
            if run and end - start > 1:
                yield start, end - 1
                start = end - 1
            while end < len(source) and _follows(source[end]):
                end += 1
        yield start, end
        start = end


def _follows(sign: str) -> bool:
    """Whether it is an accent, the rest of a Korean syllable, or a control character before these."""
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
