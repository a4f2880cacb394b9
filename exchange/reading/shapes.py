"""How records look in JSON, derived from their fields and type hints: one shape per type, both ways.

Knows no particular record but `PersonRef`, which lies flat in a `PersonRecord`.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, tzinfo
from functools import cached_property
from typing import Any, Protocol, get_args, get_origin, get_type_hints

from django.utils.translation import gettext

from exchange.problems import Findings, Where
from exchange.reading.textfiles import in_words
from exchange.reading.values import UnfitError, day, moment, noted_text, whole_number
from exchange.records import UNSTATED, Record, Stated

# A person's own reference is not an object inside the person: its fields are the person's.
FLAT = "ref"


@dataclass(frozen=True, slots=True)
class Location:
    """The reader's position in a file, and its findings."""

    findings: Findings
    where: Where
    path: str = ""

    def at(self, step: str) -> "Location":
        return Location(self.findings, self.where, f"{self.path}.{step}" if self.path else step)

    def __getitem__(self, index: int) -> "Location":
        return Location(self.findings, self.where, f"{self.path}[{index}]")


class Shape(Protocol):
    """One type of value. `read` raises `UnfitError`, or adds a finding per invalid part."""

    def read(self, value: object, place: Location) -> object: ...

    def write(self, value: Any, zone: tzinfo) -> object: ...


def read_part(shape: Shape, value: object, place: Location) -> object:
    """Read one part; if it is invalid, add a finding."""
    try:
        return shape.read(value, place)
    except UnfitError as error:
        place.findings.problem(place.where, place.path, str(error))
        return UNSTATED


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A value that JSON has itself: text, a whole number, true or false."""

    kind: type
    words: str

    def read(self, value: object, place: Location) -> object:
        if type(value) is not self.kind:
            message = gettext("This must be %(words)s, not %(value)s.")
            raise UnfitError(message, words=self.words, value=in_words(value))
        if isinstance(value, str):
            return noted_text(value, place.where, place.path, place.findings)
        return whole_number(value) if isinstance(value, int) else value

    def write(self, value: object, zone: tzinfo) -> object:
        return value


class DateShape:
    def read(self, value: object, place: Location) -> date:
        return day(str(TEXT.read(value, place)))

    def write(self, value: date, zone: tzinfo) -> object:
        return value.isoformat()


class DateTimeShape:
    def read(self, value: object, place: Location) -> datetime:
        return moment(str(TEXT.read(value, place)))

    def write(self, value: datetime, zone: tzinfo) -> object:
        return value.astimezone(zone).isoformat()


class PairShape:
    """One identifier elsewhere: a (scheme, value) pair, an object in the file."""

    names = ("scheme", "value")

    def read(self, value: object, place: Location) -> tuple[object, object]:
        if not isinstance(value, dict) or set(value) != set(self.names):
            raise UnfitError(gettext('This must be an object such as {"scheme": "dblp", "value": "l/YLiu"}.'))
        scheme, name = (read_part(TEXT, value[key], place.at(key)) for key in self.names)
        return scheme, name

    def write(self, value: tuple[str, str], zone: tzinfo) -> object:
        return dict(zip(self.names, value, strict=True))


@dataclass(frozen=True, slots=True)
class NullableShape:
    shape: Shape

    def read(self, value: object, place: Location) -> object:
        return None if value is None else self.shape.read(value, place)

    def write(self, value: object, zone: tzinfo) -> object:
        return None if value is None else self.shape.write(value, zone)


@dataclass(frozen=True, slots=True)
class ListShape:
    shape: Shape

    def read(self, value: object, place: Location) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise UnfitError(gettext("This must be a list, not %(value)s."), value=in_words(value))
        return tuple(read_part(self.shape, part, place[index]) for index, part in enumerate(value))

    def write(self, value: tuple[object, ...], zone: tzinfo) -> object:
        return [self.shape.write(part, zone) for part in value]


@dataclass(frozen=True)
class ObjectShape:
    """A record as an object. Fields that are unstated, or as by default, are absent."""

    record: type[Record]

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        hints = get_type_hints(self.record)
        names = (field.name for field in fields(self.record) if field.name != "where")
        return {name: shape_of(hints[name]) for name in names}

    @cached_property
    def defaults(self) -> dict[str, object]:
        return {field.name: field.default for field in fields(self.record)}

    @cached_property
    def known(self) -> dict[str, Shape]:
        """Return every name that the object may hold, those of a person's reference among them."""
        own = {name: shape for name, shape in self.shapes.items() if name != FLAT}
        inner = self.shapes.get(FLAT)
        return {**inner.known, **own} if isinstance(inner, ObjectShape) else own

    def read(self, value: object, place: Location) -> Record:
        if not isinstance(value, dict):
            raise UnfitError(gettext("This must be an object, not %(value)s."), value=in_words(value))
        for name in value:
            if name not in self.known:
                place.findings.unknown(place.where, name, "field", self.known, path=place.path)
        return self.build(value, place)

    def build(self, value: Mapping[str, object], place: Location) -> Record:
        """Make the record from the fields of an object that are its own."""
        found: dict[str, Any] = {"where": place.where}
        for name, shape in self.shapes.items():
            if name == FLAT and isinstance(shape, ObjectShape):
                found[name] = shape.build(value, place)
            elif name in value:
                found[name] = read_part(shape, value[name], place.at(name))
            elif self.defaults[name] is MISSING:
                place.findings.problem(place.where, place.at(name).path, gettext("This field is missing."))
                found[name] = UNSTATED
        return self.record(**found)

    @cached_property
    def _written(self) -> list[tuple[str, Shape, object, bool]]:
        """Return how each field is written, with what it says where it says nothing; found out once."""
        return [
            (name, shape, self.defaults[name], isinstance(shape, ScalarShape))
            for name, shape in self.shapes.items()
        ]

    def write(self, value: object, zone: tzinfo) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, shape, default, is_plain in self._written:
            part = getattr(value, name)
            if part is UNSTATED or part == default:
                continue
            if is_plain:
                found[name] = part
            elif name == FLAT and isinstance(shape, ObjectShape):
                found |= shape.write(part, zone)
            else:
                found[name] = shape.write(part, zone)
        return found


TEXT = ScalarShape(str, "text in quotation marks")
SCALARS: dict[object, Shape] = {
    str: TEXT,
    int: ScalarShape(int, "a whole number"),
    bool: ScalarShape(bool, "true or false"),
    date: DateShape(),
    datetime: DateTimeShape(),
}


_FIELDS: dict[type[Record], ObjectShape] = {}


def fields_of(record: type[Record]) -> ObjectShape:
    """Return the one shape of this kind of record."""
    return _FIELDS.setdefault(record, ObjectShape(record))


def shape_of(hint: object) -> Shape:
    """Return the shape of a field's type hint; `Stated[…]` says only that the field may be absent."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Stated:
        return shape_of(arguments[0])
    if origin is types.UnionType:
        return NullableShape(shape_of(next(part for part in arguments if part is not types.NoneType)))
    if origin is tuple:
        return ListShape(shape_of(arguments[0])) if Ellipsis in arguments else PairShape()
    if isinstance(hint, type) and issubclass(hint, Record):
        return fields_of(hint)
    return SCALARS[hint]
