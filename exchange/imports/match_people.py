"""Match people: references within a file, and with the people in the database.

By uid, then identifier, then ORCID, then exact name where that is safe. Doubts are listed.
Nothing is written.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conference.models import Edition
from content.fields import new_uid, validate_uid
from exchange.imports.kinds import EDITION, PARTS
from exchange.imports.rows import in_batches, records_of, report_concealed
from exchange.problems import Findings, Where
from exchange.records import PersonRecord, PersonRef, Program, stated
from papers.models import Authorship
from people import names
from people.models import Person, PersonIdentifier, PersonName
from people.printed_names import HiddenNames
from people.querysets import final_rows

NAMES_SHOWN = 3
# The lists in which people stand, with the kinds of record that hold them.
PEOPLE_LISTS = [
    (kind, listing) for kind in (*PARTS, EDITION) for listing in kind.listings if "person" in listing.columns
]


# References in a file

# The record that holds a reference: the name of its kind, and its key.
type Location = tuple[str, str]


@dataclass(eq=False, slots=True)
class FilePerson:
    """Somebody of a file: all its references that mean one person."""

    name: str
    where: Where
    uid: str = ""
    orcid: str = ""
    ids: set[tuple[str, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    affiliations: set[str] = field(default_factory=set)
    locations: set[Location] = field(default_factory=set)
    record: PersonRecord | None = None

    @property
    def is_keyed(self) -> bool:
        return bool(self.uid or self.orcid or self.ids)


def references(program: Program) -> Iterator[tuple[Location, PersonRef, Where, tuple[str, ...]]]:
    """Walk all references but those of the people's own records: location, reference, place, affiliations."""
    for kind, listing in PEOPLE_LISTS:
        for record in records_of(program, kind):
            for part in stated(getattr(record, listing.name), ()):
                if part.person:
                    affiliations = getattr(part, "affiliations", (getattr(part, "affiliation", ""),))
                    yield (kind.name, getattr(record, kind.key)), part.person, record.where, affiliations


class FilePeople:
    """The people of one file: those with an id of any kind, and bare names that may mean one of them."""

    def __init__(self, program: Program, findings: Findings) -> None:
        self.findings = findings
        self.keyed: list[FilePerson] = []
        self.bare_names: dict[str, FilePerson] = {}
        self._by_key: dict[tuple[str, ...], FilePerson] = {}
        for record in program.people:
            self._add_record(record)
        for location, ref, where, affiliations in references(program):
            self._add(ref, ref.where if ref.where.file else where, location, affiliations)

    def entry(self, ref: PersonRef) -> FilePerson:
        """Return whom a reference means by its keys, else everybody in the file with the bare name."""
        for key in _keys(ref):
            if key in self._by_key:
                return self._by_key[key]
        return self.bare_names[names.normal(ref.name)]

    def all(self) -> Iterator[FilePerson]:
        yield from self.keyed
        yield from self.bare_names.values()

    def _add_record(self, record: PersonRecord) -> None:
        known = stated(record.affiliation, "")
        entry = self._add(record.ref, record.where, None, (known,))
        if entry.record:
            message = gettext("This is the same person as %(place)s. Keep one of them.")
            self.findings.problem(record.where, "uid", message, place=entry.record.where.place)
        entry.record, entry.name = record, names.normal(record.ref.name)
        entry.names.update(map(names.normal, stated(record.other_names, ())))

    def _add(
        self, ref: PersonRef, where: Where, location: Location | None, affiliations: tuple[str, ...]
    ) -> FilePerson:
        ref = self._without_foreign_ids(ref, where)
        keys = _keys(ref)
        name = names.normal(ref.name)
        found = list(dict.fromkeys(self._by_key[key] for key in keys if key in self._by_key))
        if found:
            entry = found[0]
        elif keys:
            entry = FilePerson(name, where)
            self.keyed.append(entry)
        else:
            entry = self.bare_names.setdefault(name, FilePerson(name, where))
        entry.uid = entry.uid or ref.uid
        if len(found) > 1:
            message = gettext(
                "The ids of %(name)s belong to two people of this file; the first one is taken."
            )
            self.findings.note("doubt", where, message, name=name)
            ref = PersonRef(name=ref.name)
        for key in keys:
            self._by_key.setdefault(key, entry)
        entry.orcid = entry.orcid or names.normal_orcid(ref.orcid)
        entry.ids.update(ref.ids)
        entry.names.add(name)
        entry.affiliations.update(filter(None, affiliations))
        entry.locations.update([location] if location else [])
        return entry

    def _without_foreign_ids(self, ref: PersonRef, where: Where) -> PersonRef:
        """Return the reference without the ids that someone with another uid has in this file already."""
        if not ref.uid or not (ref.ids or ref.orcid):
            return ref
        owners = {key: self._by_key[key] for key in _keys(ref) if key in self._by_key}
        foreign = {key: owner for key, owner in owners.items() if owner.uid not in ("", ref.uid)}
        if not foreign:
            return ref
        listed = ", ".join(dict.fromkeys(f"{owner.name} ({owner.uid})" for owner in foreign.values()))
        message = gettext(
            "An id of %(name)s (%(uid)s) is that of %(listed)s too. They are kept apart without it."
        )
        self.findings.note("doubt", where, message, name=ref.name, uid=ref.uid, listed=listed)
        ids = tuple(pair for pair in ref.ids if ("id", *pair) not in foreign)
        orcid = "" if ("orcid", names.normal_orcid(ref.orcid)) in foreign else ref.orcid
        return replace(ref, ids=ids, orcid=orcid)


def _keys(ref: PersonRef) -> list[tuple[str, ...]]:
    """Return the keys of a reference, the strongest first."""
    keys: list[tuple[str, ...]] = [("uid", ref.uid)] if ref.uid else []
    keys += [("id", *pair) for pair in ref.ids]
    if ref.orcid:
        keys.append(("orcid", names.normal_orcid(ref.orcid)))
    return keys


# People of one name


def locations_of(people: Iterable[int], edition: Edition) -> set[tuple[Location, int]]:
    """Return where the edition references these people: ((kind, key), person)."""
    found: set[tuple[Location, int]] = set()
    if edition._state.adding:
        return found
    for batch in in_batches(sorted(people)):
        for kind, listing in PEOPLE_LISTS:
            own = "edition" if kind is EDITION else f"{listing.owner}__edition"
            rows = listing.model._default_manager.filter(**{"person__in": batch, own: edition})
            keys = rows.values_list(f"{listing.owner}__{kind.key}", "person_id")
            found |= {((kind.name, key), person) for key, person in keys}
    return found


class Namesakes:
    """The people known here by the names of those whom no key has found."""

    def __init__(
        self, unmatched: list[FilePerson], claimed: set[int], followed: Callable[[Person], Person]
    ) -> None:
        self._claimed = claimed
        self._by_name: dict[str, dict[int, Person]] = defaultdict(dict)
        wanted = {entry.name for entry in unmatched}
        for batch in in_batches(sorted(wanted)):
            for person in Person.objects.filter(name__in=batch).defer(*Person.derived_fields):
                found = followed(person)
                self._by_name[person.name][found.pk] = found
            for spelling in PersonName.objects.filter(name__in=batch).select_related("person"):
                found = followed(spelling.person)
                self._by_name[spelling.name][found.pk] = found
        self._ids: dict[int, set[tuple[str, str]]] = defaultdict(set)
        # Now, and as printed on any paper.
        self._affiliations: dict[int, set[str]] = defaultdict(set)
        for keys in in_batches(sorted({key for people in self._by_name.values() for key in people})):
            ids = PersonIdentifier.objects.filter(person__in=keys)
            for key, scheme, value in ids.values_list("person_id", "scheme", "value"):
                self._ids[key].add((scheme, value))
            for key, affiliation in Person.objects.filter(pk__in=keys).values_list("pk", "affiliation"):
                self._affiliations[key].update(filter(None, [affiliation]))
            printed = Authorship.objects.filter(person__in=keys)
            for key, affiliations in printed.values_list("person_id", "affiliations"):
                self._affiliations[key].update(affiliations)

    def all(self, entry: FilePerson) -> list[Person]:
        """Everybody here of that name whom no key of the file has claimed."""
        people = self._by_name.get(entry.name, {})
        return [person for key, person in people.items() if key not in self._claimed]

    def fitting(self, entry: FilePerson) -> list[Person]:
        """Return those whose known data does not contradict the entry."""
        return [person for person in self.all(entry) if not self._contradicts(entry, person)]

    def doubt(self, entry: FilePerson, person: Person) -> str:
        """Say so when the affiliations known on both sides have nothing in common."""
        here, there = self._affiliations[person.pk], entry.affiliations
        if not (here and there) or {names.fold(one) for one in here} & {names.fold(one) for one in there}:
            return ""
        ours, theirs = (
            "; ".join(sorted(known)[:NAMES_SHOWN]) + ("; …" if len(known) > NAMES_SHOWN else "")
            for known in (here, there)
        )
        return gettext(
            "%(name)s (%(theirs)s) is taken for %(person)s (%(uid)s; %(ours)s) by the name alone. "
            "Give an id or ORCID in the file if they are two."
        ) % {"name": entry.name, "theirs": theirs, "person": person.name, "uid": person.uid, "ours": ours}

    def _contradicts(self, entry: FilePerson, person: Person) -> bool:
        if entry.uid and entry.uid != person.uid:
            return True
        if entry.orcid and person.orcid and entry.orcid != person.orcid:
            return True
        schemes = {scheme for scheme, _ in entry.ids}
        return any(
            scheme in schemes and (scheme, value) not in entry.ids for scheme, value in self._ids[person.pk]
        )


# Matching


class People:
    """Every person of one program, each with its row: an existing one, or a new one."""

    def __init__(
        self, program: Program, edition: Edition, findings: Findings, concealed: Collection[int] = ()
    ) -> None:
        self.edition, self.findings = edition, findings
        self.file = FilePeople(program, findings)
        self.rows: dict[FilePerson, Person] = {}
        self.by_uid: dict[str, Person] = {}
        self._on_location: dict[tuple[FilePerson, Location], Person] = {}
        self._concealed = frozenset(concealed)
        # Those here whom a key of the file means: no bare name of another entry can mean them.
        self._claimed = set(concealed)
        self._owners: dict[tuple[str, str], int] = {}
        self._merged = _merged_people()
        self.successors = {uid: person.uid for uid, person in self._merged.values()}
        self.merged_keys = {uid: key for key, (uid, _) in self._merged.items()}
        self._hidden = HiddenNames(PersonName.objects.filter(hidden=True).values_list("person_id", "name"))
        self._find_by_keys()
        self._find_by_names()

    def find(self, ref: PersonRef, location: Location) -> Person:
        entry = self.file.entry(ref)
        return self._on_location.get((entry, location)) or self.rows[entry]

    def printed(self, person: Person, name: str) -> str:
        """Return the name as printed; the display name where that one must appear nowhere."""
        name = names.normal(name)
        return person.name if self.is_hidden(person, name) else name

    def is_hidden(self, person: Person, name: str) -> bool:
        return self._hidden.hold(person.pk, name)

    def is_free(self, pair: tuple[str, str], person: Person) -> bool:
        return self._owners.get(pair) in (None, person.pk)

    # By keys

    def _find_by_keys(self) -> None:
        by_uid = self._people("uid", [entry.uid for entry in self.file.keyed if entry.uid])
        orcids = {("orcid", entry.orcid) for entry in self.file.keyed if entry.orcid}
        by_id = self._people_by_id({pair for entry in self.file.keyed for pair in entry.ids} | orcids)
        by_orcid = self._people("orcid", [entry.orcid for entry in self.file.keyed if entry.orcid])
        for entry in self.file.keyed:
            owners = [
                by_uid.get(entry.uid),
                *map(by_id.get, sorted(entry.ids)),
                by_orcid.get(entry.orcid),
            ]
            # The second ORCID of somebody who had two before a merge.
            owners.append(by_id.get(("orcid", entry.orcid)))
            found = list(dict.fromkeys(self._followed(owner) for owner in owners if owner))
            if any(person.pk in self._concealed for person in found):
                self._settle(entry, found[0])
                report_concealed(entry.where, "", entry.name, self.findings)
                continue
            if found:
                self._settle(entry, found[0])
                self._doubt_stranger(entry, found[0], by_uid)
            if len(found) > 1:
                listed = " and ".join(f"{person.name} ({person.uid})" for person in found)
                message = gettext("The ids of %(name)s belong to %(listed)s here; the first is taken.")
                self._doubt(entry, message, listed=listed)

    def _doubt_stranger(self, entry: FilePerson, person: Person, by_uid: dict[str, Person]) -> None:
        """Say so where an id makes one of two who differ in uid and name: the id may be a slip."""
        differs = names.fold(entry.name) != names.fold(person.name)
        if entry.uid and entry.uid not in by_uid and differs:
            known = f"{person.name} ({person.uid})"
            message = gettext(
                "%(name)s (%(uid)s) is taken for %(known)s because of an id that both have. "
                "Correct the id if they are two."
            )
            self._doubt(entry, message, uid=entry.uid, known=known)

    def _people(self, column: str, values: list[str]) -> dict[str, Person]:
        found: dict[str, Person] = {}
        for batch in in_batches(values):
            rows = Person.objects.filter(**{f"{column}__in": batch}).defer(*Person.derived_fields)
            found |= {getattr(row, column): row for row in rows}
        return found

    def _people_by_id(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], Person]:
        owners = self._owners
        for batch in in_batches(sorted({value for _, value in pairs})):
            rows = PersonIdentifier.objects.filter(value__in=batch)
            for scheme, value, owner in rows.values_list("scheme", "value", "person_id"):
                if (scheme, value) in pairs:
                    owners[scheme, value] = owner
        people: dict[int, Person] = {}
        for keys in in_batches(sorted(set(owners.values()))):
            people |= Person.objects.defer(*Person.derived_fields).in_bulk(keys)
        return {pair: people[owner] for pair, owner in owners.items()}

    def _followed(self, person: Person) -> Person:
        if person.pk in self._merged:
            person = self._merged[person.pk][1]
        return self.by_uid.get(person.uid, person)

    def _settle(self, entry: FilePerson, person: Person) -> None:
        self.rows[entry] = self.by_uid.setdefault(person.uid, person)
        if entry.is_keyed and person.pk:
            self._claimed.add(person.pk)

    # By names

    def _find_by_names(self) -> None:
        unmatched = [entry for entry in self.file.all() if entry not in self.rows]
        namesakes = Namesakes(unmatched, self._claimed, self._followed)
        self._foreign = self._made_uids_in_use(unmatched)
        rivals: dict[str, list[FilePerson]] = defaultdict(list)
        for entry in self.file.keyed:
            for name in entry.names:
                rivals[name].append(entry)
        keyed_first = sorted(unmatched, key=lambda entry: not entry.is_keyed)
        unsafe = [one for one in keyed_first if not self._match_safely(one, rivals, namesakes)]
        self._match_by_location(unsafe, rivals, namesakes)

    def _match_safely(
        self, entry: FilePerson, rivals: dict[str, list[FilePerson]], namesakes: Namesakes
    ) -> bool:
        """Match an entry to the only person of its name, make it new if there is none; else leave it."""
        fits = namesakes.fitting(entry)
        others = [other for other in rivals[entry.name] if other is not entry]
        if not namesakes.all(entry) and not others:
            self._make(entry)
        elif len(fits) == 1 and not others:
            self._settle(entry, fits[0])
            if doubt := namesakes.doubt(entry, fits[0]):
                self.findings.note("doubt", entry.where, doubt)
        elif not entry.is_keyed and len(others) == 1 and others[0] in self.rows and not namesakes.all(entry):
            # A bare name that can only mean one matched person of the file.
            self._settle(entry, self.rows[others[0]])
        else:
            return False
        return True

    def _match_by_location(
        self, unmatched: list[FilePerson], rivals: dict[str, list[FilePerson]], namesakes: Namesakes
    ) -> None:
        """Several people have the name: match one on the same paper, else keep separate."""
        candidates = {person.pk for entry in unmatched for person in namesakes.fitting(entry)}
        known = locations_of(candidates, self.edition)
        reported: set[str] = set()
        for entry in unmatched:
            fits = namesakes.fitting(entry)
            locations = {
                location: [person for person in fits if (location, person.pk) in known]
                for location in entry.locations
            }
            if entry.is_keyed:
                here = {person.pk: person for found in locations.values() for person in found}
                if len(here) == 1 and not self._claimed & here.keys():
                    self._settle(entry, *here.values())
                    continue
            elif self._match_safely(entry, rivals, namesakes) or self._take_by_location(entry, locations):
                continue
            self._make(entry)
            if entry.name not in reported:
                reported.add(entry.name)
                self._keep_apart(entry, rivals, namesakes)

    def _take_by_location(self, entry: FilePerson, locations: dict[Location, list[Person]]) -> bool:
        """Match the person at each location; return whether this matched every location."""
        for location, found in locations.items():
            if len(found) == 1:
                self._on_location[entry, location] = self.by_uid.setdefault(found[0].uid, found[0])
        return bool(locations) and all((entry, location) in self._on_location for location in locations)

    def _keep_apart(
        self, entry: FilePerson, rivals: dict[str, list[FilePerson]], namesakes: Namesakes
    ) -> None:
        here = [f"{person.name} ({person.uid})" for person in namesakes.all(entry)]
        count = len(rivals[entry.name])
        parts = [
            f"{count} people of this file" if count > 1 else "",
            f"{', '.join(here)} here" if here else "",
        ]
        others = " and ".join(filter(None, parts)) or "another person of this file"
        message = gettext(
            "%(name)s is also the name of %(others)s. They are kept apart; merge them if they are one."
        )
        self._doubt(entry, message, others=others)

    # New ones

    def _make(self, entry: FilePerson) -> None:
        uid = self._fresh_uid(entry)
        person = Person(uid=uid, name=entry.name)
        self.rows[entry] = self.by_uid[uid] = person
        for sentence in names.suspicions(entry.name):
            self._doubt(entry, gettext("The name “%(name)s” should be looked at. %(why)s"), why=sentence)

    def _fresh_uid(self, entry: FilePerson) -> str:
        """Return the uid of the source; one made of its first id, the same everywhere; else a new one."""
        for uid in filter(None, [entry.uid, *_made_uids(entry)]):
            if uid not in self.by_uid and uid not in self._foreign:
                return uid
        return new_uid()

    def _made_uids_in_use(self, unmatched: list[FilePerson]) -> set[str]:
        made = sorted({uid for entry in unmatched for uid in _made_uids(entry)})
        in_use: set[str] = set()
        for batch in in_batches(made):
            in_use.update(Person.objects.filter(uid__in=batch).values_list("uid", flat=True))
        return in_use

    def _doubt(self, entry: FilePerson, message: str, /, **values: object) -> None:
        self.findings.note("doubt", entry.where, message, name=entry.name, **values)


def _made_uids(entry: FilePerson) -> list[str]:
    return [uid for uid in map("-".join, sorted(entry.ids)) if _is_uid(uid)]


def _is_uid(text: str) -> bool:
    try:
        validate_uid(text)
    except ValidationError:
        return False
    return True


def _merged_people() -> dict[int, tuple[str, Person]]:
    """Return those who were merged into others: key -> own uid, and the other person."""
    rows = Person.objects.filter(merged_into__isnull=False).select_related("merged_into")
    uids, others = {row.pk: row.uid for row in rows}, {row.pk: row.merged_into for row in rows}
    stays = {person.pk: person for person in others.values() if person}
    links = {key: person.pk for key, person in others.items() if person}
    return {key: (uids[key], stays[there]) for key, there in final_rows(links).items()}
