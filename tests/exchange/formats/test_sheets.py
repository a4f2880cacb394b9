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
from tests.pseudolocale import bare, pseudolocale

CONTEXT = Context("2026", 2026, "Europe/Berlin")
DANGEROUS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "'=x", "'", "_x0041_", "a_x000D_b"]


def files(fmt: Format, program: Program) -> dict[str, bytes]:
    assert fmt.write
    return {file.name: b"".join(file.chunks) for file in fmt.write(program, CONTEXT)}


def sheets(content: bytes) -> dict[str, list[list[str]]]:
    """Read a workbook with another library."""
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


def paper(**fields: object) -> Program:
    return Program(papers=(replace(PaperRecord(uid="17", title="On"), **fields),))  # type: ignore[arg-type]


def back(program: Program) -> Program:
    return tables.read([Source("2026.xlsx", workbook(program))], CONTEXT)


def problem(content: bytes) -> str:
    return reported_problems(tables.read, [Source("x.xlsx", content)], CONTEXT)[0]


@settings(max_examples=30, deadline=None)
@given(programs(full=True))
def test_workbook_round_trip_is_exact(program: Program) -> None:
    assert back(program) == program


@pytest.mark.parametrize("text", [" ", "\n", "\xa0"])
def test_blank_text_in_the_last_cell_of_a_row_stays(text: str) -> None:
    talk = PresentationRecord(uid="t", kind="oral", paper="p", recording_url=text)
    program = Program(papers=(PaperRecord(uid="p", title="T"),), presentations=(talk,))

    assert back(program).presentations[0].recording_url == text


def test_every_table_is_a_file_with_fixed_columns() -> None:
    expected = ["papers", "authors", "people", "sessions", "presentations", "awards"]
    assert [*files(csv_files.FORMAT, Program())] == [f"2026-{name}.csv" for name in expected]
    assert [*files(xlsx.FORMAT, Program())] == ["2026.xlsx", *(f"2026-{name}.xlsx" for name in expected)]
    for name in expected:
        headings = files(csv_files.FORMAT, Program())[f"2026-{name}.csv"].decode("utf-8-sig").strip()
        (row,) = sheets(files(xlsx.FORMAT, Program())[f"2026-{name}.xlsx"])[name]
        assert headings.split(",") == row


@pytest.mark.parametrize("text", DANGEROUS)
def test_trap_13_formula_is_text_and_comes_back(text: str) -> None:
    made = paper(title=text)
    cell = load_workbook(io.BytesIO(files(xlsx.FORMAT, made)["2026-papers.xlsx"]))["papers"]["B2"]
    (_, row) = csv.reader(
        io.StringIO(files(csv_files.FORMAT, made)["2026-papers.csv"].decode("utf-8-sig"), "")
    )

    assert cell.data_type == "s"
    assert not row[1].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert back(made).papers[0].title == text


@given(st.text(min_size=1))
def test_control_characters_leave_a_workbook_that_opens(text: str) -> None:
    found = sheets(workbook(paper(abstract=f"a{text}")))

    assert found["papers"][1][2].startswith("a")


@pytest.mark.parametrize("sign", ["é", "\N{GRINNING FACE}", "="])
def test_trap_14_long_abstract_is_cut_with_a_note_and_comes_back(sign: str) -> None:
    made = paper(abstract=sign * 40_000, title="Gröblacher")
    found = sheets(workbook(made))

    cells = [cell for rows in found.values() for row in rows for cell in row]
    assert max(len(cell.encode("utf-16-le")) // 2 for cell in cells) <= MAX_CELL_CHARS
    assert found["notes"][1][:4] == ["1", "papers", "2", "abstract"]
    assert back(made).papers[0].abstract == made.papers[0].abstract
    assert files(csv_files.FORMAT, made)["2026-papers.csv"].startswith(b"\xef\xbb\xbf")


def test_note_names_the_cell_that_lost_control_characters() -> None:
    found = sheets(workbook(paper(lay_summary="a\x00b")))

    assert found["papers"][1][3] == "ab"
    assert found["notes"][1][:4] == ["1", "papers", "2", "lay summary"]


def test_text_that_reads_like_a_note_comes_back() -> None:
    made = paper(abstract="See [continued in notes 1]")
    assert back(made).papers[0].abstract == made.papers[0].abstract


def test_authors_keep_their_order_in_both() -> None:
    names = ["Zed", "Abe", "Mia"]
    people = tuple(PersonRecord(ref=PersonRef(name=name, uid=name.lower())) for name in names)
    authors = tuple(AuthorRecord(person=PersonRef(name=name, uid=name.lower())) for name in names)
    made = replace(paper(authors=authors), people=people)
    rows = csv.DictReader(io.StringIO(files(csv_files.FORMAT, made)["2026-authors.csv"].decode("utf-8-sig")))

    assert [row["name"] for row in rows] == names
    assert [row[1] for row in sheets(files(xlsx.FORMAT, made)["2026-authors.xlsx"])["authors"][1:]] == names


def whole() -> Program:
    """Return a paper in two sessions, one canceled, that won an award; an older paper won another."""
    known = a_paper(
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
        known,
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


def rows_of(name: str) -> list[dict[str, str]]:
    assert csv_files.FORMAT.write
    context = replace(
        CONTEXT,
        edition="2021",
        site_url="https://conf.test",
        paper_titles=lambda keys: {("2021", "17"): "On *17*", ("2011", "3"): "Old"},
    )
    (file,) = (one for one in csv_files.FORMAT.write(whole(), context) if one.name == f"2021-{name}.csv")
    return [*csv.DictReader(io.StringIO(b"".join(file.chunks).decode("utf-8-sig")))]


def test_papers_alone_name_authors_page_pdf_sessions_and_awards() -> None:
    added = ("author names", "page", "pdf", "sessions", "awards")

    assert [tuple(row[name] for name in added) for row in rows_of("papers")] == [
        (
            r"Zed Young; Abe\; Old",
            "https://conf.test/2021/papers/17/",
            "https://conf.test/17.pdf",
            "Oral 1, 2021-04-06 08:30-07:00; Session s2, 2021-04-06 08:00-07:00",
            "Best Paper",
        ),
        ("", "https://conf.test/2021/papers/18/", "", "", ""),
    ]


def test_awards_alone_name_their_winners() -> None:
    assert [(row["uid"], row["winners"], row["winner pages"]) for row in rows_of("awards")] == [
        ("best", "On 17; Mia Li", "https://conf.test/2021/papers/17/; https://conf.test/people/mia/"),
        ("old", "Old", "https://conf.test/2011/papers/3/"),
    ]


def test_times_alone_have_their_offset_and_nothing_moved() -> None:
    named = [(row["start"], row["end"], row["rescheduled at"]) for row in rows_of("sessions")]

    assert named[0] == ("2021-04-06 08:00-07:00", "2021-04-06 09:00-07:00", "")


def test_tables_alone_are_read_without_what_was_added() -> None:
    made = a_program(a_paper("17", "Zed Young"), sessions=(session("s1"),))
    content = files(csv_files.FORMAT, made)["2026-papers.csv"]
    found = tables.read([Source("papers.csv", content)], CONTEXT)

    assert (found.papers[0].title, found.papers[0].authors) == ("On 17", UNSTATED)
    assert [note.message for note in found.notes] == [
        "Columns that only repeat other tables were not read: author names, page, pdf, sessions, awards."
    ]
    times = files(csv_files.FORMAT, made)["2026-sessions.csv"]
    elsewhere = replace(CONTEXT, timezone="Asia/Seoul")
    assert tables.read([Source("sessions.csv", times)], elsewhere).sessions[0].start == START


def foreign(*rows: list[object], title: str = "papers") -> bytes:
    """Make a workbook with another library."""
    book, content = Workbook(), io.BytesIO()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(content)
    return content.getvalue()


def test_read_workbook_of_others() -> None:
    content = foreign(["UID", "Title", "Lay Summary"], [17, "On n", True], ["b", 2.0, None])
    found = tables.read([Source("x.xlsx", content)], CONTEXT).papers

    assert [(one.uid, one.title, one.lay_summary) for one in found] == [("17", "On n", "yes"), ("b", "2", "")]


def test_read_without_the_notes_is_refused() -> None:
    content = foreign(["uid", "title"], ["17", "On [continued in notes 1]"])
    assert "keep the sheet of notes" in problem(content)


def test_read_unknown_sheet_is_refused() -> None:
    assert "No table has this name." in problem(foreign(["uid"], ["17"], title="Sheet1"))


@pytest.mark.parametrize("content", [b"", b"<x", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'])
def test_read_damaged_workbook_is_refused(content: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", content)

    assert "The workbook is damaged" in problem(file.getvalue())


def test_notes_are_in_the_language_of_the_site() -> None:
    with pseudolocale():
        notes = Notes()
        notes.fit_text("a\x01" + "b" * MAX_CELL_CHARS, "papers", 2, "title")
        assert [bare(row[4]) for row in notes.rows] == ["", ""]
