"""People of a file, grouped from its references by keys and names. Makes no queries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext

from exchange.imports.kinds import AUTHORS, EDITION, EDITION_KINDS, PAPER, PRESENTATION, SPEAKERS, Listing
from exchange.imports.rows import records_of
from exchange.problems import Findings, Where
from exchange.records import PersonRecord, PersonRef, Program, stated
from people import names

# The lists that contain people, each with its kind of record.
PEOPLE_LISTS = [
    (kind, listing)
    for kind in (*EDITION_KINDS, EDITION)
    for listing in kind.listings
    if "person" in listing.columns
]

# The lists in which a bare name that is repeated means another person of this name.
LISTS_WITH_NAMESAKES = (AUTHORS, SPEAKERS)

# Two names of one system, which spreadsheets and notes of it are read with.
SAME_SCHEMES = {"openreview": "openreview.net"}

# The record that contains a reference: the name of its kind, and its key.
type Location = tuple[str, str]


@dataclass(eq=False, slots=True)
class FilePerson:
    """All references in a file to one person."""

    name: str
    where: Where
    uid: str = ""
    orcid: str = ""
    ids: set[tuple[str, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    affiliations: set[str] = field(default_factory=set)
    # The records that name the person; `locations` adds the papers of presentations.
    record_locations: set[Location] = field(default_factory=set)
    locations: set[Location] = field(default_factory=set)
    record: PersonRecord | None = None
    email: str = ""
    # What identifies the person within a file: its name and the key there.
    file_keys: set[tuple[str, str]] = field(default_factory=set)
    # Given and family name as the file first states them, for the name.
    parts: tuple[str, str] = ("", "")

    @property
    def is_keyed(self) -> bool:
        """Return whether an identifier that lasts beyond the file decides who the person is."""
        return bool(self.uid or self.orcid or self.ids)

    @property
    def papers(self) -> set[Location]:
        """The papers and talks that list the person as an author or a speaker."""
        kinds = (PAPER.name, PRESENTATION.name)
        return {location for location in self.record_locations if location[0] in kinds}


def numbered_parts(listing: Listing, parts: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """Yield the parts of a list with how many up to each have its bare name: 2 for a second namesake."""
    counts: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        number, ref = 1, getattr(part, "person", None)
        if ref and listing in LISTS_WITH_NAMESAKES and not _keys(ref):
            identity = (names.normalize(ref.name), ref.key, ref.email.casefold())
            counts[identity] += 1
            number = counts[identity]
        yield part, number


def references(program: Program) -> Iterator[tuple[Location, PersonRef, Where, tuple[str, ...], int]]:
    """Yield location, reference, where, affiliations and number of all references outside of people."""
    for kind, listing in PEOPLE_LISTS:
        for record in records_of(program, kind):
            location = (kind.name, getattr(record, kind.key))
            for part, number in numbered_parts(listing, stated(getattr(record, listing.name), ())):
                if part.person:
                    affiliations = getattr(part, "affiliations", (getattr(part, "affiliation", ""),))
                    yield location, part.person, record.where, affiliations, number


class FilePeople:
    """The people of one file: those with a key of any kind, and bare names.

    A bare name with a record of its own is one person. Any other is a separate person in each record, and
    each time that a list of authors repeats it. A speaker of a paper is the author of that name. References
    with one key for the file, or with one e-mail address and such names, are one person.
    """

    def __init__(self, program: Program, findings: Findings) -> None:
        self.findings = findings
        self._joined: list[FilePerson] = []
        self._bare: dict[str, dict[tuple[Location, int] | None, FilePerson]] = defaultdict(dict)
        self._by_key: dict[tuple[str, ...], FilePerson] = {}
        self._keyed_at: dict[tuple[str, Location], FilePerson] = {}
        self._papers: dict[Location, Location] = {
            (PRESENTATION.name, presentation.uid): (PAPER.name, paper)
            for presentation in program.presentations
            if (paper := stated(presentation.paper, None))
        }
        for record in program.people:
            self._add_record(record)
        for location, ref, where, affiliations, number in references(program):
            self._add(ref, ref.where if ref.where.file else where, location, affiliations, number)
        self.keyed = [entry for entry in self._joined if entry.is_keyed]

    def entry(self, ref: PersonRef, location: Location | None, number: int = 1) -> FilePerson:
        """Return the person of a reference by its keys, else by the bare name in this record."""
        for key in (*_keys(ref), *_keys_in_file(ref, number)):
            if key in self._by_key:
                return self._by_key[key]
        return self._bare_entry(names.normalize(ref.name), location, ref.where, number)

    def all(self) -> Iterator[FilePerson]:
        yield from self._joined
        for entries in self._bare.values():
            yield from entries.values()

    def namesakes(self) -> dict[tuple[str, Location], list[FilePerson]]:
        """Return the people of one bare name in one list, in its order, by name and record."""
        people: dict[tuple[str, Location], list[FilePerson]] = {}
        for name, entries in self._bare.items():
            for location, _ in (key for key in entries if key and key[1] == 2):
                people[name, location] = [
                    entry for key, entry in entries.items() if key and key[0] == location
                ]
        return people

    def _bare_entry(self, name: str, location: Location | None, where: Where, number: int) -> FilePerson:
        entries = self._bare[name]
        if None in entries or location is None:
            return entries.setdefault(None, FilePerson(name, where))
        canonical = self._papers.get(location, location)
        if canonical == location:
            return entries.setdefault((location, number), FilePerson(name, where))
        if (canonical, 1) not in entries and (name, canonical) in self._keyed_at:
            return self._keyed_at[name, canonical]
        return entries.setdefault((canonical, 1), FilePerson(name, where))

    def _add_record(self, record: PersonRecord) -> None:
        affiliation = stated(record.affiliation, "")
        entry = self._add(record.ref, record.where, None, (affiliation,))
        if entry.record:
            message = gettext("This is the same person as %(place)s. Keep one of them.")
            self.findings.problem(record.where, "uid", message, place=entry.record.where.place)
        entry.record, entry.name = record, names.normalize(record.ref.name)
        entry.names.update(map(names.normalize, stated(record.other_names, ())))

    def _add(
        self,
        ref: PersonRef,
        where: Where,
        location: Location | None,
        affiliations: tuple[str, ...],
        number: int = 1,
    ) -> FilePerson:
        ref = self._without_foreign_ids(replace(ref, ids=tuple(map(canonical_id, ref.ids))), where)
        keys, keys_in_file = _keys(ref), _keys_in_file(ref, number)
        name = names.normalize(ref.name)
        matches = list(dict.fromkeys(self._by_key[key] for key in keys if key in self._by_key))
        matches_in_file = [
            self._by_key[key]
            for key in keys_in_file
            if key in self._by_key and not _contradicts(self._by_key[key], ref)
        ]
        if matches or matches_in_file:
            entry = [*matches, *matches_in_file][0]
        elif keys or keys_in_file:
            entry = FilePerson(name, where)
            self._joined.append(entry)
        else:
            entry = self._bare_entry(name, location, where, number)
        entry.uid = entry.uid or ref.uid
        if len(matches) > 1:
            message = gettext(
                "The ids of %(name)s belong to two people of this file; the first one is taken."
            )
            self.findings.note("doubt", where, message, name=name)
            ref = PersonRef(name=ref.name)
        entry.email = entry.email or ref.email
        if ref.family and entry.name == name and not entry.parts[1]:
            entry.parts = names.normalize(ref.given), names.normalize(ref.family)
        if ref.key:
            entry.file_keys.add((where.file, ref.key))
        for key in (*keys, *keys_in_file):
            self._by_key.setdefault(key, entry)
        entry.orcid = entry.orcid or names.normalize_orcid(ref.orcid)
        entry.ids.update(ref.ids)
        entry.names.add(name)
        entry.affiliations.update(filter(None, affiliations))
        if location:
            entry.record_locations.add(location)
            entry.locations |= {location, self._papers.get(location, location)}
            if keys or keys_in_file:
                self._keyed_at.setdefault((name, location), entry)
        return entry

    def _without_foreign_ids(self, ref: PersonRef, where: Where) -> PersonRef:
        """Return the reference without ids that already belong to another uid in this file."""
        if not ref.uid or not (ref.ids or ref.orcid):
            return ref
        owners = {key: self._by_key[key] for key in _keys(ref) if key in self._by_key}
        foreign = {key: owner for key, owner in owners.items() if owner.uid not in ("", ref.uid)}
        if not foreign:
            return ref
        labels = ", ".join(dict.fromkeys(f"{owner.name} ({owner.uid})" for owner in foreign.values()))
        message = gettext(
            "An id of %(name)s (%(uid)s) is that of %(listed)s too. They are kept apart without it."
        )
        self.findings.note("doubt", where, message, name=ref.name, uid=ref.uid, listed=labels)
        ids = tuple(pair for pair in ref.ids if ("id", *pair) not in foreign)
        orcid = "" if ("orcid", names.normalize_orcid(ref.orcid)) in foreign else ref.orcid
        return replace(ref, ids=ids, orcid=orcid)


def are_told_apart(keys: set[tuple[str, str]], other_keys: set[tuple[str, str]]) -> bool:
    """Return whether a file gives two people different keys."""
    files = {file for file, _ in keys} & {file for file, _ in other_keys}
    return bool(files) and not any(file in files for file, _ in keys & other_keys)


def canonical_id(pair: tuple[str, str]) -> tuple[str, str]:
    scheme, value = pair
    return SAME_SCHEMES.get(scheme, scheme), value


def _keys(ref: PersonRef) -> list[tuple[str, ...]]:
    """Return the keys of a reference, the strongest first."""
    keys: list[tuple[str, ...]] = [("uid", ref.uid)] if ref.uid else []
    keys += [("id", *canonical_id(pair)) for pair in ref.ids]
    if ref.orcid:
        keys.append(("orcid", names.normalize_orcid(ref.orcid)))
    return keys


def _keys_in_file(ref: PersonRef, number: int) -> list[tuple[str, ...]]:
    """Return what identifies a person within the file. Co-authors may share an address."""
    if not (ref.key or ref.email):
        return []
    name = initial_and_family(ref.name)
    keys: list[tuple[str, ...]] = [("key", ref.key, *name)] if ref.key else []
    if ref.email:
        keys.append(("email", ref.email.casefold(), *name, str(number)))
    return keys


def initial_and_family(name: str) -> tuple[str, str]:
    """Return what names of one person that share an e-mail address have in common."""
    words = names.fold(name).replace(".", " ").split()
    return (words[0][:1], words[-1]) if words else ("", "")


def _contradicts(entry: FilePerson, ref: PersonRef) -> bool:
    """Return whether identifiers say that these are two people."""
    orcid = names.normalize_orcid(ref.orcid)
    return bool(
        (entry.uid and ref.uid and entry.uid != ref.uid) or (entry.orcid and orcid and entry.orcid != orcid)
    )
