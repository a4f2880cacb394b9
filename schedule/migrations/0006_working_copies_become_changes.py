"""Turns the pending changes of working copies into unreleased changes, and drops the tables of working copies.

What no unreleased change can hold, such as another name of a room, is listed in the release plan of the edition.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.color import no_style
from django.db import IntegrityError, migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

CREATED, CHANGED, DELETED = "created", "changed", "deleted"
PUBLIC_STATUSES = ("published", "cancelled")
# The foreign key of a change to its row, by model; referenced models first.
TARGETS = {
    "papers.paper": "paper",
    "schedule.room": "",
    "schedule.session": "session",
    "schedule.presentation": "presentation",
    "schedule.sessionrole": "role",
    "schedule.speaker": "speaker",
}
# The owners among whose rows positions count.
POSITIONED = {
    "schedule.room": "edition_id",
    "schedule.presentation": "session_id",
    "schedule.sessionrole": "session_id",
    "schedule.speaker": "presentation_id",
}
OWNERS = {"schedule.sessionrole": "session", "schedule.speaker": "presentation"}

# The fields whose changes wait. Those of other fields are made again: they are public at once now.
WAITING_FIELDS = {
    "papers.paper": (),
    "schedule.session": ("kind", "title", "start", "end", "room", "parent", "cancellation_reason"),
    "schedule.presentation": (
        *("kind", "title", "paper", "session", "start", "end", "board", "room", "position"),
        "cancellation_reason",
    ),
    "schedule.sessionrole": ("role", "position"),
    "schedule.speaker": ("position",),
}

type Row = dict[str, Any]
type Key = tuple[str, int]


def combine(sets: Iterable[Any]) -> dict[Key, Row]:
    """Return how rows differ after these sets, in order, each with its last set."""
    rows: dict[Key, Row] = {}
    for changes in sets:
        for stored in changes.rows:
            key = stored["model"], stored["key"]
            earlier = rows.pop(key, None)
            if row := combine_two(earlier, {**stored, "values": dict(stored["values"])}):
                rows[key] = {**row, "set": changes}
    return rows


def combine_two(earlier: Row | None, change: Row) -> Row | None:
    if earlier is None:
        return change
    if earlier["kind"] == CREATED and change["kind"] == DELETED:
        return None
    old = earlier["values"]
    pairs = {name: [old.get(name, pair)[0], pair[1]] for name, pair in change["values"].items()}
    if change["kind"] == DELETED:
        return {**change, "values": pairs}
    kind = CHANGED if earlier["kind"] == DELETED else earlier["kind"]
    values, follows = {**old, **pairs}, {**earlier["follows"], **change["follows"]}
    if kind == CHANGED:
        values = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
        if not values:
            return None
    return {**change, "kind": kind, "values": values, "follows": follows}


def forwards(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    working_copies = apps.get_model("schedule", "WorkingCopy").objects.order_by("pk")
    for copy in working_copies:
        Conversion(apps, copy).run()
    models = [apps.get_model(label) for label in TARGETS]
    models.append(apps.get_model("content", "ChangeSet"))
    # New rows came with their keys.
    with schema_editor.connection.cursor() as cursor:
        for statement in schema_editor.connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)


class Conversion:
    """The conversion of one working copy."""

    def __init__(self, apps: StateApps, copy: Any) -> None:
        self.apps, self.copy = apps, copy
        self.changes: Any = apps.get_model("schedule", "UnreleasedChange")
        self.row_changes: Any = apps.get_model("content", "RowChange")
        self.lost: list[str] = []
        self.created: dict[str, list[int]] = {}

    def run(self) -> None:
        rows = combine(self.copy.sets.order_by("pk")) if self.copy.is_open else {}
        for label in TARGETS:
            for (model, key), row in sorted(rows.items()):
                if model == label:
                    self.convert(label, key, row)
        for label, keys in self.created.items():
            self.close_gaps(label, keys)
        copy, lines = self.copy, [copy_line for copy_line in (self.copy.refusal, *self.lost) if copy_line]
        self.apps.get_model("schedule", "ReleasePlan").objects.create(
            edition_id=copy.edition_id,
            changes_wait=copy.is_open,
            waits_since=copy.opened_at,
            waits_by=copy.opened_by,
            released_at=copy.released_at,
            released_by=copy.released_by,
            release_at=copy.release_at if copy.is_open else None,
            planned_by=copy.planned_by,
            planner_id=copy.planner_id,
            announcement=copy.plan,
            refusal="\n".join(lines),
        )

    def convert(self, label: str, key: int, row: Row) -> None:
        model: Any = self.apps.get_model(label)
        if row["kind"] == CREATED:
            self.create(model, label, key, row)
        elif not model.objects.filter(pk=key).exists() or not TARGETS[label]:
            self.lose(row)
        elif row["kind"] == DELETED:
            self.add_change(model, label, key, row, {}, "removed")
        else:
            changed = {name: pair for name, pair in row["values"].items() if name != "status"}
            pairs = {name: pair for name, pair in changed.items() if name in WAITING_FIELDS[label]}
            if rest := {name: pair for name, pair in changed.items() if name not in pairs}:
                self.lose({**row, "values": rest})
            status = row["values"].get("status", [None, ""])[1] or ""
            if pairs or status:
                self.add_change(model, label, key, row, pairs, status)

    def create(self, model: Any, label: str, key: int, row: Row) -> None:
        """Insert a new row: it is a draft that is added with the release."""
        fields = {field.name: field for field in model._meta.concrete_fields}
        values = {name: pair[1] for name, pair in row["values"].items()} | row["follows"]
        columns = {
            fields[name].attname if name in fields else name: value
            for name, value in values.items()
            if name in fields or name in {field.attname for field in fields.values()}
        }
        by_column = {field.attname: field for field in fields.values()}
        columns = {name: by_column[name].to_python(value) for name, value in columns.items()}
        if not self.has_targets(model, columns):
            self.lose(row)
            return
        status = columns.get("status", "")
        if status in PUBLIC_STATUSES:
            columns["status"] = "draft"
        try:
            with transaction.atomic():
                model.objects.create(**{**columns, "pk": key})
        except IntegrityError:
            # A public row has its uid, slug or person; the working copy had removed that.
            self.lose(row)
            return
        self.record(row, label, key)
        if label in POSITIONED:
            self.created.setdefault(label, []).append(key)
        if owner := OWNERS.get(label):
            owner_row = getattr(model.objects.get(pk=key), owner)
            if owner_row.status in PUBLIC_STATUSES:
                self.add_change(model, label, key, row, {}, "added")
        elif status in PUBLIC_STATUSES:
            self.add_change(model, label, key, row, {}, status)

    def close_gaps(self, label: str, keys: list[int]) -> None:
        """Number new rows after the public ones; where they will be with the release is a change."""
        model: Any = self.apps.get_model(label)
        owner, target = POSITIONED[label], TARGETS[label]
        rows = [*model.objects.filter(pk__in=keys).exclude(**{owner: None}).order_by(owner, "position", "pk")]
        for row in rows:
            siblings = model.objects.filter(**{owner: getattr(row, owner)}).exclude(pk__in=keys)
            before = sum(getattr(other, owner) == getattr(row, owner) for other in rows[: rows.index(row)])
            position = siblings.count() + before + 1
            if position == row.position:
                continue
            for change in self.changes.objects.filter(**{f"{target}_id": row.pk}) if target else ():
                change.values["position"], change.began["position"] = row.position, position
                change.save()
            model.objects.filter(pk=row.pk).update(position=position)

    def has_targets(self, model: Any, columns: Mapping[str, Any]) -> bool:
        """Return whether the rows exist that a new row refers to."""
        return all(
            field.related_model.objects.filter(pk=columns[field.attname]).exists()
            for field in model._meta.concrete_fields
            if field.is_relation and columns.get(field.attname)
        )

    def add_change(
        self, model: Any, label: str, key: int, row: Row, pairs: Mapping[str, Any], on_release: str
    ) -> None:
        values = {name: pair[1] for name, pair in pairs.items()}
        changes = row["set"]
        target = TARGETS[label]
        change = self.changes.objects.create(
            **{f"{target}_id": key},
            edition_id=self.copy.edition_id,
            values=values,
            began={name: pair[0] for name, pair in pairs.items()},
            on_release=on_release,
            creates_row=row["kind"] == CREATED,
            to_room_id=self.existing("schedule.Room", values.get("room")),
            to_session_id=self.existing("schedule.Session", values.get("session") or values.get("parent")),
            to_paper_id=self.existing("papers.Paper", values.get("paper")),
            by_id=changes.user_id,
            by_name=changes.user_name,
            at=changes.at,
        )
        if on_release:
            model.objects.filter(pk=key).update(on_release=on_release)
        self.record(row, "schedule.unreleasedchange", change.pk, owner=f"{label}:{key}")

    def existing(self, label: str, key: int | None) -> int | None:
        rows = self.apps.get_model(label).objects.filter(pk=key or 0)
        return key if rows.exists() else None

    def record(self, row: Row, label: str, key: int, owner: str = "") -> None:
        """Record in the history who made a row, under the key of the change set that was rolled back."""
        changes = row["set"]
        change_set, _is_new = self.apps.get_model("content", "ChangeSet").objects.get_or_create(
            pk=changes.act,
            defaults={
                "at": changes.at,
                "user_id": changes.user_id,
                "user_name": changes.user_name,
                "origin": changes.origin,
                "detail": changes.detail,
                "reference": changes.reference,
            },
        )
        self.row_changes.objects.create(
            change_set=change_set,
            made_by_id=changes.user_id,
            kind=CREATED,
            model=label,
            object_id=key,
            owner=owner,
            edition_key=self.copy.edition_id,
        )

    def lose(self, row: Row) -> None:
        """Name a change that must be made again."""
        fields = "; ".join(f"{name}: {pair[0]} → {pair[1]}" for name, pair in row["values"].items())
        self.lost.append(
            f"Not taken over, please make it again: {row['label']} ({row['kind']}). {fields}"[:500]
        )


class Migration(migrations.Migration):
    dependencies = [
        ("schedule", "0005_new_rows_of_changes"),
        ("papers", "0002_unreleased_changes"),
        ("people", "0001_initial"),
        ("content", "0003_makers_of_earlier_changes"),
    ]

    operations = [
        migrations.RunPython(forwards, migrations.RunPython.noop, elidable=False),
        migrations.DeleteModel("PendingChanges"),
        migrations.DeleteModel("WorkingCopy"),
    ]
