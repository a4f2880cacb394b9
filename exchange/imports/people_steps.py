"""The steps of an import for people: what their records state, and ids that references bring along.

Who is who has been settled in `exchange.imports.people`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.utils.translation import gettext

from exchange.imports.kinds import PERSON
from exchange.imports.listings import Values
from exchange.imports.people import People
from exchange.imports.provenance import Merge, merge, remembered
from exchange.imports.references import Figure
from exchange.imports.rows import in_batches, plain
from exchange.imports.stated_values import Statements
from exchange.imports.steps import Step
from people import names
from people.models import Person, PersonIdentifier, PersonName

LISTS = ("other_names", "ids")


def person_steps(people: People, statements: Statements) -> Iterator[Step]:
    """Yield a step for everybody in the file."""
    figures = {id(person): person for person in people.rows.values()}
    together: dict[int, list[Figure]] = defaultdict(list)
    for figure, person in people.rows.items():
        together[id(person)].append(figure)
    everybody = [(_as_one(found, people), figures[key]) for key, found in together.items()]
    existing = _Existing([(figure, person) for figure, person in everybody if person.pk], people)
    for figure, person in everybody:
        theirs = statements.person(figure.record, person) if figure.record else {}
        if person.pk:
            yield existing.step(figure, person, theirs)
        else:
            yield _new_step(figure, person, theirs)


def _as_one(figures: list[Figure], people: People) -> Figure:
    """Join what the file says of one person in several ways: by an id here, by the bare name there."""
    if len(figures) == 1:
        return figures[0]
    described = [figure for figure in figures if figure.record]
    # A file may still tell of both whom a chair merged: the one who stays speaks, the other is history.
    described.sort(key=lambda figure: figure.uid in people.successors)
    first = (described or figures)[0]
    for other in [figure for figure in described[1:] if figure.uid not in people.successors]:
        message = gettext("%(name)s and %(other)s are one person here. Keep one record.") % {
            "name": other.name,
            "other": first.name,
        }
        people.findings.problem(other.where, "uid", message)
    ids = {pair for figure in figures for pair in figure.ids}
    orcid = next((figure.orcid for figure in figures if figure.orcid), "")
    return Figure(first.name, first.where, uid=first.uid, orcid=orcid, ids=ids, record=first.record)


def _new_step(figure: Figure, person: Person, theirs: Values) -> Step:
    taken = {"name": person.name, **theirs}
    if figure.orcid:
        taken["orcid"] = figure.orcid
    if figure.ids:
        taken["ids"] = sorted(map(list, figure.ids))
    memory = dict(taken)
    if "family" not in taken:
        parts = names.split(taken["name"])
        memory |= {"given": parts.given, "family": parts.family}
    return Step(PERSON, person, figure.where, Merge(taken=taken, memory=memory), is_new=True)


def _split_anew(person: Person, theirs: Values, found: Merge) -> None:
    """Let the parts of a name follow the name, where they were split by machine and nobody states them."""
    parts = names.split(person.name)
    if (
        "name" in found.taken
        and "family" not in theirs
        and (person.given, person.family) == (parts.given, parts.family)
    ):
        parts = names.split(found.taken["name"])
        found.taken |= {"given": parts.given, "family": parts.family}
        found.memory |= {"given": parts.given, "family": parts.family}


class _Existing:
    """What is known of the existing people of a file, read at once."""

    def __init__(self, figures: list[tuple[Figure, Person]], people: People) -> None:
        self.people = people
        self.ids: dict[int, list[list[str]]] = defaultdict(list)
        self.other_names: dict[int, list[str]] = defaultdict(list)
        self._read_ids([person.pk for figure, person in figures if figure.ids])
        self._read_names([person.pk for figure, person in figures if figure.record])
        touched = [
            self._remembered_as(figure, person)
            for figure, person in figures
            if figure.record or self._brings_more(figure, person)
        ]
        self.memories = remembered(PERSON, touched)

    def _remembered_as(self, figure: Figure, person: Person) -> int:
        """Return whose memory a record is compared with: one that came in as somebody merged, with theirs."""
        return self.people.merged_keys.get(figure.uid, person.pk) if figure.record else person.pk

    def _read_ids(self, keys: Iterable[int]) -> None:
        for batch in in_batches(keys):
            rows = PersonIdentifier.objects.filter(person__in=batch).order_by("scheme", "value")
            for person, *pair in rows.values_list("person_id", "scheme", "value"):
                self.ids[person].append(pair)

    def _read_names(self, keys: Iterable[int]) -> None:
        for batch in in_batches(keys):
            rows = PersonName.objects.filter(person__in=batch, hidden=False)
            for person, name in rows.values_list("person_id", "name"):
                self.other_names[person].append(name)

    def _brings_more(self, figure: Figure, person: Person) -> bool:
        has_new_ids = any(list(pair) not in self.ids[person.pk] for pair in figure.ids)
        return has_new_ids or bool(figure.orcid and figure.orcid != person.orcid)

    def step(self, figure: Figure, person: Person, theirs: Values) -> Step:
        if not figure.record and not self._brings_more(figure, person):
            return Step(PERSON, person, figure.where, Merge(), is_mentioned=True)
        memory = self.memories.get(self._remembered_as(figure, person))
        base = memory.values if memory else {}
        ours = {name: plain(getattr(person, name)) for name in theirs if name not in LISTS}
        ours["other_names"] = sorted(self.other_names[person.pk])
        ours["ids"], ours["orcid"] = self.ids[person.pk], person.orcid
        if figure.orcid:
            theirs["orcid"] = figure.orcid
        found = merge(ours, base, theirs)
        self._add_ids(figure, person, found)
        _split_anew(person, theirs, found)
        ours |= {"given": person.given, "family": person.family}
        old = {name: ours[name] for name in found.taken}
        return Step(PERSON, person, figure.where, found, memory=memory, old=old)

    def _add_ids(self, figure: Figure, person: Person, found: Merge) -> None:
        """Ids are only ever added; one that was taken away here stays away."""
        if not figure.ids:
            return
        known = self.ids[person.pk]
        base = found.memory.get("ids", [])
        stated = [list(pair) for pair in figure.ids if self.people.is_free(pair, person)]
        fresh = [pair for pair in stated if pair not in known and pair not in base]
        if fresh:
            found.taken["ids"] = sorted([*known, *fresh])
        found.memory["ids"] = sorted([*base, *(pair for pair in stated if pair not in base)])
