"""Rows that somebody picked, as records and as lines of tables: in their order, of whatever editions.

Staff's own: drafts are among them, and say so. E-mail addresses and hidden names do not travel, as always.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet

from conference.models import Edition
from exchange.exports.dump import Dump
from exchange.formats.tables.columns import TABLES, Table
from exchange.formats.tables.rows import Entry, cells_of, menu_entries
from exchange.imports.kinds import CONFERENCE, INSTITUTION, KINDS, MENU, PERSON, Kind, Listing
from exchange.imports.rows import in_batches, parts_by_owner, persons
from exchange.reading.sheets import heading

if TYPE_CHECKING:
    from content.models import Content

# What a list of the admin shows -> its table.
KINDS_BY_MODEL = {kind.model: kind for kind in KINDS.values()}
LISTINGS_BY_MODEL = {listing.model: (kind, listing) for kind in KINDS.values() for listing in kind.listings}
UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class SelectedRecord:
    """One record, its edition, and the key of its parent."""

    edition: Edition | None
    record: Any
    link: str = ""


def table_of(model: "type[Content]") -> Table:
    """Return the table that rows of a model are lines of."""
    if model in KINDS_BY_MODEL:
        kind = KINDS_BY_MODEL[model]
        return TABLES[kind.many or kind.name]
    return TABLES[LISTINGS_BY_MODEL[model][1].name]


def editions_of(rows: QuerySet[Any]) -> list[Edition]:
    """Return the editions of rows, newest first; none for models without an edition."""
    lookup = _edition_lookup(rows.model)
    if not lookup:
        return []
    keys = rows.order_by().values_list(lookup, flat=True).distinct()
    return list(Edition.objects.filter(pk__in=[key for key in keys if key]))


def _edition_lookup(model: "type[Content]") -> str:
    if model in (Edition, CONFERENCE.model, INSTITUTION.model, PERSON.model):
        return ""
    return str(model.edition_lookup)


def selected_records(rows: QuerySet[Any], wanted: Collection[str] | None = None) -> Iterator[SelectedRecord]:
    """Read rows in order, in batches. `wanted`: the fields of their records, `None` for all."""
    model: Any = rows.model
    if model is MENU.model:
        yield from _menus([*rows.values_list("pk", flat=True)])
        return
    for batch in in_batches(rows.values_list("pk", flat=True)):
        if model in KINDS_BY_MODEL:
            yield from _records(KINDS_BY_MODEL[model], batch, wanted)
        else:
            yield from _parts(*LISTINGS_BY_MODEL[model], batch)


def _menus(keys: list[int]) -> Iterator[SelectedRecord]:
    """Read menu lines in the order of their menus: children follow their parent.

    Parents of selected lines are included.
    """
    lines: Any = MENU.model._default_manager
    wanted = lines.filter(Q(pk__in=keys) | Q(pk__in=lines.filter(pk__in=keys).order_by().values("parent")))
    for edition, here in _by_edition(wanted, "edition").items():
        dump = Dump(edition or Edition(), drafts=True)
        for parts in parts_by_owner(MENU, lines.filter(pk__in=here), dump.edition).values():
            records: Any = dump.part_records(MENU, parts)
            for entry in menu_entries(records, 1):
                yield SelectedRecord(edition, entry.record, entry.link)


def _records(kind: Kind, keys: list[int], wanted: Collection[str] | None) -> Iterator[SelectedRecord]:
    if kind is PERSON:
        yield from (SelectedRecord(None, record) for record in persons(keys))
        return
    rows: Any = kind.model._default_manager.filter(pk__in=keys)
    lookup = _edition_lookup(kind.model)
    found: dict[int, SelectedRecord] = {}
    for edition, here in _by_edition(rows, lookup).items():
        dump = Dump(edition or Edition(), drafts=True)
        lists = dump.lists(kind, here, wanted)
        records = dump.records(kind, rows.filter(pk__in=here), lists, wanted)
        found |= {key: SelectedRecord(edition, record) for key, record in records.items()}
    yield from (found[key] for key in keys if key in found)


def _by_edition(rows: Any, lookup: str) -> dict[Edition | None, list[int]]:
    """Group the keys of rows by edition."""
    if not lookup:
        return {None: list(rows.order_by().values_list("pk", flat=True))}
    keys: dict[int | None, list[int]] = defaultdict(list)
    for key, edition in rows.order_by().values_list("pk", lookup):
        keys[edition].append(key)
    editions = Edition.objects.in_bulk([key for key in keys if key])
    return {editions.get(edition or 0): found for edition, found in keys.items()}


def _parts(kind: Kind, listing: Listing, keys: list[int]) -> Iterator[SelectedRecord]:
    rows: Any = listing.model._default_manager.filter(pk__in=keys)
    owner = listing.owner
    link = f"{owner}__{kind.key}"
    owners = dict(rows.order_by().values_list(f"{owner}_id", link))
    found: dict[int, SelectedRecord] = {}
    for edition, here in _by_edition(rows, str(listing.model.edition_lookup)).items():
        dump, own = Dump(edition or Edition(), drafts=True), rows.filter(pk__in=here)
        parts = parts_by_owner(listing, own, dump.edition, known_as="person" in listing.columns)
        places: dict[int, list[int]] = defaultdict(list)
        for key, above in own.order_by("position", "pk").values_list("pk", f"{owner}_id"):
            places[above].append(key)
        for above, group in parts.items():
            records = (
                SelectedRecord(edition, one, owners[above]) for one in dump.part_records(listing, group)
            )
            found |= zip(places[above], records, strict=True)
    yield from (found[key] for key in keys if key in found)


def lines(rows: QuerySet[Any], editions: list[Edition]) -> Iterator[list[str]]:
    """Yield headings, then a line for each row; with the edition where there are several."""
    table = table_of(rows.model)
    first = ["edition"] if len(editions) > 1 else []
    yield [*first, *(heading(column) for column in table.headings)]
    for one in selected_records(rows, {column.field for column in table.columns}):
        zone = one.edition.zone if one.edition else UTC
        cells = cells_of(table, table.columns, Entry(one.link, one.record), zone)
        yield [one.edition.slug if one.edition else "", *cells] if first else cells
