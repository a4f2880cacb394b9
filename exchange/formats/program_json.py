"""Our own format: one JSON file that holds everything of one edition, versioned and complete.

How a record looks follows from its fields and type hints: one shape per type, both ways. Only `PersonRef`
lies flat in a `PersonRecord`. The schema is in `docs/program-1.schema.json`.
"""

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, tzinfo
from functools import cached_property
from typing import Any, Protocol, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.problems import Findings, Where
from exchange.reading.textfiles import head, in_words, only_one, outer_names, place_of, read_object
from exchange.reading.values import (
    RECORD_LISTS,
    UnfitError,
    checked,
    day,
    moment,
    noted_text,
    whole_number,
    zone_of,
)
from exchange.records import UNSTATED, ConferenceRecord, EditionRecord, Program, Record, Stated

NAME = "plenary-program"
VERSION = 1
HEAD: dict[str, type[Record]] = {"conference": ConferenceRecord, "edition": EditionRecord}
# The type of the records in each list.
LISTS: dict[str, type[Record]] = {name: get_args(get_type_hints(Program)[name])[0] for name in RECORD_LISTS}
KNOWN_KEYS = ("format", "version", *HEAD, *LISTS)


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read one file. References stay as they are: the loader resolves them."""
    findings, program = Findings(), Program()
    source = only_one(sources, findings)
    content = read_object(source, findings) if source else None
    if source and content is not None and _is_ours(content, source, findings):
        program = _read_program(content, source, findings)
    return checked(program, findings)


def recognizes(sources: Sequence[Source]) -> bool:
    return len(sources) == 1 and "format" in outer_names(head(sources[0])) and NAME in head(sources[0])


def _is_ours(content: dict[str, object], source: Source, findings: Findings) -> bool:
    """Judge the head, so that another format's file earns one sentence and not a thousand."""
    if content.get("format") != NAME:
        message = gettext('This is not a file of this format: it must begin with "format": "%(name)s".')
        findings.problem(Where(source.name), "format", message, name=NAME)
        return False
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        message = gettext("This must be %(version)s: no other version can be read here.")
        findings.problem(Where(source.name), "version", message, version=VERSION)
        return False
    return True


def _read_program(content: dict[str, object], source: Source, findings: Findings) -> Program:
    """Read every part that the file states. What does not fit leaves a gap: the file is refused anyway."""
    parts: dict[str, Any] = {}
    try:
        for name, value in content.items():
            if name in HEAD:
                place = Location(findings, Where(source.name, name))
                parts[name] = read_part(fields_of(HEAD[name]), value, place) or None
            elif name in LISTS:
                parts[name] = tuple(_read_list(name, LISTS[name], value, source, findings))
            elif name not in KNOWN_KEYS:
                findings.unknown(Where(source.name), name, "field", KNOWN_KEYS)
    except RecursionError:
        findings.problem(Where(source.name), "", gettext("The menu is nested too deeply."))
        return Program()
    return Program(**parts)


def _read_list(
    name: str, record: type[Record], rows: object, source: Source, findings: Findings
) -> Iterator[Record]:
    if not isinstance(rows, list):
        message = gettext("This must be a list, not %(rows)s.")
        findings.problem(Where(source.name, name), "", message, rows=in_words(rows))
        return
    shape = fields_of(record)
    for index, row in enumerate(rows):
        key = (row.get("uid") or row.get("slug")) if isinstance(row, dict) else None
        where = Where(source.name, place_of(name, index, key))
        found = read_part(shape, row, Location(findings, where))
        if isinstance(found, Record):
            yield found


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, a line for each record. Times carry the offset of the edition's zone."""
    yield OutputFile(f"{context.edition}.json", _pieces(program, zone_of(program, context)))


def _pieces(program: Program, zone: ZoneInfo) -> Iterator[bytes]:
    yield f'{{\n "format": "{NAME}",\n "version": {VERSION}'.encode()
    for name, record in HEAD.items():
        value = getattr(program, name)
        if value is not None:
            yield f',\n "{name}": {fields_of(record).line(value, zone)}'.encode()
    for name, record in LISTS.items():
        values = getattr(program, name)
        shape = fields_of(record)
        opening = f',\n "{name}": [\n  '
        for value in values:
            yield f"{opening}{shape.line(value, zone)}".encode()
            opening = ",\n  "
        # Testing the list would read it again.
        if opening == ",\n  ":
            yield b"\n ]"
    yield b"\n}\n"


# Shapes


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
    """Text, a whole number, true or false, as JSON has them itself; a date or a time is a text in it."""

    kind: type
    words: str
    parse: Callable[[str], date] | None = None

    def read(self, value: object, place: Location) -> object:
        if type(value) is not self.kind:
            message = gettext("This must be %(words)s, not %(value)s.")
            raise UnfitError(message, words=self.words, value=in_words(value))
        if isinstance(value, str):
            text = noted_text(value, place.where, place.path, place.findings)
            return self.parse(text) if self.parse else text
        return whole_number(value) if isinstance(value, int) else value

    def write(self, value: object, zone: tzinfo) -> object:
        if isinstance(value, datetime):
            value = value.astimezone(zone)
        return value.isoformat() if isinstance(value, date) else value


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
    def known(self) -> tuple[str, ...]:
        """Every name that the object may hold, those of a person's reference among them."""
        inner = self.shapes.get(FLAT)
        own = (name for name in self.shapes if name != FLAT)
        return (*(inner.known if isinstance(inner, ObjectShape) else ()), *own)

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

    def write(self, value: object, zone: tzinfo) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, shape in self.shapes.items():
            part = getattr(value, name)
            if part is not UNSTATED and part != self.defaults[name]:
                written = shape.write(part, zone)
                found |= written if name == FLAT and isinstance(written, dict) else {name: written}
        return found

    def line(self, value: object, zone: tzinfo) -> str:
        """Return a record as one line of JSON: a change of it is one line too."""
        return json.dumps(self.write(value, zone), ensure_ascii=False)


TEXT = ScalarShape(str, "text in quotation marks")
SCALARS: dict[object, Shape] = {
    str: TEXT,
    int: ScalarShape(int, "a whole number"),
    bool: ScalarShape(bool, "true or false"),
    date: ScalarShape(str, TEXT.words, day),
    datetime: ScalarShape(str, TEXT.words, moment),
}
FIELDS: dict[type[Record], ObjectShape] = {}


def fields_of(record: type[Record]) -> ObjectShape:
    return FIELDS.setdefault(record, ObjectShape(record))


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


FORMAT = Format(
    name="program_json",
    label=_("Plenary program (JSON)"),
    description=_("Everything of one edition in one versioned file; reads back exactly."),
    extensions=("json",),
    media_type="application/json",
    read=read,
    write=write,
    takes_stream=True,
    recognizes=recognizes,
)
