"""Pure functions of people's names as strings: parts, sort keys, initials, ORCID iDs and likely errors."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from markup import fold as fold

PARTICLES = frozenset(
    {
        "al", "ap", "bin", "binti", "d", "da", "dal", "das", "de", "degli", "dei", "del", "dela", "della",
        "den", "der", "des", "di", "dos", "du", "e", "el", "ibn", "la", "las", "le", "los", "mac", "san",
        "st.", "te", "ten", "ter", "tot", "und", "van", "vande", "vanden", "vander", "vom", "von", "y",
        "zu", "zum", "zur",
    }
)  # fmt: skip
SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv", "phd", "md"))
# Compared with case, because people may be named Nan or Null.
NOT_NAMES = frozenset(
    {"NameError", "null", "NULL", "None", "nan", "NaN", "undefined", "n/a", "N/A", "Anonymous", "TBA"}
)
# Hangul, kana and Han. Without a space, the family name comes first.
NATIVE_SCRIPT = re.compile(
    r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff々〆]+"
)
DOUBLE_FAMILIES = frozenset(
    {
        "欧阳", "歐陽", "司马", "司馬", "诸葛", "諸葛", "上官", "夏侯", "皇甫", "尉迟", "公孙", "公孫",
        "慕容", "司徒", "长孙", "長孫", "南宫", "东方", "東方", "남궁", "황보", "제갈", "선우", "독고",
        "사공",
    }
)  # fmt: skip
ORCID = re.compile(
    r"(?:(?:https?://)?(?:www\.)?orcid\.org/|orcid:\s*)?(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dx])/?", re.I
)


# The prefix of sort keys of names without a letter or digit, such as "-". All other keys are ASCII, and every
# collation sorts this last syllable of Hangul after them.
SORTS_LAST = "\ud7a3"


@dataclass(frozen=True, slots=True)
class NameParts:
    given: str
    family: str


def normalize(display: str) -> str:
    """Return a name in the form in which it is stored: NFC, single spaces, no control characters."""
    if display.isprintable():
        # There is no space but " ", and nothing to remove.
        return " ".join(unicodedata.normalize("NFC", display).split())
    characters = (
        " " if character.isspace() else character
        for character in display
        if character.isspace() or _is_printable(character)
    )
    return " ".join(unicodedata.normalize("NFC", "".join(characters)).split())


def split(display: str) -> NameParts:
    """Split `Jan van der Berg` or `van der Berg, Jan` into its parts. A single word is a family name."""
    name = normalize(display)
    if "," in name:
        return _split_at_comma(name)
    words = name.split()
    if len(words) == 1 and NATIVE_SCRIPT.fullmatch(name):
        return _split_native(name)
    suffix = [words.pop()] if len(words) > 2 and _is_suffix(words[-1]) else []
    if len(words) < 2:
        return NameParts("", name)
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in PARTICLES and not _is_initial_letter(words[start - 1]):
        start -= 1
    return NameParts(" ".join(words[:start]), " ".join(words[start:] + suffix))


def sort_key(given: str, family: str, display: str = "") -> str:
    """Return the sort key of a name: the family name first, without accents, case or punctuation."""
    if not (given or family):
        parts = split(display)
        given, family = parts.given, parts.family
    folded_parts = [re.sub(r"[\W_]+", " ", fold(part).replace("'", "")) for part in (family, given)]
    key = ", ".join(" ".join(folded.split()) for folded in folded_parts if folded.strip())
    full_name = display or f"{given} {family}".strip()
    return key or (f"{SORTS_LAST} {full_name}" if full_name else "")


def initial(sort_key: str) -> str:
    """Return the letter under which the A-Z page lists this sort key, or # if it begins with no letter."""
    first = sort_key[:1].upper()
    return first if "A" <= first <= "Z" else "#"


def initials(given: str, family: str, display: str = "") -> str:
    """Return JB for `Jan van der Berg`, and the first character of a name in Han, kana or Hangul.

    The result is empty if the name has no letter or digit.
    """
    name = normalize(display or f"{given} {family}")
    if NATIVE_SCRIPT.fullmatch(name.replace(" ", "")):
        return name[0]
    words = [word for word in normalize(family).split() if word.lower() not in PARTICLES] or [family]
    return "".join(_first_letter(part) for part in (normalize(given), words[0]))


def _first_letter(word: str) -> str:
    """Return the first letter or digit as a capital, with its combining marks."""
    start = next((index for index, character in enumerate(word) if character.isalnum()), len(word))
    end = start + 1
    while end < len(word) and unicodedata.category(word[end]).startswith("M"):
        end += 1
    letter = word[start:end]
    capital = letter.upper()
    return capital if len(capital) == len(letter) else letter


def normalize_orcid(text: str) -> str:
    """Return an ORCID iD or its address in the bare form 0000-0002-1825-0097, and other text stripped."""
    match = ORCID.fullmatch(text.strip())
    return "-".join(match.groups()).upper() if match else text.strip()


def is_valid_orcid(orcid: str) -> bool:
    """Return whether an ORCID iD in the bare form has the right check digit (ISO 7064, MOD 11-2)."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]", orcid):
        return False
    *digits, check = list(orcid.replace("-", ""))
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    expected = (12 - total % 11) % 11
    return check == ("X" if expected == 10 else str(expected))


def suspicions(display: str) -> list[str]:
    """Return likely errors in a name as sentences. Most names have none."""
    name = normalize(display)
    words = [word.strip(",") for word in name.split()]
    if not words:
        return ["The name is empty."]
    has_letters = any(character.isalnum() for character in name)
    sentences = [
        sentence
        for is_suspect, sentence in (
            (
                any(not (character.isspace() or _is_printable(character)) for character in display),
                "It contains control characters.",
            ),
            ("@" in name, "It looks like an e-mail address."),
            (re.search(r"&#?\w+;", name), "It contains an HTML entity."),
            (re.search(r"[\\{}$<>]", name), "It contains markup."),
            (re.search(r"\d", name), "It contains a digit."),
            (any(word in NOT_NAMES for word in words), "It contains a placeholder, not a name."),
            (not has_letters, "It has no letter and no digit."),
            (has_letters and len(words) == 1 and not NATIVE_SCRIPT.search(name), "It is a single word."),
        )
        if is_suspect
    ]
    return sentences + _check_case(words) + _check_doubling(words)


# Most names have only plain letters. Checking other names takes ten times as long.
PLAIN_NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z]\.)?(?: [A-Z][a-z]+)+")


@lru_cache(maxsize=65_536)
def is_suspicious(display: str) -> bool:
    """Return whether a name has likely errors. This is fast for thousands of names."""
    words = display.split(" ")
    if PLAIN_NAME.fullmatch(display) and len({*words}) == len(words) and NOT_NAMES.isdisjoint(words):
        return False
    return bool(suspicions(display))


def _check_case(words: list[str]) -> list[str]:
    uppercase_words = [word for word in words if len(word) > 3 and word.isupper() and fold(word).isalpha()]
    if uppercase_words:
        return [f"It has a part in capitals: {', '.join(uppercase_words)}."]
    if all(word == word.lower() != word.upper() for word in words):
        return ["It is all in lower case."]
    return []


def _check_doubling(words: list[str]) -> list[str]:
    if len(words) > 2 and fold(words[-1]) == fold(words[-2]):
        return [f"Its last word is doubled: {words[-1]}."]
    half = len(words) // 2
    if len(words) > 1 and len(words) % 2 == 0 and words[:half] == words[half:]:
        return ["The name is written twice."]
    return []


def _split_at_comma(name: str) -> NameParts:
    family, *other_parts = [part.strip() for part in name.split(",")]
    if len(other_parts) == 1 and _is_suffix(other_parts[0]):
        parts = split(family)
        return NameParts(parts.given, f"{parts.family} {other_parts[0]}")
    suffixes = [part for part in other_parts if _is_suffix(part)]
    given = " ".join(part for part in other_parts if part and not _is_suffix(part))
    return NameParts(given, " ".join([family, *suffixes]).strip()) if family else NameParts("", given)


def _split_native(name: str) -> NameParts:
    if len(name) == 1:
        return NameParts("", name)
    length = 2 if len(name) > 2 and name[:2] in DOUBLE_FAMILIES else 1
    return NameParts(name[length:], name[:length])


def _is_suffix(word: str) -> bool:
    return word.replace(".", "").lower() in SUFFIXES


def _is_initial_letter(word: str) -> bool:
    """Return whether a word is an initial (`Maria E Silva`) and not a particle (`Maria e Silva`)."""
    return len(word) == 1 and word.isupper()


def _is_printable(character: str) -> bool:
    """Return whether a character is not a control, format, surrogate or private one. Allow joiners."""
    return character in "\u200c\u200d" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
