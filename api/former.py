"""Rows that were public and were deleted or withdrawn, with id and last title, for clients with copies."""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import batched
from typing import Any, NamedTuple

from api.reader import JsonObject
from api.shapes import Resource, to_utc_iso
from conference.models import Edition
from content.history.public_past import (
    FormerState,
    candidate_keys,
    formerly_public,
    keys_with_value,
)
from content.row_values import BATCH_ROWS


class FormerRow(NamedTuple):
    """A row that is no longer public: since when, and its JSON object."""

    until: datetime
    json_object: JsonObject


def former_rows(
    resource: Resource, editions: Collection[int] | None, at: datetime, since: datetime
) -> dict[int, FormerRow]:
    """Return the rows that ceased to be public since then, by primary key, the latest last."""
    rows = _former_rows_by_key(resource, candidate_keys(resource.model, editions, at, since), at)
    return {key: row for key, row in rows.items() if row.until >= since}


def former_row(resource: Resource, edition: str | None, id: str, at: datetime) -> FormerRow | None:
    """Return the former row that had this address, or `None` if no row there was public."""
    key = None
    if resource.model.public_when is None:
        return None
    if edition is not None:
        key = Edition.objects.filter(slug=edition).values_list("pk", flat=True).first()
        if key is None:
            return None
    rows = _former_rows_by_key(resource, keys_with_value(resource.model, key, resource.key, id), at)
    url = resource.url(edition, id)
    return next((row for row in rows.values() if row.json_object["url"] == url), None)


def _former_rows_by_key(resource: Resource, keys: Iterable[int], at: datetime) -> dict[int, FormerRow]:
    titles = [name for name in ("title", "name") if name in resource.fields][:1]
    columns = [*titles, *([] if resource.key == "pk" else [resource.key])]
    rows = formerly_public(resource.model, keys, columns, at)
    slugs = dict(Edition.objects.values_list("pk", "slug")) if rows else {}
    # Skip addresses that are in use again. If several rows had an address, use the last one.
    latest = {_url(resource, row, slugs): row for row in rows}
    urls_in_use = _urls_in_use(resource, rows, at) if rows else set()
    return {
        row.key: FormerRow(
            row.until,
            {
                "id": _id(resource, row),
                "url": url,
                **{name: row.values[name] for name in titles},
                "deleted_at": to_utc_iso(row.until),
            },
        )
        for url, row in sorted(latest.items(), key=lambda pair: (pair[1].until, pair[1].key))
        if url not in urls_in_use
    }


def _id(resource: Resource, row: FormerState) -> str:
    return str(row.key if resource.key == "pk" else row.values[resource.key])


def _url(resource: Resource, row: FormerState, slugs: dict[int, str]) -> str:
    return resource.url(slugs[row.edition] if row.edition is not None else None, _id(resource, row))


def _urls_in_use(resource: Resource, rows: Iterable[FormerState], at: datetime) -> set[str]:
    manager: Any = resource.model._default_manager
    columns = [resource.edition or "pk", resource.key]
    public = manager.published(at).order_by().values_list(*columns)
    return {
        resource.url(edition if resource.edition else None, key)
        for keys in batched({_id(resource, row) for row in rows}, BATCH_ROWS, strict=False)
        for edition, key in public.filter(**{f"{resource.key}__in": keys})
    }
