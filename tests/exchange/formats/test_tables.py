"""Tests of tables: exact round trips through the ZIP, files saved by spreadsheets, cells edited by hand."""

import io
import zipfile
from datetime import UTC, datetime
from itertools import chain

import pytest
from hypothesis import given, settings
from openpyxl import Workbook

from exchange.files import Context, Source
from exchange.formats.tables import read, write
from exchange.formats.tables.rows import TABLES, join_list, split_list
from exchange.reading import grids
from exchange.reading.grids import remove_formula_guard
from exchange.reading.sheets import column_heading, guard_formula
from exchange.records import (
    AuthorRecord,
    EditionRecord,
    GrantRecord,
    MenuRecord,
    PaperRecord,
    PersonRef,
    Program,
)
from tests.exchange.outputs import reported_problems, written_content
from tests.exchange.strategies import LABELS, TEXTS, programs

CONTEXT = Context("2026", 2026, "Europe/Berlin")


def written_zip(program: Program) -> bytes:
    return written_content(write, program, CONTEXT)


def read_csv(**files: str | bytes) -> Program:
    sources = [
        Source(f"{name}.csv", content.encode() if isinstance(content, str) else content)
        for name, content in files.items()
    ]
    return read(sources, CONTEXT)


def problems(**files: str | bytes) -> str:
    return "\n".join(reported_problems(read_csv, **files))


def zip_source(name: str, content: bytes) -> Source:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return Source("all.zip", buffer.getvalue())


@settings(max_examples=60, deadline=None)
@given(programs(full=True))
def test_any_fully_stated_program_round_trips(program: Program) -> None:
    content = written_zip(program)
    assert read([Source("x.zip", content)], CONTEXT) == program
    assert written_zip(program) == content


@given(TEXTS)
def test_guarded_text_is_not_a_formula_and_round_trips(text: str) -> None:
    assert remove_formula_guard(guard_formula(text)) == text
    assert not guard_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@given(LABELS, LABELS)
def test_joined_list_round_trips(first: str, second: str) -> None:
    assert split_list(join_list([first, second])) == (first, second)


def test_split_list_does_not_change_tex() -> None:
    assert split_list(r"$\alpha$; a\;b;; c") == (r"$\alpha$", "a;b", "c")


def test_write_csv_has_byte_order_mark_crlf_and_guarded_formulas() -> None:
    content = written_zip(Program(papers=(PaperRecord(uid="1", title="=1+1, Gröblacher"),)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.read("papers.csv") == '\ufeffuid,title\r\n1,"\'=1+1, Gröblacher"\r\n'.encode()
        assert "authors.csv" not in archive.namelist()
    assert [file.name for file in write(Program(), CONTEXT)] == ["2026-tables.zip"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_read_spreadsheet_dialects(encoding: str, delimiter: str) -> None:
    text = f"UID{delimiter}Lay  Summary\r\n1{delimiter}Größe\r\n\r\n"
    assert read_csv(papers=text.encode(encoding)).papers == (PaperRecord(uid="1", lay_summary="Größe"),)


def test_read_missing_column_is_unstated_and_empty_cell_is_empty() -> None:
    program = read_csv(papers="uid,title,topic,keywords\n1,T,,\n")
    assert program.papers == (PaperRecord(uid="1", title="T", topic=None, keywords=()),)


def test_read_missing_uid_is_made_from_the_title() -> None:
    program = read_csv(
        papers="title,authors,keywords\nŁódź & more,A. Yu; B. Li,x; y\n",
        presentations="paper,kind\nlodz-more,oral\n",
    )
    authors = tuple(AuthorRecord(person=PersonRef(name=name)) for name in ("A. Yu", "B. Li"))
    expected_paper = PaperRecord(uid="lodz-more", title="Łódź & more", authors=authors, keywords=("x", "y"))
    assert program.papers == (expected_paper,)
    assert [presentation.uid for presentation in program.presentations] == ["lodz-more-oral"]


def test_read_child_table_alone_states_only_that_field() -> None:
    program = read_csv(authors="paper,name,ids\n1,A. Yu,dblp:y/1\n1,B. Li,\n")
    first_author = AuthorRecord(person=PersonRef(name="A. Yu", ids=(("dblp", "y/1"),)))
    authors = (first_author, AuthorRecord(person=PersonRef(name="B. Li")))
    assert program.papers == (PaperRecord(uid="1", authors=authors),)


def test_read_menu_levels_are_nested() -> None:
    program = read_csv(menu="level,label,kind,target\n1,A,section,home\n2,B,page,faq\n1,C,section,talks\n")
    child = MenuRecord(label="B", kind="page", target="faq")
    first = MenuRecord(label="A", kind="section", target="home", children=(child,))
    second = MenuRecord(label="C", kind="section", target="talks")
    assert program.edition == EditionRecord(slug="2026", menu=(first, second))


def test_read_grant_may_have_no_person() -> None:
    program = read_csv(grants="award,paper,name\nbest,1,\n")
    assert program.awards[0].grants == (GrantRecord(paper="1"),)


def test_read_wall_time_is_in_edition_zone_before_and_after_a_clock_change() -> None:
    text = "uid,start\na,2026-03-28 10:00\nb,2026-03-29T10:00\nc,2026-03-29 10:00+00:00\n"
    starts = [record.start for record in read_csv(sessions=text).sessions]
    moments = [start.astimezone(UTC) for start in starts if isinstance(start, datetime)]
    hours = [(moment.day, moment.hour) for moment in moments]
    assert hours == [(28, 9), (29, 8), (29, 10)]


def test_read_time_is_in_the_zone_of_the_edition_table() -> None:
    program = read_csv(edition="timezone\nAsia/Seoul\n", sessions="uid,start\na,2026-07-08 10:00\n")
    assert program.sessions[0].start == datetime(2026, 7, 8, 1, tzinfo=UTC)


def test_read_ambiguous_wall_time_is_the_first_and_noted() -> None:
    program = read_csv(sessions="uid,start\na,2026-10-25 02:30\nb,2026-10-25 02:30+01:00\n")
    assert [record.start for record in program.sessions] == [
        datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
    ]
    assert [str(note.where) for note in program.notes] == ["sessions.csv, row 2"]
    assert read([Source("x.zip", written_zip(program))], CONTEXT).notes == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("papres", "uid\n1\n", 'papres.csv: No table has this name. Did you mean "papers.csv"?'),
        ("papers", "", "papers.csv: The file is empty."),
        ("papers", ",,\n1,2,3\n", "papers.csv, 1: There is no such column."),
        ("papers", "uid,titel\n1,T\n", 'papers.csv, titel: There is no such column. Did you mean "title"?'),
        ("papers", "uid,title\n1,\n", "papers.csv, row 2, title: The title is missing."),
        ("papers", "uid,title\n1,T\n1,T\n", 'papers.csv, row 3, uid: Another paper has "1" too: row 2.'),
        ("papers", "uid,UID\n1,2\n", "papers.csv, uid: There are two columns of this name."),
        ("papers", "uid,title\n1,T,x\n", "papers.csv, row 2: The row has cells beyond the columns"),
        ("papers", 'uid,title\n1,"T', "unexpected end of data"),
        ("authors", "name\nA\n", "authors.csv, paper: This column is missing."),
        ("authors", "paper,name\n1,\n", "authors.csv, row 2, name: The name is missing."),
        ("authors", "paper,name\n,A\n", "authors.csv, row 2, paper: Say to which paper the row belongs"),
        ("rooms", "slug,capacity\na,many\n", 'rooms.csv, row 2, capacity: "many" is not a whole number.'),
        ("rooms", "slug,virtual\na,perhaps\n", 'rooms.csv, row 2, virtual: "perhaps" is neither yes nor no.'),
        ("sessions", "uid,start\na,8.7.2026\n", '"8.7.2026" is not a time. Write it as 2026-07-08 10:00.'),
        ("sessions", "uid,start\na,2026-03-29 02:30\n", "2026-03-29 02:30 does not exist in Europe/Berlin"),
        ("sessions", "uid,start,end\na,2026-07-08 10:00,2026-07-08 09:00\n", "row 2, end: It ends"),
        ("edition", "timezone\nAsia/Seol\n", 'timezone: There is no time zone "Asia/Seol". Did you mean'),
        ("edition", "year\n2026\n2027\n", "edition.csv, row 3: This table holds one row."),
        ("menu", "level,label,kind,target\n2,A,page,x\n", "The line above this level is missing."),
        ("menu", "level,label,kind,target\n0,A,page,x\n", "level: Write 1 for a line of the menu, 2 for"),
        ("materials", "paper,kind,url\n1,,x\n", "materials.csv, row 2, kind: This cell must not be empty."),
        ("people", "uid,ids\na,dblp\n", "people.csv, row 2, name: The name is missing."),
    ],
)
def test_read_invalid_table_is_refused(name: str, text: str, message: str) -> None:
    assert message in problems(**{name: text})


def test_read_too_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_ROWS", 2)
    assert "papers.csv: The table has more than 2 rows." in problems(papers="uid\n1\n2\n3\n")


def test_read_latin_1_is_refused_with_the_encoding_to_use() -> None:
    message = problems(papers="uid,title\n1,Größe\n".encode("latin-1"))
    assert message == (
        "papers.csv: The file is not text in the encoding UTF-8. "
        "Save it as “CSV UTF-8” in your spreadsheet program."
    )


def test_read_author_of_unknown_paper_is_refused() -> None:
    message = problems(papers="uid,title\nabc,T\n", authors="paper,name\nabd,A\n")
    assert message == (
        'authors.csv, row 2, paper: There is no such paper in papers.csv: abd. Did you mean "abc"?'
    )


def test_read_authors_in_column_and_file_are_refused() -> None:
    assert "Keep that file or this column" in problems(
        papers="uid,authors\n1,A\n", authors="paper,name\n1,A\n"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (zip_source("../papers.csv", b"uid\n1\n"), "Pack the files themselves"),
        (zip_source("tables/papers.csv", b"uid\n1\n"), "Pack the files themselves"),
        (Source("all.zip", b"PK\x03\x04 nonsense"), "The ZIP file is damaged or not supported."),
        (Source("all.zip", b"PK\x05\x06" + b"\0" * 18), "There is no table to read."),
    ],
    ids=["upwards", "folder", "nonsense", "empty"],
)
def test_read_invalid_zip_is_refused(source: Source, message: str) -> None:
    assert message in "\n".join(reported_problems(read, [source], CONTEXT))


def test_workbook_of_several_sheets_in_a_zip_is_refused() -> None:
    workbook, content = Workbook(), io.BytesIO()
    for title in ("one", "two"):
        workbook.create_sheet(title).append(["uid"])
    workbook.save(content)

    assert reported_problems(read, [zip_source("papers.xlsx", content.getvalue())], CONTEXT) == [
        "papers.xlsx: The workbook has several sheets. Give it by itself, not in a ZIP file."
    ]


def test_headings_are_words() -> None:
    columns = chain.from_iterable(table.headings for table in TABLES.values())
    assert all(column_heading(column).replace(" ", "").isalpha() for column in columns)
