"""Rows of the database as plain values, in the terms of the records: what a file would say of them.

Read with few queries for many rows. Values are JSON: times in UTC, references as keys, lists as parts.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import batched
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet

from conference.models import Edition
from content.array_lookup import Among
from content.models import Content
from exchange.imports.kinds import INSTITUTION, KINDS, Kind
from exchange.imports.listings import AUTHORS, GRANTS, MATERIALS, MENU, Listing, Values
from papers.models import Authorship
from people.merged_rows import final_rows

BATCH_ROWS = 1000
CHUNK_ROWS = 2000
# So many keys at once; either database takes three times as many parameters.
MAX_KEYS_PER_QUERY = 10_000

# By kind the keys of rows that an import may not see.
type Concealed = Mapping[str, frozenset[int]]
NOBODY: Concealed = {}


def in_batches[T](keys: Iterable[T]) -> Iterator[list[T]]:
    """Cut a list of keys so that no query has more parameters than a database takes."""
    yield from map(list, batched(keys, BATCH_ROWS, strict=False))


def plain(value: object) -> Any:
    """Return a value as JSON holds it."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


class Shelf:
    """The rows of one kind in one edition, found by their keys and by their primary keys.

    `whole` rows hold all that a file can say; others only what a reference needs. Locked, nobody changes a
    row between its comparison and its update. Of those that are `hidden` only the keys are known.
    """

    def __init__(
        self,
        kind: Kind,
        edition: Edition,
        hidden: frozenset[int],
        *,
        whole: bool,
        is_locking: bool = True,
    ) -> None:
        self.kind = kind
        self.rows: dict[str, Content] = {}
        self.by_pk: dict[int, Content] = {}
        self.concealed: set[str] = set()
        if kind.is_in_edition and edition._state.adding:
            return
        rows: Any = kind.model._default_manager.all()
        if kind.is_in_edition:
            rows = rows.filter(edition=edition)
        rows = rows.defer(*kind.model.derived_fields) if whole else rows.only(*_bones(kind))
        if whole and is_locking:
            rows = rows.select_for_update(of=("self",), no_key=True)
        for row in rows.order_by("pk").iterator(CHUNK_ROWS):
            if kind.is_in_edition:
                row.edition = edition
            if row.pk in hidden:
                self.concealed.add(getattr(row, kind.key))
            else:
                self.put(row)
        if kind is INSTITUTION:
            self._follow_merges()

    def _follow_merges(self) -> None:
        """Let the slug of an institution that was merged mean the one that stays."""
        rows: dict[int, Any] = {**self.by_pk}
        links = {key: row.merged_into_id for key, row in rows.items() if row.merged_into_id in rows}
        for key, there in final_rows(links).items():
            self.rows[rows[key].slug] = rows[there]

    def put(self, row: Content) -> None:
        self.rows[getattr(row, self.kind.key)] = row
        if row.pk:
            self.by_pk[row.pk] = row


def _bones(kind: Kind) -> list[str]:
    """Return the fields by which a row is found and its rules are checked."""
    own = [name for name in ("name",) if name in kind.plain]
    own += ["merged_into"] if kind is INSTITUTION else []
    return ["pk", kind.key, *own, *(["edition"] if kind.is_in_edition else []), *kind.references]


class Shelves:
    """All shelves of one edition, filled when first asked for."""

    def __init__(
        self,
        edition: Edition,
        whole: Iterable[str] = (),
        concealed: Concealed = NOBODY,
        *,
        is_locking: bool = True,
    ) -> None:
        self.edition = edition
        self._whole = frozenset(whole)
        self._concealed = concealed
        self._is_locking = is_locking
        self._shelves: dict[str, Shelf] = {}

    def __getitem__(self, name: str) -> Shelf:
        if name not in self._shelves:
            hidden = self._concealed.get(name, frozenset())
            self._shelves[name] = shelf = Shelf(
                KINDS[name], self.edition, hidden, whole=name in self._whole, is_locking=self._is_locking
            )
            for row in shelf.rows.values():
                self._connect(row, shelf.kind)
        return self._shelves[name]

    def _connect(self, row: Content, kind: Kind) -> None:
        """Give a row the rows that it points at, so that its rules ask no question of the database."""
        for name, other in kind.references.items():
            key = getattr(row, f"{name}_id")
            target = self[other].by_pk.get(key) if key else None
            if target is not None:
                setattr(row, name, target)

    def value(self, row: Content, kind: Kind, name: str) -> Any:
        """Return the value of a plain field or a reference."""
        if name not in kind.references:
            return plain(getattr(row, name))
        target = getattr(row, name)
        return getattr(target, KINDS[kind.references[name]].key) if target else None


def parts_by_owner(
    listing: Listing, rows: QuerySet[Any], edition: Edition, *, known_as: bool = False
) -> dict[int, list[Values]]:
    """Return the parts of each owner, in order. One query; one more for the institutions of authors.

    `known_as` adds the present name of each part's person.
    """
    found: dict[int, list[Values]] = defaultdict(list)
    taken = {**listing.columns, "known_as": "person__name"} if known_as else listing.columns
    names = list(taken)
    columns = rows.order_by(f"{listing.owner}_id", "position", "pk").values_list(
        "pk", f"{listing.owner}_id", *taken.values()
    )
    # No iterator(): of a cursor PostgreSQL plans for the first rows, and walks a table to have them in order.
    lines = list(columns)
    institutions = _institutions([key for key, *_ in lines]) if listing is AUTHORS else {}
    for key, owner, *values in lines:
        part = dict(zip(names, values, strict=True))
        if listing is AUTHORS:
            part["institutions"] = institutions.get(key, [])
        elif listing is MENU:
            part["key"] = key
        found[owner].append(_finished(part, listing, edition))
    return {owner: _tree(parts) for owner, parts in found.items()} if listing is MENU else found


def _institutions(authorships: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    through: Any = Authorship.institutions.through
    for keys in batched(authorships, MAX_KEYS_PER_QUERY, strict=False):
        links = through._default_manager.filter(Among("authorship_id", keys)).order_by("pk")
        for authorship, slug in links.values_list("authorship_id", "institution__slug"):
            found[authorship].append(slug)
    return found


def _finished(part: Values, listing: Listing, edition: Edition) -> Values:
    if listing is MATERIALS:
        file = part.pop("file")
        part["url"] = part["url"] or (file and media_address(file))
    elif listing is GRANTS:
        own = part["edition"] == edition.slug
        part = {name: value or "" for name, value in part.items()} | ({"edition": ""} if own else {})
    return part


def media_address(file: str) -> str:
    """Return the full address of an uploaded file."""
    address = default_storage.url(file)
    return address if "://" in address else f"{settings.SITE_URL}{address}"


def _tree(lines: list[Values]) -> list[Values]:
    """Hang the lines of a menu below their parents; what hangs below an absent line is absent too."""
    by_key: dict[int, Values] = {}
    for line in lines:
        target = next(name for name in ("section", "page", "url") if line[name])
        by_key[line["key"]] = {
            "label": line["label"],
            "kind": target,
            "target": line[target],
            "children": [],
        }
    for line in lines:
        if line["parent"] in by_key:
            by_key[line["parent"]]["children"].append(by_key[line["key"]])
    return [by_key[line["key"]] for line in lines if line["parent"] is None]


def is_self_reference(kind: Kind, name: str) -> bool:
    return kind.references.get(name) == kind.name
