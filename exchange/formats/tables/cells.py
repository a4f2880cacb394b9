"""Cells of a table: how values of each type stand in a spreadsheet, for both directions.

`read` returns `UNSTATED` for an empty cell of a type that has no empty value. Texts in lists are trimmed.
"""

import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, get_args, get_origin
from zoneinfo import ZoneInfo

from django.utils.translation import gettext

from exchange.reading.fields import UnfitError, checked_text, day, is_repeated, moment, whole_number
from exchange.reading.findings import short
from exchange.records import UNSTATED, Stated

SEPARATOR = ";"
FLAGS = {
    **dict.fromkeys(("yes", "true", "1", "y", "x", "wahr", "vrai"), True),
    **dict.fromkeys(("no", "false", "0", "n", "falsch", "faux"), False),
}
WHOLE = re.compile(r"[+-]?\d{1,12}\Z", re.ASCII)
PART = re.compile(r"(?:\\[\\;]|[^;])+")
ESCAPED = re.compile(r"\\([\\;])")
SPECIAL = re.compile(r"([\\;])")


@dataclass(frozen=True, slots=True)
class CellType:
    """How one type is read from and written to a cell."""

    read: Callable[[str, ZoneInfo], Any]
    write: Callable[[Any, ZoneInfo], str]


def split(text: str) -> tuple[str, ...]:
    r"""Split at semicolons; `\;` is a semicolon inside a part and `\\` a backslash before one."""
    parts = (ESCAPED.sub(r"\1", part.strip()) for part in PART.findall(text))
    return tuple(part for part in parts if part)


def joined(parts: Sequence[str]) -> str:
    return f"{SEPARATOR} ".join(SPECIAL.sub(r"\\\1", part) for part in parts)


def _text(text: str, zone: ZoneInfo) -> str:
    return checked_text(text)


def _whole(text: str, zone: ZoneInfo) -> int:
    if not WHOLE.match(text.strip()):
        raise UnfitError(gettext('"%(text)s" is not a whole number.'), text=short(text))
    return whole_number(int(text))


def _flag(text: str, zone: ZoneInfo) -> bool:
    try:
        return FLAGS[text.strip().casefold()]
    except KeyError:
        raise UnfitError(gettext('"%(text)s" is neither yes nor no.'), text=short(text)) from None


def _pairs(text: str, zone: ZoneInfo) -> tuple[tuple[str, str], ...]:
    """Read `dblp:l/YLiu; neurips.cc:457880`."""
    found = [part.partition(":") for part in split(checked_text(text))]
    if any(not (scheme.strip() and value.strip()) for scheme, _, value in found):
        message = gettext('"%(text)s" is not a list of identifiers. Write them as dblp:l/YLiu; orcid:0000-….')
        raise UnfitError(message, text=short(text))
    return tuple((scheme.strip(), value.strip()) for scheme, _, value in found)


def _clock(value: datetime, zone: ZoneInfo) -> str:
    """Return the wall time; with its offset where the wall alone does not say which moment is meant."""
    local = value.astimezone(zone)
    shown = local if is_repeated(local) or local.microsecond else local.replace(tzinfo=None)
    return shown.isoformat(" ", "auto" if local.second or local.microsecond else "minutes")


CELLS: dict[object, CellType] = {
    str: CellType(_text, lambda value, zone: value),
    int: CellType(_whole, lambda value, zone: str(value)),
    bool: CellType(_flag, lambda value, zone: "yes" if value else "no"),
    date: CellType(lambda text, zone: day(text.strip()), lambda value, zone: value.isoformat()),
    datetime: CellType(lambda text, zone: moment(text.strip(), zone), _clock),
    tuple[str, ...]: CellType(
        lambda text, zone: split(checked_text(text)), lambda value, zone: joined(value)
    ),
    tuple[tuple[str, str], ...]: CellType(
        _pairs, lambda value, zone: joined([f"{scheme}:{name}" for scheme, name in value])
    ),
}
# What an empty cell means; other types have no empty value.
EMPTY: dict[object, object] = {str: "", tuple[str, ...]: (), tuple[tuple[str, str], ...]: ()}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column: its cell, and the value of an empty cell."""

    cell: CellType
    empty: Any

    def read(self, text: str, zone: ZoneInfo) -> Any:
        return self.cell.read(text, zone) if text.strip() or (self.empty == "" and text) else self.empty

    def write(self, value: object, zone: ZoneInfo) -> str:
        return "" if value is None or value is UNSTATED else self.cell.write(value, zone)


def kind_of(hint: object) -> ColumnType:
    """Return the kind of a field's type hint."""
    if get_origin(hint) is Stated:
        return kind_of(get_args(hint)[0])
    if get_origin(hint) is types.UnionType:
        return ColumnType(CELLS[next(part for part in get_args(hint) if part is not types.NoneType)], None)
    return ColumnType(CELLS[hint], EMPTY.get(hint, UNSTATED))
