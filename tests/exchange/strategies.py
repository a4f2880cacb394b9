"""Strategies of random programs, derived from the type hints of records so that new fields are included."""

import types
from collections.abc import Collection
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from exchange.formats.program_json import HEAD_RECORDS, LIST_RECORDS
from exchange.formats.tables.rows import TRIMMED_COLUMNS
from exchange.reading.person_names import written_name
from exchange.reading.values import key_of
from exchange.records import UNSTATED, Program, Record, Stated

FIELD_VALUES = {
    "SessionRecord.kind": ["oral", "poster", "break"],
    "PresentationRecord.kind": ["oral", "poster", "talk"],
    "MaterialRecord.kind": ["pdf", "code"],
    "MenuRecord.kind": ["section", "page", "url"],
    "RoleRecord.role": ["speaker", "chair"],
    "EditionRecord.mode": ["in_person", "hybrid"],
    "EditionRecord.hero_focus": ["center", "top-left"],
    "EditionRecord.accent": ["#123456", "#0b6b62"],
    "EditionRecord.conference": ["k", "mlsys"],
    "EditionRecord.timezone": ["Asia/Seoul", "America/Los_Angeles", "UTC"],
    "EditionRecord.second_timezone": ["", "Asia/Kathmandu"],
    "MaterialRecord.url": ["https://github.com/a/b", "https://x.example/p.pdf", "/p.pdf", "x"],
    "MaterialRecord.label": ["", "Slides", "PDF", "Poster PDF", "Look", "a &amp; b"],
    "status": ["draft", "published"],
}
# Use few keys, so that records refer to each other. Formats that number events parse numbers and "-2".
KEYS = st.sampled_from(["k", "k-2", "k-2-2", "7", "7-2", "12", "007"])
# Prefer quotes, separators, formula signs, escapes and other scripts, which break files most often.
# Exclude characters that XML and workbooks cannot contain; writers omit them, which has its own test.
# Exclude marks of text direction, because every reader removes them.
DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ALLOWED_CHARACTERS = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters=f"\ufffe\uffff{DIRECTION_MARKS}"
)
LETTERS = st.one_of(st.sampled_from("=+-@'\";,\\$&<\t\n é李"), ALLOWED_CHARACTERS)
TEXTS = st.text(LETTERS, max_size=8)
LABELS = st.text(LETTERS, min_size=1, max_size=6).map(lambda text: f"<{text}>")
DATES = st.dates(date(1990, 1, 1), date(2100, 1, 1))
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-3, minutes=-30))])
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=ZONES)  # noqa: DTZ001 - ZONES gives them
VALUES_BY_TYPE: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(-5, 3000),
    bool: st.booleans(),
    date: DATES,
    datetime: TIMES,
}
KEY_FIELDS = ("uid", "slug")
LABEL_FIELDS = ("title", "name", "label", "url", "target", "role")


def texts(owner: str, name: str) -> st.SearchStrategy[str]:
    choices = FIELD_VALUES.get(f"{owner}.{name}") or FIELD_VALUES.get(name)
    if choices:
        return st.sampled_from(choices)
    if name in KEY_FIELDS:
        return KEYS
    if (owner, name) == ("PersonRef", "name"):
        # Readers leave out what only looks like a sign behind a name.
        return LABELS.map(lambda text: written_name(text).name)
    if name in TRIMMED_COLUMNS - set(LABEL_FIELDS):
        return st.just("") | KEYS
    return LABELS if name in LABEL_FIELDS else TEXTS


def values(hint: Any, owner: str, name: str, *, full: bool) -> st.SearchStrategy[Any]:
    """Return a strategy of values for one field, which may be unstated unless `full`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Stated:
        stated = values(arguments[0], owner, name, full=full)
        return stated if full else st.just(UNSTATED) | stated
    if origin is types.UnionType:
        item = next(part for part in arguments if part is not types.NoneType)
        return st.none() | (KEYS if item is str else values(item, owner, name, full=full))
    if origin is tuple and Ellipsis not in arguments:
        return st.tuples(KEYS, LABELS)
    if origin is tuple:
        item = LABELS if arguments[0] is str else values(arguments[0], owner, name, full=full)
        return st.lists(item, max_size=2).map(tuple)
    if isinstance(hint, type) and issubclass(hint, Record):
        return st.deferred(lambda: records(hint, full=full))
    return texts(owner, name) if hint is str else VALUES_BY_TYPE[hint]


def records(record: type[Record], *, full: bool = False) -> st.SearchStrategy[Any]:
    hints, owner = get_type_hints(record), record.__name__
    strategies = {
        field.name: values(hints[field.name], owner, field.name, full=full)
        for field in fields(record)
        if field.name not in ("where", "children", "key")
    }
    if owner == "MenuRecord":
        strategies["children"] = st.just(()) | st.tuples(st.builds(record, **strategies))
    return st.builds(record, **strategies).map(in_order)


def in_order(record: Any) -> Any:
    """Swap times that would make the record end before it starts."""
    for first, last in (("start", "end"), ("start_date", "end_date")):
        begin, end = getattr(record, first, None), getattr(record, last, None)
        if isinstance(begin, date) and isinstance(end, date) and end < begin:
            record = replace(record, **{first: end, last: begin})
    return record


def programs(
    *, full: bool = False, min_size: int = 0, part_names: Collection[str] | None = None
) -> st.SearchStrategy[Program]:
    """Return a strategy of programs with at least `min_size` records of each kind.

    `part_names`: the parts that a format writes, because generating the others takes as long as the test.
    """
    single_records = {name: st.none() | records(kind, full=full) for name, kind in HEAD_RECORDS.items()}
    record_lists = {
        name: st.lists(records(kind, full=full), min_size=min_size, max_size=3, unique_by=key_of).map(tuple)
        for name, kind in LIST_RECORDS.items()
    }
    parts: dict[str, st.SearchStrategy[Any]] = {**single_records, **record_lists}
    return st.builds(Program, **{name: parts[name] for name in (parts if part_names is None else part_names)})
