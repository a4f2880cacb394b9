"""The fields of columns by table, as stated by a mapping file or chosen on the page of an import.

A mapping file names columns by their headings (`columns`), or tables with their columns in order (`tables`).
"""

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils.translation import gettext, ngettext

from exchange.files import Source
from exchange.formats.spreadsheet.fields import FIELDS, fold_heading
from exchange.formats.spreadsheet.guess import has_headings
from exchange.problems import Findings, Where, did_you_mean, short
from exchange.reading.grids import Grid
from exchange.reading.textfiles import decode
from exchange.reading.values import slug, tidy
from exchange.reading.written_times import looks_like_date, looks_like_time

# A paper with any of these fields has a presentation.
PRESENTATION_FIELDS = ("kind", "session", "room", "board", "date", "start", "end")
# Fields that sessions do not have. A table with any of them has papers, even if their title is missing.
PAPER_ONLY_FIELDS = frozenset(("authors", "lay_summary", "decision", "doi", "pages", "board", "award"))
MAX_SAMPLES = 3
MAX_SAMPLE_CHARS = 80
# Longer headings and sample cells are shortened for display and storage.
MAX_SHOWN_CHARS = 1_000
MAX_PREFIX_CHARS = 20


@dataclass(frozen=True, slots=True)
class PaperNumbering:
    """What makes the numbers of papers unique if several tables or tracks count from 1.

    `prefix` is put before each number; with `by_track`, so is the track of the row.
    """

    prefix: str = ""
    by_track: bool = False

    def apply(self, number: str, track: str) -> str:
        """Return the number with its prefix; empty if the row has none."""
        parts = [slug(track)] if self.by_track and track else []
        return "-".join([*parts, f"{self.prefix}{number}"]) if number else ""


@dataclass(slots=True)
class TableMapping:
    """Fields of one table's columns; without fields, it is skipped. `file` and `sheet` identify it."""

    file: int
    sheet: str
    columns: list[str]
    has_header: bool = True
    separator: str = ""
    encoding: str = ""
    # Whether each column was guessed; empty if none was.
    guessed: list[bool] = field(default_factory=list)
    # The numbers of rows to leave out.
    left_out: list[int] = field(default_factory=list)
    numbering: PaperNumbering = field(default_factory=PaperNumbering)


@dataclass(slots=True)
class Mapping:
    """Fields by folded heading, and by table; without `tables` all tables are read."""

    headings: dict[str, str] = field(default_factory=dict)
    tables: list[TableMapping] = field(default_factory=list)
    # Whether texts are Markdown, as in files of this site; else they are escaped.
    is_markdown: bool = False
    # Of tables that are not listed.
    numbering: PaperNumbering = PaperNumbering()

    def table(self, grid: Grid) -> TableMapping | None:
        return next(
            (table for table in self.tables if (table.file, table.sheet) == (grid.file, grid.sheet)), None
        )

    def includes(self, grid: Grid) -> bool:
        """Return whether a table is read: without a list of tables all are."""
        table = self.table(grid)
        return not self.tables or (table is not None and bool(table.columns))

    def as_source(self) -> Source:
        """Return the mapping as the file that `read_mapping` reads."""
        content = {"tables": [asdict(table) for table in self.tables], "markdown": self.is_markdown}
        return Source("mapping.json", json.dumps(content).encode())


def headings_of(lines: Sequence[Sequence[str]], width: int, *, has_header: bool) -> list[str]:
    """Return the names of columns: their headings, or letters as in spreadsheets."""
    cells = list(lines[0]) if lines and has_header else []
    cells += [""] * (width - len(cells))
    return [tidy(cell[:MAX_SHOWN_CHARS]) or column_name(index) for index, cell in enumerate(cells)]


def column_name(index: int) -> str:
    """Return the name of a column in spreadsheets: "Column A" for the first."""
    letters, remaining = "", index + 1
    while remaining:
        remaining, digit = divmod(remaining - 1, 26)
        letters = chr(65 + digit) + letters
    return gettext("Column %(letters)s") % {"letters": letters}


def layout_keys(headings: Sequence[str]) -> list[str]:
    """Return the headings as stored: folded, with a number if repeated."""
    counts: dict[str, int] = {}
    keys = []
    for heading in headings:
        key = fold_heading(heading)[:MAX_SAMPLE_CHARS]
        counts[key] = counts.get(key, 0) + 1
        keys.append(key if counts[key] == 1 else f"{key} {counts[key]}")
    return keys


def column_cells(lines: Iterable[Sequence[str]], width: int) -> list[list[str]]:
    """Return the different cells of each column that aren't empty."""
    columns: list[dict[str, None]] = [{} for _ in range(width)]
    for cells in lines:
        for index, cell in enumerate(cells[:width]):
            if text := tidy(cell):
                columns[index][text] = None
    return [[*cells] for cells in columns]


def samples_of(columns: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return up to three cells of each column, shortened."""
    return [[short(cell, MAX_SAMPLE_CHARS) for cell in cells[:MAX_SAMPLES]] for cells in columns]


def read_mapping(source: Source, findings: Findings) -> Mapping:
    """Read a mapping file: `[columns]`, then lines such as `"Titel" = "title"`; `""` leaves a column out."""
    where, content = Where(source.name), None
    advice = gettext("Write the mapping as TOML or JSON, in UTF-8.")
    text = decode(source, findings, advice=advice)
    try:
        if text is not None:
            content = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = gettext("The mapping cannot be read: %(error)s. %(advice)s")
        findings.problem(where, "", message, error=short(str(error)), advice=advice)
    if content is None:
        return Mapping()
    if isinstance(content, dict) and isinstance(content.get("tables"), list):
        return _read_tables(content, where, findings)
    columns = content.get("columns") if isinstance(content, dict) else None
    if not isinstance(columns, dict):
        message = gettext('The mapping must hold "columns": names in the sheet and what they are.')
        findings.problem(where, "columns", message)
        return Mapping()
    mapping = Mapping(numbering=_read_numbering(content.get("paper_numbers")))
    for name, field_name in columns.items():
        if _check_field(field_name, where, f"columns.{short(name)}", findings):
            mapping.headings[fold_heading(name)] = field_name
    return mapping


def _read_tables(content: dict[str, Any], where: Where, findings: Findings) -> Mapping:
    mapping = Mapping(is_markdown=content.get("markdown") is True)
    names = set(TableMapping.__dataclass_fields__)
    for index, row in enumerate(content["tables"]):
        values = (
            {name: value for name, value in row.items() if name in names} if isinstance(row, dict) else {}
        )
        if [type(values.get(name)) for name in ("file", "sheet", "columns")] != [int, str, list]:
            message = gettext("A table needs its file, its sheet and its columns.")
            findings.problem(where, f"tables[{index}]", message)
            continue
        for name in ("guessed", "left_out"):
            if not isinstance(values.get(name, []), list):
                del values[name]
        table = TableMapping(**{**values, "numbering": _read_numbering(values.get("numbering"))})
        if all(_check_field(name, where, f"tables[{index}]", findings) for name in table.columns):
            mapping.tables.append(table)
    return mapping


def _read_numbering(content: object) -> PaperNumbering:
    values = content if isinstance(content, dict) else {}
    prefix = values.get("prefix", "")
    return PaperNumbering(
        prefix[:MAX_PREFIX_CHARS] if isinstance(prefix, str) else "", values.get("by_track") is True
    )


def _check_field(field_name: object, where: Where, path: str, findings: Findings) -> bool:
    if field_name == "" or (isinstance(field_name, str) and field_name in FIELDS):
        return True
    message = gettext("There is no such column: “%(column)s”. %(hint)s Known are: %(known)s.")
    values = {"column": short(str(field_name)), "hint": did_you_mean(str(field_name), FIELDS).strip()}
    findings.problem(where, path, message, **values, known=", ".join(FIELDS))
    return False


# Checks of a mapping


def table_role(columns: Sequence[str]) -> str:
    """Return "papers", "authors", "topics" or "sessions", or an empty text if the table cannot be read."""
    fields = set(columns) - {""}
    has_author_column = {"name", "last"} & fields and columns.count("last") < 2
    if has_author_column and "uid" in fields and "authors" not in fields:
        return "authors"
    if fields == {"uid", "topic"}:
        return "topics"
    if "title" in fields or ("uid" in fields and len(fields) > 1):
        return "papers"
    return "sessions" if "session" in fields and not fields & PAPER_ONLY_FIELDS else ""


def describe_role(role: str) -> str:
    """Return what a row of the table is, in words."""
    words = {
        "papers": gettext("One row for each paper"),
        "authors": gettext("One row for each author of a paper"),
        "topics": gettext("One row for each topic of a paper"),
        "sessions": gettext("One row for each session"),
    }
    return words.get(role, "")


def mapping_problems(
    columns: Sequence[str], headings: Sequence[str], samples: Sequence[Sequence[str]], *, is_one_day: bool
) -> list[str]:
    """Return the reasons why a table cannot be read with these columns, as messages."""
    messages = []
    fields = set(columns)
    for field_name in sorted(fields - {""}, key=columns.index):
        repeated_headings = [
            heading for heading, column in zip(headings, columns, strict=True) if column == field_name
        ]
        if len(repeated_headings) > 1 and not FIELDS[field_name].is_repeated:
            message = gettext("%(headings)s: only one column can be “%(field)s”. Choose which.")
            heading_list = ", ".join(f"“{short(heading)}”" for heading in repeated_headings)
            messages.append(message % {"headings": heading_list, "field": FIELDS[field_name].label})
    role = table_role(columns)
    if not fields - {""}:
        messages.append(gettext("No column is mapped. Choose at least the title of the papers."))
    elif not role:
        messages.append(
            gettext(
                "Title is not mapped. Choose the column with the titles of the papers, "
                "or the one with the IDs of papers that are here already."
            )
        )
    time_fields = [field_name for field_name in ("start", "end") if field_name in fields]
    time_cells = [cell for field_name in time_fields for cell in samples[columns.index(field_name)]]
    has_day = fields & {"date", "session"} or is_one_day or any(map(looks_like_date, time_cells))
    if time_cells and not has_day:
        message = gettext(
            "The times have no date: “%(sample)s”. Choose a column with the date, or leave the times out."
        )
        messages.append(message % {"sample": next(filter(looks_like_time, time_cells), time_cells[0])})
    if "session_kind" in fields and "session" not in fields:
        messages.append(gettext("“Kind of session” needs a column with the session."))
    if (
        "affiliation" in fields
        and role == "papers"
        and not fields & {"authors", "author_names", "last", "name"}
    ):
        messages.append(gettext("Affiliations need a column with the authors."))
    return messages


def describe_omitted_columns(columns: Sequence[str], headings: Sequence[str]) -> str:
    """Return a message that names the columns left out; empty if all are mapped."""
    names = [short(heading) for heading, column in zip(headings, columns, strict=True) if not column]
    if not names:
        return ""
    message = ngettext(
        "%(count)d column is left out: %(names)s", "%(count)d columns are left out: %(names)s", len(names)
    )
    return message % {"count": len(names), "names": ", ".join(names)}


def has_header_row(grid: Grid) -> bool:
    return has_headings([cells for _, cells in grid.lines[:1]])
