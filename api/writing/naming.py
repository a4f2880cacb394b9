"""Rows as answers name them: in warnings, and where something is not deleted."""

from typing import Any

from api.shapes import RESOURCES, Resource
from editorial.current_edition import edition_of

BY_MODEL: dict[type, Resource] = {}


def resource_of(model: type) -> Resource:
    if not BY_MODEL:
        BY_MODEL.update({resource.model: resource for resource in RESOURCES.values()})
    return BY_MODEL[model]


def told_as(row: Any) -> dict[str, str]:
    """Return kind, id, address and name of a row of a resource."""
    resource = resource_of(type(row))
    edition = edition_of(row) if resource.edition else None
    key = getattr(row, resource.key)
    url = resource.url(edition.slug if edition else None, key)
    return {"kind": resource.name, "id": str(key), "url": url, "name": str(row)}
