"""Tests of foreign workbooks: cells become the text that CSV would have, and ambiguous values are refused."""

import io
from datetime import date, datetime, time
from typing import Any

import pytest
from openpyxl import Workbook

from exchange import problems
from exchange.files import Source
from exchange.problems import Findings, ProgramError
from exchange.reading import grids
from exchange.reading.grids import read_grids
from exchange.reading.sheets import read_sheets
from tests.exchange import bombs


def workbook_bytes(*rows: list[Any]) -> bytes:
    workbook, content = Workbook(), io.BytesIO()
    for row in rows:
        workbook.active.append(row)
    workbook.save(content)
    return content.getvalue()


def read_rows(*rows: list[Any]) -> list[dict[str, str]]:
    findings = Findings()
    sheets = read_sheets(Source("a.xlsx", workbook_bytes(*rows)), findings)
    findings.raise_problems()
    return [row.cells for _, sheet in sheets for row in sheet.rows]


def error_message(*rows: list[Any]) -> str:
    with pytest.raises(ProgramError) as error:
        read_rows(*rows)
    return str(error.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (7.0, "7"),
        (7.5, "7.5"),
        (datetime.fromisoformat("2021-04-06T00:00"), "2021-04-06"),
        (datetime.fromisoformat("2021-04-06T08:30"), "2021-04-06 08:30:00"),
        (datetime.fromisoformat("2021-04-06T08:29:59.994"), "2021-04-06 08:30:00"),
        (datetime.fromisoformat("2021-04-05T23:59:59.994"), "2021-04-06"),
        (time.fromisoformat("08:29:59.994"), "08:30:00"),
        (date(2021, 4, 6), "2021-04-06"),
        (None, ""),
    ],
)
def test_cell_is_read_as_its_csv_text(value: Any, text: str) -> None:
    assert read_rows(["uid", "title"], ["p1", value]) == [{"uid": "p1", "title": text}]


def test_blank_rows_are_skipped() -> None:
    assert read_rows([" "], ["uid"], [None], ["p1"], [""], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["uid", "Uid"], ["p1", "p2"]], "There are two columns of this name. Keep one of them."),
        ([["uid"], ["p1", "p2"]], "row 2: The row has cells beyond the columns that have names."),
        ([["uid"], [None] * 200 + ["p1"]], "The row has cells beyond the columns that have names."),
        ([["uid"], ["=1+1"]], "row 2, uid: The cell holds a formula. Put its value in its place."),
        ([["uid"], ["#N/A"]], "row 2, uid: The cell holds an error, #N/A. Put its value in its place."),
    ],
)
def test_ambiguous_table_is_refused(rows: list[list[Any]], message: str) -> None:
    assert error_message(*rows).endswith(message)


def test_table_over_the_row_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_ROWS", 2)

    assert read_rows(["uid"], ["p1"], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]
    assert error_message(["uid"], ["p1"], ["p2"], ["p3"]).endswith("The table has more than 2 rows.")


def test_sheet_ends_after_too_many_blank_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_BLANK_ROWS", 2)

    assert read_rows(["uid"], ["p1"], [None], [None], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]
    assert read_rows(["uid"], ["p1"], [None], [None], [None], ["p2"]) == [{"uid": "p1"}]


def test_workbook_over_the_sheet_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_SHEETS", 2)
    findings = Findings()

    def read_titles(*titles: str) -> list[str]:
        workbook, content = Workbook(), io.BytesIO()
        workbook.remove(workbook.active)
        for title in titles:
            workbook.create_sheet(title).append(["uid"])
        workbook.save(content)
        return [title for title, _ in read_sheets(Source("a.xlsx", content.getvalue()), findings)]

    assert read_titles("p1", "p2", grids.NOTES_SHEET) == ["p1", "p2"]
    assert not findings.has_problems
    assert read_titles("p1", "p2", "p3") == []
    with pytest.raises(ProgramError, match=r"^a.xlsx: The workbook has more than 2 sheets\.$"):
        findings.raise_problems()


def test_trap_43_cells_merged_over_rows_mean_as_above() -> None:
    workbook, content, findings = Workbook(), io.BytesIO(), Findings()
    for row in (["uid", "room", "name"], ["p1", "A", "x"], ["p2"], ["p3", "B"], [None], ["p4"]):
        workbook.active.append(row)
    for cells in ("B2:B3", "B4:B5", "C2:D2"):
        workbook.active.merge_cells(cells)
    workbook.save(content)
    ((_, sheet),) = read_sheets(Source("a.xlsx", content.getvalue()), findings)

    assert [row.cells["room"] for row in sheet.rows] == ["A", "A", "B", ""]
    assert [note.message for note in findings.notes] == [
        "Cells are merged over several rows, and each of these was taken to have the value: B2:B3."
    ]


def test_workbook_that_expands_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "BASE_MEMORY", 4_000)
    monkeypatch.setattr(problems, "MEMORY_PER_BYTE", 0)

    assert read_rows(["uid"], ["p1"], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]
    assert error_message(["uid"], ["p1"], ["p2"], ["p3"], ["p4"]) == (
        "a.xlsx: Sheet: Up to here, the file expands to more than 0 MB in memory, which is too much for its "
        "size. Delete empty and repeated rows and values, or split the file."
    )


def read_xml(**parts: Any) -> tuple[list[list[str]], list[str]]:
    """Return the cells and the notes of a workbook with these rows and styles as XML."""
    findings = Findings()
    grids_read = read_grids([Source("a.xlsx", bombs.workbook_bytes(**parts))], findings)
    for grid in grids_read:
        grids.note_hidden_rows(grid, findings)
    findings.raise_problems()
    return [cells for grid in grids_read for _, cells in grid.lines], [
        note.message for note in findings.notes
    ]


def test_texts_of_foreign_workbooks() -> None:
    strings = (
        "<si><t>a_x000D_b_x005F_x0041_</t></si><si><r><t>bo</t></r><r><t>ld</t></r></si>"
        "<si><t>東京</t><rPh><t>トウキョウ</t></rPh></si>"
    )
    cells = "".join(f"<c t='s'><v>{number}</v></c>" for number in range(3))
    inline = "<c t='inlineStr'><is><r><t>x</t></r><r><t>y</t></r></is></c><c t='str'><v>z</v></c>"
    other = "<c t='b'><v>1</v></c><c t='d'><v>2021-04-06T08:30:00</v></c><c r='J1'><v>007</v></c>"

    assert read_xml(rows=f"<row>{cells}{inline}{other}</row>", strings=strings)[0] == [
        ["a\rb_x0041_", "bold", "東京", "xy", "z", "yes", "2021-04-06 08:30:00", "", "", "7"]
    ]


@pytest.mark.parametrize(
    ("code", "number", "text"),
    [
        ("yyyy-mm-dd", "44292.5", "2021-04-06 12:00:00"),
        ("[$-409]h:mm AM/PM", "0.5", "12:00:00"),
        ("[h]:mm", "1.5", "1 day, 12:00:00"),
        ('0 "days"', "3", "3"),
        ("yyyy-mm-dd", "1", "1900-01-01"),
        ("General", "1E2", "100"),
    ],
)
def test_numbers_by_their_format(code: str, number: str, text: str) -> None:
    styles = f"<numFmts><numFmt numFmtId='170' formatCode='{code}'/></numFmts>".replace('"', "&quot;")
    styles += "<cellStyleXfs><xf numFmtId='14'/></cellStyleXfs><cellXfs><xf numFmtId='170'/></cellXfs>"

    assert read_xml(rows=f"<row><c s='0'><v>{number}</v></c></row>", styles=styles)[0] == [[text]]


def test_trap_42_hidden_rows_are_left_out_and_counted() -> None:
    cell = "<c t='inlineStr'><is><t>{}</t></is></c>"
    rows = "".join(
        f"<row {hidden}>{cell.format(text)}</row>"
        for text, hidden in (("a", "hidden='1'"), ("b", ""), ("c", "hidden='1'"), ("d", "hidden='true'"))
    )

    assert read_xml(rows=rows) == (
        [["a"], ["b"]],
        ["2 hidden rows were left out: 3, 4. Show them, or clear the filter, to import them."],
    )


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_trap_42_hidden_sheets_are_left_out_and_counted(state: str) -> None:
    cells, notes = read_xml(sheets=2, sheet_attributes=f"state='{state}'")

    assert cells == []
    assert notes == ["2 hidden sheets were left out: S1, S2. Show them to import them."]


def test_document_types_are_refused() -> None:
    content = bombs.zip_bytes(
        [("xl/workbook.xml", "<!DOCTYPE a [<!ENTITY b 'c'>]><workbook/>"), ("xl/_rels/workbook.xml.rels", "")]
    )
    findings = Findings()

    assert read_grids([Source("a.xlsx", content)], findings) == []
    with pytest.raises(ProgramError, match=r"The workbook is damaged or not supported \(DOCTYPE\)"):
        findings.raise_problems()
