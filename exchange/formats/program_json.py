"""Format of this site: one versioned JSON file with all records of one edition.

Objects follow the fields and type hints of records. Only `PersonRef` is flattened into its `PersonRecord`.
The schema is in `docs/program-1.schema.json`.
"""

import json
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date, datetime, tzinfo
from typing import Any, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange import records
from exchange.files import Context, Format, OutputFile, Source, total_size
from exchange.problems import Findings, Where
from exchange.reading.textfiles import (
    describe_place,
    describe_type,
    read_head,
    read_object,
    require_single_file,
    top_level_names,
)
from exchange.reading.values import (
    RECORD_LISTS,
    InvalidValueError,
    check_integer,
    check_program,
    clean_text,
    parse_date,
    parse_datetime,
    program_zone,
)
from exchange.records import UNSTATED, ConferenceRecord, EditionRecord, PersonRef, Program, Record

FORMAT_NAME = "plenary-program"
VERSION = 1
HEAD_RECORDS: dict[str, type[Record]] = {"conference": ConferenceRecord, "edition": EditionRecord}
# The type of the records in each list.
LIST_RECORDS: dict[str, type[Record]] = {
    name: get_args(get_type_hints(Program)[name])[0] for name in RECORD_LISTS
}
KNOWN_KEYS = ("format", "version", *HEAD_RECORDS, *LIST_RECORDS)


def read(sources: Sequence[Source], context: Context) -> Program:
    """Read one file. References are not resolved here, but by the loader."""
    findings, program = Findings(total_size(sources)), Program()
    source = require_single_file(sources, findings)
    content = read_object(source, findings) if source else None
    if source and content is not None and _has_valid_header(content, source, findings):
        program = _read_program(content, source, findings)
    return check_program(program, findings)


def recognizes(sources: Sequence[Source]) -> bool:
    if len(sources) != 1:
        return False
    head = read_head(sources[0])
    return FORMAT_NAME in head and "format" in top_level_names(head)


def _has_valid_header(content: dict[str, object], source: Source, findings: Findings) -> bool:
    """Return whether the header is valid. Checked first, so that other formats lead to a single problem."""
    if content.get("format") != FORMAT_NAME:
        message = gettext('This is not a file of this format: it must begin with "format": "%(name)s".')
        findings.problem(Where(source.name), "format", message, name=FORMAT_NAME)
        return False
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        message = gettext("This must be %(version)s: no other version can be read here.")
        findings.problem(Where(source.name), "version", message, version=VERSION)
        return False
    return True


def _read_program(content: dict[str, object], source: Source, findings: Findings) -> Program:
    """Read every part that the file states. Invalid parts are skipped, since the file is refused anyway."""
    values: dict[str, Any] = {}
    try:
        for name, value in content.items():
            if name in HEAD_RECORDS:
                location = Location(findings, Where(source.name, name))
                values[name] = read_part(HEAD_RECORDS[name], value, location) or None
            elif name in LIST_RECORDS:
                values[name] = tuple(_read_list(name, LIST_RECORDS[name], value, source, findings))
            elif name not in KNOWN_KEYS:
                findings.unknown(Where(source.name), name, "field", KNOWN_KEYS)
    except RecursionError:
        findings.problem(Where(source.name), "", gettext("The menu is nested too deeply."))
        return Program()
    return Program(**values)


def _read_list(
    name: str, record_type: type[Record], rows: object, source: Source, findings: Findings
) -> Iterator[Record]:
    if not isinstance(rows, list):
        message = gettext("This must be a list, not %(rows)s.")
        findings.problem(Where(source.name, name), "", message, rows=describe_type(rows))
        return
    for index, row in enumerate(rows):
        key = (row.get("uid") or row.get("slug")) if isinstance(row, dict) else None
        where = Where(source.name, describe_place(name, index, key))
        record = read_part(record_type, row, Location(findings, where))
        if isinstance(record, Record):
            yield record


def write(program: Program, context: Context) -> Iterable[OutputFile]:
    """Write one file, a line for each record. Times carry the offset of the edition's zone."""
    yield OutputFile(f"{context.edition}.json", _chunks(program, program_zone(program, context)))


def _chunks(program: Program, zone: ZoneInfo) -> Iterator[bytes]:
    yield f'{{\n "format": "{FORMAT_NAME}",\n "version": {VERSION}'.encode()
    for name in HEAD_RECORDS:
        value = getattr(program, name)
        if value is not None:
            yield f',\n "{name}": {json_line(value, zone)}'.encode()
    for name in LIST_RECORDS:
        opening = f',\n "{name}": [\n  '
        for value in getattr(program, name):
            yield f"{opening}{json_line(value, zone)}".encode()
            opening = ",\n  "
        # Checked by the separator, since testing the list would read it again.
        if opening == ",\n  ":
            yield b"\n ]"
    yield b"\n}\n"


# Values


# The field whose own fields are written directly into the record.
FLAT_FIELD = "ref"
PAIR_KEYS = ("scheme", "value")
SCALARS = (str, int, bool, date, datetime)


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


RECORDS = [value for value in vars(records).values() if isinstance(value, type) and issubclass(value, Record)]
HINTS = {record: records.field_types(record) for record in RECORDS}
DEFAULTS = {
    record: {field.name: field.default for field in fields(record) if field.name in hints}
    for record, hints in HINTS.items()
}
# All names allowed in an object, including those of a person's reference.
OBJECT_KEYS = {
    record: (
        *(HINTS[PersonRef] if FLAT_FIELD in hints else ()),
        *(name for name in hints if name != FLAT_FIELD),
    )
    for record, hints in HINTS.items()
}


def read_part(hint: Any, value: object, location: Location) -> object:
    """Read one part; if it is invalid, add a finding."""
    try:
        return _read_value(hint, value, location)
    except InvalidValueError as error:
        location.findings.problem(location.where, location.path, str(error))
        return UNSTATED


def _read_value(hint: Any, value: object, location: Location) -> object:
    """Read a value of this type. Raises `InvalidValueError`, or adds a finding per invalid part."""
    if hint in SCALARS:
        return _read_scalar(hint, value, location)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is types.UnionType:
        (inner,) = (item for item in arguments if item is not types.NoneType)
        return None if value is None else _read_value(inner, value, location)
    if origin is tuple and Ellipsis in arguments:
        items = _check_type(list, "a list", value)
        return tuple(read_part(arguments[0], item, location[index]) for index, item in enumerate(items))
    if origin is tuple:
        if not isinstance(value, dict) or set(value) != set(PAIR_KEYS):
            raise InvalidValueError(
                gettext('This must be an object such as {"scheme": "dblp", "value": "l/YLiu"}.')
            )
        return tuple(read_part(str, value[name], location.at(name)) for name in PAIR_KEYS)
    content = _check_type(dict, "an object", value)
    for name in content:
        if name not in OBJECT_KEYS[hint]:
            location.findings.unknown(location.where, name, "field", OBJECT_KEYS[hint], path=location.path)
    return _read_record(hint, content, location)


def _read_scalar(kind: type, value: object, location: Location) -> object:
    if kind is bool:
        return _check_type(bool, "true or false", value)
    if kind is int:
        return check_integer(_check_type(int, "a whole number", value))
    text = _check_type(str, "text in quotation marks", value)
    text = clean_text(text, location.where, location.path, location.findings)
    return parse_date(text) if kind is date else parse_datetime(text) if kind is datetime else text


def _check_type[T](kind: type[T], expected: str, value: object) -> T:
    # Compared exactly: in Python, bool is a subclass of int.
    if type(value) is not kind:
        message = gettext("This must be %(words)s, not %(value)s.")
        raise InvalidValueError(message, words=expected, value=describe_type(value))
    return value


def _read_record(record_type: type[Record], value: Mapping[str, object], location: Location) -> Record:
    """Return a record from the known fields of an object."""
    values: dict[str, Any] = {"where": location.where}
    for name, hint in HINTS[record_type].items():
        if name == FLAT_FIELD:
            values[name] = _read_record(hint, value, location)
        elif name in value:
            values[name] = read_part(hint, value[name], location.at(name))
        elif DEFAULTS[record_type][name] is MISSING:
            location.findings.problem(
                location.where, location.at(name).path, gettext("This field is missing.")
            )
            values[name] = UNSTATED
    return record_type(**values)


def json_line(record: Record, zone: tzinfo) -> str:
    """Return a record as one line of JSON, so that diffs show each change as one line."""
    return json.dumps(_record_object(record, zone), ensure_ascii=False)


def _record_object(record: Record, zone: tzinfo) -> dict[str, object]:
    """Return a record as an object, without fields that have their default or are unstated."""
    content: dict[str, object] = {}
    for name, default in DEFAULTS[type(record)].items():
        value = getattr(record, name)
        if name == FLAT_FIELD:
            content |= _record_object(value, zone)
        elif name == "ids" and value:
            content[name] = [dict(zip(PAIR_KEYS, pair, strict=True)) for pair in value]
        elif value is not UNSTATED and value != default:
            content[name] = _json_value(value, zone)
    return content


def _json_value(value: object, zone: tzinfo) -> object:
    if isinstance(value, Record):
        return _record_object(value, zone)
    if isinstance(value, tuple):
        return [_json_value(item, zone) for item in value]
    if isinstance(value, datetime):
        value = value.astimezone(zone)
    return value.isoformat() if isinstance(value, date) else value


FORMAT = Format(
    name="program_json",
    label=_("Plenary program (JSON)"),
    description=_("Everything of one edition in one versioned file; reads back exactly."),
    extensions=("json",),
    holds_edition=True,
    media_type="application/json",
    read=read,
    write=write,
    takes_stream=True,
    recognizes=recognizes,
)
