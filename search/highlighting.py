"""Highlighting of the found words in a text."""

from collections.abc import Iterable

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from search.folding import WordPosition, word_positions
from search.query import PREFIX_LENGTH, Field, Query, Term

# The syllables of a word in Japanese or Korean, or parts of GPT-4.
MAX_JOINED_WORDS = 12


def highlight(text: str, query: Query, field: Field = Field.ANY) -> SafeString:
    """Return plain text as HTML with the found words in `<mark>`, regardless of accents and case.

    Words of an operator are marked in their own field only: pass `field` for a title or a line of authors.
    """
    terms = [term for term in query.required if term.where in (Field.ANY, field)]
    positions = word_positions(text)
    marked: list[str] = []
    offset = 0
    for start, end in _spans(text, positions, terms):
        marked += [escape(text[offset:start]), "<mark>", escape(text[start:end]), "</mark>"]
        offset = end
    return mark_safe("".join([*marked, escape(text[offset:])]))


def _spans(text: str, positions: list[WordPosition], terms: Iterable[Term]) -> list[tuple[int, int]]:
    """Return the spans to mark, in order; adjacent and overlapping ones are merged."""
    spans: list[tuple[int, int]] = []
    terms = [*terms]
    found = [span for term in terms for span in _occurrences(positions, term)]
    found += (span for term in terms for span in _other_spellings(text, positions, term))
    for start, end in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _occurrences(positions: list[WordPosition], term: Term) -> Iterable[tuple[int, int]]:
    *before, last = term.words
    length = len(before)
    for index, (word, _, end) in enumerate(positions):
        if word.startswith(last) if term.prefix else word == last:
            phrase = positions[index - length : index + 1] if index >= length else []
            if phrase and [position.word for position in phrase[:-1]] == before:
                yield phrase[0].start, end


def _other_spellings(text: str, positions: list[WordPosition], term: Term) -> Iterable[tuple[int, int]]:
    """Yield words without a space between them that together are the term: GPT-4 for `gpt4` and back."""
    sought = "".join(term.words)
    if term.quoted or len(sought) < PREFIX_LENGTH:
        return
    for index, (word, start, end) in enumerate(positions):
        if not sought.startswith(word[: len(sought)]):
            continue
        for follower in positions[index + 1 : index + MAX_JOINED_WORDS]:
            gap = text[end : follower.start]
            if len(word) >= len(sought) or len(gap) > 1 or gap.isspace():
                break
            word, end = word + follower.word, follower.end
        if word.startswith(sought) if term.prefix else word == sought:
            yield start, end


def excerpt(text: str, query: Query, max_chars: int = 240) -> SafeString:
    """Return the passage around the first found word, in whole words and marked; empty if none is found."""
    terms = [term for term in query.required if term.where is Field.ANY]
    spans = _spans(text, word_positions(text), terms)
    if not spans:
        return mark_safe("")
    start, end = _passage_bounds(text, spans[0][0], max_chars)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return mark_safe(f"{before}{highlight(text[start:end].strip(), query)}{after}")


def _passage_bounds(text: str, position: int, max_chars: int) -> tuple[int, int]:
    """Return the bounds of at most `max_chars` around a position, at spaces."""
    start = max(0, min(position - max_chars // 3, len(text) - max_chars))
    end = min(len(text), start + max_chars)
    if start:
        start = text.find(" ", start, position) + 1 or position
    if end < len(text):
        end = max(text.rfind(" ", position, end), start) if " " in text[position:end] else len(text)
    return start, end
