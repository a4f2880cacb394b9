"""Tests of the registry of formats, and that the documentation lists everything in it."""

from pathlib import Path

from exchange.formats import citation_formats, readable, writable
from exchange.formats.tables.rows import TABLES
from exchange.reading.sheets import column_heading

DOCS = (Path(__file__).parents[3] / "docs" / "formats.md").read_text("utf-8")


def test_formats_are_registered_as_readable_or_writable() -> None:
    read_and_written = {"orals_posters", "program_json", "tables"}
    assert read_and_written <= set(readable())
    assert read_and_written | {"bibtex", "csl_json", "frab_json", "frab_xml", "ics", "ris", "xcal"} <= set(
        writable()
    )


def test_citation_formats_are_in_order_of_use() -> None:
    assert [fmt.short_label for fmt, _ in citation_formats().values()] == ["BibTeX", "RIS", "CSL-JSON"]


def test_docs_list_the_columns_of_every_table() -> None:
    lines = {line.split("`")[1]: line for line in reversed(DOCS.splitlines()) if line.startswith("| `")}
    for name, table in TABLES.items():
        columns = lines[f"{name}.csv"].split("|")[2]
        assert [column.strip() for column in columns.split(",")] == [*map(column_heading, table.headings)]
