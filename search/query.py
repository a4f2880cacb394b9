"""Parser of search queries: words, "phrases", -excluded words, operators such as author:name. Pure functions.

Any text can be parsed. Unknown operators are read as plain words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from typing import Self

from django.utils.translation import gettext as _

from search.folding import fold_words

MAX_QUERY_CHARS = 500
MAX_TERMS = 32
# Words of at least this length are prefixes; the last word, which may be unfinished, may be shorter.
PREFIX_LENGTH = 3
LAST_PREFIX_LENGTH = 2
# `year:2019-2023` means each of the years; a longer span is a typing error.
MAX_SPAN_YEARS = 100


class Field(StrEnum):
    """The field that has to contain a word; `ANY` is the whole document."""

    ANY = ""
    TITLE = "title"
    PEOPLE = "author"
    TOPIC = "topic"
    AWARDS = "award"
    YEAR = "year"


OPERATORS = {name.value: name for name in Field if name} | {"speaker": Field.PEOPLE, "person": Field.PEOPLE}
QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))


def part_pattern(operators: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of one part of a query: a word or phrase, with an optional minus and operator."""
    names = "|".join(operators)
    value = r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)'
    return re.compile(rf"(?P<minus>-)?(?:(?P<operator>{names}):(?=\S))?(?:{value})", re.IGNORECASE)


PART = part_pattern(OPERATORS)


@dataclass(frozen=True)
class Term:
    """One or more adjacent folded words; for years, alternatives."""

    words: tuple[str, ...]
    where: Field = Field.ANY
    quoted: bool = False
    excluded: bool = False
    # Whether the last word also finds the words that begin with it.
    prefix: bool = False
    # The term as it was typed.
    text: str = field(default="", compare=False)

    @property
    def is_vague(self) -> bool:
        """Whether it is such a short prefix that most documents contain a word with it."""
        return self.prefix and len(self.words) == 1 and len(self.words[0]) < PREFIX_LENGTH

    @property
    def source(self) -> str:
        """The term as it was typed, with its operator and quotes."""
        value = f'"{self.text}"' if self.quoted else self.text
        return f"{'-' if self.excluded else ''}{f'{self.where}:' if self.where else ''}{value}"

    def __str__(self) -> str:
        value = f'"{" ".join(self.words)}"' if self.quoted else "-".join(self.words)
        operator = f"{self.where}:" if self.where else ""
        return f"{'-' if self.excluded else ''}{operator}{value}"


@dataclass(frozen=True)
class Query:
    """A parsed query. It is false if it contains no terms, or only excluded ones."""

    terms: tuple[Term, ...] = ()

    @property
    def required(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if not term.excluded)

    @property
    def excluded(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.excluded)

    def whole_words(self) -> Self:
        """Return the query without prefixes."""
        return replace(self, terms=tuple(replace(term, prefix=False) for term in self.terms))

    def without(self, term: Term) -> Self:
        return replace(self, terms=tuple(other for other in self.terms if other != term))

    @property
    def source(self) -> str:
        """The terms as they were typed."""
        return " ".join(term.source for term in self.terms)

    def __bool__(self) -> bool:
        return any(not term.excluded for term in self.terms)

    def __str__(self) -> str:
        """Return the query as text, of which `parse_query` makes the same query."""
        return " ".join(map(str, self.terms))


def parse_query(text: str) -> Query:
    """Parse a text. This never fails; a text without letters or digits is an empty query."""
    parsed = (_parse_term(match) for match in PART.finditer(text[:MAX_QUERY_CHARS].translate(QUOTES)))
    terms = list(dict.fromkeys(term for term in parsed if term.words))[:MAX_TERMS]
    return Query(tuple(_with_prefix(term, term is terms[-1]) for term in terms))


def describe_query(query: Query) -> str:
    """Describe a query in words, such as `with “graph”, “neural”; by “Šimek”; from “2021”`."""
    templates = {
        Field.ANY: (_("with %s"), _("without %s")),
        Field.TITLE: (_("with %s in the title"), _("without %s in the title")),
        Field.PEOPLE: (_("by %s"), _("not by %s")),
        Field.TOPIC: (_("on the topic %s"), _("not on the topic %s")),
        Field.AWARDS: (_("with the award %s"), _("without the award %s")),
        Field.YEAR: (_("from %s"), _("not from %s")),
    }
    ordered = sorted(query.terms, key=lambda term: (term.excluded, [*Field].index(term.where)))
    return "; ".join(
        templates[where][excluded] % ", ".join(f"“{term.text}”" for term in terms)
        for (excluded, where), terms in groupby(ordered, key=lambda term: (term.excluded, term.where))
    )


def _parse_term(match: re.Match[str]) -> Term:
    text = (match["word"] if match["phrase"] is None else match["phrase"]).strip()
    where = OPERATORS[match["operator"].lower()] if match["operator"] else Field.ANY
    words = fold_words(text)
    return Term(
        words=tuple(_expand_years(words) if where is Field.YEAR else words),
        where=where,
        quoted=match["phrase"] is not None,
        excluded=match["minus"] is not None,
        text=text,
    )


def _expand_years(words: list[str]) -> list[str]:
    """Return all years from the first to the last of two; other words unchanged."""
    if len(words) == 2 and all(re.fullmatch(r"\d{4}", word) for word in words):
        first, last = map(int, words)
        if first < last < first + MAX_SPAN_YEARS:
            return [f"{year:04}" for year in range(first, last + 1)]
    return words


def _with_prefix(term: Term, is_last: bool) -> Term:
    """Make a term a prefix, unless quoted, a year or excluded: `-art` does not exclude “artificial”."""
    if term.quoted or term.excluded or term.where is Field.YEAR:
        return term
    return replace(term, prefix=len(term.words[-1]) >= (LAST_PREFIX_LENGTH if is_last else PREFIX_LENGTH))
