"""When rows were created and last changed, as the history tells it, and which changed since a moment.

What a response says of a row depends on other rows, too: on its parts, on the people it names, on what makes
it public. A resource declares them as sources; a change of any is a change of the row.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import (
    Aggregate,
    BigIntegerField,
    CharField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Cast, Concat, Substr

from content.history import RowChange, RowChangeQuerySet
from content.models import Content
from content.row_values import owners, part_of
from people.models import Person, PersonName

# The columns of a change that name the rows whose part its row is or was.
OWNERS = ("owner", "other", "moved_to")
Kind = RowChange.Kind


@dataclass(frozen=True, slots=True)
class Source:
    """Rows at the end of a path from those of a resource, of which a change is a change of these.

    `fields`: only changes of these count, where there are any. `parts`: models of rows in them that count.
    `of_edition`: the path leads to editions, and all rows of the model in these count.
    """

    model: type[Content]
    path: str = ""
    fields: tuple[str, ...] = ()
    parts: tuple[type[Content], ...] = ()
    of_edition: bool = False

    @property
    def prefix(self) -> str:
        return f"{self.model._meta.label_lower}:"

    @property
    def key_column(self) -> str:
        return "edition_key" if self.of_edition else "object_id"

    def own_changes(self) -> Q:
        found = Q(model=self.model._meta.label_lower)
        if self.fields:
            found &= ~Q(kind=Kind.CHANGED) | Q(values__has_any_keys=[*self.fields])
        return found

    @property
    def part_labels(self) -> list[str]:
        return [part._meta.label_lower for part in self.parts]


def opening(path: str, *gates: str) -> tuple[str, ...]:
    """Return the moments at which the gates of the edition at the end of a path open."""
    return tuple(f"{path}__{gate}" if path else gate for gate in gates)


def named_people(path: str) -> Source:
    """People whose names are shown: a name that becomes hidden is replaced."""
    return Source(Person, path, ("name",), (PersonName,))


@dataclass(frozen=True, slots=True)
class Follows:
    """What the representation of a resource follows: rows, and the moments at which something opens."""

    sources: tuple[Source, ...] = ()
    moments: tuple[str, ...] = ()


def changed_since(model: type[Content], follows: Follows, since: datetime, at: datetime) -> Q:
    """Match the rows of which something changed at that moment or later."""
    every = model._base_manager.order_by()
    recent = RowChange.objects.order_by().filter(change_set__at__gte=since)
    found = Q(pk__in=())
    for source in follows.sources:
        for keys in _changed_keys(source, recent):
            rows = every.filter(**{f"{source.path}__in": keys}).values("pk") if source.path else keys
            found |= Q(pk__in=rows)
    for moment in follows.moments:
        found |= Q(pk__in=every.filter(**{f"{moment}__range": (since, at)}).values("pk"))
    return found


def _changed_keys(source: Source, recent: RowChangeQuerySet) -> Iterator[QuerySet[Any, Any]]:
    """Yield subqueries of the keys of a source's rows."""
    column = source.key_column
    yield recent.filter(source.own_changes(), **{f"{column}__isnull": False}).values(column)
    for column in OWNERS if source.parts else ():
        rows = recent.filter(model__in=source.part_labels, **{f"{column}__startswith": source.prefix})
        key = Cast(Substr(column, len(source.prefix) + 1), BigIntegerField())
        yield rows.annotate(owner_key=key).values("owner_key")


class Moments(NamedTuple):
    """When a row was created, and last changed; `None` where the history does not know."""

    created: datetime | None = None
    changed: datetime | None = None


def moments(
    model: type[Content], follows: Follows, keys: Collection[int], at: datetime
) -> dict[int, Moments]:
    """Return when each of these rows was created and last changed. At most three queries."""
    label, above = model._meta.label_lower, part_of(model)
    about_it = RowChange.objects.filter(model=label, object_id=OuterRef("pk"))
    expressions = [
        _single(about_it.filter(kind=Kind.CREATED), Min("change_set__at")),
        *_last_changes(follows, model, at),
    ]
    columns = {f"moment_{number}": expression for number, expression in enumerate(expressions)}
    found: dict[int, Moments] = {}
    owner_of: dict[int, str] = {}
    rows = model._base_manager.filter(pk__in=keys).annotate(**columns).order_by()
    for key, *values in rows.values_list("pk", *above, *columns):
        created, *others = values[len(above) :]
        found[key] = Moments(created, _latest(created, *others))
        if created is None and (names := owners(model, dict(zip(above, values, strict=False)))):
            owner_of[key] = names[0]
    # They were made with what they are part of, or were before they were first changed.
    changes = RowChange.objects.filter(model=label, object_id__in=[*owner_of]).order_by("-pk")
    owner_of |= changes.exclude(owner="").values_list("object_id", "owner") if owner_of else []
    created_of = _created(owner_of.values())
    for key, owner in owner_of.items():
        moment = created_of.get(owner)
        found[key] = Moments(moment, _latest(moment, found[key].changed))
    return found


def _latest(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment is not None), default=None)


def _created(names: Iterable[str]) -> dict[str, datetime]:
    """Return when rows, named as "papers.paper:7", were created. One query for each model."""
    keys: dict[str, set[int]] = defaultdict(set)
    for label, _colon, key in (name.partition(":") for name in names):
        keys[label].add(int(key))
    return {
        f"{label}:{key}": moment
        for label, wanted in keys.items()
        for key, moment in RowChange.objects.filter(model=label, object_id__in=wanted, kind=Kind.CREATED)
        .order_by("-pk")
        .values_list("object_id", "change_set__at")
    }


def _last_changes(follows: Follows, model: type[Content], at: datetime) -> Iterator[Subquery]:
    """Yield expressions for the last change in each source of a row, and for what opened last."""
    here = model._base_manager.filter(pk=OuterRef("pk")).order_by()
    above = model._base_manager.filter(pk=OuterRef(OuterRef("pk"))).order_by()
    rows = RowChange.objects.all()
    for source in follows.sources:
        keys = above.values(source.path or "pk")
        own = rows.filter(source.own_changes(), **{f"{source.key_column}__in": keys})
        yield _single(own, Max("change_set__at"))
        for column in OWNERS if source.parts else ():
            key = Cast(source.path or "pk", CharField())
            names = above.values(owner_name=Concat(Value(source.prefix), key))
            # The index of the column holds no empty ones. That of `model` would find all its changes.
            is_of_it = {f"{column}__in": names, "part__in": source.part_labels}
            parts = rows.alias(part=Concat("model", Value(""))).filter(~Q(**{column: ""}), **is_of_it)
            yield _single(parts, Max("change_set__at"))
    for moment in follows.moments:
        yield _single(here.filter(**{f"{moment}__lte": at}), Max(moment))


def _single(rows: QuerySet[Any, Any], aggregate: Aggregate) -> Subquery:
    """Return an aggregate of all of these rows as one value."""
    return Subquery(
        rows.order_by().annotate(all=Value(1)).values("all").annotate(one=aggregate).values("one")
    )
