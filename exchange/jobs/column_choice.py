"""Fields of the columns of an uploaded spreadsheet: guessed or stored, then chosen on a page of the admin.

The tables of a job are read on upload, and a few of their cells are stored with the job until it has ended.
So the page does not read files. The choice is stored for the conference's next file with the same headings.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Answers
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from conference.models import Edition
from exchange.files import Context, Source, total_size
from exchange.formats.spreadsheet import read_tables
from exchange.formats.spreadsheet.bundles import unpack_tables
from exchange.formats.spreadsheet.columns import MAX_GUESS_ROWS, guess_columns
from exchange.formats.spreadsheet.fields import FIELDS
from exchange.formats.spreadsheet.mapping import (
    MAX_PREFIX_CHARS,
    MAX_SHOWN_CHARS,
    Mapping,
    PaperNumbering,
    TableMapping,
    column_cells,
    describe_omitted_columns,
    has_header_row,
    headings_of,
    layout_keys,
    mapping_problems,
    samples_of,
    table_role,
)
from exchange.formats.spreadsheet.row_choice import leave_out_rows
from exchange.formats.tables.rows import TABLES
from exchange.imports.known_rows import reading_context
from exchange.jobs import uploads
from exchange.models import ColumnMapping, ImportJob
from exchange.problems import Findings, ProgramError, short
from exchange.reading.grids import ENCODINGS, SEPARATORS, Grid, TextDialect, read_grids
from exchange.reading.sheets import column_name
from exchange.records import Program

FIRST_ROWS = 5
# The place of a row, as `spreadsheet.cells` names it.
ROW_PLACE = re.compile(r"(?P<table>.+), row (?P<row>[0-9]{1,7})", re.DOTALL)
# A stored mapping is used for another layout if both share at least half of all their headings.
MIN_SHARED_SHARE = 0.5
MAX_MAPPINGS = 200


@dataclass
class Table:
    """One table of the files, as stored with the job. `columns` are the names of fields, in order."""

    file: int
    sheet: str
    name: str
    separator: str
    encoding: str
    is_text: bool
    is_cut: bool
    has_header: bool
    is_wanted: bool
    headings: list[str]
    samples: list[list[str]]
    lines: list[list[str]]
    columns: list[str]
    # The stored mapping of this layout: its key and name, and the columns that are new or missing.
    memory: int | None = None
    memory_name: str = ""
    fresh: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    # The fields as guessed.
    guess: list[str] = field(default_factory=list)
    # The numbers of `lines`, and of rows to leave out.
    numbers: list[int] = field(default_factory=list)
    left_out_rows: list[int] = field(default_factory=list)
    prefix: str = ""
    is_numbered_by_track: bool = False

    @property
    def key(self) -> str:
        return f"{self.file}-{self.sheet}"

    @property
    def role(self) -> str:
        return table_role(self.columns)

    @property
    def places(self) -> list[int]:
        """Indexes of the columns that are not empty."""
        header = self.lines[0] if self.lines and self.has_header else []
        return [
            index
            for index, samples in enumerate(self.samples)
            if samples or self.columns[index] or "".join(header[index : index + 1]).strip()
        ]

    @property
    def left_out(self) -> str:
        indexes = self.places
        return describe_omitted_columns(
            [self.columns[index] for index in indexes], [self.headings[index] for index in indexes]
        )

    @property
    def mapping(self) -> TableMapping:
        # A copy, since reading leaves out columns that do not fit.
        columns = [*self.columns] if self.is_wanted else []
        # A stored mapping was chosen once.
        guess = [] if self.memory else self.guess
        return TableMapping(
            self.file,
            self.sheet,
            columns,
            self.has_header,
            self.separator,
            self.encoding,
            [bool(name) and name == guessed for name, guessed in zip(columns, guess, strict=False)],
            self.left_out_rows,
            PaperNumbering(self.prefix, self.is_numbered_by_track),
        )

    @property
    def grid(self) -> Grid:
        """The first rows as a separate table, numbered as in the file."""
        # Without numbers, the table was stored by an earlier version.
        lines = list(zip(self.numbers or range(1, len(self.lines) + 1), self.lines, strict=True))
        return Grid(self.file, self.sheet, self.name, lines, is_text=False)


@dataclass
class ColumnChoice:
    """All tables of a job, whether texts are Markdown, and the problems of unreadable files."""

    tables: list[Table]
    is_markdown: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def wanted(self) -> list[Table]:
        return [table for table in self.tables if table.is_wanted]

    @property
    def mapping(self) -> Mapping:
        return Mapping(tables=[table.mapping for table in self.tables], is_markdown=self.is_markdown)

    def store(self, job: ImportJob) -> None:
        job.columns = asdict(self)
        job.save(update_fields=["columns"])

    @classmethod
    def from_job(cls, job: ImportJob) -> "ColumnChoice":
        stored: dict[str, Any] = {"tables": [], **job.columns}
        return cls(**{**stored, "tables": [Table(**table) for table in stored["tables"]]})

    def complaints(self, edition: Edition | None) -> list[str]:
        """Return why this choice cannot be read. With several tables, each sentence names its table."""
        if not self.tables:
            return []
        if not self.wanted:
            return [gettext("No table is chosen. Choose at least one.")]
        is_one_day = edition is not None and edition.start_date == edition.end_date
        complaints = []
        for table in self.wanted:
            problems = mapping_problems(table.columns, table.headings, table.samples, is_one_day=is_one_day)
            complaints += [
                f"{table.name}: {problem}" if len(self.wanted) > 1 else problem for problem in problems
            ]
        return complaints


def describe_tables(job: ImportJob, earlier: ColumnChoice | None = None) -> ColumnChoice:
    """Read the tables of a job with the settings of an earlier choice. Use stored columns, or guess them."""
    sources = uploads.sources(job)
    findings = Findings(total_size(sources))
    earlier_tables = {table.key: table for table in (earlier.tables if earlier else ())}
    dialects = {table.file: TextDialect(table.separator, table.encoding) for table in earlier_tables.values()}
    grids: list[Grid] = []
    problems: list[str] = []
    try:
        tables_of_files = unpack_tables(sources, findings)
        grids = read_grids(
            tables_of_files, findings, dialects=dialects, max_rows=MAX_GUESS_ROWS, any_encoding=True
        )
        findings.raise_problems()
    except ProgramError as error:
        problems = [f"{problem.where}: {problem.message}" for problem in error.problems]
    mappings = saved_mappings(job.edition)
    for grid in grids:
        leave_out_rows(grid, (), Findings())
    tables = [_table(grid, earlier_tables.get(f"{grid.file}-{grid.sheet}"), mappings) for grid in grids]
    if not earlier:
        for table in tables:
            # Sheets of committees and the like are not read unless they are chosen.
            table.is_wanted = bool(table.role)
        if not any(table.is_wanted for table in tables):
            for table in tables[:1]:
                table.is_wanted = True
    is_ours = bool(tables) and all(_is_own_export(table) for table in tables if table.is_wanted)
    return ColumnChoice(tables, earlier.is_markdown if earlier else is_ours, problems)


def _is_own_export(table: Table) -> bool:
    """Return whether the headings are those of a table exported by this site, whose texts are Markdown."""
    own_headings = {*TABLES["papers"].headings, "author_names", "page", "pdf", "sessions", "awards"}
    names = {column_name(heading) for heading in table.headings}
    return len(names) > 2 and {"uid", "title", "lay_summary"} <= names and names <= own_headings


def _table(grid: Grid, earlier: Table | None, mappings: Sequence[ColumnMapping]) -> Table:
    has_header = earlier.has_header if earlier else has_header_row(grid)
    # Show cells that will be refused as empty.
    lines = [
        [
            "" if (line_number, column_index) in grid.faults else cell
            for column_index, cell in enumerate(cells)
        ]
        for line_number, cells in grid.lines
    ]
    width = grid.width
    headings = headings_of(lines, width, has_header=has_header)
    cells = column_cells(lines[1 if has_header else 0 :], width)
    guess = guess_columns(headings, cells)
    table = Table(
        file=grid.file,
        sheet=grid.sheet,
        name=grid.name,
        separator=grid.dialect.separator,
        encoding=grid.dialect.encoding,
        is_text=grid.is_text,
        is_cut=grid.is_cut,
        has_header=has_header,
        is_wanted=earlier.is_wanted if earlier else True,
        headings=headings,
        samples=samples_of(cells),
        lines=[[cell[:MAX_SHOWN_CHARS] for cell in cells] for cells in lines[: FIRST_ROWS + has_header]],
        numbers=[number for number, _ in grid.lines[: FIRST_ROWS + has_header]],
        columns=guess,
        guess=guess,
    )
    if earlier:
        table.left_out_rows = earlier.left_out_rows
        table.prefix, table.is_numbered_by_track = earlier.prefix, earlier.is_numbered_by_track
    if earlier and earlier.headings == headings:
        table.columns = earlier.columns
        table.memory, table.memory_name = earlier.memory, earlier.memory_name
        table.fresh, table.missing = earlier.fresh, earlier.missing
    elif has_header:
        apply_saved_mapping(table, mappings)
    return table


# Form of the page


def apply_answers(choice: ColumnChoice, answers: Answers[str, str]) -> tuple[ColumnChoice, bool]:
    """Return the choice with the values of the form, and whether the files must be read again."""
    tables, must_reread = [], False
    # The form sends their places.
    separators = {str(index): separator for index, separator in enumerate(SEPARATORS)}
    for number, table in enumerate(choice.tables):
        prefix = f"t{number}"
        if f"{prefix}-shown" not in answers:
            # The page showed only the checkbox of this table, not its columns.
            tables.append(replace(table, is_wanted=f"{prefix}-wanted" in answers))
            continue
        columns = [answers.get(f"{prefix}-c{index}", column) for index, column in enumerate(table.columns)]
        has_header = f"{prefix}-header" in answers
        encoding = answers.get(f"{prefix}-encoding", table.encoding)
        changed = replace(
            table,
            columns=[column if column in FIELDS else "" for column in columns],
            is_wanted=f"{prefix}-wanted" in answers or len(choice.tables) == 1,
            has_header=has_header,
            separator=separators.get(answers.get(f"{prefix}-separator", ""), table.separator),
            encoding=encoding if encoding in ENCODINGS else table.encoding,
            left_out_rows=[row for row in table.left_out_rows if f"{prefix}-out-{row}" in answers],
            prefix=answers.get(f"{prefix}-prefix", table.prefix).strip()[:MAX_PREFIX_CHARS],
            is_numbered_by_track=f"{prefix}-track" in answers,
        )
        dialect = (table.has_header, table.separator, table.encoding)
        must_reread = must_reread or dialect != (changed.has_header, changed.separator, changed.encoding)
        tables.append(changed)
    return ColumnChoice(tables, "markdown" in answers, choice.problems), must_reread


def add_left_out_rows(choice: ColumnChoice, places: Iterable[str]) -> bool:
    """Leave out the rows at these places, such as "papers.csv, row 12", too. Return whether there are any."""
    tables = {table.name: table for table in choice.wanted}
    numbers: dict[str, set[int]] = {}
    for place in places:
        if (match := ROW_PLACE.fullmatch(place)) and match["table"] in tables:
            numbers.setdefault(match["table"], set()).add(int(match["row"]))
    for name, rows in numbers.items():
        tables[name].left_out_rows = sorted({*tables[name].left_out_rows, *rows})
    return bool(numbers)


def read_again(job: ImportJob, choice: ColumnChoice, earlier: ColumnChoice) -> tuple[ColumnChoice, list[str]]:
    """Read the files again. Tables that cannot be read are unchanged. Return the choice and the problems."""
    reread = describe_tables(job, choice)
    by_key = {table.key: table for table in reread.tables}
    tables = [by_key.get(table.key, table) for table in earlier.tables]
    problems = [problem for problem in reread.problems if problem not in earlier.problems]
    return replace(reread, tables=tables, problems=earlier.problems), problems


# Stored mappings


def saved_mappings(edition: Edition | None) -> list[ColumnMapping]:
    if edition is None:
        return []
    return list(ColumnMapping.objects.filter(conference=edition.conference_id)[:MAX_MAPPINGS])


def layout_digest(keys: Sequence[str]) -> str:
    return sha256("\n".join(sorted(keys)).encode()).hexdigest()


def apply_saved_mapping(table: Table, mappings: Sequence[ColumnMapping]) -> None:
    """Set the columns from the mapping of the same layout, else of the one that shares the most headings."""
    keys = layout_keys(table.headings)
    by_layout = {mapping.layout: mapping for mapping in mappings}
    mapping = by_layout.get(layout_digest(keys))
    if mapping is None:
        mapping = max(mappings, key=lambda mapping: _shared_share(mapping, keys), default=None)
        if mapping is None or _shared_share(mapping, keys) < MIN_SHARED_SHARE:
            return
    used_fields = {mapping.fields[key] for key in keys if key in mapping.fields}
    table.columns = [
        mapping.fields.get(key, "" if guess in used_fields else guess)
        for key, guess in zip(keys, table.columns, strict=True)
    ]
    table.columns = [name if name in FIELDS else "" for name in table.columns]
    table.memory, table.memory_name = mapping.pk, mapping.name
    table.fresh = [
        short(heading) for key, heading in zip(keys, table.headings, strict=True) if key not in mapping.fields
    ]
    # Ignored columns are not reported as missing.
    table.missing = [
        str(FIELDS[name].label) for key, name in mapping.fields.items() if name in FIELDS and key not in keys
    ]


def _shared_share(mapping: ColumnMapping, keys: Sequence[str]) -> float:
    """Return the share of the headings of either layout that both have."""
    return len({*mapping.fields} & {*keys}) / max(len({*mapping.fields} | {*keys}), 1)


def save_mappings(job: ImportJob, choice: ColumnChoice) -> None:
    """Store the columns of each table by its headings."""
    if job.edition is None:
        return
    for table in choice.wanted:
        if table.has_header:
            keys = layout_keys(table.headings)
            ColumnMapping.objects.update_or_create(
                conference_id=job.edition.conference_id,
                layout=layout_digest(keys),
                defaults={
                    "name": table.name[:300],
                    "fields": dict(zip(keys, table.columns, strict=True)),
                    "used_at": timezone.now(),
                },
            )


def delete_mappings(job: ImportJob, choice: ColumnChoice) -> ColumnChoice:
    """Delete the stored mappings of the tables of a job, and guess their columns."""
    if job.edition:
        keys = [table.memory for table in choice.tables if table.memory]
        ColumnMapping.objects.filter(pk__in=keys, conference=job.edition.conference_id).delete()
    for table in choice.tables:
        if table.memory:
            table.columns = table.guess or guess_columns(table.headings, table.samples)
            table.memory, table.memory_name, table.fresh, table.missing = None, "", [], []
    return choice


# Preview of the first rows


def read_first_rows(job: ImportJob, choice: ColumnChoice) -> tuple[Program | None, list[str]]:
    """Read the first rows of the tables. Return the program and the problems as sentences."""
    tables = [table for table in choice.wanted if table.role]
    if not tables:
        return None, []
    context = without_papers(reading_context(job.edition))
    mapping = Mapping(tables=[table.mapping for table in tables], is_markdown=choice.is_markdown)
    try:
        return read_tables([table.grid for table in tables], mapping, context, Findings()), []
    except ProgramError as error:
        return None, [str(problem) for problem in error.problems]


def without_papers(context: Context) -> Context:
    """Return a context without papers and presentations, whose rows the page does not need."""
    return replace(
        context,
        known=lambda kind: () if kind in ("paper", "presentation") else context.known(kind),
        authors=lambda papers: {},
    )


def mapping_source(job: ImportJob) -> list[Source]:
    """Return the mapping chosen for a job as a mapping file for the format, if it is a spreadsheet."""
    return [ColumnChoice.from_job(job).mapping.as_source()] if job.columns else []
