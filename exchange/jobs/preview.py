"""A plan as chairs look at it before it is carried out: row by row, in words; and its digest."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import batched

from content.timeline import word_diff
from exchange.imports.compare import Plan, RowPlan, is_empty
from exchange.imports.kinds import KINDS
from exchange.models import ImportJob, PlannedRow
from exchange.wording import Naming, label, value_in_words

BATCH_ROWS = 500
TAKEN, KEPT, CLASH = "taken", "kept", "conflict"


def digest(plan: Plan) -> str:
    """Return a digest that differs whenever a plan would write something else.

    New people get a random uid in each plan: here their index identifies them.
    """
    fresh = {step.row.uid: f"+{place}" for place, step in enumerate(plan.steps["person"]) if step.is_new}  # type: ignore[attr-defined]
    found = hashlib.sha256()
    for name in KINDS:
        for step in plan.steps[name]:
            found.update(json.dumps(_facts(step, fresh), sort_keys=True).encode())
    return found.hexdigest()


def _facts(step: RowPlan, fresh: dict[str, str]) -> list[object]:
    key = getattr(step.row, step.kind.key)
    clashes = {name: [one.base, one.ours, one.theirs] for name, one in step.merge.clashes.items()}
    return [
        step.kind.name,
        step.row.pk or fresh.get(key, key),
        _known(step.merge.taken, fresh),
        _known(clashes, fresh),
        sorted(step.merge.kept),
    ]


def _known(value: object, fresh: dict[str, str]) -> object:
    """Return a value with new people identified by index."""
    if isinstance(value, dict):
        return {
            name: fresh.get(one, one) if name == "person" and isinstance(one, str) else _known(one, fresh)
            for name, one in value.items()
        }
    return [_known(one, fresh) for one in value] if isinstance(value, list) else value


def store(plan: Plan, job: ImportJob) -> None:
    """Write down what a plan would do, in place of what an earlier one would have done."""
    PlannedRow.objects.filter(job=job).delete()
    for batch in batched(_rows(plan, job), BATCH_ROWS, strict=False):
        PlannedRow.objects.bulk_create(batch)


def _rows(plan: Plan, job: ImportJob) -> Iterator[PlannedRow]:
    naming = Naming(lambda uid: _person(plan, uid), lambda kind, key: str(plan.rows.row(kind, key) or key))
    for name in KINDS:
        for step in (*plan.steps[name], *plan.idle[name]):
            merge = step.merge
            yield PlannedRow(
                job=job,
                kind=name,
                object_id=step.row.pk,
                label=(str(step.row) or getattr(step.row, step.kind.key))[:300],
                where=str(step.where)[:300],
                is_new=step.is_new,
                is_changed=bool(merge.taken) and not step.is_new,
                is_kept=bool(merge.kept),
                is_conflicting=bool(merge.clashes),
                fields=list(_fields(step, plan, naming)),
            )


def _person(plan: Plan, uid: str) -> str:
    found = plan.rows.people.get(uid)
    return found.name if found else uid


def _fields(step: RowPlan, plan: Plan, naming: Naming) -> Iterator[list[str]]:
    def words(name: str, *values: object) -> list[str]:
        return [value_in_words(step.kind, name, value, naming, plan.edition) for value in values]

    for name, value in step.merge.taken.items():
        if not (step.is_new and is_empty(value)):
            old = "" if step.is_new else words(name, step.old[name])[0]
            yield [label(step.kind, name), TAKEN, "", old, *words(name, value)]
    for how, clashes in ((CLASH, step.merge.clashes), (KEPT, step.merge.kept)):
        for name, one in clashes.items():
            yield [label(step.kind, name), how, *words(name, one.base, one.ours, one.theirs)]


def shown(rows: Iterable[PlannedRow]) -> Iterator[dict[str, object]]:
    """Yield rows for a page: their fields with what differs marked word by word."""
    for row in rows:
        meta = KINDS[row.kind].model._meta
        yield {
            "row": row,
            "what": meta.verbose_name,
            "page": f"admin:{meta.app_label}_{meta.model_name}_change" if row.object_id else "",
            "fields": [_marked(row, *field) for field in row.fields],
        }


def _marked(row: PlannedRow, name: str, how: str, base: str, ours: str, theirs: str) -> dict[str, object]:
    before, after = ("", theirs) if row.is_new else word_diff(ours, theirs)
    return {"name": name, "how": how, "base": base, "ours": before, "theirs": after}
