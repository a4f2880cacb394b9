"""Warnings about a text, as sentences for chairs; they never prevent saving.

Pure functions, except that they depend on the current language.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from markup import CONTROLS, MARKUP, MAX_MARKUP_CHARS, PARSER, formula, tidy
from markup.tex import ACCENT, COMMAND

# The maximum number of warnings for a text.
MAX_PROBLEMS = 8
# Invisible characters that break search. Joiners are letters in some scripts, but not between Latin ones.
INVISIBLE = re.compile(r"[\u00ad\u180e\u200b\u200e\u200f\u2060]|(?<=[A-Za-z])[\u200c\u200d](?=[A-Za-z])")
LATEX = (ACCENT, COMMAND, re.compile(r"(?<=\w)~(?=\w)"), re.compile(r"``.{1,200}?(?:''|\")"))
LONE_DOLLAR = re.compile(r"(?<!\\)\$(?!\s?\d)")
# A word has at least two letters, so that single letters are not counted.
TITLE_WORDS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed text: its formulas, the prose between them, and unknown commands."""

    source: str
    formulas: dict[str, None]
    prose: str
    unknown: list[str]

    @property
    def outside_formulas(self) -> str:
        text = self.source
        for tex in self.formulas:
            text = re.sub(rf"\$+\s*{re.escape(tex)}\s*\$+", " ", text).replace(tex, " ")
        return text


def parse_text(source: str) -> Parsed | None:
    """Parse a text, unless it is plain or too long for markup."""
    if len(source) > MAX_MARKUP_CHARS or not (MARKUP.search(source) or "&" in source):
        return None
    env: dict[str, Any] = {}
    leaves = [leaf for token in PARSER.parse(source, env) for leaf in (token.children or [token])]
    formulas = dict.fromkeys(leaf.content for leaf in leaves if leaf.type.startswith("math_"))
    prose = " ".join(leaf.content for leaf in leaves if leaf.type == "text")
    return Parsed(source, formulas, prose, env.get("unknown", []))


def advice(source: str, *, is_title: bool = False) -> list[str]:
    """Return warnings about a text; empty for most texts."""
    text = parse_text(tidy(source).strip())
    warnings = [*character_warnings(source), *(parse_warnings(text) if text else ())]
    if is_title and is_in_capitals(source):
        warnings.append(_("The title is in all caps."))
    warnings += latex_in_prose(text) if text else ()
    return warnings[:MAX_PROBLEMS]


def is_in_capitals(title: str) -> bool:
    """Return whether a title of several words has no lower-case letters outside of formulas."""
    words = TITLE_WORDS.findall(re.sub(r"\$[^$]*\$", " ", title))
    return len(words) > 1 and sum(map(len, words)) > 8 and all(word.isupper() for word in words)


def character_warnings(source: str) -> Iterator[str]:
    """Yield warnings about invisible and lost characters, and text too long for markup."""
    for character in sorted(set(INVISIBLE.findall(source))):
        params = {"code": f"{ord(character):04X}", "name": unicodedata.name(character, "?").lower()}
        yield _("Contains an invisible character: U+%(code)s, %(name)s.") % params
    for character in sorted(set(CONTROLS.findall(source))):
        yield _("Contains the control character U+%(code)s.") % {"code": f"{ord(character):04X}"}
    if "\ufffd" in source:
        yield _("Contains the replacement character “\ufffd”: letters were lost.")
    if len(tidy(source).strip()) > MAX_MARKUP_CHARS:
        yield _("Longer than %(most)s characters: shown without markup.") % {"most": f"{MAX_MARKUP_CHARS:,}"}


def parse_warnings(text: Parsed) -> Iterator[str]:
    """Yield warnings about markup that readers would not see as intended."""
    for tex in text.formulas:
        if formula.mathml(tex) is None:
            yield _("The formula “%(tex)s” cannot be rendered.") % {"tex": tex}
    for name in dict.fromkeys(text.unknown):
        yield _("The LaTeX command “%(name)s” isn’t supported.") % {"name": name}
    yield from _raw_markup_warnings(text.prose)
    if LONE_DOLLAR.search(text.outside_formulas.replace("$$", "")):
        # Such a dollar sign is neither part of a formula nor of a price.
        yield _("Unpaired dollar sign: a formula may not be closed. For a plain dollar sign write \\$.")


def _raw_markup_warnings(prose: str) -> Iterator[str]:
    kinds = (
        (_("The LaTeX escape “%(raw)s” is shown as written."), r"\\[A-Za-z]*"),
        (_("The group in braces “%(raw)s” is shown as written."), r"\{[A-Za-z][^{},]{3,80}\}"),
        (
            _("The HTML “%(raw)s” is shown as written."),
            r"</?[A-Za-z][A-Za-z0-9]{0,9}\s?/?>|&#?[A-Za-z0-9]{2,8};",
        ),
    )
    for sentence, pattern in kinds:
        for raw in dict.fromkeys(re.findall(pattern, prose)):
            yield sentence % {"raw": raw}


def latex_in_prose(text: Parsed) -> list[str]:
    """Return a warning about unnecessary LaTeX in prose, which files and searches contain as written."""
    if not any(sign in text.source for sign in "\\~`"):
        return []
    outside_formulas, unknown = text.outside_formulas, {*text.unknown}
    matches = [match[0] for pattern in LATEX for match in pattern.finditer(outside_formulas)]
    supported = [
        raw for raw in dict.fromkeys(matches) if raw not in unknown and raw.rstrip("*") not in unknown
    ]
    listed = [raw for raw in supported if not any(raw != other and raw in other for other in supported)][:3]
    if not listed:
        return []
    quoted = ", ".join(f"“{raw}”" for raw in listed)
    return [
        _("LaTeX outside of formulas: %(found)s. Use the letters themselves, and Markdown.")
        % {"found": quoted}
    ]
