"""Tests of our own format: exact round trips, its JSON schema, and a message for every bad file."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from exchange.files import Context, Source
from exchange.formats.program_json import KNOWN_KEYS, OBJECT_KEYS, read, write
from exchange.records import PaperRecord, PersonRef, PhotoRecord, Program, Record, SessionRecord
from tests.exchange.outputs import reported_problems, written_content
from tests.exchange.strategies import programs

CONTEXT = Context("2026", 2026, "Asia/Seoul")
SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "program-1.schema.json").read_text("utf-8"))
HEADER = '"format": "plenary-program", "version": 1'


def written_json(program: Program) -> bytes:
    return written_content(write, program, CONTEXT)


def read_back(content: bytes) -> Program:
    return read([Source("program.json", content)], CONTEXT)


def problems(text: bytes | str) -> list[str]:
    return reported_problems(read_back, text.encode() if isinstance(text, str) else text)


@settings(max_examples=60, deadline=None)
@given(programs())
def test_any_program_round_trips_and_is_valid(program: Program) -> None:
    content = written_json(program)
    assert read_back(content) == program
    assert written_json(read_back(content)) == content
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(content))) == []


def test_write_time_has_offset_of_edition_zone() -> None:
    start = datetime(2026, 7, 8, 1, tzinfo=UTC)
    content = json.loads(written_json(Program(sessions=(SessionRecord(uid="s", start=start),))))
    assert content["sessions"] == [{"uid": "s", "start": "2026-07-08T10:00:00+09:00"}]


def test_write_each_record_on_one_line() -> None:
    start = datetime(2026, 7, 8, 1, tzinfo=UTC)
    sessions = tuple(SessionRecord(uid=uid, abstract="One.\n\nTwo.", start=start) for uid in ("s", "t"))
    lines = written_json(Program(sessions=sessions)).decode().splitlines()
    assert [json.loads(line.rstrip(","))["uid"] for line in lines if line.startswith("  {")] == ["s", "t"]
    assert lines[:3] == ["{", ' "format": "plenary-program",', ' "version": 1,']


def test_write_file_is_named_after_edition() -> None:
    assert [file.name for file in write(Program(), CONTEXT)] == ["2026.json"]


def test_schema_names_every_field() -> None:
    for record, names in OBJECT_KEYS.items():
        name = record.__name__.removesuffix("Record")
        if record not in (Record, PhotoRecord):  # only other formats contain pictures
            definition: dict[str, Any] = SCHEMA["$defs"][name[0].lower() + name[1:]]
            assert set(definition["properties"]) == set(names), name
    assert set(SCHEMA["properties"]) == set(KNOWN_KEYS)


def test_schema_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_read_file_with_byte_order_mark_and_crlf() -> None:
    content = "\ufeff{\r\n" + HEADER + ',\r\n"papers": [{"uid": "1", "title": "T"}]\r\n}'
    assert read_back(content.encode()).papers == (PaperRecord(uid="1", title="T"),)


def test_read_control_characters_are_removed_and_noted() -> None:
    program = read_back(f'{{{HEADER}, "papers": [{{"uid": "1", "title": "a\\u000bb\\n"}}]}}'.encode())
    assert program.papers[0].title == "ab\n"
    assert [str(note.where) for note in program.notes] == ["program.json, papers[0] (1)"]


def test_read_person_keeps_name_as_printed() -> None:
    authors = '"authors": [{"person": {"name": "A. Yu", "uid": "yu"}}]'
    program = read_back(f'{{{HEADER}, "papers": [{{"uid": "1", {authors}}}]}}'.encode())
    assert isinstance(program.papers[0].authors, tuple)
    assert program.papers[0].authors[0].person == PersonRef(name="A. Yu", uid="yu")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "program.json: The file is empty."),
        (b"{\r\n 1", "program.json: This is not JSON: Expecting property name enclosed in double quotes"),
        ("{}".encode("utf-16"), "program.json: The file is not UTF-8 text (byte 0)."),
        (b'{"a": "\xe9"}', "program.json: The file is not UTF-8 text (byte 7)."),
        (b"\0" * 9, "program.json: The file holds NUL characters"),
        (b"[" * 1_000_000, "program.json: Lists and objects are nested too deeply"),
        (b'{"a": NaN}', "program.json: NaN is not JSON."),
        (b'{"a": 1, "a": 2}', 'program.json: The name "a" is listed twice in one object.'),
        (b'{"a": ' + b"1" * 5000 + b"}", "program.json: A number in this file is far too long."),
        (b"[]", "program.json: The file must hold one JSON object"),
        (b"{}", "program.json, format: This is not a file of this format"),
        (b'{"format": "plenary-program", "version": 2}', "program.json, version: This must be 1"),
    ],
)
def test_read_file_of_another_format_is_refused(content: bytes, message: str) -> None:
    (problem,) = problems(content)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('"papres": []', 'program.json, papres: There is no such field. Did you mean "papers"?'),
        ('"papers": {}', "program.json, papers: This must be a list, not an object."),
        ('"papers": [7]', "program.json, papers[0]: This must be an object, not a number."),
        ('"papers": [{"title": "T"}]', "program.json, papers[0], uid: This field is missing."),
        (
            '"papers": [{"uid": "1", "title": " "}]',
            "program.json, papers[0] (1), title: The title is missing.",
        ),
        (
            '"papers": [{"uid": "1"}, {"uid": "1"}]',
            'papers[1] (1), uid: Another paper has "1" too: papers[0] (1).',
        ),
        ('"papers": [{"uid": "a b"}]', 'papers[0] (a b), uid: "a b" cannot be a uid.'),
        (
            '"papers": [{"uid": "1", "title": "\\ud800"}]',
            "papers[0] (1), title: The text holds half a character",
        ),
        (
            '"papers": [{"uid": "1", "authors": [{"person": {}}]}]',
            "(1), authors[0].person.name: This field is",
        ),
        (
            '"papers": [{"uid": "1", "authors": [{"persn": {}}]}]',
            "authors[0].persn: There is no such field. Did",
        ),
        (
            '"rooms": [{"slug": "a", "capacity": true}]',
            "capacity: This must be a whole number, not true or false.",
        ),
        ('"rooms": [{"slug": "a", "capacity": 3000000000}]', "capacity: The number is too large."),
        (
            '"sessions": [{"uid": "1", "start": "2026-07-08T10:00"}]',
            "does not say in which zone. Add the offset",
        ),
        (
            '"sessions": [{"uid": "1", "start": "2026-02-30T10:00Z"}]',
            "is not in the calendar or on the clock.",
        ),
        (
            '"sessions": [{"uid": "1", "start": "0026-02-03T10:00Z"}]',
            "The year 26 is not between 1900 and 2200.",
        ),
        (
            '"sessions": [{"uid": "1", "start": "2026-07-08T10:00Z", "end": "2026-07-08T10:30+09:00"}]',
            "sessions[0] (1), end: It ends before it starts",
        ),
        (
            '"edition": {"slug": "2026", "timezone": "asia/seol"}',
            'timezone: There is no time zone "asia/seol". Did',
        ),
    ],
)
def test_read_invalid_field_is_refused(rows: str, message: str) -> None:
    assert message in "\n".join(problems(f"{{{HEADER}, {rows}}}"))


def test_read_at_most_50_problems_are_listed() -> None:
    rows = ", ".join(["7"] * 80)
    messages = problems(f'{{{HEADER}, "papers": [{rows}]}}')
    assert len(messages) == 51
    assert messages[-1] == "There are 30 more problems."


def test_read_two_files_are_refused() -> None:
    (problem,) = reported_problems(read, [Source("a.json", b"{}")] * 2, CONTEXT)
    assert "Give one file of this format, not 2" in problem
