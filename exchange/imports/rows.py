"""Find the rows of an edition for records, read them as plain values, and build them from values.

Many rows are read with few queries. Values are JSON: times in UTC, references as keys, lists as parts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, Protocol

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.utils.translation import gettext

from conference.models import Edition, MenuItem
from content.array_lookup import AnyOf
from content.models import Content
from content.row_values import to_json_value
from content.unreleased.rows import ReleasableQuerySet
from exchange.imports.kinds import (
    AUTHORS,
    GRANTS,
    INSTITUTION,
    KINDS,
    MATERIALS,
    MENU,
    PERSON,
    Kind,
    Listing,
    Values,
)
from exchange.problems import Findings, Where, short
from exchange.records import PersonRecord, PersonRef, Program, Record, stated
from papers.models import Authorship, Paper
from people import names
from people.models import Institution, Person, PersonIdentifier, PersonName
from people.querysets import resolve_links

BATCH_ROWS = 1000
CHUNK_ROWS = 2000

# The primary keys of rows that an import may not see, by kind.
type Concealed = Mapping[str, frozenset[int]]
NO_ROWS: Concealed = {}


def in_batches[T](keys: Iterable[T]) -> Iterator[list[T]]:
    """Split keys into batches, so that no query exceeds the database's limit of parameters."""
    yield from map(list, batched(keys, BATCH_ROWS, strict=False))


def report_concealed(where: Where, field: str, name: str, findings: Findings) -> None:
    """Report a row of other editions' drafts. `name` must be the name in the file, so that nothing leaks."""
    message = gettext(
        "“%(name)s” is known by this key from drafts of another edition alone, which your role may not see. "
        "Ask someone who may."
    )
    findings.problem(where, field, message, name=short(name))


def records_of(program: Program, kind: Kind) -> tuple[Record, ...]:
    if kind.plural:
        records: tuple[Record, ...] = getattr(program, kind.plural)
        return records
    record: Record | None = getattr(program, kind.name)
    return (record,) if record else ()


# Rows by their keys


class RowIndex:
    """Index of the rows of one kind in one edition, by key and by primary key.

    `whole` rows have all fields of a record, others only those that references need. A lock prevents
    changes between comparison and update. Of `hidden` rows, only the keys are stored.
    """

    def __init__(
        self, kind: Kind, edition: Edition, hidden: frozenset[int], *, whole: bool, is_locking: bool
    ) -> None:
        self.kind = kind
        self.rows: dict[str, Content] = {}
        self.by_pk: dict[int, Content] = {}
        self.concealed: set[str] = set()
        if kind.is_in_edition and edition._state.adding:
            return
        rows: QuerySet[Any] = kind.model._default_manager.all()
        if kind.is_in_edition:
            rows = rows.filter(edition=edition)
        rows = rows.defer(*kind.model.derived_fields) if whole else rows.only(*_key_fields(kind))
        if whole and is_locking:
            rows = rows.select_for_update(of=("self",), no_key=True)
        for row in rows.order_by("pk").iterator(CHUNK_ROWS):
            if kind.is_in_edition:
                row.edition = edition
            if row.pk in hidden:
                self.concealed.add(getattr(row, kind.key))
            else:
                self.add(row)
        # Resolve the slug of a merged institution to the one that it was merged into.
        links = {
            key: row.merged_into_id
            for key, row in self.by_pk.items()
            if isinstance(row, Institution) and row.merged_into_id in self.by_pk
        }
        for key, target in resolve_links(links).items():
            self.rows[getattr(self.by_pk[key], kind.key)] = self.by_pk[target or key]

    def add(self, row: Content) -> None:
        self.rows[getattr(row, self.kind.key)] = row
        if row.pk:
            self.by_pk[row.pk] = row


def _key_fields(kind: Kind) -> list[str]:
    """Return the fields for finding, naming and validating a row."""
    fields = ["pk", kind.key, *kind.references]
    fields += [name for name in ("name", "title", "status") if name in kind.plain_fields]
    if kind is INSTITUTION:
        fields.append("merged_into")
    if kind.is_in_edition:
        fields.append("edition")
    return fields


class Lookup(Protocol):
    """Interface for finding the rows that parts of lists refer to."""

    def paper(self, edition: str, uid: str) -> Content | None: ...

    def row(self, kind: str, key: str) -> Content | None: ...


class EditionRows:
    """All rows that a program may contain or reference, by kind. A kind is read on first access.

    `whole` names the kinds that are compared. New rows are added, so that references find them.
    """

    def __init__(
        self, edition: Edition, whole: Iterable[str], concealed: Concealed, *, is_locking: bool
    ) -> None:
        self.edition, self.concealed = edition, concealed
        # By uid; filled when people are matched.
        self.people: dict[str, Person] = {}
        # Papers of other editions that received awards, by edition and uid.
        self.papers_elsewhere: dict[tuple[str, str], Paper] = {}
        rows = Institution.objects.filter(merged_into__isnull=False)
        merged = list(rows.values_list("slug", "pk", "merged_into__slug"))
        # Merged institutions: slug -> slug of the target, and slug -> own primary key.
        self.merged_slugs = resolve_links({slug: str(target) for slug, _, target in merged})
        self.merged_keys = {slug: key for slug, key, _ in merged}
        self._whole, self._is_locking = frozenset(whole), is_locking
        self._indexes: dict[str, RowIndex] = {}
        if edition.conference._state.adding:
            self["conference"].add(edition.conference)

    def __getitem__(self, name: str) -> RowIndex:
        if name not in self._indexes:
            hidden = self.concealed.get(name, frozenset())
            self._indexes[name] = index = RowIndex(
                KINDS[name], self.edition, hidden, whole=name in self._whole, is_locking=self._is_locking
            )
            for row in index.rows.values():
                self._connect(row, index.kind)
        return self._indexes[name]

    def _connect(self, row: Content, kind: Kind) -> None:
        """Set the related rows of a row, so that validating it makes no queries."""
        for name, other in kind.references.items():
            key = getattr(row, f"{name}_id")
            target = self[other].by_pk.get(key) if key else None
            if target is not None:
                setattr(row, name, target)

    def paper(self, edition: str, uid: str) -> Content | None:
        return self.papers_elsewhere.get((edition, uid)) if edition else self.row("paper", uid)

    def row(self, kind: str, key: str) -> Content | None:
        return self.people.get(key) if kind == PERSON.name else self[kind].rows.get(key)

    def match(
        self, kind: Kind, records: Sequence[Record], findings: Findings
    ) -> Iterator[tuple[Content, Record]]:
        """Yield the row of each record, new or existing, with the record. Report duplicates."""
        if not records:
            return
        index = self[kind.name]
        where_by_row: dict[int, Where] = {}
        namesakes = self._institutions_by_name() if kind is INSTITUTION else {}
        merged = self.merged_slugs if kind is INSTITUTION else {}
        # A file may contain both institutions of a merge: the record of the remaining one is used.
        for record in sorted(records, key=lambda record: getattr(record, kind.key) in merged):
            key: str = getattr(record, kind.key)
            if key in index.concealed:
                report_concealed(record.where, kind.key, key, findings)
                continue
            name = names.normalize(stated(getattr(record, "name", ""), ""))
            row = index.rows.get(key) or namesakes.get(name)
            if row is None:
                scope = {"edition": self.edition} if kind.is_in_edition else {}
                row = kind.model(**{kind.key: key}, **scope)
            index.rows[key] = row
            if id(row) in where_by_row and key in merged:
                continue
            if id(row) in where_by_row:
                message = gettext("“%(key)s”: Another %(name)s is the same: %(row)s. Keep one of them.")
                values = {"key": short(key), "name": kind.name, "row": where_by_row[id(row)]}
                findings.problem(record.where, kind.key, message, **values)
                continue
            where_by_row[id(row)] = record.where
            yield row, record

    def _institutions_by_name(self) -> dict[str, Institution]:
        owners_by_name: dict[str, list[Institution]] = defaultdict(list)
        rows = {id(row): row for row in self["institution"].rows.values() if isinstance(row, Institution)}
        for row in rows.values():
            for name in {row.name, *row.aliases}:
                owners_by_name[names.normalize(name)].append(row)
        return {name: owners[0] for name, owners in owners_by_name.items() if name and len(owners) == 1}


# From rows to values


def field_value(row: Content, kind: Kind, name: str) -> object:
    if name not in kind.references:
        return to_json_value(getattr(row, name))
    target = getattr(row, name)
    return getattr(target, KINDS[kind.references[name]].key) if target else None


def parts_by_owner(
    listing: Listing,
    rows: QuerySet[Content],
    edition: Edition,
    *,
    with_known_as: bool = False,
    field_names: Collection[str] | None = None,
) -> dict[int, list[Values]]:
    """Return the parts of each owner, in order. One query; one more for the institutions of authors.

    `with_known_as` adds the present name of each part's person. `field_names` limits the fields to read.
    """
    lists: dict[int, list[Values]] = defaultdict(list)
    paths = {
        name: path for name, path in listing.columns.items() if field_names is None or name in field_names
    }
    if with_known_as:
        paths["known_as"] = "person__name"
    owner_field = f"{listing.owner}_id"
    # No iterator(): for a cursor, PostgreSQL optimizes for the first rows and scans the table in index order.
    columns = ("pk", owner_field, *paths.values())
    lines: list[Any]
    if isinstance(rows, ReleasableQuerySet):
        lines = list(rows.standing().order_by(owner_field, rows.value("position"), "pk").rows(*columns))
    else:
        lines = list(rows.order_by(owner_field, "position", "pk").values_list(*columns))
    has_institutions = listing is AUTHORS and (field_names is None or "institutions" in field_names)
    institutions = _institution_slugs([key for key, *_ in lines]) if has_institutions else {}
    for key, owner, *values in lines:
        part = dict(zip(paths, values, strict=True))
        if has_institutions:
            part["institutions"] = institutions.get(key, [])
        elif listing is MENU:
            part["key"] = key
        elif listing is MATERIALS:
            file = part.pop("file")
            part["url"] = part["url"] or (file and media_address(file))
        elif listing is GRANTS:
            part = {name: value or "" for name, value in part.items()}
            if part["edition"] == edition.slug:
                part["edition"] = ""
        lists[owner].append(part)
    return {owner: _menu_tree(parts) for owner, parts in lists.items()} if listing is MENU else lists


def _institution_slugs(authorships: list[int]) -> dict[int, list[str]]:
    slugs: dict[int, list[str]] = defaultdict(list)
    through = Authorship.institutions.through
    links = through._default_manager.filter(AnyOf("authorship_id", authorships)).order_by("pk")
    for authorship, slug in links.values_list("authorship_id", "institution__slug"):
        slugs[authorship].append(slug)
    return slugs


def media_address(file: str) -> str:
    address = default_storage.url(file)
    return address if "://" in address else f"{settings.SITE_URL}{address}"


def _menu_tree(lines: list[Values]) -> list[Values]:
    """Nest the lines of a menu; children of an absent line are absent too."""
    by_key: dict[int, Values] = {}
    for line in lines:
        kind = next(name for name in ("section", "page", "url") if line[name])
        by_key[line["key"]] = {
            "label": line["label"],
            "kind": kind,
            "target": line[kind],
            "children": [],
        }
    for line in lines:
        if line["parent"] in by_key:
            by_key[line["parent"]]["children"].append(by_key[line["key"]])
    return [by_key[line["key"]] for line in lines if line["parent"] is None]


def person_records(keys: list[int]) -> Iterator[PersonRecord]:
    """Yield people as records in the order of their keys, without hidden names."""
    condition = AnyOf("person_id", keys)
    spellings: dict[int, list[str]] = defaultdict(list)
    for person, name in PersonName.objects.filter(condition).shown().values_list("person", "name"):
        spellings[person].append(name)
    ids: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for person, *pair in PersonIdentifier.objects.filter(condition).values_list("person", "scheme", "value"):
        ids[person].append((pair[0], pair[1]))
    rows = Person.objects.filter(AnyOf("pk", keys)).order_by().values("pk", "uid", *PERSON.plain_fields)
    by_key = {row.pop("pk"): row for row in rows}
    for key in (key for key in keys if key in by_key):
        row = by_key[key]
        ref = PersonRef(
            name=row.pop("name"), uid=row.pop("uid"), orcid=row.pop("orcid"), ids=tuple(sorted(ids[key]))
        )
        yield PersonRecord(ref=ref, other_names=tuple(sorted(spellings[key])), **row)


# From values to rows


@dataclass(slots=True)
class PartRow:
    """One part of a list as an unsaved row, with its institutions, which are saved after it."""

    row: Any
    institutions: list[Content]


def build_parts(listing: Listing, owner: Content, parts: list[Values], lookup: Lookup) -> list[PartRow]:
    if listing is MENU and isinstance(owner, Edition):
        return _menu_lines(owner, parts, lookup)
    return [_part_row(listing, owner, part, position, lookup) for position, part in enumerate(parts, start=1)]


def _part_row(listing: Listing, owner: Content, part: Values, position: int, lookup: Lookup) -> PartRow:
    values = {listing.owner: owner, "position": position}
    for name in listing.columns:
        if name == "person":
            values["person"] = lookup.row("person", part["person"]) if part["person"] else None
        elif listing is GRANTS and name in ("paper", "edition"):
            values["paper"] = lookup.paper(part["edition"], part["paper"]) if part["paper"] else None
        elif name in part:
            values[name] = part[name]
    slugs = part.get("institutions", [])
    institutions = [row for slug in slugs if (row := lookup.row("institution", slug))]
    return PartRow(listing.model(**values), institutions)


def _menu_lines(
    edition: Edition, parts: list[Values], lookup: Lookup, parent: MenuItem | None = None
) -> list[PartRow]:
    rows: list[PartRow] = []
    for position, part in enumerate(parts, start=1):
        target = {part["kind"]: part["target"]}
        if part["kind"] == "page":
            target = {"page": lookup.row("page", part["target"])}
        row = MenuItem(edition=edition, parent=parent, label=part["label"], position=position, **target)
        rows += [PartRow(row, []), *_menu_lines(edition, part["children"], lookup, row)]
    return rows
