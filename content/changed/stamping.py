"""Write when rows changed: their own times with the change, those of rows that show them once at the end.

All rows of a change set have its one moment. Rows of other models are written before the editions advance, by
one statement for each model and path, with rows locked in the order of their keys.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from content.array_lookup import AnyOf
from content.changed.dated import Follower, followers_of, is_dated, losing_fields, stamped_fields
from content.preview_context import preview_as
from content.row_values import Key, Values, content_model, owner_fields
from content.unreleased.plan import public_state

if TYPE_CHECKING:
    from content.history import RowChange
    from content.models import Content


class Stamps:
    """What a change set still has to stamp."""

    def __init__(self) -> None:
        # New rows, by label and key.
        self.created: set[Key] = set()
        # Rows by model and column whose time is written.
        self.stamped: dict[tuple[type[Any], str], set[int]] = {}
        # Rows to move at the end, and new rows that others show.
        self.touched: dict[type[Any], set[int]] = {}
        self.shown_new: dict[Follower, set[int]] = {}

    @cached_property
    def at(self) -> datetime:
        """The moment of all changes in the set: that of the first one."""
        return timezone.now()


def stamp_new(log: Stamps, row: models.Model) -> None:
    """Give a new row the moment of the change set."""
    if is_dated(type(row)):
        row.created_at = log.at  # type: ignore[attr-defined]
        setattr(row, row.changed_column, log.at)  # type: ignore[attr-defined]


def stamp_row(log: Stamps, row: Any, before: Values, changed: set[str]) -> set[str]:
    """Give a row that is about to be saved its times; return the columns that changed with these fields.

    `before` are the stored values. A time that does not change stays as it is stored: the instance may be
    old.
    """
    model = type(row)
    if not is_dated(model):
        return set()
    stamped = {column for column, names in stamped_fields(model).items() if names & changed}
    for column in model.date_columns():
        if column in stamped:
            setattr(row, column, log.at)
        elif column in before:
            value = before[column]
            setattr(row, column, parse_datetime(value) if isinstance(value, str) else None)
    for column in stamped:
        log.stamped.setdefault((model, column), set()).add(row.pk)
    return stamped


def note_new(log: Stamps, row: Any) -> None:
    """Note who will show a new row; `stamp_others` moves them at the end."""
    for follower in followers_of(type(row)):
        if not follower.link:
            continue
        owner = row._meta.get_field(follower.link)
        key = getattr(row, owner.attname)
        is_direct = follower.lookups == (follower.link,)
        is_new = is_direct and (owner.related_model._meta.label_lower, key) in log.created
        if key is not None and not is_new and _may_be_shown(row, follower):
            log.shown_new.setdefault(follower, set()).add(row.pk)


def _may_be_shown(row: Any, follower: Follower) -> bool:
    having = row.public_when.having if follower.rule.published and row.public_when else {}
    return all(getattr(row, name) in values for name, values in having.items())


def stamp_losing(
    log: Stamps, model: "type[Content]", keys: Collection[int], changed: Collection[str]
) -> None:
    """Move the rows that show these before a change of these fields may end it."""
    if keys and not losing_fields(model).isdisjoint(changed):
        for follower in followers_of(model):
            if not follower.losing.isdisjoint(changed):
                _stamp_followers(follower, keys, log.at)


def stamp_deleted(
    log: Stamps, model: "type[Content]", keys: Collection[int], dragging: Collection[type[models.Model]]
) -> None:
    """Move the rows that show these before they are deleted, but for owners that are deleted, too."""
    for follower in followers_of(model):
        is_dragged = follower.model in dragging and follower.link in owner_fields(model)[:1]
        if follower.link and not is_dragged:
            _stamp_followers(follower, keys, log.at)


def stamp_others(log: Stamps, changes: Iterable["RowChange"]) -> None:
    """Move the rows that these changes change: those without a time of their own yet, and who shows them."""
    names_by_model: dict[str, list[tuple[int, set[str]]]] = {}
    for change in changes:
        if change.kind == change.Kind.CHANGED:
            names_by_model.setdefault(change.model, []).append((change.object_id, {*change.values}))
    for label, rows in names_by_model.items():
        model: Any = content_model(label)
        if is_dated(model):
            _stamp_own(log, model, rows)
        for follower in followers_of(model):
            wanted = {*follower.rule.fields}
            keys = {key for key, names in rows if not wanted or wanted & names}
            _stamp_followers(follower, keys, log.at)
    for follower, keys in log.shown_new.items():
        _stamp_followers(follower, keys, log.at)
    for dated_model, keys in log.touched.items():
        _write(dated_model, dated_model.changed_column, Q(AnyOf("pk", keys)), log.at)
    log.shown_new.clear()
    log.touched.clear()


def _stamp_own(log: Stamps, model: Any, rows: Iterable[tuple[int, set[str]]]) -> None:
    for column, fields in stamped_fields(model).items():
        keys = {key for key, names in rows if names & fields} - log.stamped.get((model, column), set())
        if keys:
            _write(model, column, Q(AnyOf("pk", keys)), log.at)
            log.stamped.setdefault((model, column), set()).update(keys)


def _stamp_followers(follower: Follower, keys: Collection[int], at: datetime) -> None:
    if not keys:
        return
    rule, manager = follower.rule, follower.source._default_manager
    with preview_as(None), public_state():
        rows = manager.published() if rule.published else follower.source._base_manager.all()
        rows = rows.filter(AnyOf("pk", keys), **rule.where).order_by()
    condition = Q()
    for lookup in follower.lookups:
        condition |= Q(pk__in=rows.values(lookup))
    _write(follower.model, follower.model.changed_column, condition, at)


def _write(model: Any, column: str, condition: Q, at: datetime) -> None:
    """Write the moment to these rows, unless they have a later one.

    All are locked: what they show may depend on a change of another writer, which ends first then.
    """
    is_earlier = Q(**{f"{column}__lt": at}) | Q(**{f"{column}__isnull": True})
    # This weaker lock still allows new foreign keys to the rows.
    locked = model._base_manager.filter(condition).order_by("pk").select_for_update(no_key=True).values("pk")
    models.QuerySet.update(model._base_manager.filter(is_earlier, pk__in=locked), **{column: at})


def touch(log: Stamps, model: type[Any], keys: Iterable[int]) -> None:
    """Move these rows at the end of the change set; of a model without addresses, who shows them, too."""
    keys = {*keys}
    if is_dated(model):
        log.touched.setdefault(model, set()).update(keys)
    if model.identity:
        return
    for follower in followers_of(model):
        if follower.link:
            log.shown_new.setdefault(follower, set()).update(keys)
