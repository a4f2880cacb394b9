"""What a visitor typed, understood: words, "phrases", -left -out, and operators such as author:name. Pure.

Any text can be parsed; what makes no sense as an operator is read as plain words.
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
# A word of so many letters finds the words that begin with it; the last word, maybe unfinished, of fewer.
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
    """Return the pattern of one part of a text: a word or phrase, with or without minus and operator."""
    names = "|".join(operators)
    value = r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)'
    return re.compile(rf"(?P<minus>-)?(?:(?P<operator>{names}):(?=\S))?(?:{value})", re.IGNORECASE)


PART = part_pattern(OPERATORS)


@dataclass(frozen=True)
class Term:
    """One or more adjacent folded words (of years: any of them matches)."""

    words: tuple[str, ...]
    where: Field = Field.ANY
    quoted: bool = False
    excluded: bool = False
    # The last word also finds the words that begin with it.
    prefix: bool = False
    # As it was typed.
    text: str = field(default="", compare=False)

    @property
    def is_vague(self) -> bool:
        """Whether it is a beginning of so few letters that most texts hold a word that begins so."""
        return self.prefix and len(self.words) == 1 and len(self.words[0]) < PREFIX_LENGTH

    def __str__(self) -> str:
        value = f'"{" ".join(self.words)}"' if self.quoted else "-".join(self.words)
        operator = f"{self.where}:" if self.where else ""
        return f"{'-' if self.excluded else ''}{operator}{value}"


@dataclass(frozen=True)
class Query:
    """What is asked for. True when something is: leaving out alone asks for nothing."""

    terms: tuple[Term, ...] = ()

    @property
    def wanted(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if not term.excluded)

    @property
    def excluded(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.excluded)

    def whole_words(self) -> Self:
        """Return the query without beginnings of words."""
        return replace(self, terms=tuple(replace(term, prefix=False) for term in self.terms))

    def __bool__(self) -> bool:
        return any(not term.excluded for term in self.terms)

    def __str__(self) -> str:
        """Write the query so that parsing it gives the same query."""
        return " ".join(map(str, self.terms))


def parse_query(text: str) -> Query:
    """Understand a text. Never fails; an empty text, or one without a letter, asks for nothing."""
    found = (_term(match) for match in PART.finditer(text[:MAX_QUERY_CHARS].translate(QUOTES)))
    terms = list(dict.fromkeys(term for term in found if term.words))[:MAX_TERMS]
    return Query(tuple(_with_prefix(term, term is terms[-1]) for term in terms))


def describe_query(query: Query) -> str:
    """Say what is looked for, such as `with “graph”, “neural”; by “Šimek”; from “2021”`."""
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


def _term(match: re.Match[str]) -> Term:
    text = (match["word"] if match["phrase"] is None else match["phrase"]).strip()
    where = OPERATORS[match["operator"].lower()] if match["operator"] else Field.ANY
    found = fold_words(text)
    return Term(
        words=tuple(_years(found) if where is Field.YEAR else found),
        where=where,
        quoted=match["phrase"] is not None,
        excluded=match["minus"] is not None,
        text=text,
    )


def _years(found: list[str]) -> list[str]:
    """Spell out a span of two years."""
    if len(found) == 2 and all(re.fullmatch(r"\d{4}", word) for word in found):
        first, last = map(int, found)
        if first < last < first + MAX_SPAN_YEARS:
            return [f"{year:04}" for year in range(first, last + 1)]
    return found


def _with_prefix(term: Term, last: bool) -> Term:
    """An exact phrase, a year and what is left out mean the word itself: `-art` keeps artificial."""
    if term.quoted or term.excluded or term.where is Field.YEAR:
        return term
    return replace(term, prefix=len(term.words[-1]) >= (LAST_PREFIX_LENGTH if last else PREFIX_LENGTH))
