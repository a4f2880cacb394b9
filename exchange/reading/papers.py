"""Utilities for readers of papers: authors and affiliations in many spellings, topics, links, decisions."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext

import markup
from exchange.problems import Findings, Where
from exchange.reading.person_names import (
    ET_AL,
    HOMONYM,
    is_homonym_number,
    is_placeholder,
    note_placeholder,
    written_name,
)
from exchange.reading.values import MAX_AUTHORS, UID, clean_text, slug, tidy, tidy_each
from exchange.records import AuthorRecord, InstitutionRecord, PaperRecord, PersonRef, Program, TopicRecord

# The lengths are limited so that a long text is scanned in linear time.
E_MAIL = re.compile(
    r"(?:[<(\[]\s*)?[^\s<>()\[\],;|@]{1,64}@[^\s<>()\[\],;|]{1,255}\.[^\s<>()\[\],;|]{1,63}\s*[>)\]]?"
)
WEB_ADDRESS = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dXx]")
NAMES_SHOWN = 10
# Words of review systems for papers that are not published.
DECLINED = re.compile(r"reject|declin|withdraw|not accept|unaccept|non.?accept|desk|retract", re.IGNORECASE)
ACCEPTED = re.compile(
    r"accept|oral|poster|spotlight|talk|presentation|publish|camera|notable|top|yes\b", re.IGNORECASE
)

# Kinds of presentations of papers, which are also kinds of sessions, and kinds of other sessions.
PAPER_KINDS = ("oral", "spotlight", "poster")
OTHER_KINDS = (
    *("opening", "invited_talk", "panel", "tutorial", "workshop", "social", "break", "meal"),
    *("registration", "town_hall", "award_ceremony"),
)

# Words in the titles of sessions by kind. The first pattern that matches decides.
KIND_PATTERNS = (
    ("registration", r"registration"),
    ("opening", r"opening|welcome"),
    ("panel", r"panel"),
    ("award_ceremony", r"award"),
    ("town_hall", r"business meeting|town ?hall|open discussion"),
    ("invited_talk", r"keynote|invited|plenary talk|speakers?\.ya?ml"),
    ("tutorial", r"tutorial"),
    ("workshop", r"workshop"),
    ("meal", r"\b(lunch|dinner|breakfast)\b"),
    ("break", r"\b(coffee )?break\b"),
    ("other", r"sponsor"),
    ("social", r"social|reception|party|mixer|mentoring|affinity|meetup"),
    ("spotlight", r"spotlight"),
    ("poster", r"poster|gather"),
    ("oral", r"\boral\b|q ?& ?a|\bqa\b"),
)


def make_uid(text: str) -> str:
    """Return the key of a source as a uid: unchanged if it is valid as one, else its slug."""
    text = text.strip()
    return text if not text or UID.match(text) else slug(text)


def openreview_uid(key: str) -> str:
    """Return the id of an OpenReview note as a uid, which must begin with a letter or digit."""
    return key if key[:1].isalnum() else f"n{key}"


def escape_markdown(text: str) -> str:
    """Return plain text, which may contain TeX, as Markdown."""
    return markup.escape_markup(text, has_tex=True)


def shorten_list(keys: Iterable[str], limit: int = NAMES_SHOWN) -> str:
    names = list(keys)
    text, count = ", ".join(names[:limit]), len(names) - limit
    return gettext("%(names)s and %(count)s more") % {"names": text, "count": count} if count > 0 else text


def guess_session_kind(text: str, default: str, allowed: Collection[str] | None = None) -> str:
    """Return the kind of session that a title, type or file name suggests, one of `allowed` if given."""
    patterns = [(kind, pattern) for kind, pattern in KIND_PATTERNS if allowed is None or kind in allowed]
    matching_kinds = (kind for kind, pattern in patterns if re.search(pattern, text, re.IGNORECASE))
    return next(matching_kinds, default)


@dataclass
class PaperParts:
    """Topics and institutions by slug. Of spellings with the same slug, the first is used as the name."""

    findings: Findings
    topics: dict[str, TopicRecord] = field(default_factory=dict)
    institutions: dict[str, InstitutionRecord] = field(default_factory=dict)

    def program(self, papers: Iterable[PaperRecord]) -> Program:
        return Program(
            institutions=tuple(self.institutions.values()),
            topics=tuple(self.topics.values()),
            papers=tuple(papers),
        )

    def text(self, value: str, where: Where, name: str) -> str:
        return clean_text(value, where, name, self.findings)

    def topic(self, name: str, where: Where) -> str | None:
        name = tidy(name)
        if not name:
            return None
        key = slug(name)
        self.topics.setdefault(key, TopicRecord(where=where, slug=key, name=name))
        return key

    def authors(self, names: Iterable[str], where: Where) -> tuple[AuthorRecord, ...]:
        """Return the authors of these names. Placeholders such as TBA are left out and noted."""
        people = []
        for name in names:
            if is_placeholder(name) or ET_AL.search(name):
                note_placeholder(name, where, self.findings)
            if not is_placeholder(name):
                people.append(self.author(ET_AL.sub("", name), where))
        return tuple(people)

    def author(
        self,
        name: str,
        where: Where,
        *,
        affiliations: Iterable[str] = (),
        corresponding: bool = False,
        uid: str = "",
        ids: tuple[tuple[str, str], ...] = (),
        orcid: str = "",
        key: str = "",
        email: str = "",
        given: str = "",
        family: str = "",
    ) -> AuthorRecord:
        """Return an author; an e-mail address in place of the name is refused.

        `key` identifies the person within the file. `email` is kept for the chairs if it is valid. `given`
        and `family` are the parts of the name if the file states them.
        """
        written = written_name(E_MAIL.sub(" ", name), given, family)
        if not written.name:
            message = gettext("The author's name is missing. An e-mail address alone is none.")
            self.findings.problem(where, "authors", message)
        affiliation_names = tidy_each(E_MAIL.sub(" ", affiliation) for affiliation in affiliations)
        slugs = [slug(affiliation) for affiliation in affiliation_names]
        for institution, affiliation in zip(slugs, affiliation_names, strict=True):
            record = InstitutionRecord(where=where, slug=institution, name=affiliation)
            self.institutions.setdefault(institution, record)
        match = ORCID.search(orcid)
        return AuthorRecord(
            where=where,
            person=PersonRef(
                where=where,
                name=written.name,
                uid=uid,
                ids=ids,
                orcid=match[0].upper() if match else "",
                key=key or written.homonym,
                email=clean_email(email),
                given=written.given,
                family=written.family,
            ),
            affiliations=affiliation_names,
            institutions=tuple(dict.fromkeys(slugs)),
            corresponding=corresponding,
        )


def person_ref(name: str, where: Where) -> PersonRef:
    """Return a person of whom a file has the name alone."""
    written = written_name(name)
    return PersonRef(where=where, name=written.name, key=written.homonym)


def clean_email(text: str) -> str:
    """Return the first e-mail address of a text, or nothing."""
    match = E_MAIL.search(text.replace("*", " "))
    if match is None:
        return ""
    address = match[0].strip("<>()[] ")
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


# Superscripts, and the separators of lists in Chinese and Japanese.
SIGNS_OF_LISTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹；，、", "0123456789;,;")  # noqa: RUF001 - full-width signs
# Between blanks, these separate names. Without them, the first is part of a name: `约翰·史密斯`.
BULLET = re.compile(r"(?<=\s)[·•∙‧・](?=\s)")
# `1 MIT`, `[2] CMU`, `(3) ETH`, `4. KAIST`: an affiliation that names refer to by its number.
NUMBERED_AFFILIATION = re.compile(r"^[\[(^{]*(\d{1,2})[\])}.:]*\s*(?=[^\W\d])(.+)$", re.DOTALL)
# Where numbered affiliations begin, and where the next one does: `Zed1, Abe2, 1 MIT, 2 CMU`. Behind the first
# one, a number in brackets is enough: `(1) MIT (2) CMU`.
NEXT_AFFILIATION = re.compile(
    r"(?:\A|[,;\n|]|(?P<blank>\s)(?=[\[(]))\s{0,2}[\[(^{]{0,2}(?P<number>\d{1,2})[\])}.:]{0,2}\s{0,2}"
    r"(?!(?:and|und|et|st|nd|rd|th)\b)(?=[^\W\d])",
    re.IGNORECASE,
)
# The numbers and signs behind a name: `Zed1,2*`, `Zed [1]`, `Zed^{1}`.
AUTHOR_MARKS = re.compile(
    r"[\s,^{\[(]{0,20}((?:\d+(?:\s?[+,]\s?\d+)*(?:\s?[+,]\s?)?)?)[\])}]{0,20}([*†‡§✉\s]{0,20})$"
)
SPACES = re.compile(r"[^\S\n]{2,}")
BETWEEN_NUMBERS = re.compile(r"(?<=\d)\s*,\s*(?=\d)")
PARENTHESES = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
LETTER = re.compile(r"[^\W\d_]")
NAME_SUFFIX = re.compile(r"(jr|sr)\.?$|i{2,3}$|iv$|ph\.?d\.?$|md$", re.IGNORECASE)
CONJUNCTION = re.compile(r",?\s+(?:and|und|et|&)\s+", re.IGNORECASE)
LEADING_CONJUNCTION = re.compile(r"\A\s*(?:and|und|et|&)\s+", re.IGNORECASE)
CONJUNCTION_BEHIND = re.compile(r"\)\s*(?:and|und|et|&)\s+")
# `A.`, `C. D.`, `J.-P.`, `AB`.
INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-ÞА-Я]\.[\s-]?){1,4}|[A-ZÀ-ÖØ-ÞА-Я]{1,2}|[A-Z](?:\s[A-Z]){1,3}")
TEAM = re.compile(
    r"\s*the\s|\b(?:team|group|collaboration|consortium|committee|project|network)\b", re.IGNORECASE
)
MAX_MARK_CHARS = 200


@dataclass(frozen=True, slots=True)
class ParsedAuthor:
    name: str
    affiliations: tuple[str, ...] = ()
    is_corresponding: bool = False
    # The numbers behind the name, which refer to affiliations.
    numbers: tuple[str, ...] = ()
    email: str = ""
    # The parts of the name, if the cell has the family name first.
    given: str = ""
    family: str = ""


def parse_authors(cell: str, *, is_family_first: bool = False) -> list[ParsedAuthor]:
    """Return the authors of a cell in order. If there is only an e-mail address the name is empty.

    Placeholders such as TBA and "et al." are left out. `is_family_first`: other cells of the column have
    names such as `Zed, Mia`, so that a single one of them is no two people.
    """
    text, affiliation_by_number = split_numbered(_plain_line(cell))
    text = ET_AL.sub("", text)
    if affiliation_by_number and not text.strip():
        # The authors themselves are numbered.
        text, affiliation_by_number = ";".join(affiliation_by_number.values()), {}
    text = BETWEEN_NUMBERS.sub("+", text)
    parts: list[tuple[str, str]] = []
    for family, part in _split_cell(text, is_family_first=is_family_first):
        match = NUMBERED_AFFILIATION.match(part.strip())
        if match:
            affiliation_by_number[match[1]] = tidy(match[2])
        elif family or (part.strip(" ,;*") and not is_placeholder(part)):
            parts.append((family, part))
    return [_parse_author(family, part, affiliation_by_number) for family, part in parts[: MAX_AUTHORS + 1]]


def note_placeholders(cell: str, where: Where, findings: Findings) -> None:
    """Note the placeholders that `parse_authors` leaves out of a cell."""
    for piece in split_outside_parentheses(_plain_line(cell), ";\n|,"):
        if piece.strip() and (is_placeholder(piece) or ET_AL.search(piece)):
            note_placeholder(piece, where, findings)


def numbered_affiliations(cell: str) -> dict[str, str]:
    """Return the affiliations of a cell by number if all are numbered, such as `1 MIT, 2 CMU`."""
    text, affiliation_by_number = split_numbered(_plain_line(cell))
    return {} if text.strip() else affiliation_by_number


def has_family_first(cells: Iterable[str]) -> bool:
    """Return whether the cells of a column have names such as `Zed, Mia` between semicolons."""
    for cell in cells:
        pieces = [piece for piece in split_outside_parentheses(_plain_line(cell), ";") if piece.strip()]
        if len(pieces) > 1 and all(_family_name_first(piece)[0] for piece in pieces):
            return True
    return False


def _plain_line(cell: str) -> str:
    return BULLET.sub(";", SPACES.sub(" ", cell.translate(SIGNS_OF_LISTS).replace("\r", "")))


def split_numbered(text: str) -> tuple[str, dict[str, str]]:
    """Split authors from the numbered affiliations behind them, which are numbered 1, 2, 3, …."""
    bounds: list[tuple[int, int]] = []
    depth, counted_to = 0, 0
    for match in NEXT_AFFILIATION.finditer(text):
        number = int(match["number"])
        if number != len(bounds) + 1 or (match["blank"] and not bounds):
            continue
        between = text[counted_to : match.start()]
        depth, counted_to = depth + between.count("(") - between.count(")"), match.start()
        if depth <= 0:
            bounds.append(match.span())
    ends = [start for start, _ in bounds[1:]] + [len(text)]
    affiliations = [text[begin:end].strip(" ,;|\n") for (_, begin), end in zip(bounds, ends, strict=False)]
    authors_text = text[: bounds[0][0]] if bounds else text
    return authors_text, {str(number): tidy(text) for number, text in enumerate(affiliations, 1)}


def _split_cell(text: str, *, is_family_first: bool) -> list[tuple[str, str]]:
    """Split a cell into authors and numbered affiliations, outside of parentheses.

    Of `Zed, Mia (MIT)`, return the family name and the rest; of others, an empty text and the whole.
    """
    pieces = split_outside_parentheses(text, ";\n|")
    author_pieces = [
        piece for piece in pieces if piece.strip() and not NUMBERED_AFFILIATION.match(piece.strip())
    ]
    if len(author_pieces) == 1:
        others = [("", piece) for piece in pieces if piece is not author_pieces[0]]
        split_name = _family_name_first(author_pieces[0])
        if split_name[0] and _is_one_author(*split_name):
            return [split_name, *others]
        authors = _replace_conjunctions(author_pieces[0], "\0").split("\0")
        if is_family_first and all(map(_is_family_and_given, authors)):
            return [*map(_family_name_first, authors), *others]
        names = [name for name in _split_at_commas(author_pieces[0]) if not is_placeholder(name)]
        return [*_with_initials(names), *others]
    return [_family_name_first(name) for piece in pieces for name in _split_at_conjunction(piece)]


def _split_at_conjunction(piece: str) -> list[str]:
    """Split `Mia Zed and Ann Abe` between semicolons. A name of one word on either side is none."""
    piece = LEADING_CONJUNCTION.sub("", piece)
    names = _replace_conjunctions(piece, "\0").split("\0")
    has_full_names = all(len(PARENTHESES.sub("", name).split()) > 1 for name in names)
    return names if has_full_names and not TEAM.search(piece) else [piece]


def _is_one_author(family: str, rest: str) -> bool:
    """Return whether `Zed, Mia (MIT)*` has one author: both names are single words before an affiliation."""
    given = PARENTHESES.sub("", rest).strip(" *")
    has_comma = "," in PARENTHESES.sub("", rest)
    return "(" in rest and not has_comma and f"{family}{given}".isalpha()


def _is_family_and_given(piece: str) -> bool:
    """Return whether `Zed, Mia, Jr. (MIT)` has a family name and given names, and no further author."""
    text = PARENTHESES.sub("", E_MAIL.sub("", piece))
    names = [name for name in _split_at_commas(text) if LETTER.search(name)]
    return len(names) == 2 and bool(_family_name_first(piece)[0])


def _with_initials(names: list[str]) -> list[tuple[str, str]]:
    """Join family names with the initials behind them: `Bee, A., Dorn, C. D.`."""
    bare_names = [PARENTHESES.sub("", name).strip(" *") for name in names]
    are_initials = [bool(INITIALS.fullmatch(name)) for name in bare_names]
    if len(names) % 2 or are_initials != [False, True] * (len(names) // 2):
        return [("", name) for name in names]
    return [(family.strip(), initials) for family, initials in zip(names[::2], names[1::2], strict=True)]


def _split_at_commas(text: str) -> list[str]:
    text = _replace_conjunctions(text, ", ")
    names: list[str] = []
    for piece in split_outside_parentheses(text, ","):
        if names and NAME_SUFFIX.match(piece.strip()):
            names[-1] = f"{names[-1].rstrip()} {piece.strip()}"
        elif piece.strip():
            names.append(piece)
    return names


def _replace_conjunctions(text: str, separator: str) -> str:
    """Replace "and" between names, not within the parentheses of an affiliation."""
    pieces, end = [], 0
    for parenthesis in PARENTHESES.finditer(text):
        pieces += [CONJUNCTION.sub(separator, text[end : parenthesis.start()]), parenthesis[0]]
        end = parenthesis.end()
    text = "".join([*pieces, CONJUNCTION.sub(separator, text[end:])])
    return CONJUNCTION_BEHIND.sub(f"){separator}", text)


def split_outside_parentheses(text: str, separators: str) -> list[str]:
    """Split at these signs outside of parentheses; an unclosed parenthesis is text."""
    is_balanced = text.count("(") == text.count(")")
    pieces, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char in "()" and is_balanced:
            depth = max(depth + (1 if char == "(" else -1), 0)
        elif char in separators and not depth:
            pieces.append(text[start:index])
            start = index + 1
    return [*pieces, text[start:]]


def _family_name_first(piece: str) -> tuple[str, str]:
    """Return the family name of `Zed, Mia (MIT)` and the rest; an empty text if it has another order."""
    family, comma, given = E_MAIL.sub("", PARENTHESES.sub("", piece)).partition(",")
    if not (comma and family.strip() and given.strip(" *")) or NAME_SUFFIX.match(given.strip()):
        return "", piece
    family, _, given_and_affiliations = piece.partition(",")
    return ("", piece) if "(" in family else (family.strip(), given_and_affiliations)


def _name_end(part: str) -> int:
    """Return where the affiliations begin. A parenthesis within the name, `Mia (Mo) Zed`, is a nickname."""
    end = len(part)
    for parenthesis in reversed(list(PARENTHESES.finditer(part))):
        tail = part[parenthesis.end() : end].strip(" ,;*")
        if LETTER.search(tail) and not NAME_SUFFIX.match(tail) and part[: parenthesis.start()].strip():
            break
        end = parenthesis.start()
    return end


def _parse_author(family: str, part: str, affiliation_by_number: dict[str, str]) -> ParsedAuthor:
    email = clean_email(part)
    part = E_MAIL.sub(" ", part)
    affiliations: list[str] = []
    marks_in_parentheses = ""
    end = _name_end(part)
    for content in PARENTHESES.findall(part, end):
        if content.strip("0123456789+ "):
            affiliations += content.split(";")
        else:
            marks_in_parentheses += f" {content}"
    name_and_marks = f"{part[:end]}{PARENTHESES.sub(' ', part[end:])}".strip()
    homonym = HOMONYM.search(name_and_marks)
    if homonym and is_homonym_number(homonym[1]):
        name_and_marks, suffix = name_and_marks[: homonym.start()], homonym[0]
    else:
        suffix = ""
    marks = AUTHOR_MARKS.search(name_and_marks, max(len(name_and_marks) - MAX_MARK_CHARS, 0))
    numbers = re.findall(r"\d+", f"{marks[1] if marks else ''}{marks_in_parentheses}")
    signs = (marks[2] if marks else "") + part[-1:]
    name = name_and_marks[: marks.start()] if marks else name_and_marks
    affiliations += [affiliation_by_number[number] for number in numbers if number in affiliation_by_number]
    given = tidy(name.strip(" ,;*"))
    return ParsedAuthor(
        tidy(f"{given} {family}{suffix}"),
        tidy_each(affiliations),
        "*" in signs,
        tuple(numbers),
        email,
        given=given if family else "",
        family=family,
    )
