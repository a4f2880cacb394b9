"""The authors that one row lists in its columns: names, affiliations, e-mail addresses, identifiers."""

import re
from collections import Counter
from itertools import zip_longest

from django.utils.translation import gettext

from exchange.formats.spreadsheet.cells import Row
from exchange.problems import short
from exchange.reading.papers import (
    E_MAIL,
    PaperParts,
    ParsedAuthor,
    clean_email,
    note_placeholders,
    numbered_affiliations,
    parse_authors,
)
from exchange.reading.person_names import ET_AL, is_placeholder, note_placeholder
from exchange.reading.values import tidy, tidy_each
from exchange.records import AuthorRecord

LIST_SEPARATORS = ";|\n"
PROFILE = re.compile(r"~[^\s,;|]+")
PROFILE_SCHEME = "openreview"
# No more people of one name are authors of one paper.
MAX_NAMESAKES = 20


class BylineReader:
    """Reader of the authors of rows of papers. Reports what is doubtful."""

    def __init__(self, parts: PaperParts) -> None:
        self.parts = parts

    def authors(self, row: Row) -> tuple[AuthorRecord, ...]:
        where = row.where
        names = self.names(row)
        if self._repeats_a_name(names, row):
            return ()
        affiliations = self._affiliations(row, names)
        orcids = row.all("orcid") if len(row.all("orcid")) > 1 else list(split_list(row.get("orcid")))
        profiles = _for_each(names, re.split(r"[\s,;|]+", row.get("author_ids").strip()))
        emails = self._emails(row, names)
        return tuple(
            self.parts.author(
                author.name,
                where,
                affiliations=(*author.affiliations, *affiliations[index]),
                corresponding=author.is_corresponding,
                orcid=orcids[index] if index < len(orcids) else "",
                ids=((PROFILE_SCHEME, profiles[index]),) if PROFILE.fullmatch(profiles[index]) else (),
                email=author.email or emails[index] or profiles[index],
                given=author.given,
                family=author.family,
            )
            for index, author in enumerate(names)
            # Some of several columns may be empty.
            if author.name or len(row.all("authors")) < 2
        )

    def _repeats_a_name(self, names: list[ParsedAuthor], row: Row) -> bool:
        """Return whether a list has one name too often to be right, and report it."""
        counts = Counter(author.name for author in names if author.name)
        name, count = counts.most_common(1)[0] if counts else ("", 0)
        if count <= MAX_NAMESAKES:
            return False
        message = gettext(
            "“%(name)s” is %(count)d times among the authors of this paper. At most %(limit)d people of one "
            "name are read. Delete the repetitions."
        )
        values = {"name": short(name), "count": count, "limit": MAX_NAMESAKES}
        self.parts.findings.problem(row.where, "authors", message, **values)
        return True

    def _emails(self, row: Row, names: list[ParsedAuthor]) -> list[str]:
        """Return the e-mail address of each author. A single one is that of the corresponding author."""
        if len(row.all("email")) > 1:
            return _for_each(names, row.all("email")[: len(names)])
        addresses = list(map(clean_email, E_MAIL.findall(row.get("email"))))
        corresponding = [author for author in names if author.is_corresponding]
        if len(addresses) == 1 and len(corresponding) == 1:
            return [addresses[0] if author.is_corresponding else "" for author in names]
        return _for_each(names, addresses)

    def names(self, row: Row) -> list[ParsedAuthor]:
        cells = [self.parts.text(cell, row.where, "authors") for cell in row.all("authors")]
        if len(cells) > 1:
            # A column for each author. Empty ones are included, so that affiliations match by index.
            return [self._author_of_column(cell, row) for cell in _without_trailing_empty(cells)]
        if (row.has("last") or row.has("first")) and not (cells and cells[0] and _is_one_name(row)):
            pairs = zip_longest(row.all("first"), row.all("last"), fillvalue="")
            authors = [name_of_parts(first, last) for first, last in pairs if first or last]
            return [author for author in authors if not self._is_nobody(author.name, row)]
        cell, names = "".join(cells), row.get("author_names") or row.get("name")
        # The column of authors may contain affiliations that a second column of bare names lacks.
        byline = cell if "(" in cell else names or cell
        byline = self.parts.text(byline, row.where, "authors")
        authors = parse_authors(byline, is_family_first=row.is_family_first)
        note_placeholders(byline, row.where, self.parts.findings)
        if (
            len(authors) > 1
            and all(author.name and " " not in author.name for author in authors)
            and byline.isascii()
        ):
            message = gettext(
                "All authors have one name only: %(cell)s. Do commas separate family and given names?"
            )
            self.parts.findings.note("doubt", row.where, message, cell=byline[:60])
        return authors

    def _author_of_column(self, cell: str, row: Row) -> ParsedAuthor:
        """Return the one author of a cell, affiliations in parentheses; without a name for a placeholder."""
        return ParsedAuthor("") if self._is_nobody(cell, row) else _parse_author(cell)

    def _is_nobody(self, text: str, row: Row) -> bool:
        """Return whether a text is a placeholder, and note it. A list that ends in "et al." is noted, too."""
        if is_placeholder(text) or ET_AL.search(text):
            note_placeholder(text, row.where, self.parts.findings)
        return is_placeholder(text)

    def _affiliations(self, row: Row, names: list[ParsedAuthor]) -> list[tuple[str, ...]]:
        """Return the affiliations of each author; a row lists them in the order of the authors."""
        no_affiliations: list[tuple[str, ...]] = [()] * len(names)
        cells = [self.parts.text(cell, row.where, "affiliation") for cell in row.all("affiliation")]
        if len(cells) > 1:
            affiliations = [split_list(cell, is_list=True) for cell in cells]
            return (affiliations + no_affiliations)[: len(names)]
        by_number = numbered_affiliations(cells[0]) if cells else {}
        if by_number and any(author.numbers for author in names):
            return [tuple(by_number[key] for key in author.numbers if key in by_number) for author in names]
        parts = [*by_number.values()] or split_affiliations(cells[0] if cells else "")
        affiliations = [(affiliation,) for affiliation in parts]
        if not affiliations or not names:
            return no_affiliations
        if len(affiliations) == 1:
            return affiliations * len(names)
        if len(affiliations) == len(names):
            return affiliations
        message = gettext(
            "Affiliations were left out: there are %(places)d for %(names)d authors, "
            "so it is not known whose they are."
        )
        self.parts.findings.note("warning", row.where, message, places=len(affiliations), names=len(names))
        return no_affiliations


def _for_each(names: list[ParsedAuthor], values: list[str]) -> list[str]:
    """Return the values if there is one for each author, else empty ones."""
    return values if len(values) == len(names) else [""] * len(names)


def _is_one_name(row: Row) -> bool:
    """Return whether a row has the parts of one name at most, such as those of a contact."""
    return len(row.all("first")) < 2 and len(row.all("last")) < 2


def _parse_author(cell: str) -> ParsedAuthor:
    """Return the one author of a cell, affiliations in parentheses."""
    authors = parse_authors(cell, is_family_first=True)
    return authors[0] if authors else ParsedAuthor("")


def name_of_parts(given: str, family: str) -> ParsedAuthor:
    """Return the author of the cells of a given and a family name."""
    return ParsedAuthor(tidy(f"{given} {family}"), given=tidy(given), family=tidy(family))


def _without_trailing_empty(cells: list[str]) -> list[str]:
    """Return the cells up to the last that is not empty."""
    while cells and not cells[-1]:
        cells = cells[:-1]
    return cells


def split_affiliations(cell: str) -> list[str]:
    """Split affiliations at semicolons, bars or lines. Empty ones are included, as positions matter."""
    separator = next((separator for separator in LIST_SEPARATORS if separator in cell), "")
    parts = [tidy(part) for part in (cell.split(separator) if separator else [cell])]
    return _without_trailing_empty(parts)


def split_list(cell: str, *, is_list: bool = False) -> tuple[str, ...]:
    """Split at semicolons, bars or lines, else at commas unless `is_list`. Topics may contain commas."""
    separators = [separator for separator in LIST_SEPARATORS if separator in cell] or (
        [] if is_list else [","]
    )
    for separator in separators:
        cell = cell.replace(separator, "\0")
    return tidy_each(cell.split("\0"))
