"""Context managers in which the database shows the working copy, and which collect changes made in it.

The pending values are written to the rows in a transaction that is rolled back. Every query, filter, rule and
page therefore shows the working state. Writers of one edition wait for each other.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.db.models import Model

from content import preview_context
from content.history import ChangeSet, RowChange
from content.history.recording import WrittenRows, editions_by_row, watch_history
from content.models import Content
from content.replica import read_from_replica as from_replica
from content.row_values import BATCH_ROWS, Key, content_model
from papers.models import Paper
from people.models import Person
from schedule.entries import MOVED
from schedule.models import Presentation, Session
from schedule.working_copy.models import PendingChanges, WorkingCopy
from schedule.working_copy.pending import (
    CHANGED,
    CREATED,
    DELETED,
    PendingRow,
    StoredRow,
    combine,
)
from schedule.working_copy.rows import (
    WORKING_MODELS,
    Columns,
    States,
    computed_values,
    drop_dangling,
    drop_duplicates,
    is_working,
    plain_values,
    primary_key,
    python_values,
    read_columns,
    reserve_keys,
    target_state,
    write_states,
    written_columns,
)
from schedule.working_copy.statuses import StatusTiming, apply_at_once, hold_new_papers

# The moments of the last moves, by model and key.
type MoveTimes = dict[type[Content], dict[int, datetime]]


def open_copies(editions: Collection[int] | None = None) -> list[WorkingCopy]:
    """Return the open working copies, of these editions or all. One query."""
    rows = WorkingCopy.objects.open()
    return list(rows if editions is None else rows.filter(edition__in=editions))


def pending_rows(copies: Collection[WorkingCopy]) -> dict[Key, PendingRow]:
    """Return how the rows of these editions differ. One query."""
    keys = [copy.pk for copy in copies if copy.row_count]
    if not keys:
        return {}
    rows = combine(PendingChanges.objects.filter(working_copy__in=keys).order_by("pk"))
    follow_merges(rows)
    return rows


def follow_merges(rows: dict[Key, PendingRow]) -> None:
    """Replace merged people by those that they were merged into. One query without merges."""
    pairs = [row.values["person"] for row in rows.values() if "person" in row.values]
    person_keys = {key for pair in pairs for key in pair} - {None}
    while person_keys:
        merged = Person.objects.filter(pk__in=person_keys, merged_into__isnull=False)
        survivors = dict(merged.values_list("pk", "merged_into"))
        for pair in pairs:
            pair[:] = [survivors.get(key, key) for key in pair]
        person_keys = {*survivors.values()}


def write_pending(rows: dict[Key, PendingRow]) -> dict[type[Content], States]:
    """Write the pending values to the rows; return the public states that they replace, by model."""
    public_by_model: dict[type[Content], States] = {}
    states_by_model: dict[type[Content], States] = {}
    for model in WORKING_MODELS:
        model_rows = {key: row for (label, key), row in rows.items() if label == model._meta.label_lower}
        if model_rows:
            public = read_columns(model, model_rows)
            public_by_model[model] = {key: public.get(key) for key in model_rows}
            states_by_model[model] = {
                key: target_state(row, model, public.get(key)) for key, row in model_rows.items()
            }
    drop_duplicates(states_by_model, public_by_model)
    drop_dangling(states_by_model)
    for model, states in states_by_model.items():
        current = {key: row for key, row in public_by_model[model].items() if row is not None}
        write_states(model, current, states)
    return public_by_model


def read_move_times(copies: Collection[WorkingCopy]) -> MoveTimes:
    """Return when sessions and presentations last moved, which the history does not record. Two queries."""
    conditions = {"edition__in": [copy.edition_id for copy in copies], f"{MOVED}__isnull": False}
    return {
        model: dict(model._base_manager.filter(**conditions).values_list("pk", MOVED))
        for model in (Session, Presentation)
    }


@contextmanager
def show_working_copy(
    copies: Collection[WorkingCopy], rows: dict[Key, PendingRow] | None = None
) -> Iterator[None]:
    """Show the working state inside; all writes in the block are rolled back.

    `rows` are those that `pending_rows()` returned for these copies; they are read again if someone
    changed the copies in the meantime.
    """
    if preview_context.is_working_state() or not any(copy.row_count for copy in copies):
        yield
        return
    with transaction.atomic(), from_replica(allowed=False):
        locked_copies = lock_copies(copies)
        is_current = [copy.mark for copy in locked_copies] == [copy.mark for copy in copies]
        with preview_context.working_state(" ".join(copy.mark for copy in locked_copies)):
            write_pending(rows if rows is not None and is_current else pending_rows(locked_copies))
            yield
        transaction.set_rollback(True)


def lock_copies(copies: Collection[WorkingCopy]) -> list[WorkingCopy]:
    """Return the current working copies, locked until the transaction ends."""
    keys = [copy.pk for copy in copies]
    rows = WorkingCopy.objects.filter(pk__in=keys).select_for_update(of=("self",)).select_related("edition")
    return [copy for copy in rows.order_by("pk") if copy.is_open]


@contextmanager
def edit_working_copy(
    copies: Collection[WorkingCopy],
    *,
    keeps_others: bool = False,
    timing: StatusTiming = StatusTiming.USUAL,
) -> Iterator[None]:
    """Show the working state inside, and store changes to it as pending changes.

    Changes of other rows become public as usual, with everything else that the block wrote. If there are
    none, and the block does not set `keeps_others` (as an import does for its job), all of it is rolled back.
    `timing`: when rows are shown and hidden whose status changes; new papers are shown with the release.
    """
    if preview_context.is_working_state():
        yield
        return
    with transaction.atomic(), from_replica(allowed=False):
        copies = lock_copies(copies)
        if not copies:
            yield
            return
        with transaction.atomic():
            move_times = read_move_times(copies)
            public = write_pending(pending_rows(copies))
            with watch_history() as watch, preview_context.working_state(f"changing {uuid4()}"):
                yield
            collected = _collect_changes(watch.written, copies)
            sets = collected.sets(hold_new_papers(watch.written, collected.copies))
            if collected.others or keeps_others:
                _restore_public(public, move_times, collected)
                _restore_unrecorded(watch.unrecorded)
            else:
                transaction.set_rollback(True)
        changed_copies = apply_at_once(sets, timing)
        store_changes([changes for changes in sets if changes.rows], changed_copies)


@dataclass
class CollectedChanges:
    """The changes of a block, in working copies and elsewhere."""

    copies: dict[int, WorkingCopy]
    # Changes of working rows, including fields that are not part of the working copy.
    pending: list[tuple[ChangeSet, RowChange, WorkingCopy]] = field(default_factory=list)
    # The accounts that made the new rows, if not those of their change sets.
    makers: dict[Key, int] = field(default_factory=dict)
    others: list[RowChange] = field(default_factory=list)
    created: dict[ChangeSet, dict[Key, WorkingCopy]] = field(default_factory=dict)

    def sets(self, held: Mapping[tuple[ChangeSet, WorkingCopy], list[StoredRow]]) -> list[PendingChanges]:
        """Return the changes, also the `held` ones, for each change set and working copy."""
        rows = {key: [*stored_rows] for key, stored_rows in held.items()}
        written_rows = self._read_rows()
        for change_set, change, copy in self.pending:
            row = _pending_row(change, written_rows.get(change.key))
            if row is not None:
                row.made_by = change.made_by_id
                rows.setdefault((change_set, copy), []).append(row.stored())
        for change_set, copies_by_row in self.created.items():
            for key, copy in copies_by_row.items():
                if key in written_rows:
                    label, columns = written_rows[key]
                    model = content_model(key[0])
                    pairs = {name: [None, value] for name, value in plain_values(model, columns).items()}
                    row = PendingRow(CREATED, *key, label, pairs, computed_values(model, columns))
                    row.made_by = self.makers.get(key)
                    rows.setdefault((change_set, copy), []).append(row.stored())
        return [
            _pending_changes(change_set, copy, stored_rows)
            for (change_set, copy), stored_rows in rows.items()
        ]

    def _read_rows(self) -> dict[Key, tuple[str, Columns]]:
        """Return the label and the columns of the changed and new rows. Two queries for each model."""
        keys_by_label: dict[str, set[int]] = {}
        changed_keys = [change.key for _set, change, _copy in self.pending if change.kind != DELETED]
        created_keys = [key for copies_by_row in self.created.values() for key in copies_by_row]
        for label, key in [*changed_keys, *created_keys]:
            keys_by_label.setdefault(label, set()).add(key)
        written_rows: dict[Key, tuple[str, Columns]] = {}
        for label, keys in keys_by_label.items():
            model = content_model(label)
            columns = read_columns(model, keys)
            related = [f.name for f in model._meta.concrete_fields if f.is_relation]
            rows = model._base_manager.filter(pk__in=[*columns]).select_related(*related)
            names = {row.pk: str(row)[:300] for row in rows}
            written_rows |= {(label, key): (names.get(key, ""), row) for key, row in columns.items()}
        return written_rows


def _pending_row(change: RowChange, written_row: tuple[str, Columns] | None) -> PendingRow | None:
    """Return a change of a row as pending, with its current label and columns; `None` without a change."""
    if change.kind == DELETED:
        return PendingRow(
            DELETED, *change.key, change.label, {name: [value, None] for name, value in change.values.items()}
        )
    pairs = {name: pair for name, pair in change.values.items() if is_working(change.model, name)}
    if written_row is None or not pairs:
        return None
    label, columns = written_row
    return PendingRow(
        CHANGED, *change.key, label, pairs, computed_values(content_model(change.model), columns)
    )


def _pending_changes(change_set: ChangeSet, copy: WorkingCopy, rows: list[StoredRow]) -> PendingChanges:
    fields = ("at", "user_id", "user_name", "origin", "detail", "reference")
    values = {name: getattr(change_set, name) for name in fields}
    changes = PendingChanges(act=change_set.pk, working_copy=copy, rows=rows, **values)
    # Combine several changes of a row into one.
    changes.rows = [row.stored() for row in combine([changes]).values()]
    return changes


def _collect_changes(written: list[WrittenRows], copies: Collection[WorkingCopy]) -> CollectedChanges:
    """Separate the recorded changes of working copies from other changes."""
    collected = CollectedChanges({copy.edition_id: copy for copy in copies})
    # Change sets that were rolled back inside no longer exist.
    existing_keys = {
        *ChangeSet.objects.filter(pk__in={group.change_set.pk for group in written}).values_list(
            "pk", flat=True
        )
    }
    written = [group for group in written if group.change_set.pk in existing_keys]
    rows = [(group.change_set, row) for group in written for row in group.rows]
    is_other_deleted = any(row.kind == DELETED and not is_working(row.model) for _set, row in rows)
    for change_set, row in rows:
        copy = collected.copies.get(row.edition_key or 0)
        # Only the status of a paper can be pending; a new one is a draft until the release.
        fields = [is_working(row.model, name) for name in row.values if row.kind == CHANGED]
        if copy is None or not (is_working(row.model) or any(fields)):
            collected.others.append(row)
        elif row.kind == DELETED and row.dragged and is_other_deleted:
            # It was deleted together with a paper or a person.
            collected.others.append(row)
        elif row.kind != CREATED:
            collected.pending.append((change_set, row, copy))
            if not is_working(row.model) and not all(fields):
                collected.others.append(row)
        elif not is_working(row.model):
            collected.others.append(row)
    for group in written:
        collected.makers |= group.makers
        if copies_by_row := _new_rows(group.created, collected.copies):
            collected.created.setdefault(group.change_set, {}).update(copies_by_row)
    return collected


def _new_rows(keys: set[Key], copies: dict[int, WorkingCopy]) -> dict[Key, WorkingCopy]:
    """Return the new rows of working copies. A query for each model."""
    copies_by_row: dict[Key, WorkingCopy] = {}
    for label in {label for label, _key in keys if is_working(label)}:
        model_keys = [key for name, key in keys if name == label]
        for key, edition in editions_by_row(content_model(label), model_keys).items():
            if edition in copies:
                copies_by_row[label, key] = copies[edition]
    return copies_by_row


def _restore_public(
    public: dict[type[Content], States], move_times: MoveTimes, collected: CollectedChanges
) -> None:
    """Restore the public rows, and remove pending changes from the history."""
    deleted_keys = {row.key for row in collected.others if row.kind == DELETED}
    for model, states in _earlier_states(collected, move_times).items():
        public[model] = {**states, **public.get(model, {})}
    for copies_by_row in collected.created.values():
        for label, key in copies_by_row:
            public.setdefault(content_model(label), {}).setdefault(key, None)
    for model in WORKING_MODELS:
        label = model._meta.label_lower
        states = {key: row for key, row in public.get(model, {}).items() if (label, key) not in deleted_keys}
        write_states(model, read_columns(model, states), states)
    _remove_from_history(collected)


def _restore_unrecorded(rows: Iterable[tuple[type[Model], Columns]]) -> None:
    """Restore stars, invitations and other rows without a history, if the rows they need still exist."""
    states_by_model: dict[type[Model], States] = {}
    for model, row in rows:
        states_by_model.setdefault(model, {}).setdefault(row[primary_key(model)], row)
    drop_dangling(states_by_model)
    for model, states in states_by_model.items():
        write_states(model, read_columns(model, states), states)


def _earlier_states(collected: CollectedChanges, move_times: MoveTimes) -> dict[type[Content], States]:
    """Return the earlier columns of changed rows, including computed ones."""
    earlier: dict[type[Content], dict[int, Columns]] = {}
    for _change_set, change, _copy in reversed(collected.pending):
        values = {name: value for name, value in change.before().items() if is_working(change.model, name)}
        model = content_model(change.model)
        earlier.setdefault(model, {}).setdefault(change.object_id, {}).update(python_values(model, values))
    states_by_model: dict[type[Content], States] = {}
    for model, rows in earlier.items():
        current = read_columns(model, rows)
        for key, values in rows.items():
            state = {**current.get(key, {}), **values, primary_key(model): key}
            if model is not Paper:
                row = model(**state)
                row.derive()
                state = {name: getattr(row, name) for name in written_columns(model)}
                if MOVED in state:
                    state[MOVED] = move_times[model].get(key)
            states_by_model.setdefault(model, {})[key] = state
    return states_by_model


def _remove_from_history(collected: CollectedChanges) -> None:
    """Remove pending changes from the history."""
    changes_by_pk = {change.pk: change for _set, change, _copy in collected.pending}
    mixed_changes = [row for row in collected.others if row.pk in changes_by_pk]
    for row in mixed_changes:
        row.values = {name: pair for name, pair in row.values.items() if not is_working(row.model, name)}
    RowChange.objects.bulk_update(mixed_changes, ["values"], batch_size=BATCH_ROWS)
    RowChange.objects.filter(pk__in=changes_by_pk.keys() - {row.pk for row in mixed_changes}).delete()
    for change_set, copies_by_row in collected.created.items():
        for label in {label for label, _key in copies_by_row}:
            row_keys = [key for name, key in copies_by_row if name == label]
            change_set.rows.filter(model=label, object_id__in=row_keys, kind=CREATED).delete()
    change_set_keys = {change_set.pk for change_set, _row, _copy in collected.pending} | {
        change_set.pk for change_set in collected.created
    }
    ChangeSet.objects.filter(pk__in=change_set_keys, rows=None, reference="").delete()


def store_changes(sets: Collection[PendingChanges], changed_copies: Collection[WorkingCopy]) -> None:
    """Store pending changes, and advance the versions of their working copies and of those changed."""
    if sets:
        reserve_keys(sets)
        PendingChanges.objects.bulk_create(sets)
    for copy in {*changed_copies, *(changes.working_copy for changes in sets)}:
        advance(copy)


def reserve_all_keys() -> None:
    """Reserve the keys of pending rows in a restored database."""
    reserve_keys(PendingChanges.objects.exclude(rows=[]))


def advance(copy: WorkingCopy) -> None:
    """Update the number of pending rows and the version of a locked working copy."""
    rows = combine(copy.sets.order_by("pk"))
    copy.row_count, copy.version = len(rows), copy.version + 1
    copy.save()
