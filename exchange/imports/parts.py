"""The parts of lists as rows: authors, materials, grants, roles, speakers, offices, lines of a menu.

Built from plain values, compared with what stands there, and written so that rows are reused.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import F

from content.models import Content
from content.ordering import PARKED
from content.relations import linking
from exchange.imports.listings import AUTHORS, GRANTS, MATERIALS, MENU, Listing, Values
from exchange.imports.rows import in_batches, media_address
from papers.models import Authorship

BATCH_ROWS = 500
# An update names every row for every column: large batches take more memory and no less time.
UPDATED = 200


class Lookup(Protocol):
    """Where parts find the rows that they point at."""

    def person(self, uid: str) -> Any: ...

    def paper(self, edition: str, uid: str) -> Any: ...

    def row(self, kind: str, key: str) -> Any: ...


@dataclass(slots=True)
class PartRow:
    """One part as an unsaved row, with the institutions that follow it."""

    row: Any
    identity: tuple[Any, ...]
    institutions: list[Any]


def build(listing: Listing, owner: Content, parts: list[Values], lookup: Lookup) -> list[PartRow]:
    """Return the parts as unsaved rows in order. Nobody is asked for anything: all is in memory."""
    if listing is MENU:
        return _lines(owner, parts, lookup)
    return [_built(listing, owner, part, place, lookup) for place, part in enumerate(parts, start=1)]


def _built(listing: Listing, owner: Content, part: Values, place: int, lookup: Lookup) -> PartRow:
    values = {listing.owner: owner, "position": place}
    for name in listing.columns:
        if name == "person":
            values["person"] = lookup.person(part["person"]) if part["person"] else None
        elif listing is GRANTS and name in ("paper", "edition"):
            values["paper"] = lookup.paper(part["edition"], part["paper"]) if part["paper"] else None
        elif name in part:
            values[name] = part[name]
    institutions = [lookup.row("institution", slug) for slug in part.get("institutions", [])]
    identity = tuple(part[name] for name in listing.identity)
    return PartRow(listing.model(**values), identity, institutions)


def _lines(owner: Content, parts: list[Values], lookup: Lookup, parent: object = None) -> list[PartRow]:
    rows: list[PartRow] = []
    model: Any = MENU.model
    for place, part in enumerate(parts, start=1):
        target = {part["kind"]: part["target"]}
        if part["kind"] == "page":
            target = {"page": lookup.row("page", part["target"])}
        row: Any = model(edition=owner, parent=parent, label=part["label"], position=place, **target)
        rows += [PartRow(row, (), []), *_lines(owner, part["children"], lookup, row)]
    return rows


def write(listing: Listing, wanted: dict[int, list[PartRow]]) -> None:
    """Make the lists of these owners (by primary key) exactly the wanted ones."""
    for owners in in_batches(wanted):
        _write_batch(listing, {owner: wanted[owner] for owner in owners})


def _write_batch(listing: Listing, wanted: dict[int, list[PartRow]]) -> None:
    standing = _standing(listing, wanted)
    fresh: list[PartRow] = []
    kept: list[PartRow] = []
    names = {"position"}
    for owner, parts in wanted.items():
        for part in parts:
            rows = standing.get((owner, part.identity), [])
            if rows:
                names |= _reuse(listing, part, rows.pop(0))
                kept.append(part)
            else:
                fresh.append(part)
    everything: Any = listing.model._default_manager
    gone = [row.pk for rows in standing.values() for row in rows]
    if gone:
        everything.filter(pk__in=gone).delete()
    if kept:
        everything.filter(pk__in=[part.row.pk for part in kept]).update(position=F("position") + PARKED)
        everything.bulk_update([part.row for part in kept], sorted(names), batch_size=UPDATED)
    _create(listing, fresh)
    if listing is AUTHORS:
        _link([*kept, *fresh], {part.row.pk for part in kept})


def _standing(listing: Listing, owners: Iterable[int]) -> dict[tuple[int, tuple[Any, ...]], list[Any]]:
    """Return the rows of these owners by owner and identity. Menus are drawn anew: their lines have none."""
    found: dict[tuple[int, tuple[Any, ...]], list[Any]] = defaultdict(list)
    rows = listing.model._default_manager.filter(**{f"{listing.owner}__in": list(owners)})
    related = ["person"] if "person" in listing.columns else []
    if listing is GRANTS:
        related += ["award", "paper__edition"]
    if related:
        rows = rows.select_related(*related)
    for row in rows.order_by("position", "pk"):
        identity = _identity(listing, row) if listing is not MENU else (row.pk, "line")
        found[getattr(row, f"{listing.owner}_id"), identity].append(row)
    return found


def _identity(listing: Listing, row: Any) -> tuple[Any, ...]:
    values: Values = {}
    for name in listing.identity:
        if name == "person":
            values[name] = row.person.uid if row.person else ""
        elif name == "paper":
            values[name] = row.paper.uid if row.paper else ""
        elif name == "edition":
            own = row.paper is None or row.paper.edition_id == row.award.edition_id
            values[name] = "" if own else row.paper.edition.slug
        elif listing is MATERIALS and name == "url":
            values[name] = row.url or media_address(row.file.name)
        else:
            values[name] = getattr(row, name)
    return tuple(values[name] for name in listing.identity)


def _reuse(listing: Listing, part: PartRow, old: Any) -> set[str]:
    """Let the new row take the place of the old one, and name what differs; an uploaded file stays a file."""
    part.row.pk = old.pk
    part.row._state.adding = False
    if listing is MATERIALS and old.file:
        part.row.file, part.row.url = old.file, old.url
    columns = listing.model._meta.concrete_fields
    return {c.name for c in columns if getattr(old, c.attname) != getattr(part.row, c.attname)}


def _create(listing: Listing, parts: list[PartRow]) -> None:
    rows = [part.row for part in parts]
    manager = listing.model._default_manager
    if listing is MENU:
        manager.bulk_create([row for row in rows if row.parent is None])
        manager.bulk_create([row for row in rows if row.parent is not None])
    elif rows:
        manager.bulk_create(rows, batch_size=BATCH_ROWS)


def _link(parts: list[PartRow], reused: set[int]) -> None:
    """Write the institutions of authors."""
    through: Any = Authorship.institutions.through
    links = [
        through(authorship_id=part.row.pk, institution_id=institution.pk)
        for part in parts
        for institution in part.institutions
    ]
    with linking(Authorship, "institutions", reused):
        if reused:
            through._default_manager.filter(authorship__in=reused).delete()
        through._default_manager.bulk_create(links, batch_size=BATCH_ROWS)
