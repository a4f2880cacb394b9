"""The steps of an import for people: what their records state, and ids that references bring along.

Who is who has been settled in `exchange.people`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from exchange.kinds import PERSON
from exchange.listings import Values
from exchange.people import People
from exchange.provenance import Merge, merge, remembered
from exchange.references import Figure
from exchange.rows import in_batches, plain
from exchange.statements import Statements
from exchange.steps import Step
from people import names
from people.models import Person, PersonIdentifier, PersonName

LISTS = ("other_names", "ids")


def person_steps(people: People, statements: Statements) -> Iterator[tuple[Step, bool]]:
    """Yield a step for everybody in the file, and whether it counts (several figures may be one person)."""
    seen: dict[int, Figure] = {}
    existing = {person.pk: figure for figure, person in people.rows.items() if person.pk}
    rows = _Existing(existing, people)
    for figure, person in people.rows.items():
        if id(person) in seen and figure.record and seen[id(person)].record:
            message = f"{figure.name} and {seen[id(person)].name} are one person here. Keep one record."
            people.findings.problem(figure.where, "uid", message)
            continue
        is_counted = id(person) not in seen
        seen.setdefault(id(person), figure)
        theirs = statements.of(PERSON, figure.record) if figure.record else {}
        if not person.pk:
            yield _new_step(figure, person, theirs), is_counted
        else:
            yield rows.step(figure, person, theirs), is_counted


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


class _Existing:
    """What is known of the existing people of a file, read at once."""

    def __init__(self, figures: dict[int, Figure], people: People) -> None:
        self.people = people
        self.ids: dict[int, list[list[str]]] = defaultdict(list)
        self.other_names: dict[int, list[str]] = defaultdict(list)
        self._read_ids([key for key, figure in figures.items() if figure.ids])
        self._read_names([key for key, figure in figures.items() if figure.record])
        touched = [key for key, figure in figures.items() if figure.record or self._brings_more(key, figure)]
        self.memories = remembered(PERSON, touched)

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

    def _brings_more(self, key: int, figure: Figure) -> bool:
        person = self.people.rows[figure]
        has_new_ids = any(list(pair) not in self.ids[key] for pair in figure.ids)
        return has_new_ids or bool(figure.orcid and figure.orcid != person.orcid)

    def step(self, figure: Figure, person: Person, theirs: Values) -> Step:
        if not figure.record and not self._brings_more(person.pk, figure):
            return Step(PERSON, person, figure.where, Merge(), is_mentioned=True)
        memory = self.memories.get(person.pk)
        base = memory.values if memory else {}
        ours = {name: plain(getattr(person, name)) for name in theirs if name not in LISTS}
        ours["other_names"] = sorted(self.other_names[person.pk])
        ours["ids"], ours["orcid"] = self.ids[person.pk], person.orcid
        if figure.orcid:
            theirs["orcid"] = figure.orcid
        found = merge(ours, base, theirs)
        self._add_ids(figure, person, found)
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
