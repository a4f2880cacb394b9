"""Tombstones of rows that were deleted or withdrawn earlier, as the history tells."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.utils import timezone

from content.migrations import _public_past

# The field that identifies rows of a model in addresses, and the one with the title.
COLUMNS = {
    "conference.page": ("slug", "title"),
    "conference.sponsor": ("slug", "name"),
    "conference.announcement": ("uid", "title"),
    "conference.keydate": ("uid", "title"),
    "papers.paper": ("uid", "title"),
    "papers.material": ("pk", ""),
    "papers.award": ("uid", "name"),
    "schedule.session": ("uid", "title"),
    "schedule.presentation": ("uid", "title"),
    "schedule.release": ("number", "title"),
}


def write_tombstones(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    _public_past.read_with(apps)
    now = timezone.now()
    tombstone_model = apps.get_model("content", "Tombstone")
    slugs = dict(apps.get_model("conference", "Edition").objects.values_list("pk", "slug"))
    for label, (identity, title) in COLUMNS.items():
        model = apps.get_model(label)
        found = {
            row["edition"] + "/" + row["uid"]: row for row in former_rows(model, identity, title, now, slugs)
        }
        rows = [tombstone_model(model=label, **row) for row in found.values()]
        tombstone_model.objects.bulk_create(rows, batch_size=500)


def former_rows(
    model: Any, identity: str, title: str, now: datetime, slugs: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """Yield the columns of the tombstones of a model, the latest of an address last."""
    keys = _public_past.candidate_keys(model, None, now)
    columns = [name for name in (identity, title) if name not in ("pk", "")]
    states = _public_past.formerly_public(model, keys, columns, now)
    statuses = {}
    if "status" in {field.name for field in model._meta.concrete_fields}:
        statuses = dict(
            model.objects.filter(pk__in=[state.key for state in states]).values_list("pk", "status")
        )
    present = {*model.objects.filter(pk__in=[state.key for state in states]).values_list("pk", flat=True)}
    for state in states:
        uid = str(state.key if identity == "pk" else state.values[identity])
        is_own = state.key not in present or statuses.get(state.key) == "withdrawn"
        others = model.objects.none()
        if identity != "pk":
            lookup = {identity: uid, "edition": state.edition}
            others = model.objects.filter(**lookup).exclude(pk=state.key)
        if others.exists():
            continue
        yield {
            "edition": slugs.get(state.edition, "") if state.edition is not None else "",
            "edition_key": state.edition,
            "uid": uid,
            "gone_at": state.until,
            "reason": "withdrawn" if state.key in present else "deleted",
            "title": str(state.values.get(title, "")) if is_own and title else "",
        }


class Migration(migrations.Migration):
    dependencies = [
        ("content", "0006_tombstone"),
        ("conference", "0002_pictures_within_bounds"),
        ("papers", "0002_unreleased_changes"),
        ("schedule", "0006_working_copies_become_changes"),
    ]

    operations = [migrations.RunPython(write_tombstones, migrations.RunPython.noop, elidable=True)]
