"""Responses to writes: the writable body of a row, its ETag, and warnings about clashes."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache

from django.db.models import Model

from api.reader import Answer
from api.shapes import RESOURCES, Resource, Rows, local
from api.writing.writable import WritablePart, WritableResource
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
    found = []
    for column in references:
        target = model._meta.get_field(column).related_model
        found.append(f"{column}__edition" if hasattr(target, "edition") else column)
    return found


def with_references(written: WritableResource, rows: Rows) -> Rows:
    """Select what the references of these rows need, so that `writable_body()` needs no more queries."""
    model = written.model
    *steps, _last = (model.edition_lookup or "").split("__")
    owner = "__".join([*steps, "edition"]) if model.edition_lookup else ""
    paths = [*filter(None, [owner]), *reference_paths(model, written.references)]
    return rows.select_related(*paths) if paths else rows


def writable_body(written: WritableResource, row: Content) -> Answer:
    """Return the stored row as a request body would state it. One or two queries per part."""
    edition = edition_of(row)
    zone = edition.timezone if edition else "UTC"
    found: Answer = {"id": str(getattr(row, written.key))} if written.key else {}
    if written.has_edition:
        found["edition"] = edition.slug if edition else None
    for column in written.references:
        found[column] = reference_to_row(getattr(row, column))
    for column in written.fields:
        found[written.called.get(column, column)] = json_value(getattr(row, column), zone)
    for name, part in written.parts.items():
        found[name] = [part_body(part, one, zone) for one in rows_of_part(part, row)]
    return found


def rows_of_part(part: WritablePart, row: Content) -> list[Content]:
    """Return the stored rows of a part in order."""
    order = ("position", "pk") if part.is_ordered else (*part.key,)
    rows: Rows = part.model._default_manager.filter(**{part.owner: row}).order_by(*order)
    if part.references:
        paths = reference_paths(part.model, part.references)
        rows = rows.select_related(*paths).prefetch_related(*part.many)
    return list(rows)


def part_body(part: WritablePart, row: Content, zone: str) -> Answer:
    found: Answer = {column: reference_to_row(getattr(row, column)) for column in part.references}
    found |= {column: json_value(getattr(row, column), zone) for column in part.fields}
    for column in part.many:
        found[column] = sorted(str(reference_to_row(one)) for one in getattr(row, column).all())
    return found


def json_value(value: object, zone: str) -> object:
    """Return times in the zone of the edition, other values as they are."""
    return local(value, zone) if isinstance(value, datetime) else value


def etag_of(written: WritableResource, row: Content, body: Answer) -> str:
    """Return the ETag of the writable body of a row."""
    text = json.dumps([written.resource.name, row.pk, body], sort_keys=True, ensure_ascii=False)
    return f'"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


RESOURCE_OF_SUBJECT = {
    "session": "sessions",
    "presentation": "presentations",
    "room": "rooms",
    "person": "people",
}


def warnings(row: Content) -> list[Answer]:
    """Return the clashes that concern a row that was written. At most seven queries."""
    if isinstance(row, (Session, Presentation, Room)):
        found = clashes.touching([row])
    elif isinstance(row, Paper):
        # Its authors cannot be in two places at once.
        found = clashes.touching(row.presentations.select_related("edition"))
    else:
        return []
    return [clash_warning(clash, row.edition.slug) for clash in found]


def clash_warning(clash: Clash, edition: str) -> Answer:
    rows = []
    for subject in clash.subjects:
        resource = RESOURCES[RESOURCE_OF_SUBJECT[subject.model]]
        url = resource.url(edition if resource.edition else None, subject.uid)
        rows.append({"kind": resource.name, "id": subject.uid, "url": url, "name": str(subject)})
    return {
        "kind": clash.kind.value,
        "severity": clash.severity.value,
        "message": clash.message,
        "when": clash.when,
        "rows": rows,
    }
