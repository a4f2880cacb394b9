"""When rows last changed for a reader at a moment: as stored, or when they became public by time."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet, Value

from content.array_lookup import AnyOf
from content.changed.dated import set_at
from content.editions import get_edition_model
from content.preview_context import GATES

# The times of an edition that count for rows which it shows, such as people.
EDITION_TIMES = (*GATES, *map(set_at, GATES))


def changed_since(model: Any, since: datetime, at: datetime) -> Q:
    """Return the condition that a row changed since then, or became public by `at`. One query at most."""
    condition = Q(**{f"{model.changed_column}__gte": since})
    for name in model.opens:
        condition |= Q(**{f"{name}__range": (since, at)})
    if showing := model.shown_by():
        opened = reduce(or_, (Q(**{f"{name}__range": (since, at)}) for name in EDITION_TIMES))
        if editions := [*get_edition_model()._base_manager.filter(opened).values_list("pk", flat=True)]:
            for rows, path, edition in showing:
                shown = rows._default_manager.published(at).filter(AnyOf(edition, editions))
                condition |= Q(pk__in=shown.order_by().filter(**{f"{path}__isnull": False}).values(path))
    return condition


def latest(row: Mapping[str, Any], model: Any, opened: Mapping[int, datetime], at: datetime) -> datetime:
    """Return when a row last changed, from its columns and those of `model.opens`."""
    times: Iterable[datetime | None] = (*(row[name] for name in model.opens), opened.get(row["pk"]))
    changed_at: datetime = row[model.changed_column]
    return max([changed_at, *(moment for moment in times if moment and moment <= at)])


def opened_by_editions(model: Any, keys: Collection[int], at: datetime) -> dict[int, datetime]:
    """Return for rows that others show when a gate of an edition with these last opened or was set.

    Two queries, but none for models whose rows only their own edition shows.
    """
    showing = model.shown_by()
    if not showing or not keys:
        return {}
    times = {
        key: max((moment for moment in moments if moment and moment <= at), default=None)
        for key, *moments in get_edition_model()._base_manager.order_by().values_list("pk", *EDITION_TIMES)
    }
    queries: list[QuerySet[Any, Any]] = []
    for number, (rows, path, edition) in enumerate(showing):
        shown = rows._default_manager.published(at).filter(AnyOf(path, keys)).order_by()
        queries.append(shown.annotate(number=Value(number)).values_list("number", path, edition).distinct())
    opened: dict[int, datetime] = {}
    for _number, key, edition in queries[0].union(*queries[1:], all=True).order_by():
        if moment := times.get(edition):
            opened[key] = max(moment, opened.get(key, moment))
    return opened
