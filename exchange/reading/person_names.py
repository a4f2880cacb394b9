"""Names of people as files write them: placeholders, marks that are no part of a name, its parts."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext

from exchange.problems import Findings, Where, short
from exchange.reading.values import tidy

# What is written where no person, or no room, is known. Compared as a whole.
PLACEHOLDER = re.compile(
    r"(t\.?b\.?[adc]|none|null|n\.?/?a\.?|nil|unknown|various|others?|and others|"
    r"to be (announced|confirmed|determined|decided))\W*\Z",
    re.IGNORECASE,
)
# The end of a list that is not complete.
ET_AL = re.compile(
    r"[\s,;&]{0,5}(?:\band\s{1,3})?(?:\bet\.?\s{1,3}al(?:ii|\.)?|\band\s{1,3}others)\W{0,3}\Z", re.IGNORECASE
)
# DBLP tells homonyms apart by a number: "Wei Wang 0001".
HOMONYM = re.compile(r"\s+(\d{4})\Z")
HOMONYM_DIGITS = 4
LETTER_OR_DIGIT = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name in the usual order. `given` and `family` are what the file says, else both are empty.

    `homonym`: what DBLP calls this one of several people of the name.
    """

    name: str
    given: str = ""
    family: str = ""
    homonym: str = ""


def is_placeholder(text: str) -> bool:
    return bool(PLACEHOLDER.match(text.strip()) or ET_AL.fullmatch(text.strip()))


def written_name(name: str, given: str = "", family: str = "") -> WrittenName:
    """Return a name without numbers of homonyms and without words that are only signs, such as "." or "-".

    A part that is only signs is none. A name of nothing but signs stays.
    """
    name, given, family = tidy(name), _without_signs(given), _without_signs(family)
    match = HOMONYM.search(name)
    if match and LETTER_OR_DIGIT.search(name[: match.start()]):
        name = name[: match.start()]
        family = HOMONYM.sub("", family)
    if not family:
        given, family = "", given
    return WrittenName(_without_signs(name) or name, given, family, f"{name} {match[1]}" if match else "")


def _without_signs(text: str) -> str:
    """Return a text without the words at its ends that have no letter or digit."""
    words = text.split()
    while words and not LETTER_OR_DIGIT.search(words[-1]):
        words.pop()
    while words and not LETTER_OR_DIGIT.search(words[0]):
        words.pop(0)
    return " ".join(words)


def is_homonym_number(text: str) -> bool:
    """Return whether a number behind a name is that of a homonym, such as 0001, not of an affiliation."""
    return len(text) == HOMONYM_DIGITS and text.startswith("0")


def note_placeholder(text: str, where: Where, findings: Findings) -> None:
    """Note that a text such as TBA is no name, or that a list of authors is not complete."""
    if ET_AL.search(text):
        findings.note("doubt", where, gettext("The list of people ends in “et al.”: it is not complete."))
    else:
        message = gettext("“%(text)s” is no name and was left out.")
        findings.note("warning", where, message, text=short(tidy(text)))
