"""Rows that were public and are no longer, for clients with copies: what tombstones tell of them."""

from collections.abc import Collection
from datetime import datetime

from api.reader import JsonObject
from api.shapes import Resource, list_url, to_utc_iso
from content.publicity.tombstones import Tombstone, TombstoneQuerySet, find_tombstone


def former_rows(
    resource: Resource, editions: Collection[int] | None, at: datetime, since: datetime
) -> TombstoneQuerySet:
    """Return the tombstones of rows that ceased to be public since then, the latest last."""
    rows = Tombstone.objects.published(resource.model, at).filter(gone_at__gte=since)
    return rows if editions is None else rows.filter(edition_key__in=editions)


def former_row(resource: Resource, edition: str | None, id: str, at: datetime) -> Tombstone | None:
    """Return the tombstone of the row that had this address, or `None` if no row there was public."""
    return find_tombstone(resource.model, edition or "", id, at)


def json_object(resource: Resource, tombstone: Tombstone) -> JsonObject:
    """Return what the API tells of a row that is no longer public, or of a closed part of an edition."""
    edition = tombstone.edition or None
    if tombstone.part:
        identity: JsonObject = {"id": None, "url": f"{list_url(resource.name)}?edition={tombstone.edition}"}
    else:
        identity = {"id": tombstone.uid, "url": resource.url(edition, tombstone.uid)}
    moved_to = resource.url(edition, tombstone.moved_to) if tombstone.moved_to else None
    return {
        **identity,
        **{name: tombstone.title for name in ("title", "name") if name in resource.fields},
        "deleted_at": to_utc_iso(tombstone.gone_at),
        "reason": tombstone.reason,
        "moved_to": moved_to,
    }
