"""Who made a row or a change: the account that entered it, not the one that releases or confirms it.

What an account may see of people depends on it (`people.access_scope`): nobody else's click makes a row that
names a person one that others have entered.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db.models import Model, Q

from content.array_lookup import AnyOf
from content.history import RowChange
from content.row_values import Key, is_recorded, owner_fields, related_model, relation_targets

if TYPE_CHECKING:
    from content.models import Content

# The primary key of an account, or those of some rows.
type Makers = Mapping[Key, int] | int
_makers: ContextVar[Makers | None] = ContextVar("makers", default=None)


@contextmanager
def made_by(makers: Makers | None) -> Iterator[None]:
    """Record the changes in the block, or those of the rows in a mapping, as made by these accounts.

    Others, and all with `None`, are recorded as made by the account of their change set.
    """
    token = _makers.set(makers)
    try:
        yield
    finally:
        _makers.reset(token)


def current_maker(key: Key) -> int | None:
    """Return the account that `made_by` names for a change of this row; `None` for that of the change set."""
    makers = _makers.get()
    return makers.get(key) if isinstance(makers, Mapping) else makers


def set_makers(changes: Iterable[RowChange], user: int | None) -> None:
    """Complete the makers of changes by that of their change set. One query if others made some of them."""
    others = []
    for change in changes:
        change.made_by_id = change.made_by_id or user
        if change.made_by_id != user:
            others.append(change)
    accounts = get_user_model()._default_manager.in_bulk({change.made_by_id for change in others})
    for change in others:
        account = accounts.get(change.made_by_id)
        change.made_by_id = account.pk if account else None
        change.made_by_name = account.get_username() if account else ""


def makers_of(rows: "Iterable[Content]") -> dict[int, int]:
    """Return the account that created each of these rows of one model, or last changed its foreign keys.

    The history records no creation of a row that was created with its owner: it has the owner's maker. Rows
    without a known maker are left out. Two queries.
    """
    rows_by_key = {row.pk: row for row in rows}
    if not rows_by_key:
        return {}
    model = type(next(iter(rows_by_key.values())))
    is_decisive = Q(kind="created") | Q(kind="changed", values__has_any_keys=[*relation_targets(model)])
    makers = _last_makers(model, rows_by_key, is_decisive)
    for name in owner_fields(model)[:1]:
        owner = related_model(model, name)
        owner_keys = {
            key: getattr(row, f"{name}_id") for key, row in rows_by_key.items() if key not in makers
        }
        if is_recorded(owner) and not owner.is_container and owner_keys:
            of_owners = _last_makers(owner, owner_keys.values(), Q(kind="created"))
            makers |= {key: of_owners[owner] for key, owner in owner_keys.items() if owner in of_owners}
    return makers


def _last_makers(model: type[Model], keys: Iterable[int], condition: Q) -> dict[int, int]:
    changes = RowChange.objects.filter(AnyOf("object_id", keys), condition, model=model._meta.label_lower)
    makers = changes.filter(made_by__isnull=False).order_by("pk")
    return dict(makers.values_list("object_id", "made_by"))
