"""An edition as a program of records, fully stated: what is public, or staff's own copy with drafts.

A constant number of queries. E-mail addresses, hidden names, photos, logos and uploaded files do not travel.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Q

from conference import text
from conference.models import Conference, Edition
from exchange.files import Context
from exchange.loading.kinds import CONFERENCE, EDITION, INSTITUTION, KINDS, PARTS, PERSON, Kind
from exchange.loading.listings import AUTHORS, MENU, Listing, Values
from exchange.loading.rows import in_batches, parts_by_owner
from exchange.records import MenuRecord, PersonRecord, PersonRef, Program, Record
from people.models import Institution, Person, PersonIdentifier, PersonName
from people.names import split

# By what the rows of a kind are sorted; the key decides between equals. Databases collate differently.
SORTED_BY = {
    "sponsor": ("position",),
    "announcement": ("published_at",),
    "topic": ("position",),
    "room": ("position",),
    "award": ("position",),
    "session": ("start", "end"),
    "presentation": ("session", "position"),
}


# No row at all; asking for it costs no query.
NOTHING = Q(pk__in=[])


def dump(
    edition: Edition,
    *,
    drafts: bool = False,
    at: datetime | None = None,
    only: Mapping[str, Q] | None = None,
) -> Program:
    """Return what `published(at)` shows of an edition; nothing if it is not public. `drafts`: everything.

    `only` names the kinds of rows wanted, such as "paper", each with a condition; other kinds stay out, and
    so do the edition's menu and committee. What rows point at is not taken along by itself.
    """
    if not drafts and not Edition.objects.published(at).filter(pk=edition.pk).exists():
        return Program()
    return _Dump(edition, drafts=drafts, at=at, only=only).program()


def writing_context(edition: Edition) -> Context:
    """Return what a writer must know of an edition."""
    return Context(
        edition.slug,
        edition.year,
        edition.timezone,
        settings.SITE_URL,
        plain=text.plain,
        latex=text.latex,
        name_parts=name_parts,
    )


def name_parts(name: str) -> tuple[str, str]:
    """Return the given and the family names of a printed name."""
    parts = split(name)
    return parts.given, parts.family


class _Dump:
    """One edition being read."""

    def __init__(
        self, edition: Edition, *, drafts: bool, at: datetime | None, only: Mapping[str, Q] | None
    ) -> None:
        self.edition, self.drafts, self.at, self.only = edition, drafts, at, only
        self.refs: dict[str, PersonRef] = {}
        self.names: dict[tuple[str, str], PersonRef] = {}
        self.hidden: set[tuple[str, str]] = set()

    def program(self) -> Program:
        lists = {
            listing.name: self._parts(kind, listing) for kind in KINDS.values() for listing in kind.listings
        }
        people = self._people(self._uids(lists))
        institutions = self._institutions(lists[AUTHORS.name]) if self._wants(INSTITUTION) else ()
        parts = {kind.many: self._records(kind, self._rows(kind), lists) for kind in PARTS}
        conference = self._records(
            CONFERENCE, Conference.objects.filter(pk=self.edition.conference_id), lists
        )
        editions = self._records(EDITION, Edition.objects.filter(pk=self.edition.pk), lists)
        return Program(
            conference=conference[0],
            edition=editions[0],
            institutions=institutions,
            people=people,
            **parts,
        )

    def _shown(self, model: Any) -> Any:
        return model.objects.all() if self.drafts else model.objects.published(self.at)

    def _wants(self, kind: Kind) -> bool:
        return self.only is None or kind.name in self.only

    def _rows(self, kind: Kind) -> Any:
        rows = self._shown(kind.model).filter(edition=self.edition)
        return rows if self.only is None else rows.filter(self.only.get(kind.name, NOTHING))

    # Records

    def _records(self, kind: Kind, rows: Any, lists: dict[str, dict[int, list[Values]]]) -> tuple[Any, ...]:
        columns = [f"{name}__{KINDS[other].key}" for name, other in kind.references.items()]
        names = ["pk", kind.key, *kind.plain, *kind.references]
        found = []
        for row in rows.order_by().values_list("pk", kind.key, *kind.plain, *columns).iterator(2000):
            values = dict(zip(names, map(_frozen, row), strict=True))
            owner = values.pop("pk")
            for listing in kind.listings:
                values[listing.name] = self._part_records(listing, lists[listing.name].get(owner, []))
            found.append(kind.record(**values))
        return tuple(sorted(found, key=lambda record: _place(kind, record)))

    def _parts(self, kind: Kind, listing: Listing) -> dict[int, list[Values]]:
        if not self._wants(kind):
            return {}
        owner = {"pk": self.edition.pk} if listing.owner == "edition" else {"edition": self.edition}
        rows = self._shown(listing.model).filter(
            **{f"{listing.owner}__{name}": v for name, v in owner.items()}
        )
        if self.only is not None:
            rows = rows.filter(**{f"{listing.owner}__in": self._rows(kind).order_by().values("pk")})
        return parts_by_owner(listing, rows, self.edition)

    def _part_records(self, listing: Listing, parts: list[Values]) -> tuple[Record, ...]:
        if listing is MENU:
            return tuple(_line(part) for part in parts)
        return tuple(self._part_record(listing, part) for part in parts)

    def _part_record(self, listing: Listing, part: Values) -> Record:
        values = {
            field.name: _frozen(part[field.name]) for field in fields(listing.record) if field.name in part
        }
        if "person" in part:
            values["person"] = self._ref(part["person"], part.get("name", "")) if part["person"] else None
        return listing.record(**values)

    # People

    def _uids(self, lists: dict[str, dict[int, list[Values]]]) -> list[str]:
        parts = (part for owners in lists.values() for parts in owners.values() for part in parts)
        return sorted({part["person"] for part in parts if part.get("person")})

    def _ref(self, uid: str, name: str) -> PersonRef:
        """Return the reference to a person under a printed name; one object per name, as there are many."""
        if not name or name == self.refs[uid].name or (uid, name.casefold()) in self.hidden:
            return self.refs[uid]
        return self.names.setdefault((uid, name), PersonRef(name=name, uid=uid))

    def _people(self, uids: list[str]) -> tuple[PersonRecord, ...]:
        found = []
        for batch in in_batches(uids):
            people = Person.objects.filter(uid__in=batch)
            spellings = _by_person(
                PersonName.objects.filter(person__in=people).values_list("person", "name", "hidden")
            )
            ids = _by_person(
                PersonIdentifier.objects.filter(person__in=people).values_list("person", "scheme", "value")
            )
            for person in people.defer(*Person.derived_fields[1:]):
                self.refs[person.uid] = PersonRef(name=person.name, uid=person.uid)
                for name, is_hidden in spellings.get(person.pk, []):
                    if is_hidden:
                        self.hidden.add((person.uid, name.casefold()))
                found.append((person.sort_key, self._person(person, spellings, ids)))
        return tuple(record for _, record in sorted(found, key=lambda pair: (pair[0], pair[1].ref.uid)))

    def _person(self, person: Person, spellings: dict[int, Any], ids: dict[int, Any]) -> PersonRecord:
        ref = PersonRef(
            name=person.name,
            uid=person.uid,
            orcid=person.orcid,
            ids=tuple(sorted(map(tuple, ids.get(person.pk, [])))),
        )
        others = sorted(name for name, is_hidden in spellings.get(person.pk, []) if not is_hidden)
        own = {name: getattr(person, name) for name in PERSON.plain if name not in ("name", "orcid")}
        return PersonRecord(ref=ref, other_names=tuple(others), **own)

    def _institutions(self, authors: dict[int, list[Values]]) -> tuple[Any, ...]:
        parts = (part for parts in authors.values() for part in parts)
        slugs = sorted({slug for part in parts for slug in part["institutions"]})
        found: list[Any] = []
        for batch in in_batches(slugs):
            found += self._records(INSTITUTION, Institution.objects.filter(slug__in=batch), {})
        return tuple(found)


def _by_person(rows: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for person, *values in rows:
        found.setdefault(person, []).append(values)
    return found


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _line(part: Values) -> MenuRecord:
    children = tuple(_line(child) for child in part["children"])
    return MenuRecord(label=part["label"], kind=part["kind"], target=part["target"], children=children)


def _place(kind: Kind, record: Record) -> tuple[Any, ...]:
    values = [getattr(record, name) for name in SORTED_BY.get(kind.name, ())]
    known = [(value is None, "" if value is None else value) for value in values]
    return (*known, getattr(record, kind.key))
