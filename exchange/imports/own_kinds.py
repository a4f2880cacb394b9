"""New kinds of sessions and presentations in a file: each becomes a row of the edition's conference.

A word that is similar to a known kind is treated as a typo, and refused by the validation of the row.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.core.exceptions import ValidationError
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from conference.models import Edition
from exchange.problems import Findings, closest_name, short
from exchange.reading.papers import guess_session_kind
from exchange.reading.values import slug
from exchange.records import KindRecord, PresentationRecord, Program, SessionRecord, is_stated, stated
from schedule.session_kinds import (
    FALLBACK,
    MAX_NAME_CHARS,
    MAX_SLUG_CHARS,
    AppliesTo,
    SessionKind,
    built_in_kinds,
    kind_label,
    own_kinds,
)

# With more unknown words than this, a file uses the column for something else.
MAX_NEW_KINDS = 20
BETWEEN_WORDS = re.compile(r"[-_\s]+")

type Timed = SessionRecord | PresentationRecord


def with_own_kinds(
    program: Program, edition: Edition, findings: Findings
) -> tuple[Program, list[SessionKind]]:
    """Return the program with the slugs of kinds, and the unsaved kinds to add. The edition includes them."""
    new_kinds = _described_kinds(program, edition, findings)
    sessions = _use_own_kinds(AppliesTo.SESSION, program.sessions, edition, findings, new_kinds)
    presentations = _use_own_kinds(
        AppliesTo.PRESENTATION, program.presentations, edition, findings, new_kinds
    )
    return replace(program, sessions=sessions, presentations=presentations), new_kinds


def _described_kinds(program: Program, edition: Edition, findings: Findings) -> list[SessionKind]:
    """Return the kinds that a file describes and the conference lacks. Existing kinds are not changed."""
    kinds, new_kinds = own_kinds(edition), []
    records = [(AppliesTo.SESSION, record) for record in program.session_kinds]
    records += [(AppliesTo.PRESENTATION, record) for record in program.presentation_kinds]
    for applies_to, record in records:
        existing = kinds.get((applies_to, record.slug))
        kind = SessionKind(
            conference=edition.conference,
            applies_to=applies_to,
            slug=record.slug,
            name=stated(record.name, "") or kind_name(record.slug),
            counts_as=stated(record.counts_as, "") or guess_built_in_kind(applies_to, record.slug),
            color=stated(record.color, existing.color if existing else ""),
        )
        if existing is None:
            _report_errors(kind, record, findings)
            kinds[kind.key] = kind
            new_kinds.append(kind)
        elif (existing.copies, existing.color) != (kind.copies, kind.color):
            message = gettext("The kind “%(name)s” differs from the conference's own, which stays as it is.")
            findings.note("warning", record.where, message, name=short(kind.name))
    return new_kinds


def _report_errors(kind: SessionKind, record: KindRecord, findings: Findings) -> None:
    try:
        kind.clean_fields(exclude=["conference"])
        kind.clean()
    except ValidationError as error:
        for field, messages in error.message_dict.items():
            findings.problem(record.where, field, " ".join(messages))


def _use_own_kinds[R: Timed](
    applies_to: str,
    records: tuple[R, ...],
    edition: Edition,
    findings: Findings,
    new_kinds: list[SessionKind],
) -> tuple[R, ...]:
    """Return the records with the slugs of their kinds; add the kinds that are new."""
    kinds, built_in = own_kinds(edition), built_in_kinds(applies_to)
    slugs: dict[str, str] = {}
    for word, word_records in _records_by_word(records).items():
        if word in built_in or (applies_to, word) in kinds:
            continue
        key = slug(word, MAX_SLUG_CHARS)
        if (applies_to, key) in kinds:
            slugs[word] = key
        elif not closest_name(key.replace("-", "_"), built_in) and len(new_kinds) < MAX_NEW_KINDS:
            kind = SessionKind(
                conference=edition.conference,
                applies_to=applies_to,
                slug=key,
                name=kind_name(word),
                counts_as=guess_built_in_kind(applies_to, key),
            )
            kinds[kind.key] = kind
            new_kinds.append(kind)
            slugs[word] = key
            _note_new_kind(kind, word, word_records, findings)
    if not slugs:
        return records
    return tuple(replace(record, kind=slugs.get(str(record.kind), record.kind)) for record in records)


def _records_by_word[R: Timed](records: Iterable[R]) -> dict[str, list[R]]:
    by_word: dict[str, list[R]] = {}
    for record in records:
        if is_stated(record.kind) and record.kind:
            by_word.setdefault(str(record.kind), []).append(record)
    return by_word


def kind_name(word: str) -> str:
    """Return the name for a word of a file, such as "Lightning talk" for "lightning_talk"."""
    name = BETWEEN_WORDS.sub(" ", word).strip() or word
    return capfirst(name[:MAX_NAME_CHARS])


def guess_built_in_kind(applies_to: str, key: str) -> str:
    """Return the built-in kind that a slug suggests."""
    text = key.replace("-", " ")
    built_in = built_in_kinds(applies_to)
    match = next((kind for kind in sorted(built_in) if kind.replace("_", " ") in text), "")
    return match or guess_session_kind(text, FALLBACK[applies_to], built_in)


def _note_new_kind(kind: SessionKind, word: str, rows: Sequence[Timed], findings: Findings) -> None:
    noun = gettext("session") if kind.applies_to == AppliesTo.SESSION else gettext("presentation")
    message = ngettext(
        "“%(word)s” is no kind of %(what)s here: it is added and counts as “%(counts_as)s” (%(n)d row). "
        "Check its spelling.",
        "“%(word)s” is no kind of %(what)s here: it is added and counts as “%(counts_as)s” (%(n)d rows). "
        "Check its spelling.",
        len(rows),
    )
    counts_as = kind_label(kind.applies_to, kind.counts_as, "")
    values = {"word": short(word), "what": noun, "counts_as": counts_as, "n": len(rows)}
    findings.note("warning", rows[0].where, message, **values)
