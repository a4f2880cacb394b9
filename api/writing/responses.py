"""Responses to writes: the writable body of a row, its ETag, and warnings about clashes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from functools import cache

from django.db.models import Model

from api.reader import JsonObject
from api.shapes import RESOURCES, Resource, Rows, Shape, ToMany, to_local_iso
from content.models import Content
from editorial.current_edition import edition_of
from papers.models import Paper
from schedule import clashes
from schedule.clashes import Clash
from schedule.models import Presentation, Room, Session


@cache
def resource_of(model: type) -> Resource:
    return next(resource for resource in RESOURCES.values() if resource.model is model)


def summary_of(row: Content) -> dict[str, str]:
    """Return kind, id, URL and name of a row of a resource."""
    resource = resource_of(type(row))
    edition = edition_of(row) if resource.edition else None
    key = getattr(row, resource.key)
    url = resource.url(edition.slug if edition else None, key)
    return {"kind": resource.name, "id": str(key), "url": url, "name": str(row)}


def reference_to_row(row: Content | None) -> str | None:
    """Return a reference such as "mlsys-2026/k3v9", or the id alone for rows of the whole site."""
    if row is None:
        return None
    key = getattr(row, resource_of(type(row)).key)
    edition = getattr(row, "edition", None)
    return f"{edition.slug}/{key}" if edition else str(key)


def reference_paths(model: type[Model], references: Iterable[str]) -> list[str]:
    """Return the `select_related()` paths that references to these columns need."""
    paths = []
    for column in references:
        target = model._meta.get_field(column).related_model
        paths.append(f"{column}__edition" if hasattr(target, "edition") else column)
    return paths


def with_references(resource: Resource, rows: Rows) -> Rows:
    """Select the related rows that `writable_body()` refers to, so that it does not query them one by one."""
    paths = reference_paths(resource.model, resource.references)
    if lookup := resource.model.edition_lookup:
        *steps, _last = lookup.split("__")
        paths.append("__".join([*steps, "edition"]))
    return rows.select_related(*paths) if paths else rows


def writable_body(resource: Resource, row: Content) -> JsonObject:
    """Return the stored row in the form of a request body. One or two queries per kind of part."""
    edition = edition_of(row)
    zone = edition.timezone if edition else "UTC"
    body: JsonObject = {} if resource.key == "pk" else {"id": str(getattr(row, resource.key))}
    if resource.has_edition:
        body["edition"] = edition.slug if edition else None
    body |= writable_values(resource, row, zone, resource.renamed)
    for name, part in resource.parts.items():
        entries = body[name] = list[JsonObject]()
        for part_row in rows_of_part(part, row):
            values = writable_values(part.resource, part_row, zone, {})
            for column in part.resource.lists_of_references:
                values[column] = sorted(
                    str(reference_to_row(related)) for related in getattr(part_row, column).all()
                )
            entries.append(values)
    return body


def writable_values(shape: Shape, row: Content, zone: str, renamed: Mapping[str, str]) -> JsonObject:
    """Return the writable references and columns, with times in this zone."""
    values: JsonObject = {column: reference_to_row(getattr(row, column)) for column in shape.references}
    for column in shape.writable:
        values[renamed.get(column, column)] = to_json_value(getattr(row, column), zone)
    return values


def to_json_value(value: object, zone: str) -> object:
    """Return a value as JSON, with moments in this zone."""
    if isinstance(value, datetime):
        return to_local_iso(value, zone)
    return value.isoformat() if isinstance(value, date) else value


def rows_of_part(part: ToMany, row: Content) -> list[Content]:
    shape = part.resource
    rows: Rows = shape.model._default_manager.filter(**{part.owner: row}).order_by(*part.order)
    if shape.references:
        paths = reference_paths(shape.model, shape.references)
        rows = rows.select_related(*paths).prefetch_related(*shape.lists_of_references)
    return list(rows)


def etag_of(resource: Resource, row: Content, body: JsonObject) -> str:
    text = json.dumps([resource.name, row.pk, body], sort_keys=True, ensure_ascii=False)
    return f'"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


SUBJECT_NAMES = {"session": "sessions", "presentation": "presentations", "room": "rooms", "person": "people"}


def clash_warnings(row: Content) -> list[JsonObject]:
    """Return the clashes that concern a row that was written. At most 23 queries."""
    if isinstance(row, (Session, Presentation, Room)):
        row_clashes = clashes.find_clashes_about([row])
    elif isinstance(row, Paper):
        # Its authors cannot be in two places at once.
        row_clashes = clashes.find_clashes_about(row.presentations.select_related("edition"))
    else:
        return []
    return [clash_warning(clash, row.edition.slug) for clash in row_clashes]


def clash_warning(clash: Clash, edition: str) -> JsonObject:
    rows = []
    for subject in clash.subjects:
        resource = RESOURCES[SUBJECT_NAMES[subject.model]]
        url = resource.url(edition if resource.edition else None, subject.uid)
        rows.append({"kind": resource.name, "id": subject.uid, "url": url, "name": str(subject)})
    return {
        "kind": clash.kind.value,
        "severity": clash.severity.value,
        "message": clash.message,
        "when": clash.when,
        "rows": rows,
    }
