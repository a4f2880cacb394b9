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
from exchange.reading.written_times import has_day, looks_like_time

ADVICE = "Write the mapping as TOML or JSON, in UTF-8."
# A paper with any of these fields has a presentation.
PRESENTATION_FIELDS = ("kind", "session", "room", "board", "date", "start", "end")
# Fields that sessions do not have. A table with any of them has papers, even if their title is missing.
PAPER_ONLY_FIELDS = frozenset(
    ("authors", "abstract", "lay_summary", "decision", "keywords", "doi", "pages", "board", "award")
)
MAX_SAMPLES = 3
MAX_SAMPLE_CHARS = 80
# Longer headings and sample cells are shortened for display and storage.
MAX_SHOWN_CHARS = 1_000


@dataclass(slots=True)
class TableMapping:
    """Fields of one table's columns; without fields, it is skipped. `file` and `sheet` identify it."""

    file: int
    sheet: str
    columns: list[str]
    has_header: bool = True
    separator: str = ""
    encoding: str = ""


@dataclass(slots=True)
class Mapping:
    """Fields by folded heading, and by table; without `tables` all tables are read."""

    headings: dict[str, str] = field(default_factory=dict)
    tables: list[TableMapping] = field(default_factory=list)
    # Whether texts are Markdown, as in files of this site; else they are escaped.
    is_markdown: bool = False

    def table(self, grid: Grid) -> TableMapping | None:
        return next((one for one in self.tables if (one.file, one.sheet) == (grid.file, grid.sheet)), None)

    def includes(self, grid: Grid) -> bool:
        """Return whether a table is read: without a list of tables all are."""
        table = self.table(grid)
        return not self.tables or (table is not None and bool(table.columns))

    def as_source(self) -> Source:
        """Return the mapping as the file that `read_mapping` reads."""
        content = {"tables": [asdict(one) for one in self.tables], "markdown": self.is_markdown}
        return Source("mapping.json", json.dumps(content).encode())


def headings_of(lines: Sequence[Sequence[str]], width: int, *, has_header: bool) -> list[str]:
    """Return the names of columns: their headings, or letters as in spreadsheets."""
    first = list(lines[0]) if lines and has_header else []
    first += [""] * (width - len(first))
    return [
        " ".join(cell[:MAX_SHOWN_CHARS].split()) or column_name(place) for place, cell in enumerate(first)
    ]


def column_name(place: int) -> str:
    """Return the name of a column in spreadsheets: "Column A" for the first."""
    found, rest = "", place + 1
    while rest:
        rest, digit = divmod(rest - 1, 26)
        found = chr(65 + digit) + found
    return gettext("Column %(letters)s") % {"letters": found}


def layout_keys(headings: Sequence[str]) -> list[str]:
    """Return the headings as stored: folded, with a number if repeated."""
    seen: dict[str, int] = {}
    found = []
    for heading in headings:
        key = fold_heading(heading)[:MAX_SAMPLE_CHARS]
        seen[key] = seen.get(key, 0) + 1
        found.append(key if seen[key] == 1 else f"{key} {seen[key]}")
    return found


def samples_of(lines: Iterable[Sequence[str]], width: int) -> list[list[str]]:
    """Return up to three different cells of each column, shortened."""
    found: list[list[str]] = [[] for _ in range(width)]
    for cells in lines:
        for place, cell in enumerate(cells[:width]):
            text = short(" ".join(cell.split()), MAX_SAMPLE_CHARS)
            if text and len(found[place]) < MAX_SAMPLES and text not in found[place]:
                found[place].append(text)
    return found


def read_mapping(source: Source, findings: Findings) -> Mapping:
    """Read a mapping file: `[columns]`, then lines such as `"Titel" = "title"`; `""` leaves a column out."""
    where, found = Where(source.name), None
    text = decode(source, findings, advice=ADVICE)
    try:
        if text is not None:
            found = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = gettext("The mapping cannot be read: %(error)s. %(advice)s")
        findings.problem(where, "", message, error=short(str(error)), advice=ADVICE)
    if found is None:
        return Mapping()
    if isinstance(found, dict) and isinstance(found.get("tables"), list):
        return _read_tables(found, where, findings)
    columns = found.get("columns") if isinstance(found, dict) else None
    if not isinstance(columns, dict):
        message = gettext('The mapping must hold "columns": names in the sheet and what they are.')
        findings.problem(where, "columns", message)
        return Mapping()
    mapping = Mapping()
    for name, column in columns.items():
        if _is_field(column, where, f"columns.{short(name)}", findings):
            mapping.headings[fold_heading(name)] = column
    return mapping


def _read_tables(found: dict[str, Any], where: Where, findings: Findings) -> Mapping:
    mapping = Mapping(is_markdown=found.get("markdown") is True)
    names = set(TableMapping.__dataclass_fields__)
    for number, one in enumerate(found["tables"]):
        values = (
            {name: value for name, value in one.items() if name in names} if isinstance(one, dict) else {}
        )
        if [type(values.get(name)) for name in ("file", "sheet", "columns")] != [int, str, list]:
            message = gettext("A table needs its file, its sheet and its columns.")
            findings.problem(where, f"tables[{number}]", message)
            continue
        table = TableMapping(**values)
        if all(_is_field(name, where, f"tables[{number}]", findings) for name in table.columns):
            mapping.tables.append(table)
    return mapping


def _is_field(name: object, where: Where, field: str, findings: Findings) -> bool:
    if name == "" or (isinstance(name, str) and name in FIELDS):
        return True
    message = gettext("There is no such column: “%(column)s”. %(hint)s Known are: %(known)s.")
    values = {"column": short(str(name)), "hint": did_you_mean(str(name), FIELDS).strip()}
    findings.problem(where, field, message, **values, known=", ".join(FIELDS))
    return False


# Checks of a mapping


def table_role(columns: Sequence[str]) -> str:
    """Return "papers", "authors" or "sessions", or an empty text if the table cannot be read."""
    named = set(columns)
    is_split = {"name", "last"} & named and columns.count("last") < 2
    if is_split and "uid" in named and "authors" not in named:
        return "authors"
    if named & {"title", "uid"}:
        return "papers"
    return "sessions" if "session" in named and not named & PAPER_ONLY_FIELDS else ""


def mapping_problems(
    columns: Sequence[str], headings: Sequence[str], samples: Sequence[Sequence[str]], *, is_one_day: bool
) -> list[str]:
    """Return the reasons why a table cannot be read with these columns, as messages."""
    found = []
    named = set(columns)
    for name in sorted(named - {""}, key=list(columns).index):
        twice = [heading for heading, column in zip(headings, columns, strict=True) if column == name]
        if len(twice) > 1 and not FIELDS[name].is_repeated:
            message = gettext("%(headings)s: only one column can be “%(field)s”. Choose which.")
            both = ", ".join(f"“{short(one)}”" for one in twice)
            found.append(message % {"headings": both, "field": FIELDS[name].label})
    role = table_role(columns)
    if not named - {""}:
        found.append(gettext("No column is mapped. Choose at least the title of the papers."))
    elif not role:
        found.append(
            gettext(
                "Title is not mapped. Choose the column with the titles of the papers, "
                "or the one with the IDs of papers that are here already."
            )
        )
    needs_day = [name for name in ("start", "end") if name in named]
    times = [cell for name in needs_day for cell in samples[list(columns).index(name)]]
    if times and not (named & {"date", "session"} or is_one_day or has_day(times)):
        message = gettext(
            "The times have no date: “%(sample)s”. Choose a column with the date, or leave the times out."
        )
        found.append(message % {"sample": next(filter(looks_like_time, times), times[0])})
    if "session_kind" in named and "session" not in named:
        found.append(gettext("“Kind of session” needs a column with the session."))
    if (
        "affiliation" in named
        and role == "papers"
        and not named & {"authors", "author_names", "last", "name"}
    ):
        found.append(gettext("Affiliations need a column with the authors."))
    return found


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
