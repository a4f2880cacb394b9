"""Tests of our own CSV and XLSX files: exact round trips, limits of spreadsheets, hostile files."""

import csv
import io
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from exchange.files import Context, Format, Source
from exchange.formats import csv_files, tables, xlsx
from exchange.formats.tables.workbook import MAX_CELL_CHARS, Notes
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    AwardRecord,
    GrantRecord,
    MaterialRecord,
    PaperRecord,
    PersonRecord,
    PersonRef,
    PresentationRecord,
    Program,
)
from tests.exchange.outputs import reported_problems
from tests.exchange.programs import HOUR, START, session, talk
from tests.exchange.programs import paper as a_paper
from tests.exchange.programs import program as a_program
from tests.exchange.strategies import programs
from tests.pseudolocale import pseudolocale, text_outside_brackets

CONTEXT = Context("2026", 2026, "Europe/Berlin")
RISKY_TEXTS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=x", "'", "_x0041_", "a_x000D_b"]


def written_files(fmt: Format, program: Program) -> dict[str, bytes]:
    assert fmt.write
    return {file.name: b"".join(file.chunks) for file in fmt.write(program, CONTEXT)}


def sheet_rows(content: bytes) -> dict[str, list[list[str]]]:
    """Read a workbook with openpyxl."""
    book = load_workbook(io.BytesIO(content))
    return {
        sheet.title: [[cell.value or "" for cell in row] for row in sheet.iter_rows()]
        for sheet in book.worksheets
    }


def workbook(program: Program) -> bytes:
    """Write the workbook of the whole program only, because the single tables would double the time."""
    assert xlsx.FORMAT.write
    file = next(iter(xlsx.FORMAT.write(program, CONTEXT)))
    assert file.name == "2026.xlsx"
    return b"".join(file.chunks)


def program_with_paper(**fields: object) -> Program:
    return Program(papers=(replace(PaperRecord(uid="17", title="On"), **fields),))  # type: ignore[arg-type]


def write_and_read(program: Program) -> Program:
    return tables.read([Source("2026.xlsx", workbook(program))], CONTEXT)


def first_problem(content: bytes) -> str:
    return reported_problems(tables.read, [Source("x.xlsx", content)], CONTEXT)[0]


@settings(max_examples=30, deadline=None)
@given(programs(full=True))
def test_any_program_round_trips_in_a_workbook(program: Program) -> None:
    assert write_and_read(program) == program


@pytest.mark.parametrize("text", [" ", "\n", "\xa0"])
def test_blank_text_in_the_last_cell_of_a_row_is_read(text: str) -> None:
    talk = PresentationRecord(uid="t", kind="oral", paper="p", recording_url=text)
    program = Program(papers=(PaperRecord(uid="p", title="T"),), presentations=(talk,))

    assert write_and_read(program).presentations[0].recording_url == text


def test_every_table_is_a_file_with_fixed_columns() -> None:
    table_names = ["papers", "authors", "people", "sessions", "presentations", "awards"]
    assert [*written_files(csv_files.FORMAT, Program())] == [f"2026-{name}.csv" for name in table_names]
    assert [*written_files(xlsx.FORMAT, Program())] == [
        "2026.xlsx",
        *(f"2026-{name}.xlsx" for name in table_names),
    ]
    for name in table_names:
        headings = written_files(csv_files.FORMAT, Program())[f"2026-{name}.csv"].decode("utf-8-sig").strip()
        (row,) = sheet_rows(written_files(xlsx.FORMAT, Program())[f"2026-{name}.xlsx"])[name]
        assert headings.split(",") == row


@pytest.mark.parametrize("text", RISKY_TEXTS)
def test_trap_13_formula_is_text_and_round_trips(text: str) -> None:
    program = program_with_paper(title=text)
    cell = load_workbook(io.BytesIO(written_files(xlsx.FORMAT, program)["2026-papers.xlsx"]))["papers"]["B2"]
    (_, row) = csv.reader(
        io.StringIO(written_files(csv_files.FORMAT, program)["2026-papers.csv"].decode("utf-8-sig"), "")
    )

    assert cell.data_type == "s"
    assert not row[1].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert write_and_read(program).papers[0].title == text


@settings(max_examples=20)
@given(st.lists(st.text(min_size=1), min_size=10, max_size=20))
def test_workbook_of_texts_with_any_characters_can_be_opened(texts: list[str]) -> None:
    papers = tuple(PaperRecord(uid=f"p{n}", abstract=f"a{text}") for n, text in enumerate(texts))
    _, *rows = sheet_rows(workbook(Program(papers=papers)))["papers"]

    assert [row[2][0] for row in rows] == ["a"] * len(texts)


@pytest.mark.parametrize("character", ["é", "\N{GRINNING FACE}", "="])
def test_trap_14_long_abstract_is_cut_with_a_note_and_round_trips(character: str) -> None:
    program = program_with_paper(abstract=character * 40_000, title="Gröblacher")
    rows_by_sheet = sheet_rows(workbook(program))

    cells = [cell for rows in rows_by_sheet.values() for row in rows for cell in row]
    assert max(len(cell.encode("utf-16-le")) // 2 for cell in cells) <= MAX_CELL_CHARS
    assert rows_by_sheet["notes"][1][:4] == ["1", "papers", "2", "abstract"]
    assert write_and_read(program).papers[0].abstract == program.papers[0].abstract
    assert written_files(csv_files.FORMAT, program)["2026-papers.csv"].startswith(b"\xef\xbb\xbf")


def test_removed_control_characters_are_noted_with_their_cell() -> None:
    rows_by_sheet = sheet_rows(workbook(program_with_paper(lay_summary="a\x00b")))

    assert rows_by_sheet["papers"][1][3] == "ab"
    assert rows_by_sheet["notes"][1][:4] == ["1", "papers", "2", "lay summary"]


def test_text_that_looks_like_a_note_round_trips() -> None:
    program = program_with_paper(abstract="See [continued in notes 1]")
    assert write_and_read(program).papers[0].abstract == program.papers[0].abstract


def test_authors_are_in_order_in_csv_and_workbook() -> None:
    names = ["Zed", "Abe", "Mia"]
    people = tuple(PersonRecord(ref=PersonRef(name=name, uid=name.lower())) for name in names)
    authors = tuple(AuthorRecord(person=PersonRef(name=name, uid=name.lower())) for name in names)
    program = replace(program_with_paper(authors=authors), people=people)
    rows = csv.DictReader(
        io.StringIO(written_files(csv_files.FORMAT, program)["2026-authors.csv"].decode("utf-8-sig"))
    )

    assert [row["name"] for row in rows] == names
    assert [
        row[1] for row in sheet_rows(written_files(xlsx.FORMAT, program)["2026-authors.xlsx"])["authors"][1:]
    ] == names


def program_with_awards() -> Program:
    """Return a paper in two sessions, one canceled, that won an award; an older paper won another."""
    paper_record = a_paper(
        "17",
        "Zed Young",
        "Abe; Old",
        materials=(
            MaterialRecord(kind="code", url="https://c.test/"),
            MaterialRecord(kind="pdf", url="/17.pdf"),
        ),
    )
    grants = (GrantRecord(paper="17"), GrantRecord(person=PersonRef(name="Mia Li", uid="mia")))
    return a_program(
        paper_record,
        a_paper("18"),
        sessions=(session("s1", title="Oral *1*"), session("s2"), session("s3", status="cancelled")),
        presentations=(
            talk("t1", paper="17", session="s1", start=START + HOUR / 2),
            talk("t2", paper="17", session="s2"),
            talk("t3", paper="17", session="s3"),
            talk("t4", paper="17"),
        ),
        awards=(
            AwardRecord(uid="best", name="Best Paper", grants=grants),
            AwardRecord(uid="old", name="Test of Time", grants=(GrantRecord(paper="3", edition="2011"),)),
        ),
    )


def csv_rows(name: str) -> list[dict[str, str]]:
    assert csv_files.FORMAT.write
    context = replace(
        CONTEXT,
        edition="2021",
        site_url="https://conf.test",
        paper_titles=lambda keys: {("2021", "17"): "On *17*", ("2011", "3"): "Old"},
    )
    (file,) = (
        file
        for file in csv_files.FORMAT.write(program_with_awards(), context)
        if file.name == f"2021-{name}.csv"
    )
    return [*csv.DictReader(io.StringIO(b"".join(file.chunks).decode("utf-8-sig")))]


def test_papers_table_has_authors_page_pdf_sessions_and_awards() -> None:
    columns = ("author names", "page", "pdf", "sessions", "awards")

    assert [tuple(row[name] for name in columns) for row in csv_rows("papers")] == [
        (
            r"Zed Young; Abe\; Old",
            "https://conf.test/2021/papers/17/",
            "https://conf.test/17.pdf",
            "Oral 1, 2021-04-06 08:30-07:00; Session s2, 2021-04-06 08:00-07:00",
            "Best Paper",
        ),
        ("", "https://conf.test/2021/papers/18/", "", "", ""),
    ]


def test_awards_table_has_winners_and_their_pages() -> None:
    assert [(row["uid"], row["winners"], row["winner pages"]) for row in csv_rows("awards")] == [
        ("best", "On 17; Mia Li", "https://conf.test/2021/papers/17/; https://conf.test/people/mia/"),
        ("old", "Old", "https://conf.test/2011/papers/3/"),
    ]


def test_sessions_table_has_times_with_offset_and_no_rescheduling() -> None:
    session_times = [(row["start"], row["end"], row["rescheduled at"]) for row in csv_rows("sessions")]

    assert session_times[0] == ("2021-04-06 08:00-07:00", "2021-04-06 09:00-07:00", "")


def test_derived_columns_of_a_single_table_are_not_read() -> None:
    program = a_program(a_paper("17", "Zed Young"), sessions=(session("s1"),))
    content = written_files(csv_files.FORMAT, program)["2026-papers.csv"]
    read_program = tables.read([Source("papers.csv", content)], CONTEXT)

    assert (read_program.papers[0].title, read_program.papers[0].authors) == ("On 17", UNSTATED)
    assert [note.message for note in read_program.notes] == [
        "Columns that only repeat other tables were not read: author names, page, pdf, sessions, awards."
    ]
    sessions_content = written_files(csv_files.FORMAT, program)["2026-sessions.csv"]
    context_in_seoul = replace(CONTEXT, timezone="Asia/Seoul")
    assert (
        tables.read([Source("sessions.csv", sessions_content)], context_in_seoul).sessions[0].start == START
    )


def other_workbook(*rows: list[object], title: str = "papers") -> bytes:
    """Create a workbook with openpyxl."""
    book, content = Workbook(), io.BytesIO()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(content)
    return content.getvalue()


def test_read_workbook_of_another_program() -> None:
    content = other_workbook(["UID", "Title", "Lay Summary"], [17, "On n", True], ["b", 2.0, None])
    papers = tables.read([Source("x.xlsx", content)], CONTEXT).papers

    assert [(paper.uid, paper.title, paper.lay_summary) for paper in papers] == [
        ("17", "On n", "yes"),
        ("b", "2", ""),
    ]


def test_read_workbook_without_its_notes_is_refused() -> None:
    content = other_workbook(["uid", "title"], ["17", "On [continued in notes 1]"])
    assert "keep the sheet of notes" in first_problem(content)


def test_read_unknown_sheet_is_refused() -> None:
    assert "No table has this name." in first_problem(other_workbook(["uid"], ["17"], title="Sheet1"))


@pytest.mark.parametrize("content", [b"", b"<x", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'])
def test_read_damaged_workbook_is_refused(content: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", content)

    assert "The workbook is damaged" in first_problem(file.getvalue())


def test_notes_are_translated() -> None:
    with pseudolocale():
        notes = Notes()
        notes.fit_text("a\x01" + "b" * MAX_CELL_CHARS, "papers", 2, "title")
        assert [text_outside_brackets(row[4]) for row in notes.rows] == ["", ""]
