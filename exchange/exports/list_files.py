"""Files of the lists of the admin: tables (CSV, XLSX), records (JSON) and references (BibTeX).

They include drafts, which are marked. E-mail addresses and hidden names are never included.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from conference.models import Edition, MenuItem
from content.models import Content
from editorial.lists import LIST_FILES, ListFile
from exchange.exports.dump import Dump, dump, menu_records, writing_context
from exchange.formats import bibtex, csv_files, xlsx
from exchange.formats.program_json import FORMAT_NAME, VERSION, json_line
from exchange.formats.tables.rows import CHILD_TABLES, TABLES, Entry, Table, cells_of, menu_entries
from exchange.formats.tables.workbook import workbook
from exchange.imports.kinds import KINDS, MENU, PERSON, Kind, Listing
from exchange.imports.rows import in_batches, parts_by_owner, person_records
from exchange.reading.sheets import column_heading, csv_chunks
from papers.models import Paper

# Kinds and listings of rows by the model of the list.
KINDS_BY_MODEL = {kind.model: kind for kind in KINDS.values()}
LISTINGS_BY_MODEL = {listing.model: (kind, listing) for kind in KINDS.values() for listing in kind.listings}
UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class SelectedRecord(Entry):
    """One record of a list, with its edition."""

    edition: Edition | None

    @property
    def zone(self) -> ZoneInfo:
        return self.edition.zone if self.edition else UTC


def table_of(model: type[Content]) -> Table:
    """Return the table whose rows are of a model."""
    if model in KINDS_BY_MODEL:
        kind = KINDS_BY_MODEL[model]
        return TABLES[kind.plural or kind.name]
    return TABLES[LISTINGS_BY_MODEL[model][1].name]


def editions_of(rows: QuerySet[Content]) -> list[Edition]:
    """Return the editions of rows, newest first; none for models without an edition."""
    lookup = rows.model.edition_lookup
    if not lookup:
        return []
    keys = rows.order_by().values_list(lookup, flat=True).distinct()
    return list(Edition.objects.filter(pk__in=[key for key in keys if key]))


def selected_records(
    rows: QuerySet[Content], field_names: Collection[str] | None = None
) -> Iterator[SelectedRecord]:
    """Read rows in order, in batches. `field_names`: the fields of their records, `None` for all."""
    model = rows.model
    if model is MenuItem:
        yield from _menus([*rows.values_list("pk", flat=True)])
        return
    for batch in in_batches(rows.values_list("pk", flat=True)):
        if model in KINDS_BY_MODEL:
            yield from _records(KINDS_BY_MODEL[model], batch, field_names)
        else:
            yield from _parts(*LISTINGS_BY_MODEL[model], batch)


def _menus(keys: list[int]) -> Iterator[SelectedRecord]:
    """Read menu lines in the order of their menus, each after its parent, which is included."""
    lines = MenuItem._default_manager
    selected = lines.filter(Q(pk__in=keys) | Q(pk__in=lines.filter(pk__in=keys).order_by().values("parent")))
    for edition, row_keys in _keys_by_edition(selected).items():
        menus = parts_by_owner(MENU, lines.filter(pk__in=row_keys), edition or Edition())
        for parts in menus.values():
            for entry in menu_entries(menu_records(parts)):
                yield SelectedRecord(entry.link, entry.record, edition)


def _records(kind: Kind, keys: list[int], field_names: Collection[str] | None) -> Iterator[SelectedRecord]:
    if kind is PERSON:
        yield from (SelectedRecord("", record, None) for record in person_records(keys))
        return
    rows = kind.model._default_manager.filter(pk__in=keys)
    selected: dict[int, SelectedRecord] = {}
    for edition, row_keys in _keys_by_edition(rows).items():
        reader = Dump(edition or Edition(), drafts=True)
        records = reader.records(kind, rows.filter(pk__in=row_keys), field_names)
        selected |= {key: SelectedRecord("", record, edition) for key, record in records.items()}
    yield from (selected[key] for key in keys if key in selected)


def _keys_by_edition(rows: QuerySet[Content]) -> dict[Edition | None, list[int]]:
    lookup = rows.model.edition_lookup
    if not lookup:
        return {None: list(rows.order_by().values_list("pk", flat=True))}
    keys: dict[int | None, list[int]] = defaultdict(list)
    for key, edition in rows.order_by().values_list("pk", lookup):
        keys[edition].append(key)
    editions = Edition.objects.in_bulk([key for key in keys if key])
    return {editions.get(edition or 0): row_keys for edition, row_keys in keys.items()}


def _parts(kind: Kind, listing: Listing, keys: list[int]) -> Iterator[SelectedRecord]:
    rows = listing.model._default_manager.filter(pk__in=keys)
    owner = listing.owner
    owners = dict(rows.order_by().values_list(f"{owner}_id", f"{owner}__{kind.key}"))
    selected: dict[int, SelectedRecord] = {}
    for edition, row_keys in _keys_by_edition(rows).items():
        reader, edition_rows = Dump(edition or Edition(), drafts=True), rows.filter(pk__in=row_keys)
        parts = parts_by_owner(
            listing, edition_rows, reader.edition, with_known_as="person" in listing.columns
        )
        keys_by_owner: dict[int, list[int]] = defaultdict(list)
        for key, owner_key in edition_rows.order_by("position", "pk").values_list("pk", f"{owner}_id"):
            keys_by_owner[owner_key].append(key)
        for owner_key, owner_parts in parts.items():
            records = (
                SelectedRecord(owners[owner_key], part, edition)
                for part in reader.part_records(listing, owner_parts)
            )
            selected |= zip(keys_by_owner[owner_key], records, strict=True)
    yield from (selected[key] for key in keys if key in selected)


def list_lines(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[list[str]]:
    table = table_of(rows.model)
    return _record_lines(table, selected_records(rows, {column.field for column in table.columns}), editions)


def _record_lines(
    table: Table, records: Iterable[SelectedRecord], editions: list[Edition]
) -> Iterator[list[str]]:
    """Yield headings, then a line for each record; with a column of editions if there are several."""
    edition_heading = ["edition"] if len(editions) > 1 else []
    yield [*edition_heading, *(column_heading(column) for column in table.headings)]
    for record in records:
        cells = cells_of(table, table.columns, record, record.zone)
        yield [record.edition.slug if record.edition else "", *cells] if edition_heading else cells


def csv_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    return csv_chunks(list_lines(rows, editions))


def workbook_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield a workbook of the table and the tables of related rows, such as authors."""
    table = table_of(rows.model)
    child_tables = [
        child_table
        for child_table in CHILD_TABLES
        if child_table.parent == table.name and child_table.name not in ("menu", "committee")
    ]
    related = (
        (child_table.name, _record_lines(child_table, _child_records(child_table, rows), editions))
        for child_table in child_tables
    )
    return workbook([(table.name, list_lines(rows, editions)), *related])


def _child_records(table: Table, rows: QuerySet[Content]) -> Iterator[SelectedRecord]:
    key = KINDS_BY_MODEL[rows.model].key
    for selected in selected_records(rows, {table.field}):
        for part in getattr(selected.record, table.field):
            yield SelectedRecord(getattr(selected.record, key), part, selected.edition)


def json_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield records as in `program_json`, a program for each edition; for listings, table rows as objects."""
    if rows.model not in KINDS_BY_MODEL:
        yield from _json_lines(rows, editions)
        return
    kind = KINDS_BY_MODEL[rows.model]
    head = {"format": FORMAT_NAME, "version": VERSION}
    lookup = rows.model.edition_lookup
    if len(editions) < 2:
        yield from _program(head, kind.plural or kind.name, selected_records(rows))
        return
    for number, edition in enumerate(editions):
        yield b",\n" if number else b"[\n"
        records = selected_records(rows.filter(**{lookup: edition}))
        yield from _program({**head, "edition": {"slug": edition.slug}}, kind.plural, records)
    without_edition = rows.filter(**{f"{lookup}__isnull": True})
    if without_edition.exists():
        yield b",\n"
        yield from _program(head, kind.plural, selected_records(without_edition))
    yield b"]\n"


def _program(head: dict[str, object], name: str, records: Iterable[SelectedRecord]) -> Iterator[bytes]:
    yield f"{json.dumps(head, ensure_ascii=False)[:-1]},\n {json.dumps(name)}: [".encode()
    for number, selected in enumerate(records):
        yield f"{',' if number else ''}\n  {json_line(selected.record, selected.zone)}".encode()
    yield b"\n]}\n"


def _json_lines(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    lines = list_lines(rows, editions)
    names = next(lines)
    yield b"["
    for number, cells in enumerate(lines):
        row = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        yield f"{',' if number else ''}\n {row}".encode()
    yield b"\n]\n"


def bibtex_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield an entry for each paper, after a line that names papers that are not public."""
    is_selected = Q(pk__in=rows.order_by().values("pk"))
    public = Paper.objects.published().filter(is_selected)
    drafts = list(
        Paper.objects.filter(is_selected).exclude(pk__in=public.values("pk")).values_list("uid", flat=True)
    )
    if drafts:
        yield f"% Not public, not to be cited yet: {', '.join(sorted(drafts))}\n\n".encode()
    programs = (
        (dump(edition, drafts=True, only={"paper": is_selected}), writing_context(edition))
        for edition in editions
    )
    yield from bibtex.cite(programs)


def make_sender(
    extension: str,
    media_type: str,
    make_pieces: Callable[[QuerySet[Content], list[Edition]], Iterator[bytes]],
) -> Callable[[QuerySet[Content]], HttpResponseBase]:
    """Return a function that streams rows as a file. Admin responses are not cached."""

    def send(rows: QuerySet[Content]) -> HttpResponseBase:
        editions = editions_of(rows)
        prefix = f"{editions[0].slug}-" if len(editions) == 1 else ""
        name = f"{prefix}{table_of(rows.model).name}-{timezone.now():%Y-%m-%d}.{extension}"
        # The files need only the keys of these rows.
        pieces = make_pieces(rows.select_related(None).prefetch_related(None), editions)
        response = StreamingHttpResponse(pieces, content_type=media_type)
        response.headers["Content-Disposition"] = content_disposition_header(True, name)
        return response

    return send


TABULAR_MODELS = frozenset([*KINDS_BY_MODEL, *LISTINGS_BY_MODEL])
LIST_FILES += [
    ListFile("csv", _("CSV"), TABULAR_MODELS, make_sender("csv", csv_files.FORMAT.media_type, csv_pieces)),
    ListFile("xlsx", _("XLSX"), TABULAR_MODELS, make_sender("xlsx", xlsx.FORMAT.media_type, workbook_pieces)),
    ListFile("json", _("JSON"), TABULAR_MODELS, make_sender("json", "application/json", json_pieces)),
    ListFile(
        "bibtex",
        pgettext_lazy("file format", "BibTeX"),
        frozenset([Paper]),
        make_sender("bib", bibtex.FORMAT.media_type, bibtex_pieces),
    ),
]
