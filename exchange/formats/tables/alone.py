"""Tables for separate download, with added columns from other tables, and times with an offset.

`tables` reads them, without the added columns.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import markup
from exchange.files import Context
from exchange.formats.tables.rows import (
    DERIVED_COLUMNS,
    TABLES,
    Column,
    cells_of,
    entries_of,
    format_clock,
    join_list,
    with_fields,
)
from exchange.reading.sheets import column_heading
from exchange.reading.values import program_zone
from exchange.records import GrantRecord, Program, first_stated, stated

# Returns the added cells of a record.
type AddedCells = Callable[[Any], list[str]]


def download_columns(name: str) -> tuple[str, ...]:
    return (*TABLES[name].headings, *DERIVED_COLUMNS.get(name, {}))


def download_lines(name: str, program: Program, context: Context) -> Iterator[list[str]]:
    """Yield the headings of a table without a query, then its rows one by one."""
    table, zone = TABLES[name], program_zone(program, context)
    yield [column_heading(column) for column in download_columns(name)]
    columns = [with_offset(column) for column in table.columns]
    build_added_cells = {"papers": paper_cells, "awards": award_cells}.get(name)
    added_cells: AddedCells = (
        build_added_cells(program, context, zone) if build_added_cells else lambda record: []
    )
    for entry in entries_of(table, program, [*chain(*DERIVED_COLUMNS.get(name, {}).values())]):
        yield [*cells_of(table, columns, entry, zone), *added_cells(entry.record)]


def with_offset(column: Column) -> Column:
    """Return a column that formats times with their offset, independent of the reader's zone."""
    has_clock = column.kind.format is format_clock
    return replace(column, kind=replace(column.kind, format=format_moment)) if has_clock else column


def format_moment(value: datetime, zone: ZoneInfo) -> str:
    local = value.astimezone(zone)
    return local.isoformat(" ", "auto" if local.second or local.microsecond else "minutes")


def page_url(context: Context, path: str) -> str:
    return f"{context.site_url.rstrip('/')}/{path}/" if context.site_url else ""


def paper_cells(program: Program, context: Context, zone: ZoneInfo) -> AddedCells:
    """Return a function for the derived cells of a paper. Cancelled sessions are left out."""
    sessions = {
        session.uid: session for session in with_fields(program.sessions, ["title", "start", "status"])
    }
    appearances: dict[str, list[str]] = defaultdict(list)
    for presentation in with_fields(program.presentations, ["paper", "session", "start", "status"]):
        session = sessions.get(stated(presentation.session, None) or "")
        if session and "cancelled" not in (presentation.status, session.status):
            start = first_stated("start", presentation, session)
            title, time = markup.plain(stated(session.title, "")), format_moment(start, zone) if start else ""
            paper_uid = stated(presentation.paper, None) or ""
            appearances[paper_uid].append(", ".join(filter(None, (title, time))))
    awards: dict[str, list[str]] = defaultdict(list)
    for award in with_fields(program.awards, ["name", "grants"]):
        for grant in stated(award.grants, ()):
            if not grant.edition:
                awards[grant.paper].append(stated(award.name, ""))

    def cells(paper: Any) -> list[str]:
        pdf_urls = (file.url for file in stated(paper.materials, ()) if file.kind == "pdf" and file.visible)
        pdf_url = next(pdf_urls, "")
        return [
            join_list([author.person.name for author in stated(paper.authors, ())]),
            page_url(context, f"{context.edition}/papers/{paper.uid}"),
            f"{context.site_url.rstrip('/')}{pdf_url}" if pdf_url.startswith("/") else pdf_url,
            join_list(appearances.get(paper.uid, [])),
            join_list(awards.get(paper.uid, [])),
        ]

    return cells


def award_cells(program: Program, context: Context, zone: ZoneInfo) -> AddedCells:
    """Return a function for the derived cells of an award: names or titles of winners, and their pages."""

    def paper_key(grant: GrantRecord) -> tuple[str, str]:
        return grant.edition or context.edition, grant.paper

    awards = with_fields(program.awards, ["grants"])
    grants = [grant for award in awards for grant in stated(award.grants, ())]
    titles = context.paper_titles([paper_key(grant) for grant in grants if grant.paper])

    def cells(award: Any) -> list[str]:
        names, pages = [], []
        for grant in stated(award.grants, ()):
            if grant.person:
                names.append(grant.person.name)
                pages.append(page_url(context, f"people/{grant.person.uid}") if grant.person.uid else "")
            else:
                edition, paper = paper_key(grant)
                names.append(markup.plain(titles.get((edition, paper), "")) or paper)
                pages.append(page_url(context, f"{edition}/papers/{paper}"))
        return [join_list(names), join_list(pages)]

    return cells
