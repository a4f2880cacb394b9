"""What must hold inside one file whatever its format: keys, titles, times. The loader resolves references."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import date, datetime
from itertools import chain

from django.utils.translation import gettext

from exchange.problems import Findings, Where, short
from exchange.reading.values import UnfitError, zone_called
from exchange.records import (
    UNSTATED,
    PaperRecord,
    PersonRecord,
    PresentationRecord,
    Program,
    Record,
    SessionRecord,
    Unset,
    is_stated,
)

UID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
SLUG = re.compile(r"[a-z0-9](-*[a-z0-9])*\Z")
# The lists of a program, whose records have keys.
RECORD_LISTS = tuple(
    one.name for one in fields(Program) if one.name not in ("conference", "edition", "notes")
)


def checked(program: Program, findings: Findings) -> Program:
    """Return the program with its notes; raise everything that was found wrong, here or while reading."""
    _check_edition(program, findings)
    for name in RECORD_LISTS:
        _check_keys(getattr(program, name), findings)
    titled: Iterable[PaperRecord | SessionRecord] = chain(program.papers, program.sessions)
    for record in titled:
        if is_stated(record.title) and not record.title.strip():
            findings.problem(record.where, "title", gettext("The title is missing."))
    timed: Iterable[SessionRecord | PresentationRecord] = chain(program.sessions, program.presentations)
    for record in timed:
        start, end = record.start, record.end
        if isinstance(start, datetime) and isinstance(end, datetime) and end < start:
            message = gettext("It ends before it starts (%(isoformat)s). Put both times right.")
            findings.problem(record.where, "end", message, isoformat=start.isoformat())
    findings.settle()
    return replace(program, notes=findings.notes)


def key_of(record: Record) -> tuple[str, str | Unset]:
    """Return the name of the field that identifies a record, and its value; unstated if it did not fit."""
    if isinstance(record, PersonRecord):
        return "uid", record.ref.uid
    field = "uid" if hasattr(record, "uid") else "slug"
    return field, getattr(record, field)


def _check_keys(records: Iterable[Record], findings: Findings) -> None:
    seen: dict[str, Where] = {}
    for record in records:
        field, key = key_of(record)
        if not isinstance(key, str) or (not key and isinstance(record, PersonRecord)):
            continue
        if not (UID if field == "uid" else SLUG).match(key):
            findings.problem(record.where, field, _bad_key(field, key))
        elif key in seen:
            noun = type(record).__name__.removesuffix("Record").lower()
            message = gettext('Another %(noun)s has "%(key)s" too: %(place)s.')
            findings.problem(record.where, field, message, noun=noun, key=key, place=seen[key].place)
        seen.setdefault(key, record.where)


def _bad_key(field: str, key: str) -> str:
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
    for head in (conference, edition):
        slug = key_of(head)[1] if head else UNSTATED
        if head and is_stated(slug) and not SLUG.match(slug):
            findings.problem(head.where, "slug", _bad_key("slug", slug))
    if edition is None:
        return
    first, last = edition.start_date, edition.end_date
    if isinstance(first, date) and isinstance(last, date) and last < first:
        message = gettext("The edition ends before its first day, %(first)s.")
        findings.problem(edition.where, "end_date", message, first=first)
    for name in ("timezone", "second_timezone"):
        stated = getattr(edition, name)
        if is_stated(stated) and stated:
            try:
                zone_called(stated)
            except UnfitError as error:
                findings.problem(edition.where, name, str(error))
