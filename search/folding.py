"""Text as words without accents and case, for the index, queries and highlighting. Pure functions.

Both databases index only these words, so that they find the same documents.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

from markup import CONTROLS, fold

# Scripts whose words no spaces separate, or only some: each character is a word, and adjacent ones in a query
# are a phrase. Chinese; kana; Korean; Thai, Lao, Burmese and Khmer.
IDEOGRAPHS = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA, KATAKANA, HANGUL = r"\u3041-\u309f", r"\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff", r"\uac00-\ud7a3"
SOUTHEAST_ASIAN = r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
UNSPACED = re.compile(f"[{IDEOGRAPHS}{HIRAGANA}{KATAKANA}{HANGUL}{SOUTHEAST_ASIAN}]")
# A run of one alphabet or syllabary, which people also type in Latin letters: `sakura`.
SYLLABLES = re.compile("|".join(f"[{script}]{{2,12}}" for script in (HIRAGANA, KATAKANA, HANGUL)))
# At most two Greek letters side by side are symbols, with the names by which people type them: `alpha`.
GREEK = "\u00b5\u0370-\u03ff\U0001d6a8-\U0001d7cb"
GREEK_RUN = re.compile(f"(?:[{GREEK}][\u0300-\u036f]*)+")
GREEK_LETTER = re.compile(f"[{GREEK}]")
MAX_SYMBOLS = 2
SYMBOL_NAMES = {"∇": "nabla", "∂": "partial"}
SYMBOL = re.compile("[∇∂]")
# Words that a hyphen, dot or slash connects: people also type them as one.
# They begin where a word does and give nothing back: a word of 100,000 letters is read once.
COMPOUND = re.compile(r"(?<![a-z0-9])[a-z0-9]++(?:[-._/][a-z0-9]++)+")
MAX_PARTS = 4
MIXED_WORD = re.compile(r"\b(?=[a-z]*[0-9])(?=[0-9]*[a-z])[a-z0-9]+\b")
# `12e3a` is two words, because PostgreSQL's parser reads a number in it.
WORD_WITH_EXPONENT = re.compile("[0-9]+e[0-9]+")
WORD = re.compile(f"{WORD_WITH_EXPONENT.pattern}|[a-z0-9]+")
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
    return _words(_folded(_with_symbol_names(source)))


def fold_texts(texts: Iterable[str]) -> str:
    """Return the words of several texts, separated so that no phrase spans two of them.

    Other spellings of words follow each text: `gpt4` and `knn` find GPT-4 and k-NN, GPT-4 finds GPT4.
    """
    phrases: list[Sequence[str]] = []
    for text in texts:
        source = _with_symbol_names(text)
        folded = _folded(source)
        phrases += [_words(folded), *dict.fromkeys(map(tuple, _other_spellings(source, folded)))]
    return f" {MARKER_LETTER} ".join(" ".join(words) for words in phrases if words)


def _words(folded: str) -> list[str]:
    return [word[:MAX_WORD_CHARS] for word in WORD.findall(folded)]


def _folded(source: str) -> str:
    """Return a text in ASCII, with spaces between the characters of scripts without them."""
    return fold(UNSPACED.sub(r" \g<0> ", source)).replace("'", "")


def _with_symbol_names(source: str) -> str:
    """Return a text in a normal form, with the names of Greek letters that are symbols."""
    source = CONTROLS.sub("", source)
    if source.isascii():
        return source
    source = unicodedata.normalize("NFKC", source)
    source = SYMBOL.sub(lambda match: SYMBOL_NAMES[match[0]], source)
    return GREEK_RUN.sub(
        lambda run: GREEK_LETTER.sub(_letter_name, run[0]) if _are_symbols(run[0]) else run[0], source
    )


def _are_symbols(letters: str) -> bool:
    return len(GREEK_LETTER.findall(letters)) <= MAX_SYMBOLS


def _letter_name(letter: re.Match[str]) -> str:
    """Return `alpha` for a Greek letter in any style, without its accents."""
    base = unicodedata.normalize("NFKD", letter[0])[0]
    name = unicodedata.name(base, "").partition(" LETTER ")[2].lower().removeprefix("final ")
    # Unicode spells it without the b.
    return {"lamda": "lambda"}.get(name, name) if name.isalpha() else letter[0]


def _other_spellings(source: str, folded: str) -> Iterator[list[str]]:
    """Yield words that are written apart as one, one word as its letters and numbers, syllables as a word."""
    for compound in COMPOUND.findall(folded):
        parts = re.findall("[a-z0-9]+", compound)
        if len(parts) <= MAX_PARTS:
            # Words are found by their beginning, so that `covid19` finds non-COVID-19-related.
            yield from ([("".join(parts[start:]))[:MAX_WORD_CHARS]] for start in range(len(parts) - 1))
    for word in MIXED_WORD.findall(folded):
        parts = re.findall("[a-z]+|[0-9]+", word)
        if len(parts) <= MAX_PARTS and not WORD_WITH_EXPONENT.fullmatch(word):
            yield parts
    if not source.isascii():
        yield from (["".join(_words(_folded(run)))[:MAX_WORD_CHARS]] for run in SYLLABLES.findall(source))


def word_positions(source: str) -> list[WordPosition]:
    """Return the words of a text with their positions in it, for highlighting."""
    if source.isascii() and "'" not in source and not CONTROLS.search(source):
        # Folding changes no positions in such a text.
        matches = WORD.finditer(source.casefold())
        return [WordPosition(match[0][:MAX_WORD_CHARS], match.start(), match.end()) for match in matches]
    letters, starts, ends = "", list[int](), list[int]()
    runs = GREEK_RUN.finditer(source)
    symbols = {start for run in runs if _are_symbols(run[0]) for start in range(*run.span())}
    for start, end in _pieces(source):
        if UNCHANGED_LETTERS.fullmatch(source, start, end):
            letters += source[start:end].casefold()
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            folded = _folded_cluster(source[start:end], start in symbols)
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
def _folded_cluster(cluster: str, is_symbol: bool) -> str:
    """Fold one character; unlike `fold`, do not strip spaces."""
    cluster = CONTROLS.sub("", cluster)
    if cluster.isascii():
        return cluster.casefold().replace("'", "")
    composed = unicodedata.normalize("NFKC", cluster)
    composed = SYMBOL.sub(lambda match: SYMBOL_NAMES[match[0]], composed)
    if is_symbol:
        composed = GREEK_LETTER.sub(_letter_name, composed)
    return anyascii(UNSPACED.sub(r" \g<0> ", composed)).casefold().replace("'", "")
