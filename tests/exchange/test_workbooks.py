"""Tests of foreign workbooks: cells become the text that CSV would have, and ambiguous values are refused."""

import io
from datetime import date, datetime
from typing import Any

import pytest
from openpyxl import Workbook

from exchange.files import Source
from exchange.problems import Findings, ProgramError
from exchange.reading import grids
from exchange.reading.sheets import read_sheets


def book(*rows: list[Any]) -> bytes:
    made, content = Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    made.save(content)
    return content.getvalue()


def read(*rows: list[Any]) -> list[dict[str, str]]:
    findings = Findings()
    sheets = read_sheets(Source("a.xlsx", book(*rows)), findings)
    findings.raise_problems()
    return [row.cells for _, sheet in sheets for row in sheet.rows]


def refusal(*rows: list[Any]) -> str:
    with pytest.raises(ProgramError) as refused:
        read(*rows)
    return str(refused.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (False, "no"),
        (7.0, "7"),
        (7.5, "7.5"),
        (datetime.fromisoformat("2021-04-06T00:00"), "2021-04-06"),
        (datetime.fromisoformat("2021-04-06T08:30"), "2021-04-06 08:30:00"),
        (date(2021, 4, 6), "2021-04-06"),
        (None, ""),
    ],
)
def test_cell_is_what_csv_has_for_it(value: Any, text: str) -> None:
    assert read(["uid", "title"], ["p1", value]) == [{"uid": "p1", "title": text}]


def test_blank_rows_are_passed_over() -> None:
    assert read([" "], ["uid"], [None], ["p1"], [""], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["uid", "Uid"], ["p1", "p2"]], "There are two columns of this name. Keep one of them."),
        ([["uid"], ["p1", "p2"]], "row 2: The row has cells beyond the columns that have names."),
        ([["uid"], ["=1+1"]], "row 2, uid: The cell holds a formula. Put its value in its place."),
    ],
)
def test_doubtful_table_is_refused(rows: list[list[Any]], said: str) -> None:
    assert refusal(*rows).endswith(said)


def test_more_rows_than_a_program_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_ROWS", 2)

    assert read(["uid"], ["p1"], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]
    assert refusal(["uid"], ["p1"], ["p2"], ["p3"]).endswith("The table has more than 2 rows.")


def test_sheet_ends_where_nothing_follows_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_BLANK_ROWS", 2)

    assert read(["uid"], ["p1"], [None], [None], ["p2"]) == [{"uid": "p1"}, {"uid": "p2"}]
    assert read(["uid"], ["p1"], [None], [None], [None], ["p2"]) == [{"uid": "p1"}]


def test_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "MAX_BYTES", 1_000)

    said = "a.xlsx: The workbook is too large: unpacked it may hold 0 MB. Save it as CSV."
    assert refusal(["uid"], ["p1"]) == said
