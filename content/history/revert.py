"""Reverting of recorded changes: planning the steps now, and applying them, which is recorded as well.

- `version_plan`: one row and its parts back to a version; `restore_plan`: a deleted row with its dependents.
- `undo_plan`: a change set as a whole, such as an import or a bulk action. Fields changed since stay.
- `revert` applies a plan, all or nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import batched
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F, Model, ProtectedError, UniqueConstraint
from django.utils.translation import gettext as _

from content import bulk, revision
from content.actor import User
from content.bulk import BulkChange, apply_and_validate, defer_long_texts
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.history.removal import Removal, RowKeys
from content.models import Content, Ordered
from content.ordering import close_gaps, is_ordered, lock_all_owners, owner_keys
from content.row_values import (
    BATCH_ROWS,
    PARKED_FROM,
    Key,
    Values,
    content_model,
    is_recorded,
    linked_keys,
    many_to_many_fields,
    owner_fields,
    recorded_fields,
    related_model,
    relation_targets,
    values_in_memory,
)
from content.unreleased.plan import change_model

type Targets = dict[type[Content], dict[int, Content]]
# Returns the steps that a user has permission for.
type Permitted = Callable[[list[RevertStep]], list[RevertStep]]

Kind = RowChange.Kind


class CannotRevertError(Exception):
    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(slots=True)
class EarlierRow:
    """A row before certain changes: some of its fields, all of them, or no row."""

    state: Literal["fields", "whole", "absent"] = "fields"
    values: Values = field(default_factory=dict)


@dataclass(slots=True)
class RevertStep:
    """The planned change of one row. `pairs`: field -> [present value, earlier value]."""

    model: "type[Content]"
    key: int
    kind: Literal["remove", "change", "bring back"]
    row: "Content | None" = None
    label: str = ""
    pairs: dict[str, list[Any]] = field(default_factory=dict)
    # The validated values as the model's attributes. Rows with them are written in bulk.
    accepted: Values | None = None


@dataclass(slots=True)
class KeptRow:
    """A row that is not reverted, or not in all fields: its description and the reason."""

    words: str
    reason: str

    def __str__(self) -> str:
        return self.words


@dataclass(slots=True)
class RevertPlan:
    """The steps of a reversion, and the rows that it leaves as they are."""

    steps: list[RevertStep] = field(default_factory=list)
    kept: list[KeptRow] = field(default_factory=list)
    # Whether the user may see or change any of the rows.
    is_permitted: bool = False

    def keep(self, reason: str, words: str = "", count: int = 1) -> None:
        self.kept += [KeptRow(words, reason) for _number in range(count)]

    @property
    def is_empty(self) -> bool:
        return not self.steps

    @property
    def removed(self) -> RowKeys:
        return keys_by_model(step for step in self.steps if step.kind == "remove")


def keys_by_model(steps: Iterable[RevertStep]) -> RowKeys:
    keys: RowKeys = {}
    for step in steps:
        keys.setdefault(step.model, set()).add(step.key)
    return keys


# The changes to revert


def earlier_rows(changes: Iterable[RowChange]) -> dict[Key, EarlierRow]:
    """Return the rows as they were before these changes."""
    rows: dict[Key, EarlierRow] = {}
    for change in sorted(changes, key=lambda change: -change.pk):
        row = rows.setdefault(change.key, EarlierRow())
        if change.kind == Kind.CREATED:
            rows[change.key] = EarlierRow("absent")
        elif change.kind == Kind.DELETED:
            rows[change.key] = EarlierRow("whole", change.before())
        else:
            row.values |= change.before()
    return rows


def with_dependents(deleted: Iterable[RowChange]) -> list[RowChange]:
    """Return these deletions, with the rows that they deleted by cascade or that lost a relation."""
    changes = {change.pk: change for change in deleted}
    names = {change.name for change in changes.values() if change.kind == Kind.DELETED}
    sets = {change.change_set_id for change in changes.values()}
    others = [change for change in RowChange.objects.filter(change_set__in=sets) if change.pk not in changes]
    while dependents := [change for change in others if _is_dependent(change, names)]:
        changes |= {change.pk: change for change in dependents}
        names |= {change.name for change in dependents if change.kind == Kind.DELETED}
        others = [change for change in others if change.pk not in changes]
    return list(changes.values())


def _is_dependent(change: RowChange, names: set[str]) -> bool:
    """Return whether a row was deleted or lost a relation because one of these rows was deleted."""
    model = content_model(change.model)
    is_direct_deletion = change.kind == Kind.DELETED and not change.dragged
    if change.kind == Kind.CREATED or is_direct_deletion or not is_recorded(model):
        return False
    before, targets = change.before(), relation_targets(model)
    return any(f"{target._meta.label_lower}:{before.get(name)}" in names for name, target in targets.items())


# Plans


def version_plan(row: Model, change_set: int) -> list[RevertStep]:
    """Plan to revert the editable fields of a row and its parts to their state after this change set.

    Where changes wait, this becomes an unreleased change; those that wait already are no parts of the row.
    """
    label = row._meta.label_lower
    later_changes = RowChange.objects.filter(change_set__gt=change_set)
    later_changes = later_changes.exclude(model=change_model()._meta.label_lower)
    row_changes = [
        *later_changes.filter(model=label, object_id=row.pk),
        *later_changes.of_parts(f"{label}:{row.pk}"),
    ]
    deleted = [change for change in row_changes if change.kind == Kind.DELETED]
    changes = {change.pk: change for change in [*row_changes, *with_dependents(deleted)]}
    return _changed_steps(compare_rows(earlier_rows(changes.values()), editable=True))


def restore_plan(deleted: RowChange) -> list[RevertStep]:
    """Plan to restore a deleted row, with all rows that were deleted by cascade."""
    return _changed_steps(compare_rows(earlier_rows(with_dependents([deleted]))))


def undo_plan(
    change_set: ChangeSet, permitted: Permitted | None = None, *, by_row: bool = False
) -> RevertPlan:
    """Plan to revert a change set, without fields that were changed since and new rows that others need.

    `by_row`: if only plain values were written, revert each row completely or not at all.
    """
    changes = [change for change in change_set.rows.all() if is_recorded(content_model(change.model))]
    created = [change for change in changes if change.kind == Kind.CREATED]
    other_changes = [change for change in changes if change.kind != Kind.CREATED]
    by_row = by_row and all(map(_is_plain, other_changes))
    plan = RevertPlan()
    steps = compare_rows(earlier_rows(other_changes))
    if permitted:
        permitted_steps = permitted(steps)
        plan.keep(_("You don’t have permission to change it."), count=len(steps) - len(permitted_steps))
        plan.is_permitted, steps = bool(permitted_steps), permitted_steps
    pairs_by_key = {change.key: change.values for change in other_changes if change.kind == Kind.CHANGED}
    targets = earlier_targets(steps) if by_row else {}
    for step in steps:
        recorded = pairs_by_key.get((step.model._meta.label_lower, step.key), {})
        reason = ""
        if by_row:
            reason = _validate_earlier(step, recorded, targets)
        else:
            _exclude_edited_fields(plan, step, recorded)
        if reason:
            plan.keep(reason, step.label)
        elif step.pairs:
            plan.steps.append(step)
    if created:
        _plan_removals(plan, created, change_set, permitted)
    return plan


def _is_plain(change: RowChange) -> bool:
    singly_saved = singly_saved_fields(content_model(change.model))
    return change.kind == Kind.CHANGED and not change.values.keys() & singly_saved


@cache
def singly_saved_fields(model: "type[Content]") -> frozenset[str]:
    """Return the fields that `update()` cannot revert: unique, many-to-many, or sources of derived text."""
    unique = {field.name for field in model._meta.concrete_fields if field.unique}
    for constraint in model._meta.constraints:
        if isinstance(constraint, UniqueConstraint) and bulk.POSITION not in constraint.fields:
            unique.update(constraint.fields)
    return frozenset({*unique, *model.derived_from, *many_to_many_fields(model)})


def _exclude_edited_fields(plan: RevertPlan, step: RevertStep, recorded: dict[str, list[Any]]) -> None:
    """Remove the fields that were changed after the change set from the step, and report them in the plan."""
    _drop_equal(step)
    edited = [name for name, pair in step.pairs.items() if name in recorded and pair[0] != recorded[name][1]]
    for name in edited:
        del step.pairs[name]
    if edited:
        description = f"{step.model._meta.verbose_name} “{step.label}”: {', '.join(edited)}"
        plan.keep(_("It has been changed since."), description)


def _validate_earlier(step: RevertStep, recorded: dict[str, list[Any]], targets: Targets) -> str:
    """Validate the earlier values; return the reason for leaving the row as it is, or an empty string."""
    pairs, relations = step.pairs, relation_targets(step.model)
    if step.row is None or any(
        pairs[name][0] != recorded[name][1] for name in pairs if name != bulk.POSITION
    ):
        return _("It has been changed since.")
    references = ((targets[relations[name]], pairs[name][1]) for name in pairs.keys() & relations)
    if any(key and key not in rows for rows, key in references):
        return _("The row it belonged to no longer exists.")
    step.accepted = earlier_values(step, targets)
    return apply_and_validate(step.row, step.accepted)


def accept_plain_steps(steps: Iterable[RevertStep]) -> None:
    """Validate changed rows that need no restored row or unique value, so that they are written in bulk."""
    restored = {(step.model, step.key) for step in steps if step.kind == "bring back"}
    plain_steps = [
        step
        for step in steps
        if step.kind == "change"
        and not step.pairs.keys() & (singly_saved_fields(step.model) - {*step.model.derived_from})
    ]
    # Only rows whose rendered text changes need the fields from which it is derived.
    derived_keys = keys_by_model(
        step for step in plain_steps if step.pairs.keys() & {*step.model.derived_from}
    )
    targets, rows_by_key = earlier_targets(plain_steps), dict[tuple[type[Content], int], Content]()
    for model, keys in keys_by_model(plain_steps).items():
        derived = derived_keys.get(model, set())
        rows = fetch_rows(model, keys - derived) + fetch_rows(model, derived, model.derived_from)
        rows_by_key |= {(model, row.pk): row for row in rows}
    for step in plain_steps:
        row = rows_by_key.get((step.model, step.key))
        if row is None or _target_keys(step) & restored:
            continue
        values = earlier_values(step, targets)
        if not apply_and_validate(row, values):
            step.row, step.accepted = row, values


def earlier_values(step: RevertStep, targets: Targets) -> Values:
    """Return the earlier values as the model's attributes; of foreign keys, instances."""
    fields, relations = recorded_fields(step.model), relation_targets(step.model)
    return {
        name: targets[relations[name]].get(earlier) if name in relations else fields[name].to_python(earlier)
        for name, (_present, earlier) in step.pairs.items()
    }


def earlier_targets(steps: Iterable[RevertStep]) -> Targets:
    """Return the earlier targets of the steps' foreign keys. One query for each model."""
    keys: RowKeys = defaultdict(set)
    for step in steps:
        for name, target in relation_targets(step.model).items():
            if name in step.pairs:
                keys[target].update({step.pairs[name][1]} - {None})
    return {target: target._base_manager.in_bulk(list(target_keys)) for target, target_keys in keys.items()}


def compare_rows(rows: dict[Key, EarlierRow], *, editable: bool = False) -> list[RevertStep]:
    """Compare earlier rows with the present ones. `editable`: skip fields that no form changes."""
    keys_by_label: dict[str, list[int]] = defaultdict(list)
    for label, key in rows:
        keys_by_label[label].append(key)
    steps: dict[Key, RevertStep] = {}
    for label, keys in keys_by_label.items():
        model = content_model(label)
        fields, link_fields = recorded_fields(model), many_to_many_fields(model)
        names = {name for key in keys for name in rows[label, key].values}
        present_rows = {row.pk: row for row in fetch_rows(model, keys, names)}
        compared = {name for name in names & fields.keys() if fields[name].editable or not editable}
        linked = {name: linked_keys(model, name, present_rows) for name in names & link_fields.keys()}
        deleted_labels = _deleted_labels(model, [key for key in keys if key not in present_rows])
        for key in keys:
            earlier, row = rows[label, key], present_rows.get(key)
            if row is None:
                if earlier.state == "whole":
                    pairs = {name: [None, value] for name, value in earlier.values.items()}
                    steps[label, key] = RevertStep(model, key, "bring back", None, deleted_labels[key], pairs)
            elif earlier.state == "absent":
                steps[label, key] = RevertStep(model, key, "remove", row, str(row))
            else:
                present_values = values_in_memory(row, [name for name in earlier.values if name in compared])
                present_values |= {name: linked[name][key] for name in earlier.values if name in linked}
                pairs = {name: [present_values[name], earlier.values[name]] for name in present_values}
                steps[label, key] = RevertStep(model, key, "change", row, str(row), pairs)
    return [steps[key] for key in rows if key in steps]


def fetch_rows(model: "type[Content]", keys: Iterable[int], names: Iterable[str] = ()) -> "list[Content]":
    return [
        row
        for batch in batched(keys, BATCH_ROWS, strict=False)
        for row in defer_long_texts(model._base_manager.filter(pk__in=batch), *names).order_by("pk")
    ]


def _deleted_labels(model: "type[Content]", keys: list[int]) -> dict[int, str]:
    labels = {key: f"{model._meta.verbose_name} {key}" for key in keys}
    deletions = RowChange.objects.filter(model=model._meta.label_lower, object_id__in=keys, kind=Kind.DELETED)
    return labels | dict(deletions.order_by("pk").values_list("object_id", "label")) if keys else labels


def _drop_equal(step: RevertStep) -> None:
    step.pairs = {name: pair for name, pair in step.pairs.items() if pair[0] != pair[1]}


def _changed_steps(steps: list[RevertStep]) -> list[RevertStep]:
    for step in steps:
        _drop_equal(step)
    return [step for step in steps if step.pairs or step.kind != "change"]


# Removal of new rows


def _plan_removals(
    plan: RevertPlan, created: list[RowChange], change_set: ChangeSet, permitted: Permitted | None
) -> None:
    """Plan to remove the created rows, unless they were changed since or other rows need them."""
    imported = change_set.origin == Origin.IMPORT
    freed = _rows_with_freed_relation(plan.steps)
    removal = Removal(created, rows_changed_since(change_set), freed, imported=imported)
    to_remove, to_keep = removal.to_remove, removal.to_keep
    if permitted is None:
        plan.steps += [RevertStep(model, key, "remove") for model, keys in to_remove.items() for key in keys]
    else:
        for model, keys in to_remove.items():
            steps = [RevertStep(model, row.pk, "remove", row, str(row)) for row in fetch_rows(model, keys)]
            permitted_steps = permitted(steps)
            plan.steps += permitted_steps
            plan.keep(_("You don’t have permission to delete it."), count=len(steps) - len(permitted_steps))
            plan.is_permitted |= bool(permitted_steps)
    kept_rows = {model: {row.pk: row for row in fetch_rows(model, keys)} for model, keys in to_keep.items()}
    steps = [
        RevertStep(model, change.object_id, "change", row)
        for change in created
        if (row := kept_rows.get(model := content_model(change.model), {}).get(change.object_id))
    ]
    visible_keys = keys_by_model(permitted(steps) if permitted else steps)
    plan.is_permitted |= bool(visible_keys)
    for step in steps:
        is_visible = step.key in visible_keys.get(step.model, ())
        description = f"{step.model._meta.verbose_name} “{step.row}”" if is_visible else ""
        plan.keep(_("It has been changed since, or something else needs it."), description)


def rows_changed_since(change_set: ChangeSet) -> set[str]:
    """Return the names of all rows that were changed later, or whose parts were."""
    later_changes = RowChange.objects.filter(change_set__gt=change_set.pk)
    names: set[str] = set()
    columns = ("model", "object_id", "owner", "other", "moved_to")
    for model, key, *related_names in later_changes.values_list(*columns).iterator():
        names.update([f"{model}:{key}", *related_names])
    return names


def _rows_with_freed_relation(steps: list[RevertStep]) -> dict[tuple[type[Content], str], set[int]]:
    """Return the rows whose nullable or many-to-many relation will change, by model and field."""
    freed: dict[tuple[type[Content], str], set[int]] = defaultdict(set)
    for step in steps:
        names = step.pairs.keys() if step.kind == "change" else set[str]()
        for name in names & relation_targets(step.model).keys():
            if recorded_fields(step.model)[name].null:
                freed[step.model, name].add(step.key)
        for name in names & many_to_many_fields(step.model).keys():
            freed[step.model, name].add(step.key)
    return freed


# Applying a plan


def undo(
    change_set: ChangeSet, user: User = None, permitted: Permitted | None = None, *, by_row: bool = False
) -> tuple[RevertPlan, ChangeSet | None]:
    """Revert a change set. Raise `CannotRevertError` with all reasons if it cannot be reverted."""
    with recording(Origin.UNDO, user, change_set.detail), revision.lock():
        plan = undo_plan(change_set, permitted, by_row=by_row)
        return plan, revert(plan.steps, Origin.UNDO, user, change_set.detail)


def revert(steps: list[RevertStep], origin: str, user: User, detail: str = "") -> ChangeSet | None:
    """Apply a plan completely, or raise `CannotRevertError` with all reasons and change nothing."""
    with recording(origin, user, detail) as log, revision.lock():
        _remove_rows([step for step in steps if step.kind == "remove"])
        single_steps = [step for step in steps if step.kind != "remove" and step.accepted is None]
        to_restore = [step for step in single_steps if step.kind == "bring back"]
        changed_steps = [step for step in single_steps if step.kind == "change"]
        moved_steps = [step for step in changed_steps if bulk.POSITION in step.pairs]
        lock_all_owners(_owners_by_model(moved_steps))
        for model, keys in keys_by_model(moved_steps).items():
            # Rows that change places get temporary positions, as these may be unique.
            rows = model._default_manager.filter(pk__in=keys)
            rows.update(**{bulk.POSITION: F(bulk.POSITION) + PARKED_FROM})
        reasons: list[str] = []
        for step in [*_restore_rows(to_restore), *changed_steps]:
            try:
                _write(step)
            except ValidationError as error:
                reasons += [f"{step.label}: {message}" for message in error.messages]
        if reasons:
            raise CannotRevertError(reasons)
        close_gaps(_owners_by_model([*to_restore, *moved_steps]))
        for step in single_steps:
            for name in step.pairs.keys() & many_to_many_fields(step.model).keys():
                manager = getattr(step.model._default_manager.get(pk=step.key), name)
                manager.set(list(manager.model._default_manager.filter(pk__in=step.pairs[name][1])))
        bulk_changes: dict[type[Content], list[BulkChange]] = {}
        for step in steps:
            if step.accepted is not None:
                bulk_changes.setdefault(step.model, []).append(BulkChange(step.row, "", step.accepted))
        for lines in bulk_changes.values():
            bulk.write(lines)
        log.write()
        return log.change_set


def _owners_by_model(steps: Iterable[RevertStep]) -> "dict[type[Ordered], set[int]]":
    return {
        model: owner_keys(model, keys) for model, keys in keys_by_model(steps).items() if is_ordered(model)
    }


def _remove_rows(steps: list[RevertStep]) -> None:
    """Delete rows, those that others refer to last, and close the gaps in positions."""
    owners = _owners_by_model(steps)
    remaining = keys_by_model(steps)
    try:
        while remaining:
            unreferenced = [
                model for model in remaining if not _referring_models(model) & (remaining.keys() - {model})
            ]
            for model in unreferenced or list(remaining):
                for batch in batched(sorted(remaining.pop(model)), BATCH_ROWS, strict=False):
                    model._default_manager.filter(pk__in=batch).delete()
    except ProtectedError as error:
        referring = ", ".join(sorted(str(row) for row in error.protected_objects)[:5])
        message = _("Other rows depend on it: %(rows)s.") % {"rows": referring}
        raise CannotRevertError([message]) from error
    close_gaps(owners)


def _referring_models(model: "type[Content]") -> "set[type[Model]]":
    """Return the models with a foreign key to this one, and the models of their owners."""
    models = {relation.related_model for relation in model._meta.related_objects}
    for referring_model in [related for related in models if is_recorded(related)]:
        models.update(related_model(referring_model, name) for name in owner_fields(referring_model)[:1])
    return models


def _restore_rows(steps: list[RevertStep]) -> list[RevertStep]:
    """Create rows in bulk, referenced ones first; return the steps to write singly, in order."""
    remaining = {(step.model, step.key): step for step in steps}
    single_steps: list[RevertStep] = []
    while remaining:
        ready = [step for step in remaining.values() if not _target_keys(step) & remaining.keys()]
        by_model: dict[type[Content], list[RevertStep]] = {}
        for step in ready or list(remaining.values()):
            by_model.setdefault(step.model, []).append(remaining.pop((step.model, step.key)))
        for model, model_steps in by_model.items():
            # Later rows may refer to one that is not yet created.
            if single_steps or not _create_in_bulk(model, model_steps):
                single_steps += model_steps
    return single_steps


def _create_in_bulk(model: "type[Content]", steps: list[RevertStep]) -> bool:
    """Create rows in bulk if all are valid; otherwise return `False`, so that errors are found singly."""
    if len(steps) == 1:
        return False
    targets, relations = earlier_targets(steps), relation_targets(model)
    rows = []
    for step in steps:
        row = _new_row(step)
        for name in step.pairs.keys() & relations.keys():
            key, target_rows = step.pairs[name][1], targets[relations[name]]
            if key is not None and key not in target_rows:
                return False
            setattr(row, name, target_rows.get(key))
        try:
            row.clean_fields(exclude=relations.keys())
            row.clean()
        except ValidationError:
            return False
        rows.append(row)
    try:
        with transaction.atomic():
            model._default_manager.bulk_create(rows, batch_size=BATCH_ROWS)
    except IntegrityError:
        return False
    return True


def _new_row(step: RevertStep) -> Content:
    """Return an unsaved instance of a deleted row, with its values."""
    row = step.model()
    row.pk = step.key
    _set_values(row, step)
    if isinstance(row, Ordered):
        # Avoid the positions of all other rows. `close_gaps` gives the row its position back.
        row.position += 2 * PARKED_FROM
    return row


def _set_values(row: Content, step: RevertStep) -> None:
    fields = recorded_fields(step.model)
    for name, (_present, earlier) in step.pairs.items():
        if name in fields:
            setattr(row, fields[name].attname, fields[name].to_python(earlier))


def _target_keys(step: RevertStep) -> "set[tuple[type[Content], int]]":
    targets = relation_targets(step.model)
    references = {(targets[name], pair[1]) for name, pair in step.pairs.items() if name in targets}
    return references - {(step.model, step.key)}


def _write(step: RevertStep) -> None:
    is_new = step.kind == "bring back"
    row = _new_row(step) if is_new else step.model._base_manager.get(pk=step.key)
    if not is_new:
        _set_values(row, step)
        if isinstance(row, Ordered) and _is_position_taken(row):
            row.position = 0
    excluded = {"position"} if not getattr(row, "position", 1) else set[str]()
    # First check that the targets of foreign keys exist, since `clean()` reads them.
    row.clean_fields()
    row.clean()
    row.validate_unique(exclude=excluded)
    row.validate_constraints(exclude=excluded)
    row.save(force_insert=is_new)


def _is_position_taken(row: "Ordered") -> bool:
    is_unique = any("position" in getattr(constraint, "fields", ()) for constraint in row._meta.constraints)
    return is_unique and row.siblings().filter(position=row.position).exclude(pk=row.pk).exists()
