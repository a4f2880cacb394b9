"""Dump an edition as records with all fields stated: the public rows, or for staff also drafts.

Rows are read in batches of a thousand, with a constant number of queries per batch.
E-mail addresses, hidden names, photos, logos and uploaded files are never included.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, TypedDict, Unpack

from django.conf import settings
from django.db.models import Q, QuerySet

from conference.models import Edition
from content.array_lookup import AnyOf
from content.models import Content
from exchange.files import Context, Format, Rows
from exchange.imports.kinds import (
    AUTHORS,
    CONFERENCE,
    EDITION,
    EDITION_KINDS,
    INSTITUTION,
    KINDS,
    MENU,
    PERSON,
    Kind,
    Listing,
    Values,
)
from exchange.imports.rows import CHUNK_ROWS, in_batches, parts_by_owner, person_records
from exchange.reading.values import key_of
from exchange.records import EditionRecord, KindRecord, MenuRecord, PersonRecord, PersonRef, Program, Record
from papers.models import Authorship, Paper
from people.models import Institution, Person, PersonName
from people.names import split
from people.printed_names import HiddenNames
from schedule.session_kinds import AppliesTo, built_in_kinds, own_kinds

# The fields that sort the rows of a kind, before its key. Sorted in Python: databases collate differently.
SORT_FIELDS = {
    "sponsor": ("position",),
    "announcement": ("published_at",),
    "key_date": ("position",),
    "topic": ("position",),
    "room": ("position",),
    "award": ("position",),
    "session": ("start", "end"),
    "presentation": ("session", "position"),
}
PROGRAM_LISTS = (INSTITUTION.plural, PERSON.plural, *(kind.plural for kind in EDITION_KINDS))
# The fields of the records in lists.
LISTING_FIELDS = {
    listing.name: [field.name for field in fields(listing.record) if field.name != "where"]
    for kind in KINDS.values()
    for listing in kind.listings
}
# A condition that matches no row, and makes no query.
NO_ROWS = Q(pk__in=[])


class Selection(TypedDict, total=False):
    """Options of a dump; by default it has all public rows.

    `drafts`: also unpublished rows. `only` names the kinds of rows to read, such as "paper", each with a
    condition; it excludes other kinds, and the edition's menu and committee. `fields` names by kind, or by
    list such as "authors", the fields to read, besides the key. `people`: whether to include participants.
    `is_sorted`: false for readers that sort by themselves, which saves a query for each kind.
    """

    drafts: bool
    at: datetime | None
    only: Mapping[str, Q] | None
    fields: Mapping[str, Collection[str]]
    people: bool
    is_sorted: bool


def dump(edition: Edition, **selection: Unpack[Selection]) -> Program:
    """Return an edition's selected records, none if it is not public. Related rows are not added."""
    return Dump(edition, **selection).load_all() if _is_readable(edition, **selection) else Program()


def stream(edition: Edition, **selection: Unpack[Selection]) -> Program:
    """Return the same as `dump` for writers that only iterate over lists. Each iteration makes queries."""
    return Dump(edition, **selection).program() if _is_readable(edition, **selection) else Program()


def _is_readable(edition: Edition, **selection: Unpack[Selection]) -> bool:
    public = Edition.objects.published(selection.get("at"))
    return selection.get("drafts", False) or public.filter(pk=edition.pk).exists()


def dump_for_format(fmt: Format, edition: Edition, *, drafts: bool = False) -> Program:
    """Return an edition for a format's writer, streamed if the writer takes a stream."""
    return (stream if fmt.takes_stream else dump)(edition, drafts=drafts)


def writing_context(edition: Edition) -> Context:
    return Context(
        edition.slug,
        edition.year,
        edition.timezone,
        settings.SITE_URL,
        name_parts=name_parts,
        version=partial(version_of, edition),
        uids=partial(uids_of, edition),
        own_kind=partial(own_kind, edition),
        paper_titles=paper_titles,
    )


def version_of(edition: Edition) -> str:
    """Return number and title of the last release."""
    release = edition.releases.published().newest_first().first()
    return f"{release.number} {release.title}".strip() if release else ""


def own_kind(edition: Edition, applies_to: str, kind: str) -> tuple[str, str]:
    """Return name and built-in kind of one of the conference's own kinds. At most one query for all."""
    session_kind = None if kind in built_in_kinds(applies_to) else own_kinds(edition).get((applies_to, kind))
    return (session_kind.name, session_kind.counts_as) if session_kind else ("", kind)


def paper_titles(keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the titles of papers. Permissions are not checked: callers have the uids from a dump."""
    editions, uids = {edition for edition, _ in keys}, {uid for _, uid in keys}
    rows = Paper.objects.filter(edition__slug__in=editions, uid__in=uids) if keys else Paper.objects.none()
    titles = rows.order_by().values_list("edition__slug", "uid", "title")
    return {(edition, uid): title for edition, uid, title in titles}


def selection_for_table(edition: Edition, kind: str, condition: Q) -> dict[str, Q]:
    """Return `only` for a table of these rows; the table of papers also names sessions and awards."""
    if kind != "paper":
        return {kind: condition}
    papers = edition.papers.filter(condition).order_by().values("pk")
    return {kind: condition, "session": Q(), "presentation": Q(paper__in=papers), "award": Q()}


def uids_of(edition: Edition, kind: str) -> Iterable[str]:
    """Return the uids of an edition's rows of a kind, drafts too, oldest first."""
    model: Any = KINDS[kind].model
    rows = model._default_manager.filter(edition=edition)
    return list(rows.order_by("pk").values_list("uid", flat=True))


def name_parts(name: str) -> tuple[str, str]:
    parts = split(name)
    return parts.given, parts.family


class Dump:
    """Reader of the public rows of one edition. It does not check that the edition itself is public."""

    def __init__(self, edition: Edition, **selection: Unpack[Selection]) -> None:
        self.edition = edition
        self.drafts, self.at = selection.get("drafts", False), selection.get("at")
        self.only, self.fields = selection.get("only"), selection.get("fields", {})
        self.with_people, self.is_sorted = selection.get("people", True), selection.get("is_sorted", True)

    def program(self) -> Program:
        parts: dict[str, Any] = {kind.plural: Rows(partial(self._in_order, kind)) for kind in EDITION_KINDS}
        parts["institutions"] = Rows(lambda field_names: self._institutions())
        if self.with_people:
            parts["people"] = Rows(lambda field_names: self._people())
        if self.only is None:
            parts["session_kinds"] = tuple(self._kinds(AppliesTo.SESSION))
            parts["presentation_kinds"] = tuple(self._kinds(AppliesTo.PRESENTATION))
        conference = record_of(CONFERENCE, self.edition.conference)
        return Program(conference=conference, edition=self._edition(), **parts)

    def load_all(self) -> Program:
        program = self.program()
        lists: dict[str, Any] = {name: tuple(getattr(program, name)) for name in PROGRAM_LISTS}
        return replace(program, **lists)

    def _edition(self) -> EditionRecord:
        key, conference = self.edition.pk, self.edition.conference.slug
        parts_by_listing = self.lists(EDITION, [key])
        lists = {
            listing.name: self.part_records(listing, parts_by_listing.get(listing.name, {}).get(key, []))
            for listing in EDITION.listings
        }
        record: EditionRecord = record_of(EDITION, self.edition, conference=conference, **lists)
        return record

    def _kinds(self, applies_to: str) -> Iterator[KindRecord]:
        """Yield all kinds that the conference added, whether the edition uses them or not."""
        for kind in own_kinds(self.edition).values():
            if kind.applies_to == applies_to:
                yield KindRecord(slug=kind.slug, name=kind.name, counts_as=kind.counts_as, color=kind.color)

    def _visible(self, model: type[Content]) -> QuerySet[Content]:
        manager: Any = model._default_manager
        rows: QuerySet[Content] = manager.all() if self.drafts else manager.published(self.at)
        return rows

    def _includes(self, kind: Kind) -> bool:
        return self.only is None or kind.name in self.only

    def _rows(self, kind: Kind) -> QuerySet[Content]:
        rows = self._visible(kind.model).filter(Q(edition=self.edition))
        return rows if self.only is None else rows.filter(self.only.get(kind.name, NO_ROWS))

    # Records

    def _in_order(self, kind: Kind, field_names: Collection[str] | None) -> Iterator[Record]:
        """Yield the sorted records of a kind. All sort keys are read first, then rows in batches."""
        if not self._includes(kind):
            return
        field_names = self.fields.get(kind.name) if field_names is None else field_names
        if not self.is_sorted:
            yield from self.records(kind, self._rows(kind), field_names).values()
            return
        names = [_column(kind, name) for name in (*SORT_FIELDS.get(kind.name, ()), kind.key)]
        rows = self._rows(kind).order_by().values_list(*names, "pk").iterator(CHUNK_ROWS)
        # Empty values come last.
        sorted_rows = sorted(
            rows, key=lambda row: [(value is None, "" if value is None else value) for value in row[:-1]]
        )
        keys = [row[-1] for row in sorted_rows]
        for batch in in_batches(keys):
            batch_rows = self._visible(kind.model).filter(AnyOf("pk", batch))
            records = self.records(kind, batch_rows, field_names)
            yield from (records[key] for key in batch if key in records)

    def lists(
        self, kind: Kind, owners: list[int], field_names: Collection[str] | None = None
    ) -> dict[str, dict[int, list[Values]]]:
        if not self._includes(kind):
            return {}
        return {
            listing.name: parts_by_owner(
                listing,
                self._visible(listing.model).filter(AnyOf(f"{listing.owner}_id", owners)),
                self.edition,
                with_known_as="person" in listing.columns,
                field_names=self.fields.get(listing.name),
            )
            for listing in kind.listings
            if field_names is None or listing.name in field_names
        }

    def records(
        self, kind: Kind, rows: QuerySet[Content], field_names: Collection[str] | None = None
    ) -> dict[int, Record]:
        """Return records by primary key. `field_names`: the fields to read, `None` for all."""
        names = [
            name
            for name in (*kind.plain_fields, *kind.references)
            if field_names is None or name in field_names
        ]
        listings = [
            listing for listing in kind.listings if field_names is None or listing.name in field_names
        ]
        columns = ["pk", kind.key, *(_column(kind, name) for name in names)]
        names = [kind.key, *names]
        lines = list(rows.order_by().values_list(*columns))
        lists = self.lists(kind, [owner for owner, *_ in lines], field_names) if listings else {}
        records: dict[int, Record] = {}
        for owner, *row in lines:
            values = dict(zip(names, _lists_as_tuples(row), strict=True))
            for listing in listings:
                values[listing.name] = self.part_records(listing, lists.get(listing.name, {}).get(owner, []))
            records[owner] = kind.record(**values)
        return records

    def part_records(self, listing: Listing, parts: list[Values]) -> tuple[Record, ...]:
        if listing is MENU:
            return menu_records(parts)
        names = [name for name in LISTING_FIELDS[listing.name] if name in parts[0]] if parts else []
        records = []
        for part in parts:
            if uid := part.get("person"):
                # The printed name, unless the person has hidden it.
                name = self._hidden.shown_name(uid, part.get("name", ""), part["known_as"])
                part["person"] = PersonRef(name=name, uid=uid)
            elif "person" in part:
                part["person"] = None
            values = _lists_as_tuples([part[name] for name in names])
            records.append(listing.record(**dict(zip(names, values, strict=True))))
        return tuple(records)

    @cached_property
    def _hidden(self) -> HiddenNames:
        """All hidden names of all people, since there are few."""
        return HiddenNames(PersonName.objects.filter(hidden=True).values_list("person__uid", "name"))

    # People

    def _parts(self) -> Iterator[tuple[Listing, QuerySet[Content]]]:
        """Yield each kind of list with its rows."""
        for kind in KINDS.values():
            for listing in kind.listings if self._includes(kind) else ():
                rows = self._visible(listing.model).filter(**{listing.model.edition_lookup: self.edition})
                if self.only is not None and kind is not EDITION:
                    rows = rows.filter(**{f"{listing.owner}__in": self._rows(kind).order_by().values("pk")})
                yield listing, rows.order_by()

    def _people(self) -> Iterator[PersonRecord]:
        """Yield all people of the selected rows, sorted by name."""
        person_keys: set[int | None] = set()
        for listing, rows in self._parts():
            if "person" in listing.columns:
                person_keys.update(
                    rows.values_list(f"{PERSON.name}_id", flat=True).distinct().iterator(CHUNK_ROWS)
                )
        people = Person.objects.filter(AnyOf("pk", filter(None, person_keys))).order_by()
        sorted_people = sorted(people.values_list("sort_key", "uid", "pk"))
        for batch in in_batches(key for _, _, key in sorted_people):
            yield from person_records(batch)

    def _institutions(self) -> Iterator[Record]:
        slugs: set[str] = set()
        for listing, rows in self._parts() if self._includes(INSTITUTION) else ():
            if listing is AUTHORS:
                through: Any = Authorship.institutions.through
                links = through._default_manager.filter(authorship__in=rows.values("pk"))
                slugs.update(links.order_by().values_list("institution__slug", flat=True).distinct())
        for batch in in_batches(sorted(slugs)):
            records = self.records(INSTITUTION, Institution.objects.filter(slug__in=batch))
            yield from sorted(records.values(), key=lambda record: str(key_of(record)[1]))


def record_of(kind: Kind, row: Content, **values: object) -> Any:
    names = (kind.key, *kind.plain_fields)
    plain_values = dict(zip(names, _lists_as_tuples([getattr(row, name) for name in names]), strict=True))
    return kind.record(**plain_values, **values)  # type: ignore[arg-type]  # the table of kinds says which it has


def _lists_as_tuples(values: list[Any]) -> list[Any]:
    """Return the values of a row with lists converted to tuples."""
    return [tuple(value) if type(value) is list else value for value in values]


def menu_records(parts: list[Values]) -> tuple[MenuRecord, ...]:
    return tuple(MenuRecord(**{**part, "children": menu_records(part["children"])}) for part in parts)


def _column(kind: Kind, name: str) -> str:
    """Return the lookup of a record's field in its model."""
    target = kind.references.get(name)
    return f"{name}__{KINDS[target].key}" if target else name
