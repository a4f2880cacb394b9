"""Text as words without accents and case, for the index, queries and highlighting. Pure functions.

Both databases index only these words, so that they find the same documents.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

from markup import CONTROLS, fold

# Chinese is written without spaces: each character is a word, and adjacent ones in a query are a phrase.
IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# `12e3a` is two words, because PostgreSQL's parser reads a number in it.
WORD = re.compile(r"[0-9]+e[0-9]+|[a-z0-9]+")
# Characters that folding replaces one by one.
UNCHANGED_LETTERS = re.compile(r"[\t-\r -&(-~]+")
MAX_WORD_CHARS = 64
# A letter that folded text never contains. Alone it separates texts, so that no phrase spans them. At the
# start of a word it makes a marker that users cannot type: `жe5` is edition 5.
MARKER_LETTER = "ж"


class WordPosition(NamedTuple):
    """A folded word, and its start and end in the original text."""

    word: str
    start: int
    end: int


def fold_words(source: str) -> list[str]:
    """Return the words of a text in their order; an apostrophe joins: `O’Brien` is `obrien`."""
    source = CONTROLS.sub("", source)
    if not source.isascii():
        source = IDEOGRAPH.sub(r" \g<0> ", unicodedata.normalize("NFKC", source))
    return [word[:MAX_WORD_CHARS] for word in WORD.findall(fold(source).replace("'", ""))]


def fold_texts(texts: Iterable[str]) -> str:
    """Return the words of several texts, separated so that no phrase spans two of them."""
    return f" {MARKER_LETTER} ".join(filter(None, (" ".join(fold_words(text)) for text in texts)))


def word_positions(source: str) -> list[WordPosition]:
    """Return the words of a text with their positions in it, for highlighting."""
    if source.isascii() and "'" not in source and not CONTROLS.search(source):
        # Folding changes no positions in such a text.
        matches = WORD.finditer(source.casefold())
        return [WordPosition(match[0][:MAX_WORD_CHARS], match.start(), match.end()) for match in matches]
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
    """Yield the bounds of runs of unchanged letters, and of single characters with their combining ones."""
    start = 0
    while start < len(source):
        run = UNCHANGED_LETTERS.match(source, start)
        end = run.end() if run else start + 1
        if end < len(source) and _joins_previous(source[end]):
            if run and end - start > 1:
                yield start, end - 1
                start = end - 1
            while end < len(source) and _joins_previous(source[end]):
                end += 1
        yield start, end
        start = end


def _joins_previous(character: str) -> bool:
    """Return whether a character is an accent, part of a Korean syllable, or a control character."""
    is_of_syllable = "\u1160" <= character <= "\u11ff"
    return bool(unicodedata.combining(character)) or is_of_syllable or CONTROLS.match(character) is not None


@lru_cache(maxsize=4096)
def _folded_cluster(cluster: str) -> str:
    """Fold one character; unlike `fold`, do not strip spaces."""
    cluster = CONTROLS.sub("", cluster)
    if cluster.isascii():
        return cluster.casefold().replace("'", "")
    composed = unicodedata.normalize("NFKC", cluster)
    return anyascii(IDEOGRAPH.sub(r" \g<0> ", composed)).casefold().replace("'", "")
