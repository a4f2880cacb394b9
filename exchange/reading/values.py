"""Parse single values of files, and validate whole programs of any format.

An invalid single value raises `InvalidValueError`. References are resolved by the loader.
"""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from hashlib import sha256
from itertools import chain
from zoneinfo import ZoneInfo, available_timezones

from anyascii import anyascii
from django.utils.translation import gettext

from exchange.files import Context
from exchange.problems import Findings, Where, did_you_mean, short
from exchange.records import (
    PaperRecord,
    PersonRecord,
    PresentationRecord,
    Program,
    Record,
    SessionRecord,
    Unset,
    is_stated,
    stated,
)

# Control characters except tab, line feed and carriage return, which PDF viewers leave in copied text.
# Marks that change the direction of text are included.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d(:\d\d)?)?\Z")
# As `content.fields` has it, so that longer texts are refused before they are compared and rendered.
MAX_TEXT_CHARS = 200_000
MAX_AUTHORS = 5_000
YEAR_RANGE = range(1900, 2201)
INTEGER_RANGE = range(-(2**31), 2**31)


class InvalidValueError(ValueError):
    """A value that does not fit its field. The message is for the author of the file."""

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(message % values if values else message)


def remove_control_characters(text: str) -> str:
    """Return the text without control characters. Raises `InvalidValueError` for lone surrogates."""
    if text.isascii() and text.isprintable():
        return text
    if SURROGATE.search(text):
        message = gettext(
            "The text holds half a character (a lone surrogate). Export the file again as UTF-8."
        )
        raise InvalidValueError(message)
    return CONTROL.sub("", text)


def clean_text(text: str, where: Where, name: str, findings: Findings) -> str:
    """Return the text without control characters, and report invalid and too long ones."""
    if len(text) > MAX_TEXT_CHARS:
        message = gettext("The text has more than %(most)d characters. Shorten it.")
        findings.problem(where, name, message, most=MAX_TEXT_CHARS)
        return text[:MAX_TEXT_CHARS]
    try:
        cleaned = remove_control_characters(text)
    except InvalidValueError as error:
        findings.problem(where, name, str(error))
        return ""
    if cleaned != text:
        message = gettext("Control characters were removed from %(name)s.")
        findings.note("warning", where, message, name=name or gettext("a text"))
    return cleaned


def tidy(text: str) -> str:
    """Return a name or title on one line, with single blanks."""
    return " ".join(text.split())


def tidy_each(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts such as keywords or affiliations, tidied, each once and none empty."""
    return tuple(dict.fromkeys(filter(None, map(tidy, texts))))


def check_integer(number: int) -> int:
    if number not in INTEGER_RANGE:
        raise InvalidValueError(gettext("The number is too large."))
    return number


def parse_date(text: str) -> date:
    """Read `2026-07-08`."""
    if not DATE.match(text):
        raise InvalidValueError(
            gettext('"%(text)s" is not a date. Write it as 2026-07-08.'), text=short(text)
        )
    return _parse_iso(date, text)


def parse_datetime(text: str, zone: tzinfo | None = None) -> datetime:
    """Read `2026-07-08T10:00:00+09:00`. Without offset, it is a wall time in `zone`, then required."""
    if not TIME.match(text):
        example = "2026-07-08 10:00" if zone else "2026-07-08T10:00:00+09:00"
        message = gettext('"%(text)s" is not a time. Write it as %(example)s.')
        raise InvalidValueError(message, text=short(text), example=example)
    value = _parse_iso(datetime, text)
    if value.tzinfo:
        return value
    if zone is None:
        message = gettext('"%(text)s" does not say in which zone. Add the offset, such as %(text)s+00:00.')
        raise InvalidValueError(message, text=text)
    # An ambiguous time is the first of both. A time that summer time skips is refused.
    aware = value.replace(tzinfo=zone)
    if aware.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != value:
        message = gettext("%(value)s does not exist in %(zone)s: the clock is put forward over it.")
        raise InvalidValueError(message, value=f"{value:%Y-%m-%d %H:%M}", zone=zone)
    return aware


def is_ambiguous(value: datetime) -> bool:
    """Return whether the clock shows this wall time twice, as it does when summer time ends."""
    return value.utcoffset() != value.replace(fold=1 - value.fold).utcoffset()


def _parse_iso[D: (date, datetime)](kind: type[D], text: str) -> D:
    try:
        value = kind.fromisoformat(text)
    except ValueError:
        message = gettext('"%(text)s" is not in the calendar or on the clock.')
        raise InvalidValueError(message, text=text) from None
    return check_year(value)


def check_year[D: (date, datetime)](value: D) -> D:
    if value.year not in YEAR_RANGE:
        message = gettext("The year %(year)s is not between %(first)s and %(last)s.")
        raise InvalidValueError(message, year=value.year, first=YEAR_RANGE[0], last=YEAR_RANGE[-1])
    return value


@cache
def zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def get_zone(name: str) -> ZoneInfo:
    """Return the time zone of this IANA name."""
    if name not in zone_names():
        example = gettext("Use a name such as Asia/Seoul.")
        hint = did_you_mean(name, zone_names()) or f" {example}"
        message = gettext('There is no time zone "%(name)s".%(hint)s')
        raise InvalidValueError(message, name=short(name), hint=hint)
    return ZoneInfo(name)


def read_zone(name: str, context: Context, where: Where, field: str, findings: Findings) -> ZoneInfo:
    """Return the zone that a file names, else the zone of the edition. Report an invalid name."""
    try:
        return get_zone(name or context.timezone)
    except InvalidValueError as error:
        findings.problem(where, field, str(error))
        return ZoneInfo("UTC")


def program_zone(program: Program, context: Context) -> ZoneInfo:
    """Return the zone that the program states for its edition, else the zone of the context."""
    stated_zone = stated(program.edition.timezone, "") if program.edition else ""
    return get_zone(stated_zone or context.timezone)


NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
MAX_SLUG_CHARS = 64
DIGEST_CHARS = 8


def slug(text: str, limit: int = MAX_SLUG_CHARS) -> str:
    """Return lower-case ASCII words joined by hyphens. If empty or too long, it ends in a digest."""
    return shorten_key(NOT_IN_SLUGS.sub("-", anyascii(text).lower()).strip("-"), text, limit)


def shorten_key(key: str, text: str, limit: int = MAX_SLUG_CHARS) -> str:
    """Return the key if it is valid, else its beginning and a digest of the text."""
    if key and len(key) <= limit:
        return key
    prefix = key[: limit - DIGEST_CHARS - 1].rstrip("-")
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_CHARS]
    return f"{prefix}-{digest}" if prefix else digest


# Validation of a program


UID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
SLUG = re.compile(r"[a-z0-9](-*[a-z0-9])*\Z")
# The names of a program's lists of records with keys.
RECORD_LISTS = tuple(
    field.name for field in fields(Program) if field.name not in ("conference", "edition", "photos", "notes")
)


def check_program(program: Program, findings: Findings) -> Program:
    """Return the program with notes. Raises `ProgramError` with all problems found here or while reading."""
    _check_edition(program, findings)
    for name in RECORD_LISTS:
        _check_keys(getattr(program, name), findings)
    for paper in program.papers:
        if len(stated(paper.authors, ())) > MAX_AUTHORS:
            message = gettext("The paper has more than %(most)d authors. Is this one paper?")
            findings.problem(paper.where, "authors", message, most=MAX_AUTHORS)
    titled_records: Iterable[PaperRecord | SessionRecord] = chain(program.papers, program.sessions)
    for record in titled_records:
        if is_stated(record.title) and not record.title.strip():
            findings.problem(record.where, "title", gettext("The title is missing."))
    timed_records: Iterable[SessionRecord | PresentationRecord] = chain(
        program.sessions, program.presentations
    )
    for appearance in timed_records:
        start, end = appearance.start, appearance.end
        if isinstance(start, datetime) and isinstance(end, datetime) and end < start:
            message = gettext("It ends before it starts (%(isoformat)s). Put both times right.")
            findings.problem(appearance.where, "end", message, isoformat=start.isoformat())
    findings.raise_problems()
    return replace(program, notes=findings.notes)


def key_of(record: Record) -> tuple[str, str | Unset]:
    """Return the name of the field that identifies a record, and its value, unstated if it was invalid."""
    if isinstance(record, PersonRecord):
        return "uid", record.ref.uid
    field = "uid" if hasattr(record, "uid") else "slug"
    return field, getattr(record, field)


def _check_keys(records: Iterable[Record], findings: Findings) -> None:
    where_by_key: dict[str, Where] = {}
    for record in records:
        field, key = key_of(record)
        if not isinstance(key, str) or (not key and isinstance(record, PersonRecord)):
            continue
        if not (UID if field == "uid" else SLUG).match(key):
            findings.problem(record.where, field, _describe_invalid_key(field, key))
        elif key in where_by_key:
            noun = type(record).__name__.removesuffix("Record").lower()
            message = gettext('Another %(noun)s has "%(key)s" too: %(place)s.')
            findings.problem(record.where, field, message, noun=noun, key=key, place=where_by_key[key].place)
        where_by_key.setdefault(key, record.where)


def _describe_invalid_key(field: str, key: str) -> str:
    rule = gettext(
        "up to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit"
    )
    if field == "slug":
        rule = gettext("lower-case letters a to z, digits and hyphens")
    if not key:
        return gettext("The %(field)s is missing. Use %(rule)s.") % {"field": field, "rule": rule}
    message = gettext('"%(key)s" cannot be a %(field)s. Use %(rule)s.')
    return message % {"key": short(key), "field": field, "rule": rule}


def _check_edition(program: Program, findings: Findings) -> None:
    edition, conference = program.edition, program.conference
    for record in (conference, edition):
        if record and is_stated(record.slug) and not SLUG.match(record.slug):
            findings.problem(record.where, "slug", _describe_invalid_key("slug", record.slug))
    if edition is None:
        return
    first, last = edition.start_date, edition.end_date
    if isinstance(first, date) and isinstance(last, date) and last < first:
        message = gettext("The edition ends before its first day, %(first)s.")
        findings.problem(edition.where, "end_date", message, first=first)
    for name in ("timezone", "second_timezone"):
        zone = getattr(edition, name)
        if is_stated(zone) and zone:
            try:
                get_zone(zone)
            except InvalidValueError as error:
                findings.problem(edition.where, name, str(error))
