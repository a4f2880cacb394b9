"""Context managers in which the database shows the working copy, and which collect changes made in it.

The pending values are written to the rows in a transaction that is rolled back. Every query, filter, rule and
page therefore shows the working state. Writers of one edition wait for each other.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


class _RolledBackError(Exception):
    """Rolls the transaction of a block back."""


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
    named = {key for pair in pairs for key in pair} - {None}
    while named:
        merged = Person.objects.filter(pk__in=named, merged_into__isnull=False)
        stays = dict(merged.values_list("pk", "merged_into"))
        for pair in pairs:
            pair[:] = [stays.get(key, key) for key in pair]
        named = {*stays.values()}


@dataclass
class ReplacedRows:
    """The public states of the rows that a block replaced, by model."""

    public: dict[type[Content], States] = field(default_factory=dict)
    # `rescheduled_at` of rows, which the history does not record.
    moved: dict[type[Content], dict[int, Columns]] = field(default_factory=dict)


def write_pending(
    rows: dict[Key, PendingRow], models: Collection[type[Content]] = WORKING_MODELS
) -> ReplacedRows:
    """Write the pending values to the rows."""
    shown, wanted = ReplacedRows(), dict[type[Content], States]()
    for model in WORKING_MODELS:
        here = {key: row for (label, key), row in rows.items() if label == model._meta.label_lower}
        if here and model in models:
            now = read_columns(model, here)
            shown.public[model] = {key: now.get(key) for key in here}
            wanted[model] = {key: target_state(row, model, now.get(key)) for key, row in here.items()}
    drop_dangling(wanted)
    for model, states in wanted.items():
        write_states(model, {key: row for key, row in shown.public[model].items() if row is not None}, states)
    return shown


def moved_rows(copies: Collection[WorkingCopy]) -> dict[type[Content], dict[int, Columns]]:
    """Return when sessions and presentations last moved. Two queries."""
    editions = [copy.edition_id for copy in copies]
    found: dict[type[Content], dict[int, Columns]] = {}
    for model in (Session, Presentation):
        rows = model._base_manager.filter(edition__in=editions, **{f"{MOVED}__isnull": False})
        found[model] = {key: {MOVED: at} for key, at in rows.values_list("pk", MOVED)}
    return found


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
    try:
        with transaction.atomic(), from_replica(allowed=False):
            now = lock_copies(copies)
            is_current = [copy.mark for copy in now] == [copy.mark for copy in copies]
            with preview_context.working_state(" ".join(copy.mark for copy in now)):
                write_pending(rows if rows is not None and is_current else pending_rows(now))
                yield
            raise _RolledBackError
    except _RolledBackError:
        pass


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
    models: Collection[type[Content]] = WORKING_MODELS,
) -> Iterator[None]:
    """Show the working state inside, and store changes to it as pending changes.

    Changes of other rows become public as usual, with everything else that the block wrote. If there are
    none, and the block does not set `keeps_others` (as an import does for its job), all of it is rolled back.
    """
    if preview_context.is_working_state():
        yield
        return
    with transaction.atomic(), from_replica(allowed=False):
        copies = lock_copies(copies)
        found: list[PendingChanges] = []
        if not copies:
            yield
            return
        try:
            with transaction.atomic():
                moved = moved_rows(copies)
                shown = write_pending(pending_rows(copies), models)
                shown.moved = moved
                with watch_history() as watch, preview_context.working_state(f"changing {uuid4()}"):
                    yield
                taken = _collect_changes(watch.written, copies)
                found = taken.sets()
                if not taken.others and not keeps_others:
                    raise _RolledBackError
                _restore_public(shown, taken, models)
                _restore_unrecorded(watch.unrecorded)
        except _RolledBackError:
            pass
        store_changes(found)


@dataclass
class CollectedChanges:
    """The changes of a block, in working copies and elsewhere."""

    copies: dict[int, WorkingCopy]
    # Changes of working rows, including fields that are not part of the working copy.
    mine: list[tuple[ChangeSet, RowChange, WorkingCopy]] = field(default_factory=list)
    others: list[RowChange] = field(default_factory=list)
    made: dict[ChangeSet, dict[Key, WorkingCopy]] = field(default_factory=dict)

    def sets(self) -> list[PendingChanges]:
        """Return the changes for each change set and working copy, with the values of new rows."""
        rows: dict[tuple[ChangeSet, WorkingCopy], list[StoredRow]] = {}
        now = self._now()
        labels = self._labels(now)
        for change_set, change, copy in self.mine:
            row = self._row(change, now, labels)
            if row is not None:
                rows.setdefault((change_set, copy), []).append(row)
        for change_set, keys in self.made.items():
            for (label, key), copy in keys.items():
                here = now[content_model(label)].get(key)
                if here is not None:
                    model = content_model(label)
                    values = {name: [None, value] for name, value in plain_values(model, here).items()}
                    new = PendingRow(CREATED, label, key, labels.get((label, key), ""), values)
                    new.follows = computed_values(model, here)
                    rows.setdefault((change_set, copy), []).append(new.stored())
        return [_pending_changes(change_set, copy, found) for (change_set, copy), found in rows.items()]

    def _now(self) -> dict[type[Content], dict[int, Columns]]:
        keys: dict[str, set[int]] = {}
        names = [change.key for _set, change, _copy in self.mine if change.kind != DELETED]
        for label, key in [*names, *(key for made in self.made.values() for key in made)]:
            keys.setdefault(label, set()).add(key)
        return {
            content_model(label): read_columns(content_model(label), found) for label, found in keys.items()
        }

    def _labels(self, now: dict[type[Content], dict[int, Columns]]) -> dict[Key, str]:
        found: dict[Key, str] = {}
        for model, rows in now.items():
            related = [f.name for f in model._meta.concrete_fields if f.is_relation]
            for row in model._base_manager.filter(pk__in=[*rows]).select_related(*related):
                found[model._meta.label_lower, row.pk] = str(row)[:300]
        return found

    def _row(
        self,
        change: RowChange,
        now: dict[type[Content], dict[int, Columns]],
        labels: dict[Key, str],
    ) -> StoredRow | None:
        model = content_model(change.model)
        if change.kind == DELETED:
            pairs = {name: [value, None] for name, value in change.values.items()}
            return PendingRow(DELETED, *change.key, change.label, pairs).stored()
        here = now[model].get(change.object_id)
        pairs = {name: pair for name, pair in change.values.items() if is_working(change.model, name)}
        if here is None or not pairs:
            return None
        row = PendingRow(CHANGED, *change.key, labels.get(change.key, ""), pairs)
        row.follows = computed_values(model, here)
        return row.stored()


def _pending_changes(change_set: ChangeSet, copy: WorkingCopy, rows: list[StoredRow]) -> PendingChanges:
    fields = ("at", "user_id", "user_name", "origin", "detail", "reference")
    values = {name: getattr(change_set, name) for name in fields}
    one = PendingChanges(act=change_set.pk, working_copy=copy, rows=rows, **values)
    # Combine several changes of a row into one.
    one.rows = [row.stored() for row in combine([one]).values()]
    return one


def _collect_changes(written: list[WrittenRows], copies: Collection[WorkingCopy]) -> CollectedChanges:
    """Separate the recorded changes of working copies from other changes."""
    taken = CollectedChanges({copy.edition_id: copy for copy in copies})
    # Change sets that were rolled back inside no longer exist.
    here = {
        *ChangeSet.objects.filter(pk__in={one.change_set.pk for one in written}).values_list("pk", flat=True)
    }
    written = [one for one in written if one.change_set.pk in here]
    rows = [(one.change_set, row) for one in written for row in one.rows]
    is_other_gone = any(row.kind == DELETED and not is_working(row.model) for _set, row in rows)
    for change_set, row in rows:
        copy = taken.copies.get(row.edition_key or 0)
        # Only the status of a paper can be pending; new and deleted papers are public at once.
        fields = [is_working(row.model, name) for name in row.values if row.kind == CHANGED]
        if copy is None or not (is_working(row.model) or any(fields)):
            taken.others.append(row)
        elif row.kind == DELETED and row.dragged and is_other_gone:
            # It was deleted together with a paper or a person.
            taken.others.append(row)
        elif row.kind != CREATED:
            taken.mine.append((change_set, row, copy))
            if not is_working(row.model) and not all(fields):
                taken.others.append(row)
        elif not is_working(row.model):
            taken.others.append(row)
    for one in written:
        if made := _new_rows(one.created, taken.copies):
            taken.made.setdefault(one.change_set, {}).update(made)
    return taken


def _new_rows(keys: set[Key], copies: dict[int, WorkingCopy]) -> dict[Key, WorkingCopy]:
    """Return the new rows of working copies. A query for each model."""
    found: dict[Key, WorkingCopy] = {}
    for label in {label for label, _key in keys if is_working(label)}:
        own = [key for name, key in keys if name == label]
        for key, edition in editions_by_row(content_model(label), own).items():
            if edition in copies:
                found[label, key] = copies[edition]
    return found


def _restore_public(shown: ReplacedRows, taken: CollectedChanges, models: Collection[type[Content]]) -> None:
    """Restore the public rows, and remove pending changes from the history."""
    gone = {row.key for row in taken.others if row.kind == DELETED}
    public: dict[type[Content], States] = {model: dict(states) for model, states in shown.public.items()}
    for model, states in _earlier_states(taken, shown).items():
        public[model] = {**states, **public.get(model, {})}
    for keys in taken.made.values():
        for label, key in keys:
            public.setdefault(content_model(label), {}).setdefault(key, None)
    for model in WORKING_MODELS:
        label = model._meta.label_lower
        states = {key: row for key, row in public.get(model, {}).items() if (label, key) not in gone}
        write_states(model, read_columns(model, states), states)
    _remove_from_history(taken)


def _restore_unrecorded(rows: Iterable[tuple[type[Model], Columns]]) -> None:
    """Restore stars, invitations and other rows without a history, if the rows they need still exist."""
    wanted: dict[type[Model], States] = {}
    for model, row in rows:
        wanted.setdefault(model, {}).setdefault(row[primary_key(model)], row)
    drop_dangling(wanted)
    for model, states in wanted.items():
        write_states(model, read_columns(model, states), states)


def _earlier_states(taken: CollectedChanges, shown: ReplacedRows) -> dict[type[Content], States]:
    """Return the earlier columns of changed rows, including computed ones."""
    earlier: dict[type[Content], dict[int, Columns]] = {}
    for _change_set, change, _copy in reversed(taken.mine):
        values = {name: value for name, value in change.before().items() if is_working(change.model, name)}
        model = content_model(change.model)
        earlier.setdefault(model, {}).setdefault(change.object_id, {}).update(python_values(model, values))
    found: dict[type[Content], States] = {}
    for model, rows in earlier.items():
        here = read_columns(model, rows)
        for key, values in rows.items():
            state = {**here.get(key, {}), **values, primary_key(model): key}
            if model is not Paper:
                row = model(**state)
                row.derive()
                state = {name: getattr(row, name) for name in written_columns(model)}
                if MOVED in state:
                    state[MOVED] = shown.moved.get(model, {}).get(key, {}).get(MOVED)
            found.setdefault(model, {})[key] = state
    return found


def _remove_from_history(taken: CollectedChanges) -> None:
    """Remove pending changes from the history."""
    mine = {change.pk: change for _set, change, _copy in taken.mine}
    partly = [row for row in taken.others if row.pk in mine]
    for row in partly:
        row.values = {name: pair for name, pair in row.values.items() if not is_working(row.model, name)}
    RowChange.objects.bulk_update(partly, ["values"], batch_size=BATCH_ROWS)
    RowChange.objects.filter(pk__in=mine.keys() - {row.pk for row in partly}).delete()
    for change_set, keys in taken.made.items():
        for label in {label for label, _key in keys}:
            own = [key for name, key in keys if name == label]
            change_set.rows.filter(model=label, object_id__in=own, kind=CREATED).delete()
    sets = {change_set.pk for change_set, _row, _copy in taken.mine} | {one.pk for one in taken.made}
    ChangeSet.objects.filter(pk__in=sets, rows=None, reference="").delete()


def store_changes(found: Collection[PendingChanges]) -> None:
    """Store pending changes, and advance the versions of their working copies."""
    if not found:
        return
    reserve_keys(
        [PendingRow.read(row) for one in found for row in one.rows],
        [one.act for one in found],
    )
    PendingChanges.objects.bulk_create(found)
    for copy in {one.working_copy for one in found}:
        advance(copy)


def reserve_all_keys() -> None:
    """Reserve the keys of pending rows in a restored database."""
    sets = list(PendingChanges.objects.exclude(rows=[]))
    reserve_keys([PendingRow.read(row) for one in sets for row in one.rows], [one.act for one in sets])


def advance(copy: WorkingCopy) -> None:
    """Update the number of pending rows and the version of a locked working copy."""
    found = combine(copy.sets.order_by("pk"))
    copy.row_count, copy.version = len(found), copy.version + 1
    copy.save()
