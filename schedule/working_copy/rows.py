"""Read and write rows by column: without history, revision, signals or validation.

Writes are rolled back, except when `block` restores the public state.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from itertools import batched
from typing import Any

from django.db import connection
from django.db.models import CASCADE, PROTECT, Field, Model, QuerySet, UniqueConstraint

from content.history import ChangeSet
from content.models import Content
from content.row_values import (
    BATCH_ROWS,
    Key,
    content_model,
    recorded_fields,
    relation_targets,
    to_json_value,
)
from papers.models import Paper
from schedule.models import Presentation, Room, Session, SessionRole, Speaker
from schedule.working_copy.models import PendingChanges
from schedule.working_copy.pending import CREATED, DELETED, PendingRow

# The models of a working copy, referenced ones first; of papers only the status.
WORKING_MODELS: tuple[type[Content], ...] = (Paper, Room, Session, Presentation, SessionRole, Speaker)
PAPER_FIELDS = frozenset(("status",))
LABELS = frozenset(model._meta.label_lower for model in WORKING_MODELS)

# Attribute -> value, of all columns or some.
type Columns = dict[str, Any]
type States = dict[int, Columns | None]


def is_working(label: str, field: str = "") -> bool:
    """Return whether a model, or a field of it, belongs to a working copy."""
    return label in LABELS and (label != Paper._meta.label_lower or field in PAPER_FIELDS)


@cache
def written_columns(model: type[Model]) -> dict[str, "Field[Any, Any]"]:
    """Return the columns that a working copy writes, by attribute."""
    fields = model._meta.concrete_fields
    return {f.attname: f for f in fields if model is not Paper or f.primary_key or f.name in PAPER_FIELDS}


@cache
def computed_columns(model: type[Content]) -> tuple[str, ...]:
    """Return the columns that are computed from others when a row is saved."""
    if model is Paper:
        return ()
    recorded = recorded_fields(model)
    return tuple(
        f.attname for f in model._meta.concrete_fields if f.name not in recorded and not f.primary_key
    )


def read_columns(model: type[Model], keys: Iterable[int]) -> dict[int, Columns]:
    """Return the columns of those rows that exist, by key. One query for 500 rows."""
    names = [*written_columns(model)]
    rows_by_key: dict[int, Columns] = {}
    for batch in batched(sorted({*keys}), BATCH_ROWS, strict=False):
        rows: Any = QuerySet(model).filter(pk__in=batch).order_by().values_list(*names)
        rows_by_key |= {
            values[names.index(primary_key(model))]: dict(zip(names, values, strict=True)) for values in rows
        }
    return rows_by_key


def primary_key(model: type[Model]) -> str:
    return model._meta.pk.attname


def python_values(model: type[Content], values: Mapping[str, Any]) -> Columns:
    """Convert values of the history to Python values, by column."""
    fields = recorded_fields(model)
    return {
        fields[name].attname: fields[name].to_python(value)
        for name, value in values.items()
        if name in fields
    }


def plain_values(model: type[Content], row: Columns) -> dict[str, Any]:
    """Convert the columns of a row to values of the history, by field."""
    fields = recorded_fields(model).items()
    return {name: to_json_value(row[field.attname]) for name, field in fields if field.attname in row}


def computed_values(model: type[Content], row: Columns) -> dict[str, Any]:
    return {name: to_json_value(row[name]) for name in computed_columns(model)}


def target_state(row: PendingRow, model: type[Content], public: Columns | None) -> Columns | None:
    """Return the columns that a row has in the working copy."""
    if row.kind == DELETED:
        return None
    if public is None and row.kind != CREATED:
        # Someone deleted the public row: a conflict that the release page shows.
        return None
    fields = {field.attname: field for field in model._meta.concrete_fields}
    follows = {name: fields[name].to_python(value) for name, value in row.follows.items() if name in fields}
    key = {primary_key(model): row.key}
    return {**(public or {}), **python_values(model, row.after), **follows, **key}


def targets(row: PendingRow) -> set[Key]:
    """Return the keys of the rows in the working copy that a row references."""
    return {
        (label, key)
        for name, target in relation_targets(content_model(row.model)).items()
        if (label := target._meta.label_lower) in LABELS
        if (key := row.values.get(name, [None, None])[1])
    }


def drop_duplicates(states_by_model: Mapping[type[Content], States], public: Mapping[Any, States]) -> None:
    """Drop the states with unique values of another row, such as the same role of people who were merged.

    The release of such a change is refused, so it must be discarded. A query for each model with new values.
    """
    for model, states in states_by_model.items():
        columns = {field.name: name for name, field in written_columns(model).items()}
        for constraint in model._meta.constraints:
            fields = constraint.fields if isinstance(constraint, UniqueConstraint) else ()
            if fields and {*fields} <= columns.keys():
                _drop_duplicates(model, [columns[name] for name in fields], states, public[model])


def _drop_duplicates(model: type[Content], names: list[str], states: States, public: States) -> None:
    values = {key: tuple(row[name] for name in names) for key, row in states.items() if row}
    public_values = {key: tuple(row[name] for name in names) for key, row in public.items() if row}
    new_keys = [key for key, row_values in values.items() if public_values.get(key) != row_values]
    taken = {values[key] for key in values.keys() - {*new_keys}}
    for batch in batched(new_keys, BATCH_ROWS, strict=False):
        conditions = {
            f"{name}__in": {values[key][index] for key in batch} for index, name in enumerate(names)
        }
        rows: Any = QuerySet(model).filter(**conditions).order_by().values_list("pk", *names)
        taken |= {tuple(row_values) for key, *row_values in rows if key not in states}
    duplicate_keys = []
    for key in new_keys:
        if values[key] in taken:
            duplicate_keys.append(key)
        taken.add(values[key])
    for key in duplicate_keys:
        del states[key]
    if duplicate_keys:
        # A dropped row keeps its public values, which another one may have taken over.
        _drop_duplicates(model, names, states, public)


def drop_dangling[M: Model](states_by_model: dict[type[M], States]) -> None:
    """Drop the states that require a missing row, such as a deleted paper; clear optional references."""
    for model, states in states_by_model.items():
        for field in model._meta.concrete_fields:
            target = field.related_model
            if not field.is_relation or not isinstance(target, type) or model is Paper:
                continue
            missing_keys = _missing_keys(
                target, {row[field.attname] for row in states.values() if row}, states_by_model
            )
            relation: Any = field.remote_field
            is_needed = relation.on_delete in (CASCADE, PROTECT)
            for key, row in [*states.items()]:
                if row and row[field.attname] in missing_keys:
                    if is_needed:
                        del states[key]
                    else:
                        row[field.attname] = None


def _missing_keys(target: type[Model], keys: set[Any], states_by_model: Mapping[Any, States]) -> set[int]:
    """Return the keys that do not exist, or are deleted in the working copy."""
    states = states_by_model.get(target, {})
    missing = {key for key, state in states.items() if state is None}
    unknown_keys = keys - {None} - {key for key, state in states.items() if state}
    for batch in batched(sorted(unknown_keys), BATCH_ROWS, strict=False):
        existing: Any = QuerySet(target).filter(pk__in=batch).order_by().values_list("pk", flat=True)
        missing |= {*batch} - {*existing}
    return missing


def write_states(model: type[Model], current: Mapping[int, Columns], states: States) -> None:
    """Write these states; `current` are the columns now. A few statements for any number of rows."""
    deleted_keys = [key for key, row in states.items() if row is None and key in current]
    inserted_rows = [row for key, row in states.items() if row is not None and key not in current]
    rows_by_columns: dict[tuple[str, ...], list[Columns]] = {}
    for key in sorted(current.keys() & states.keys()):
        row = states[key]
        if row is None:
            continue
        changed_columns = tuple(name for name, value in row.items() if current[key][name] != value)
        if unique_columns(model) & {*changed_columns}:
            # Two rows may swap unique values: delete and insert them.
            deleted_keys.append(key)
            inserted_rows.append(row)
        elif changed_columns:
            rows_by_columns.setdefault(changed_columns, []).append(row)
    delete(model, deleted_keys)
    for names, rows in rows_by_columns.items():
        update(model, names, rows)
    insert(model, inserted_rows)


@cache
def unique_columns(model: type[Model]) -> frozenset[str]:
    constraint_fields = [getattr(constraint, "fields", ()) for constraint in model._meta.constraints]
    field_names = {name for fields in constraint_fields for name in fields}
    return frozenset(f.attname for f in model._meta.concrete_fields if f.unique or f.name in field_names) - {
        primary_key(model)
    }


def _quote(name: str | None) -> str:
    return connection.ops.quote_name(name or "")


def _prepare_values(model: type[Model], names: Iterable[str], row: Columns) -> list[Any]:
    fields = written_columns(model)
    return [fields[name].get_db_prep_save(row[name], connection) for name in names]


def update(model: type[Model], names: Collection[str], rows: Iterable[Columns]) -> None:
    fields, key = written_columns(model), primary_key(model)
    assignments = ", ".join(f"{_quote(fields[name].column)} = %s" for name in names)
    condition = f"{_quote(fields[key].column)} = %s"
    statement = f"UPDATE {_quote(model._meta.db_table)} SET {assignments} WHERE {condition}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_prepare_values(model, [*names, key], row) for row in rows])


def insert(model: type[Model], rows: Collection[Columns]) -> None:
    if not rows:
        return
    fields = written_columns(model)
    names = ", ".join(_quote(field.column) for field in fields.values())
    placeholders = ", ".join("%s" for _name in fields)
    statement = f"INSERT INTO {_quote(model._meta.db_table)} ({names}) VALUES ({placeholders})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(statement, [_prepare_values(model, fields, row) for row in rows])


def delete(model: type[Model], keys: Iterable[int]) -> None:
    for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
        rows: Any = QuerySet(model).filter(pk__in=batch).order_by()
        rows._raw_delete(connection.alias)


def reserve_keys(sets: Iterable[PendingChanges]) -> None:
    """Prevent the keys of rolled back rows from being reused: SQLite rolls its sequence back too."""
    highest: dict[str, int] = defaultdict(int)
    for changes in sets:
        table = ChangeSet._meta.db_table
        highest[table] = max(highest[table], changes.act)
        for row in changes.rows:
            if row["kind"] == CREATED:
                table = content_model(row["model"])._meta.db_table
                highest[table] = max(highest[table], row["key"])
    if connection.vendor == "sqlite":
        _reserve_in_sqlite(highest)
    else:
        _reserve_in_sequences(highest)


def _reserve_in_sqlite(highest: Mapping[str, int]) -> None:
    with connection.cursor() as cursor:
        for table, key in highest.items():
            cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [key, table])
            if cursor.rowcount == 0:
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, key])


def _reserve_in_sequences(highest: Mapping[str, int]) -> None:
    """Advance sequences: in a restored database they continue from the stored rows."""
    with connection.cursor() as cursor:
        for table, key in highest.items():
            sequence = f"pg_get_serial_sequence('{table}', 'id')"
            cursor.execute(
                f"SELECT setval({sequence}, %s) WHERE %s > nextval({sequence})",
                [key, key],
            )
