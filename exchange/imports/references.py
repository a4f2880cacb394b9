"""Every place where a program points at a person, and who the references of one file mean among themselves.

Knows no database: who is known already is decided in `exchange.imports.people`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext

from exchange.problems import Where
from exchange.reading.findings import Findings
from exchange.records import PersonRecord, PersonRef, Program, Stated, stated
from people import names

# What a reference stands on: the name of its kind, and the key of the record.
type Spot = tuple[str, str]
NOWHERE: Spot = ("", "")


@dataclass(eq=False, slots=True)
class Figure:
    """Somebody of a file: all its references that mean one person."""

    name: str
    where: Where
    uid: str = ""
    orcid: str = ""
    ids: set[tuple[str, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    affiliations: set[str] = field(default_factory=set)
    spots: set[Spot] = field(default_factory=set)
    record: PersonRecord | None = None

    @property
    def is_keyed(self) -> bool:
        return bool(self.uid or self.orcid or self.ids)

    def absorb(self, ref: PersonRef, spot: Spot, affiliations: tuple[str, ...]) -> None:
        self.orcid = self.orcid or names.normal_orcid(ref.orcid)
        self.ids.update(ref.ids)
        self.names.add(names.normal(ref.name))
        self.affiliations.update(filter(None, affiliations))
        if spot != NOWHERE:
            self.spots.add(spot)


type Reference = tuple[Spot, PersonRef, Where, tuple[str, ...]]


def references(program: Program) -> Iterator[Reference]:
    """Walk all references but those of the people's own records: spot, reference, place, affiliations."""
    yield from _of_papers(program)
    yield from _of_schedule(program)
    edition = program.edition
    if edition:
        for office in _each(edition.committee):
            yield ("edition", edition.slug), office.person, edition.where, (office.affiliation,)


def _of_papers(program: Program) -> Iterator[Reference]:
    for paper in program.papers:
        for author in _each(paper.authors):
            yield ("paper", paper.uid), author.person, paper.where, author.affiliations
    for award in program.awards:
        for grant in _each(award.grants):
            if grant.person:
                yield ("award", award.uid), grant.person, award.where, ()


def _of_schedule(program: Program) -> Iterator[Reference]:
    for session in program.sessions:
        for role in _each(session.roles):
            yield ("session", session.uid), role.person, session.where, (role.affiliation,)
    for talk in program.presentations:
        for speaker in _each(talk.speakers):
            yield ("presentation", talk.uid), speaker.person, talk.where, (speaker.affiliation,)


def _each[T](parts: Stated[tuple[T, ...]]) -> tuple[T, ...]:
    return stated(parts, ())


class Cast:
    """The people of one file: those with an id of any kind, and bare names that may mean one of them."""

    def __init__(self, program: Program, findings: Findings) -> None:
        self.findings = findings
        self.keyed: list[Figure] = []
        self.nameless: dict[str, Figure] = {}
        self._by_key: dict[tuple[str, ...], Figure] = {}
        for record in program.people:
            self._add_record(record)
        for spot, ref, where, affiliations in references(program):
            self._add(ref, ref.where if ref.where.file else where, spot, affiliations)

    def figure(self, ref: PersonRef) -> Figure:
        """Return whom a reference means by its keys, else everybody in the file with the bare name."""
        for key in _keys(ref):
            if key in self._by_key:
                return self._by_key[key]
        return self.nameless[names.normal(ref.name)]

    def all(self) -> Iterator[Figure]:
        yield from self.keyed
        yield from self.nameless.values()

    def _add_record(self, record: PersonRecord) -> None:
        known = stated(record.affiliation, "")
        figure = self._add(record.ref, record.where, NOWHERE, (known,))
        if figure.record:
            message = gettext("This is the same person as %(place)s. Keep one of them.") % {
                "place": figure.record.where.place
            }
            self.findings.problem(record.where, "uid", message)
        figure.record, figure.name = record, names.normal(record.ref.name)
        figure.names.update(map(names.normal, stated(record.other_names, ())))

    def _add(self, ref: PersonRef, where: Where, spot: Spot, affiliations: tuple[str, ...]) -> Figure:
        ref = self._told_apart(ref, where)
        keys = _keys(ref)
        name = names.normal(ref.name)
        found = list(dict.fromkeys(self._by_key[key] for key in keys if key in self._by_key))
        figure = found[0] if found else self._fresh(name, where, is_keyed=bool(keys))
        figure.uid = figure.uid or ref.uid
        if len(found) > 1:
            message = gettext(
                "The ids of %(name)s belong to two people of this file; the first one is taken."
            ) % {"name": name}
            self.findings.note("doubt", where, message)
            ref = PersonRef(name=ref.name)
        for key in keys:
            self._by_key.setdefault(key, figure)
        figure.absorb(ref, spot, affiliations)
        return figure

    def _told_apart(self, ref: PersonRef, where: Where) -> PersonRef:
        """Return the reference without the ids that somebody of another uid has in this file already."""
        if not ref.uid or not (ref.ids or ref.orcid):
            return ref
        owners = {key: self._by_key[key] for key in _keys(ref) if key in self._by_key}
        foreign = {key: owner for key, owner in owners.items() if owner.uid not in ("", ref.uid)}
        if not foreign:
            return ref
        listed = ", ".join(dict.fromkeys(f"{owner.name} ({owner.uid})" for owner in foreign.values()))
        message = gettext(
            "An id of %(name)s (%(uid)s) is that of %(listed)s too. They are kept apart without it."
        ) % {"name": ref.name, "uid": ref.uid, "listed": listed}
        self.findings.note("doubt", where, message)
        ids = tuple(pair for pair in ref.ids if ("id", *pair) not in foreign)
        orcid = "" if ("orcid", names.normal_orcid(ref.orcid)) in foreign else ref.orcid
        return replace(ref, ids=ids, orcid=orcid)

    def _fresh(self, name: str, where: Where, *, is_keyed: bool) -> Figure:
        if not is_keyed:
            return self.nameless.setdefault(name, Figure(name, where))
        figure = Figure(name, where)
        self.keyed.append(figure)
        return figure


def _keys(ref: PersonRef) -> list[tuple[str, ...]]:
    """Return the keys of a reference, the strongest first."""
    keys: list[tuple[str, ...]] = [("uid", ref.uid)] if ref.uid else []
    keys += [("id", *pair) for pair in ref.ids]
    if ref.orcid:
        keys.append(("orcid", names.normal_orcid(ref.orcid)))
    return keys
