"""Carrying out a plan: rows, lists, and the memory of the import. The caller holds the transaction."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import batched
from typing import Any

from django.utils import timezone

from content import revision
from exchange.imports.comparison import Plan, Progress
from exchange.imports.kinds import CONFERENCE, EDITION, INSTITUTION, PARTS, PERSON, Kind
from exchange.imports.listings import Values
from exchange.imports.parts import UPDATED, PartRow, write
from exchange.imports.provenance import Clash, open_conflicts
from exchange.imports.rows import is_self_reference
from exchange.imports.steps import Step
from exchange.models import Change, Conflict, ImportRun, Provenance
from people.models import PersonIdentifier, PersonName

BATCH_ROWS = 500
ORDER = (CONFERENCE, EDITION, INSTITUTION, PERSON, *PARTS)


def write_rows(plan: Plan, progress: Progress) -> None:
    """Write every row that is new or changed, in an order in which references point at what is there."""
    for kind in ORDER:
        steps = plan.steps[kind.name]
        total, done = len(steps), 0
        for level in _levels(kind, [step for step in steps if step.is_new]):
            for batch in batched(level, BATCH_ROWS, strict=False):
                kind.model._default_manager.bulk_create([step.row for step in batch])
                done += len(batch)
                _write_lists(kind, batch)
                _forget_derived(batch)
                progress(f"writing {kind.many or kind.name}", done, total)
        changed = [step for step in steps if step.merge.taken and not step.is_new]
        _update(kind, changed)
        _write_lists(kind, changed)
        if kind is PERSON:
            _write_person_lists(steps)
        if done < total:
            progress(f"writing {kind.many or kind.name}", total, total)
    # The menu leads to pages and the committee consists of people: both are there by now.
    _write_lists(EDITION, plan.steps["edition"], is_late=True)


def _levels(kind: Kind, steps: list[Step]) -> Iterator[list[Step]]:
    """Sort new rows so that parents come before the rows below them."""
    if not any(is_self_reference(kind, name) for name in kind.references):
        yield steps
        return
    levels: dict[int, list[Step]] = defaultdict(list)
    for step in steps:
        row: Any = step.row
        depth, above = 0, row.parent
        while above is not None and above.pk is None:
            depth, above = depth + 1, above.parent
        levels[depth].append(step)
    yield from (levels[depth] for depth in sorted(levels))


def _forget_derived(steps: Iterable[Step]) -> None:
    """Let go of rendered text, which is long: it is in the database now, and read again if asked for."""
    for step in steps:
        for name in step.row.derived_fields:
            step.row.__dict__.pop(name, None)


def _update(kind: Kind, steps: list[Step]) -> None:
    names = {name for step in steps for name in step.merge.taken if name in (*kind.plain, *kind.references)}
    rows = [step.row for step in steps if names & step.merge.taken.keys()]
    if rows:
        kind.model._default_manager.bulk_update(rows, sorted(names), batch_size=UPDATED)
        _forget_derived(steps)


def _write_lists(kind: Kind, steps: Iterable[Step], *, is_late: bool = False) -> None:
    if kind is EDITION and not is_late:
        return
    for listing in kind.listings:
        wanted: dict[int, list[PartRow]] = {
            step.row.pk: step.parts.pop(listing.name) for step in steps if listing.name in step.parts
        }
        if wanted:
            write(listing, wanted)
            editions = {step.row.stamped_edition() for step in steps}
            revision.advance(editions)


def _write_person_lists(steps: list[Step]) -> None:
    """Write identifiers, which are only added, and the other names that are not hidden."""
    ids, spellings, gone = [], [], []
    for step in steps:
        person: Any = step.row
        old: Any = step.old
        had: list[Any] = old.get("ids", [])
        ids += [
            PersonIdentifier(person=person, scheme=pair[0], value=pair[1])
            for pair in step.merge.taken.get("ids", [])
            if pair not in had
        ]
        if "other_names" in step.merge.taken:
            had = old.get("other_names", [])
            wanted = step.merge.taken["other_names"]
            spellings += [PersonName(person=person, name=name) for name in wanted if name not in had]
            gone += [(step.row.pk, name) for name in had if name not in wanted]
    PersonIdentifier.objects.bulk_create(ids, batch_size=BATCH_ROWS)
    if gone:
        rows = PersonName.objects.filter(person__in={owner for owner, _ in gone}, hidden=False)
        keys = {(owner, name): key for key, owner, name in rows.values_list("pk", "person_id", "name")}
        PersonName.objects.filter(pk__in=[keys[pair] for pair in gone]).delete()
    PersonName.objects.bulk_create(spellings, batch_size=BATCH_ROWS)


class Record:
    """The memory of one run: provenance, changes, conflicts."""

    def __init__(self, plan: Plan, run: ImportRun) -> None:
        self.plan, self.run = plan, run
        self._keys: dict[tuple[str, int], int] = {}

    def write(self) -> list[Conflict]:
        steps = [step for kind in ORDER for step in self.plan.steps[kind.name]]
        for batch in batched(steps, BATCH_ROWS, strict=False):
            self._remember(batch)
        Change.objects.bulk_create(self._changes(steps), batch_size=BATCH_ROWS)
        return self._write_conflicts(steps)

    def _remember(self, steps: Iterable[Step]) -> None:
        rows = []
        for step in steps:
            if not step.remembers_more:
                continue
            row = Provenance(
                pk=step.memory.key if step.memory else None,
                kind=step.kind.name,
                object_id=step.row.pk,
                edition=self.plan.edition if step.kind.is_in_edition else None,
                values=self._memory(step),
                run=self.run,
            )
            rows.append((step, row))
        Provenance.objects.bulk_create([row for step, row in rows if step.memory is None])
        Provenance.objects.bulk_update([row for step, row in rows if step.memory], ["values", "run"])
        self._keys |= {(step.kind.name, step.row.pk): row.pk for step, row in rows if step.merge.clashes}

    def _memory(self, step: Step) -> Values:
        """Remember of a new row what the file did not state too: nobody has edited it yet."""
        if not step.is_new or step.kind is PERSON:
            return step.merge.memory
        kind, shelves = step.kind, self.plan.shelves
        unstated = {
            name: shelves.value(step.row, kind, name)
            for name in (*kind.plain, *kind.references)
            if name not in step.merge.memory
        }
        lists: Values = {listing.name: [] for listing in kind.listings}
        return {**unstated, **lists, **step.merge.memory}

    def _changes(self, steps: Iterable[Step]) -> Iterator[Change]:
        for step in steps:
            if step.is_new:
                continue
            for name, new in step.merge.taken.items():
                yield Change(
                    run=self.run,
                    kind=step.kind.name,
                    object_id=step.row.pk,
                    field=name,
                    old=step.old[name],
                    new=new,
                    base=step.memory.values.get(name) if step.memory else None,
                )

    def _write_conflicts(self, steps: Iterable[Step]) -> list[Conflict]:
        """Keep one open conflict per field; replace it when the file says something else now."""
        known = open_conflicts(step.memory.key for step in steps if step.memory)
        fresh, changed = [], []
        for step in steps:
            key = step.memory.key if step.memory else self._keys.get((step.kind.name, step.row.pk), 0)
            for name, clash in step.merge.clashes.items():
                open_one = known.pop((key, name), None)
                if open_one is None:
                    fresh.append(self._conflict(step, key, name, clash))
                elif (open_one.base, open_one.ours, open_one.theirs) != (
                    clash.base,
                    clash.ours,
                    clash.theirs,
                ):
                    open_one.base, open_one.ours, open_one.theirs = clash.base, clash.ours, clash.theirs
                    open_one.run, open_one.created_at = self.run, timezone.now()
                    changed.append(open_one)
            self._close(step, key, known)
        Conflict.objects.bulk_create(fresh, batch_size=BATCH_ROWS)
        Conflict.objects.bulk_update(changed, ["base", "ours", "theirs", "run", "created_at"])
        return [*fresh, *changed]

    def _close(self, step: Step, key: int, known: dict[tuple[int, str], Conflict]) -> None:
        """Both sides say the same again: the conflict is over."""
        settled = [known.pop((key, name)) for name in step.merge.agreed if (key, name) in known]
        if settled:
            Conflict.objects.filter(pk__in=[one.pk for one in settled]).update(resolved_at=timezone.now())

    def _conflict(self, step: Step, key: int, name: str, clash: Clash) -> Conflict:
        return Conflict(
            provenance_id=key,
            field=name,
            label=str(step.row)[:200],
            base=clash.base,
            ours=clash.ours,
            theirs=clash.theirs,
            run=self.run,
        )


def created(plan: Plan) -> dict[str, list[int]]:
    """Return the keys of the new rows by kind."""
    found: dict[str, list[int]] = {}
    for kind in ORDER:
        keys = [step.row.pk for step in plan.steps[kind.name] if step.is_new]
        if keys:
            found[kind.name] = keys
    return found
