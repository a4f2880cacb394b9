"""BibTeX: one entry per paper, for LaTeX and reference managers; `exchange.reading.bibtex` reads it.

In UTF-8, one field a line. Braces inside a value always balance: every parser counts them, escaped or not.
"""

import re
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext_lazy as _

import markup
from exchange.citations import Author, Citation, citation_writer, single_file_writer
from exchange.files import Context, Format, Source
from exchange.reading.textfiles import read_head
from exchange.reading.values import tidy
from exchange.records import Program

FORMULA = r"(?<!\\)\$(?:\\.|[^$\\])*\$|\\\[.*?\\\]"
FORMULAS = re.compile(f"({FORMULA})", re.DOTALL)
# Escaped braces by name, outside of formulas and inside.
NAMED_BRACES = ({r"\{": r"$\lbrace$", r"\}": r"$\rbrace$"}, {r"\{": r"\lbrace{}", r"\}": r"\rbrace{}"})
# The beginning of an entry, at the start of a line.
ENTRY = re.compile(r"^[ \t]*@\w+\s*[{(]", re.MULTILINE)
# Tokens for protecting capitals: formulas, commands, words, single characters.
TITLE_TOKENS = re.compile(rf"{FORMULA}|\\(?:[A-Za-z]+|.)|[^\W_]+|.", re.DOTALL)


def recognizes(sources: Sequence[Source]) -> bool:
    return all(ENTRY.search(read_head(source)) for source in sources)


def read(sources: Sequence[Source], context: Context) -> Program:
    # Loaded on use: this module takes longer to import than the rest of the package.
    from exchange.reading import bibtex

    return bibtex.read(sources, context)


def entry(citation: Citation) -> str:
    first, last = citation.first_and_last_page
    fields = {
        "author": _names(citation.authors),
        "title": protect_capitals(balance_braces(markup.latex(citation.title))),
        "booktitle": markup.latex(citation.booktitle),
        "eventtitle": markup.latex(citation.event),
        "editor": _names(citation.editors),
        "series": markup.latex(citation.series),
        "volume": markup.latex(citation.volume),
        "publisher": markup.latex(citation.publisher),
        "year": str(citation.year or ""),
        # If both places are known, the conference's is in the field that BibLaTeX has for it.
        "address": markup.latex(citation.publisher_place or citation.place),
        "venue": markup.latex(citation.place) if citation.publisher_place else "",
        "pages": "--".join(filter(None, (first, last))),
        "isbn": citation.isbn,
        "issn": citation.issn,
        "doi": citation.doi,
        "url": citation.url,
        # As Zotero and DataCite write the rights of a work.
        "copyright": citation.license,
        "keywords": markup.latex(markup.escape_markup(", ".join(citation.keywords))),
        "abstract": markup.latex(citation.abstract),
    }
    lines = [f"  {name} = {{{balance_braces(value)}}},\n" for name, value in fields.items() if value.strip()]
    return f"@inproceedings{{{citation.key},\n{''.join(lines)}}}\n"


def balance_braces(value: str) -> str:
    """Return a value on one line in which all braces are paired."""
    pieces = enumerate(FORMULAS.split(tidy(value)))
    safe_text = "".join(_name_escaped_braces(piece, NAMED_BRACES[index % 2]) for index, piece in pieces)
    chars, depth = [], 0
    for char in safe_text:
        if char == "}" and not depth:
            continue
        depth += (char == "{") - (char == "}")
        chars.append(char)
    text = "".join(chars) + "}" * depth
    trailing_backslashes = len(text) - len(text.rstrip("\\"))
    return f"{text}{{}}" if trailing_backslashes % 2 else text


def _name_escaped_braces(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\\[\\{}]", lambda match: names.get(match[0], match[0]), text)


def protect_capitals(title: str) -> str:
    """Put braces around formulas and words with inner capitals, since styles convert titles to lower case."""
    depth, pieces = 0, []
    for match in TITLE_TOKENS.finditer(title):
        piece = match[0]
        depth += (piece == "{") - (piece == "}")
        is_formula = len(piece) > 1 and piece.startswith(("$", "\\["))
        is_name = piece[0].isalnum() and piece[1:] != piece[1:].lower()
        pieces.append(f"{{{piece}}}" if not depth and (is_formula or is_name) else piece)
    return "".join(pieces)


def _names(authors: Iterable[Author]) -> str:
    return " and ".join(_name(author) for author in authors)


def _name(author: Author) -> str:
    """Return "Family, Suffix, Given". A part that BibTeX would misread is put in braces."""
    parts = []
    for part in (author.family, author.suffix, author.given):
        text = balance_braces(markup.latex(markup.escape_markup(part)))
        is_misread = "," in text or re.search(r"(?i)(^|\s)and(\s|$)", text)
        parts.append(f"{{{text}}}" if is_misread else text)
    family, *other_parts = parts
    is_lower = author.family == author.family.lower() != author.family.upper()
    # Without a comma, only the last word would be the family name. The name of a team has several.
    is_split = " " in author.family and not any(other_parts)
    is_bare = not family.startswith("{")
    return ", ".join(
        filter(None, (f"{{{family}}}" if (is_lower or is_split) and is_bare else family, *other_parts))
    )


cite = citation_writer(entry, "\n")
write = single_file_writer(cite, "bib")

FORMAT = Format(
    name="bibtex",
    label=_("References (BibTeX)"),
    description=_("An entry for every paper, for LaTeX and reference managers."),
    extensions=("bib",),
    media_type="application/x-bibtex",
    read=read,
    write=write,
    cite=cite,
    short_label="BibTeX",
    citation_place=1,
    takes_stream=True,
    recognizes=recognizes,
)
