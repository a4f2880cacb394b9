"""What lists of the admin are written as: tables for people, records for programs, references for papers."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition
from editorial.list_export import FILES, ListFile
from exchange.exports.citation_files import FORMATS
from exchange.exports.dump import dump, writing_context
from exchange.exports.selected_rows import (
    KINDS_BY_MODEL,
    LISTINGS_BY_MODEL,
    UTC,
    SelectedRecord,
    editions_of,
    lines,
    selected_records,
    table_of,
)
from exchange.formats.program_json import NAME, VERSION
from exchange.formats.tables.columns import CHILDREN, TABLES
from exchange.formats.tables.rows import Entry, cells_of
from exchange.formats.tables.workbook import workbook
from exchange.reading.shapes import fields_of
from exchange.reading.sheets import heading, sheet_pieces
from papers.models import Paper

TABULAR = frozenset([*KINDS_BY_MODEL, *LISTINGS_BY_MODEL])
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def reply(
    pieces: Iterable[bytes], rows: QuerySet[Any], editions: list[Edition], ending: str
) -> HttpResponseBase:
    """Stream a file. Admin responses are not cached."""
    place = f"{editions[0].slug}-" if len(editions) == 1 else ""
    name = f"{place}{table_of(rows.model).name}-{timezone.now():%Y-%m-%d}.{ending}"
    types = {"csv": "text/csv; charset=utf-8", "xlsx": WORKBOOK, "json": "application/json"}
    response = StreamingHttpResponse(pieces, content_type=types.get(ending, FORMATS["bib"][0].media_type))
    response.headers["Content-Disposition"] = content_disposition_header(True, name)
    return response


def settled(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the same rows, read for their keys alone."""
    return rows.select_related(None).prefetch_related(None)


def as_csv(rows: QuerySet[Any]) -> HttpResponseBase:
    """Write the one table."""
    editions = editions_of(rows)
    return reply(sheet_pieces(lines(settled(rows), editions)), rows, editions, "csv")


def as_workbook(rows: QuerySet[Any]) -> HttpResponseBase:
    """Write the table, and the tables of related rows, such as authors."""
    editions = editions_of(rows)
    return reply(workbook(_sheets(settled(rows), editions)), rows, editions, "xlsx")


def _sheets(rows: QuerySet[Any], editions: list[Edition]) -> Iterator[tuple[str, Iterator[list[str]]]]:
    table = table_of(rows.model)
    yield table.name, lines(rows, editions)
    for child in CHILDREN:
        if child.parent == table.name and child.name not in ("menu", "committee"):
            yield child.name, _below(child.name, rows, editions)


def _below(name: str, rows: QuerySet[Any], editions: list[Edition]) -> Iterator[list[str]]:
    table, first = TABLES[name], ["edition"] if len(editions) > 1 else []
    yield [*first, *(heading(column) for column in table.headings)]
    key = KINDS_BY_MODEL[rows.model].key
    for one in selected_records(rows, {table.field}):
        zone = one.edition.zone if one.edition else UTC
        for part in getattr(one.record, table.field):
            cells = cells_of(table, table.columns, Entry(getattr(one.record, key), part), zone)
            yield [one.edition.slug if one.edition else "", *cells] if first else cells


def as_json(rows: QuerySet[Any]) -> HttpResponseBase:
    """Write records as `program_json` holds them, a program for each edition; parts of things as lines."""
    editions = editions_of(rows)
    pieces = (
        _records(settled(rows), editions) if rows.model in KINDS_BY_MODEL else _lines(settled(rows), editions)
    )
    return reply(pieces, rows, editions, "json")


def _records(rows: QuerySet[Any], editions: list[Edition]) -> Iterator[bytes]:
    kind = KINDS_BY_MODEL[rows.model]
    head = {"format": NAME, "version": VERSION}
    lookup = getattr(rows.model, "edition_lookup", "")
    if len(editions) < 2:
        yield from _program(head, kind.many or kind.name, selected_records(rows))
        return
    for number, edition in enumerate(editions):
        yield b",\n" if number else b"[\n"
        own = selected_records(rows.filter(**{lookup: edition}))
        yield from _program({**head, "edition": {"slug": edition.slug}}, kind.many, own)
    everywhere = rows.filter(**{f"{lookup}__isnull": True})
    if everywhere.exists():
        yield b",\n"
        yield from _program(head, kind.many, selected_records(everywhere))
    yield b"]\n"


def _program(head: dict[str, Any], name: str, found: Iterable[SelectedRecord]) -> Iterator[bytes]:
    yield f"{json.dumps(head, ensure_ascii=False)[:-1]},\n {json.dumps(name)}: [".encode()
    for number, one in enumerate(found):
        zone = one.edition.zone if one.edition else UTC
        value = fields_of(type(one.record)).write(one.record, zone)
        yield f"{',' if number else ''}\n  {json.dumps(value, ensure_ascii=False)}".encode()
    yield b"\n]}\n"


def _lines(rows: QuerySet[Any], editions: list[Edition]) -> Iterator[bytes]:
    found = lines(rows, editions)
    names = next(found)
    yield b"["
    for number, cells in enumerate(found):
        line = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        yield f"{',' if number else ''}\n {line}".encode()
    yield b"\n]\n"


def as_bibtex(rows: QuerySet[Any]) -> HttpResponseBase:
    """Write an entry for each paper. A line on top names those that are not public."""
    editions = editions_of(rows)
    return reply(_entries(settled(rows), editions), rows, editions, "bib")


def _entries(rows: QuerySet[Any], editions: list[Edition]) -> Iterator[bytes]:
    wanted = Q(pk__in=rows.order_by().values("pk"))
    public = Paper.objects.published().filter(wanted)
    drafts = list(
        Paper.objects.filter(wanted).exclude(pk__in=public.values("pk")).values_list("uid", flat=True)
    )
    if drafts:
        yield f"% Not public, not to be cited yet: {', '.join(sorted(drafts))}\n\n".encode()
    programs = ((dump(one, drafts=True, only={"paper": wanted}), writing_context(one)) for one in editions)
    yield from FORMATS["bib"][1](programs)


FILES += [
    ListFile("csv", _("CSV"), TABULAR, as_csv),
    ListFile("xlsx", _("XLSX"), TABULAR, as_workbook),
    ListFile("json", _("JSON"), TABULAR, as_json),
    ListFile("bibtex", pgettext_lazy("file format", "BibTeX"), frozenset([Paper]), as_bibtex),
]
