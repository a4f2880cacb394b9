"""Our own format: one JSON file that holds everything of one edition, versioned and complete.

The shape of a record follows from its fields (`exchange.reading.shapes`); the schema is in
`docs/program-1.schema.json`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args, get_type_hints
from zoneinfo import ZoneInfo

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from exchange.files import Context, Format, OutputFile, Source
from exchange.problems import Findings, Where
from exchange.reading.checks import RECORD_LISTS, checked
from exchange.reading.shapes import Location, fields_of, read_part
from exchange.reading.textfiles import head, in_words, only_one, outer_names, place_of, read_object
from exchange.reading.values import zone_of
from exchange.records import ConferenceRecord, EditionRecord, Program, Record

NAME = "plenary-program"
VERSION = 1
HEAD: dict[str, type[Record]] = {"conference": ConferenceRecord, "edition": EditionRecord}
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
    """Whether the one file names this format."""
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
            yield f',\n "{name}": {_line(fields_of(record).write(value, zone))}'.encode()
    for name, record in LISTS.items():
        values = getattr(program, name)
        shape = fields_of(record)
        opening = f',\n "{name}": [\n  '
        for value in values:
            yield f"{opening}{_line(shape.write(value, zone))}".encode()
            opening = ",\n  "
        # Testing the list would read it again.
        if opening == ",\n  ":
            yield b"\n ]"
    yield b"\n}\n"


def _line(value: object) -> str:
    """Return a record as one line: a change of it is one line too, and indenting takes ten times as long."""
    return json.dumps(value, ensure_ascii=False)


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
