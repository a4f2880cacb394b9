"""What a row looked like to somebody: a digest of it; signed marks of what a form showed, by field."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from django.core import signing
from django.db import models

from content.row_values import Values, is_recorded, linked, links, recorded_fields
from content.row_values import plain as stored_plain

if TYPE_CHECKING:
    from django.db.models import Model


SALT = "content.versions"
MARK = 6

# Prefix of the rows -> key of the row -> its marks, six digits a field. The form's own row is `[""][""]`.
type Seen = dict[str, dict[str, str]]


def digest(row: models.Model) -> str:
    """Return what changes whenever a recorded field of the row does: for `If-Match` and the like."""
    values = state(row, [*recorded_fields(type(row)), *(f.name for f in row._meta.local_many_to_many)])
    text = json.dumps([row._meta.label_lower, row.pk, values], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def state(row: "Model", names: Iterable[str]) -> Values:
    """Return these fields of a row as plain values; names that are no field of it are left out."""
    model = type(row)
    fields, many = recorded_fields(model) if is_recorded(model) else {}, links(model)
    found: Values = {}
    for name in names:
        if name in fields:
            found[name] = stored_plain(fields[name].to_python(getattr(row, fields[name].attname)))
        elif name in many:
            found[name] = linked(model, name, [row.pk])[row.pk]
    return found


def comparable(value: object) -> object:
    """Return a value as a form can hold it: to the minute, without blanks around, one kind of nothing."""
    if value is None or value == "" or value == []:
        return None
    if isinstance(value, str):
        text = value.replace("\r\n", "\n").strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return text
        return moment.replace(second=0, microsecond=0).isoformat()
    return value


def mark(value: object) -> str:
    """Return six digits that tell a value from others."""
    text = json.dumps(comparable(value), sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=MARK // 2).hexdigest()


def marks(row: models.Model, names: Iterable[str]) -> str:
    """Return the marks of a row's fields in this order."""
    wanted = list(names)
    values = state(row, wanted)
    return "".join(mark(values[name]) for name in wanted if name in values)


def signed(seen: Seen) -> str:
    """Return what a form carries along."""
    return signing.dumps(seen, salt=SALT, compress=True)


def read(token: str) -> Seen | None:
    """Return what a form has shown; `None` if somebody wrote on it."""
    try:
        seen: Seen = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        return None
    return seen
