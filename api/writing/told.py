"""What is written of a row, as a body would say it: `written` in answers, and the version it has."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from api.fields import local
from api.writing.declared import Part, Written
from editorial.current_edition import edition_of


def name_of(row: Any) -> str | None:
    """Return how a body names a row: <edition>/<id>, or the id alone for what belongs to the whole site."""
    if row is None:
        return None
    key = row.uid if hasattr(row, "uid") else row.slug
    edition = getattr(row, "edition", None)
    return f"{edition.slug}/{key}" if edition else str(key)


def joined(model: Any, references: Iterable[str]) -> list[str]:
    """Return what a query has to fetch along, so that no name needs one of its own."""
    found = []
    for column in references:
        target: Any = model._meta.get_field(column).related_model
        found.append(f"{column}__edition" if hasattr(target, "edition") else column)
    return found


def in_full(written: Written, rows: Any) -> Any:
    """Read rows with the things that they name, so that telling them takes no queries more."""
    model = written.model
    *steps, _last = (model.edition_lookup or "").split("__")
    owner = "__".join([*steps, "edition"]) if model.edition_lookup else ""
    paths = [*filter(None, [owner]), *joined(model, written.references)]
    return rows.select_related(*paths) if paths else rows


def told(written: Written, row: Any) -> dict[str, Any]:
    """Return all that a body can say of a row, as it is stored now. One query for each part, or two."""
    edition = edition_of(row)
    zone = edition.timezone if edition else "UTC"
    found: dict[str, Any] = {"id": str(getattr(row, written.key))} if written.key else {}
    if written.has_edition:
        found["edition"] = edition.slug if edition else None
    for column in written.references:
        found[column] = name_of(getattr(row, column))
    for column in written.fields:
        found[written.called.get(column, column)] = plain(getattr(row, column), zone)
    for name, part in written.parts.items():
        found[name] = [told_part(part, one, zone) for one in rows_of(part, row)]
    return found


def rows_of(part: Part, row: Any) -> list[Any]:
    """Return the rows of a part in order, as they are stored."""
    order = ("position", "pk") if part.is_ordered else (*part.key,)
    rows = part.model._default_manager.filter(**{part.owner: row}).order_by(*order)
    return list(
        rows.select_related(*joined(part.model, part.references)).prefetch_related(*part.many)
        if part.references
        else rows
    )


def told_part(part: Part, row: Any, zone: str) -> dict[str, Any]:
    found: dict[str, Any] = {column: name_of(getattr(row, column)) for column in part.references}
    found |= {column: plain(getattr(row, column), zone) for column in part.fields}
    for column in part.many:
        found[column] = sorted(str(name_of(one)) for one in getattr(row, column).all())
    return found


def plain(value: Any, zone: str) -> Any:
    """Return a value as JSON has it."""
    return local(value, zone) if isinstance(value, datetime) else value


def version(written: Written, row: Any, body: dict[str, Any]) -> str:
    """Return the ETag of what is written of a row: another one whenever that changes."""
    text = json.dumps([written.resource.name, row.pk, body], sort_keys=True, ensure_ascii=False)
    return f'"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'
