"""Texts that have no markup but formulas between single dollars and addresses: read without the parser.

Most are such. What a dollar means is decided in markup.tex; of anything else nothing is said here.
"""

import re
from collections.abc import Iterator

from markup import formula
from markup.tex import formula_at

# A sign, or two of some, or a bar with another line below. One class first: most letters are none of these.
MARKUP = re.compile(r"[\\$`*_\[\]<>~{}:'|-](?:(?<=[\\$`*_\[\]<>~{}])|(?<=:)//|(?<=-)-|(?<=')'|(?<=\|).*\n)")
BLOCK_MARKUP = re.compile(r"^[ \t]*(?:[#>+\-=|]|\d{1,9}[.)](?:\s|$))", re.MULTILINE)
EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
HARD_BREAK = "  \n"
ADDRESS = re.compile(r"\bhttps?://(?:[A-Za-z0-9./?=&%#+:_]|-(?!-))+")
# Stands for a formula where the rest is searched for markup.
FORMULA = "x"


def plain(source: str) -> str | None:
    """Return a text as it is read, an empty line between paragraphs; `None` if it may have other markup."""
    if "\n" not in source:
        return _paragraph(source)
    if HARD_BREAK in source or BLOCK_MARKUP.search(source):
        return None
    parts = [_paragraph(part.strip()) for part in EMPTY_LINES.split(source) if part.strip()]
    return None if None in parts else "\n\n".join(filter(None, parts))


def _paragraph(source: str) -> str | None:
    pieces = list(_pieces(source))
    rest = FORMULA.join(pieces[::2]).replace("$", FORMULA)
    rest = ADDRESS.sub(FORMULA, rest) if "://" in rest else rest
    if len(pieces) % 2 == 0 or MARKUP.search(f"{rest}\n" if "\n" in source else rest):
        return None
    pieces[1::2] = map(formula.plain, pieces[1::2])
    return " ".join("".join(pieces).split())


def _pieces(source: str) -> Iterator[str]:
    """Yield words and the formulas between them in turns; end with a formula if the rest is not simple."""
    start = at = 0
    while (at := source.find("$", at)) >= 0:
        found = formula_at(source, at, len(source))
        if source.startswith("$$", at) or (found and "\n" in found[0]):
            yield from ("", "")
            return
        if found is None:
            at += 1
            continue
        yield source[start:at]
        yield found[0].strip()
        start = at = found[1]
    yield source[start:]
