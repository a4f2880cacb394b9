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
from exchange.imports.kinds import CONFERENCE, INSTITUTION, KINDS, MENU, PERSON, Kind, Listing
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
    lookup = _edition_lookup(rows.model)
    if not lookup:
        return []
    keys = rows.order_by().values_list(lookup, flat=True).distinct()
    return list(Edition.objects.filter(pk__in=[key for key in keys if key]))


def _edition_lookup(model: type[Content]) -> str:
    if model in (Edition, CONFERENCE.model, INSTITUTION.model, PERSON.model):
        return ""
    return str(model.edition_lookup)


def selected_records(
    rows: QuerySet[Content], wanted: Collection[str] | None = None
) -> Iterator[SelectedRecord]:
    """Read rows in order, in batches. `wanted`: the fields of their records, `None` for all."""
    model = rows.model
    if model is MenuItem:
        yield from _menus([*rows.values_list("pk", flat=True)])
        return
    for batch in in_batches(rows.values_list("pk", flat=True)):
        if model in KINDS_BY_MODEL:
            yield from _records(KINDS_BY_MODEL[model], batch, wanted)
        else:
            yield from _parts(*LISTINGS_BY_MODEL[model], batch)


def _menus(keys: list[int]) -> Iterator[SelectedRecord]:
    """Read menu lines in the order of their menus, each after its parent, which is included."""
    lines = MenuItem._default_manager
    wanted = lines.filter(Q(pk__in=keys) | Q(pk__in=lines.filter(pk__in=keys).order_by().values("parent")))
    for edition, here in _keys_by_edition(wanted, "edition").items():
        dump = Dump(edition or Edition(), drafts=True)
        for parts in parts_by_owner(MENU, lines.filter(pk__in=here), dump.edition).values():
            for entry in menu_entries(menu_records(parts)):
                yield SelectedRecord(entry.link, entry.record, edition)


def _records(kind: Kind, keys: list[int], wanted: Collection[str] | None) -> Iterator[SelectedRecord]:
    if kind is PERSON:
        yield from (SelectedRecord("", record, None) for record in person_records(keys))
        return
    rows = kind.model._default_manager.filter(pk__in=keys)
    lookup = _edition_lookup(kind.model)
    found: dict[int, SelectedRecord] = {}
    for edition, here in _keys_by_edition(rows, lookup).items():
        dump = Dump(edition or Edition(), drafts=True)
        records = dump.records(kind, rows.filter(pk__in=here), wanted)
        found |= {key: SelectedRecord("", record, edition) for key, record in records.items()}
    yield from (found[key] for key in keys if key in found)


def _keys_by_edition(rows: QuerySet[Content], lookup: str) -> dict[Edition | None, list[int]]:
    if not lookup:
        return {None: list(rows.order_by().values_list("pk", flat=True))}
    keys: dict[int | None, list[int]] = defaultdict(list)
    for key, edition in rows.order_by().values_list("pk", lookup):
        keys[edition].append(key)
    editions = Edition.objects.in_bulk([key for key in keys if key])
    return {editions.get(edition or 0): found for edition, found in keys.items()}


def _parts(kind: Kind, listing: Listing, keys: list[int]) -> Iterator[SelectedRecord]:
    rows = listing.model._default_manager.filter(pk__in=keys)
    owner = listing.owner
    owners = dict(rows.order_by().values_list(f"{owner}_id", f"{owner}__{kind.key}"))
    found: dict[int, SelectedRecord] = {}
    for edition, here in _keys_by_edition(rows, str(listing.model.edition_lookup)).items():
        dump, own = Dump(edition or Edition(), drafts=True), rows.filter(pk__in=here)
        parts = parts_by_owner(listing, own, dump.edition, with_known_as="person" in listing.columns)
        places: dict[int, list[int]] = defaultdict(list)
        for key, above in own.order_by("position", "pk").values_list("pk", f"{owner}_id"):
            places[above].append(key)
        for above, group in parts.items():
            records = (
                SelectedRecord(owners[above], one, edition) for one in dump.part_records(listing, group)
            )
            found |= zip(places[above], records, strict=True)
    yield from (found[key] for key in keys if key in found)


def list_lines(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[list[str]]:
    table = table_of(rows.model)
    return _record_lines(table, selected_records(rows, {column.field for column in table.columns}), editions)


def _record_lines(
    table: Table, found: Iterable[SelectedRecord], editions: list[Edition]
) -> Iterator[list[str]]:
    """Yield headings, then a line for each record; with a column of editions if there are several."""
    first = ["edition"] if len(editions) > 1 else []
    yield [*first, *(column_heading(column) for column in table.headings)]
    for one in found:
        cells = cells_of(table, table.columns, one, one.zone)
        yield [one.edition.slug if one.edition else "", *cells] if first else cells


def csv_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    return csv_chunks(list_lines(rows, editions))


def workbook_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield a workbook of the table and the tables of related rows, such as authors."""
    table = table_of(rows.model)
    below = [
        one for one in CHILD_TABLES if one.parent == table.name and one.name not in ("menu", "committee")
    ]
    related = ((one.name, _record_lines(one, _child_records(one, rows), editions)) for one in below)
    return workbook([(table.name, list_lines(rows, editions)), *related])


def _child_records(table: Table, rows: QuerySet[Content]) -> Iterator[SelectedRecord]:
    key = KINDS_BY_MODEL[rows.model].key
    for one in selected_records(rows, {table.field}):
        for part in getattr(one.record, table.field):
            yield SelectedRecord(getattr(one.record, key), part, one.edition)


def json_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield records as in `program_json`, a program for each edition; for listings, table rows as objects."""
    if rows.model not in KINDS_BY_MODEL:
        yield from _json_lines(rows, editions)
        return
    kind = KINDS_BY_MODEL[rows.model]
    head = {"format": FORMAT_NAME, "version": VERSION}
    lookup = getattr(rows.model, "edition_lookup", "")
    if len(editions) < 2:
        yield from _program(head, kind.plural or kind.name, selected_records(rows))
        return
    for number, edition in enumerate(editions):
        yield b",\n" if number else b"[\n"
        own = selected_records(rows.filter(**{lookup: edition}))
        yield from _program({**head, "edition": {"slug": edition.slug}}, kind.plural, own)
    everywhere = rows.filter(**{f"{lookup}__isnull": True})
    if everywhere.exists():
        yield b",\n"
        yield from _program(head, kind.plural, selected_records(everywhere))
    yield b"]\n"


def _program(head: dict[str, object], name: str, found: Iterable[SelectedRecord]) -> Iterator[bytes]:
    yield f"{json.dumps(head, ensure_ascii=False)[:-1]},\n {json.dumps(name)}: [".encode()
    for number, one in enumerate(found):
        yield f"{',' if number else ''}\n  {json_line(one.record, one.zone)}".encode()
    yield b"\n]}\n"


def _json_lines(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    found = list_lines(rows, editions)
    names = next(found)
    yield b"["
    for number, cells in enumerate(found):
        row = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        yield f"{',' if number else ''}\n {row}".encode()
    yield b"\n]\n"


def bibtex_pieces(rows: QuerySet[Content], editions: list[Edition]) -> Iterator[bytes]:
    """Yield an entry for each paper, after a line that names papers that are not public."""
    wanted = Q(pk__in=rows.order_by().values("pk"))
    public = Paper.objects.published().filter(wanted)
    drafts = list(
        Paper.objects.filter(wanted).exclude(pk__in=public.values("pk")).values_list("uid", flat=True)
    )
    if drafts:
        yield f"% Not public, not to be cited yet: {', '.join(sorted(drafts))}\n\n".encode()
    programs = ((dump(one, drafts=True, only={"paper": wanted}), writing_context(one)) for one in editions)
    yield from bibtex.cite(programs)


def make_sender(
    extension: str, media_type: str, made: Callable[[QuerySet[Content], list[Edition]], Iterator[bytes]]
) -> Callable[[QuerySet[Content]], HttpResponseBase]:
    """Return a function that streams rows as a file. Admin responses are not cached."""

    def send(rows: QuerySet[Content]) -> HttpResponseBase:
        editions = editions_of(rows)
        place = f"{editions[0].slug}-" if len(editions) == 1 else ""
        name = f"{place}{table_of(rows.model).name}-{timezone.now():%Y-%m-%d}.{extension}"
        # The files need only the keys of these rows.
        pieces = made(rows.select_related(None).prefetch_related(None), editions)
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
