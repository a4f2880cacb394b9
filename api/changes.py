"""When rows were created and last changed according to the history, and which changed since a moment.

A response also depends on other rows: on parts, people, owners, and rows that make it public. A resource
declares them as sources, and a change of one is a change of the row. Sources must be public whenever the
row is, so that no date reveals a change of a draft.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, F, Max, Min, Q, QuerySet, Value
from django.db.models.functions import Cast, Substr

from conference.models import Edition
from content.array_lookup import AnyOf
from content.history import RowChange, RowChangeQuerySet
from content.models import Content
from content.row_values import content_model, owner_fields, owner_names
from people.models import Person, PersonName

# The columns of a change that name the owner of a part, before and after it moved.
OWNERS = ("owner", "moved_to")
Kind = RowChange.Kind


@dataclass(frozen=True, slots=True)
class Source:
    """Rows that `path` leads to from rows of a resource, and whose changes count as changes of these.

    If `fields` is not empty, only changes of these count. Changes of `parts`, models of parts, count too.
    `opens`: fields with moments at which rows become public. `where` limits the rows of the resource.
    """

    model: type[Content]
    path: str = ""
    fields: tuple[str, ...] = ()
    parts: tuple[type[Content], ...] = ()
    opens: tuple[str, ...] = ()
    where: Q = field(default_factory=Q)

    @property
    def prefix(self) -> str:
        return f"{self.model._meta.label_lower}:"

    @property
    def moments(self) -> list[str]:
        """Return the paths from a row of the resource to the fields in `opens`."""
        return [f"{self.path}__{name}" if self.path else name for name in self.opens]

    def own_changes(self) -> Q:
        condition = Q(model=self.model._meta.label_lower)
        if self.fields:
            condition &= ~Q(kind=Kind.CHANGED) | Q(values__has_any_keys=[*self.fields])
        return condition

    @property
    def part_labels(self) -> list[str]:
        return [part._meta.label_lower for part in self.parts]


def in_edition(path: str, *gates: str, fields: tuple[str, ...] = ()) -> Source:
    """Return the edition as a source: the `gates` that make rows public, and `fields` shown with them.

    Setting a gate to a moment in the past is a change, too.
    """
    return Source(Edition, path, (*gates, *fields), opens=gates)


def named_people(path: str) -> Source:
    """Return people as a source, because a name that becomes hidden is replaced in responses."""
    return Source(Person, path, ("name",), (PersonName,))


def changed_since(model: type[Content], sources: Iterable[Source], since: datetime, at: datetime) -> Q:
    """Return the condition that a source of a row changed since then, or became public by `at`."""
    all_rows = model._base_manager.order_by()
    recent = RowChange.objects.order_by().filter(change_set__at__gte=since)
    condition = Q(pk__in=())
    for source in sources:
        for keys in _changed_keys(source, recent):
            leading_rows = all_rows.filter(source.where, **{f"{source.path or 'pk'}__in": keys})
            condition |= Q(pk__in=leading_rows.values("pk") if source.path else keys)
        for moment in source.moments:
            condition |= Q(pk__in=all_rows.filter(**{f"{moment}__range": (since, at)}).values("pk"))
    return condition


def _changed_keys(source: Source, recent: RowChangeQuerySet) -> Iterator[QuerySet[Any, Any]]:
    """Yield subqueries of the keys of a source's rows."""
    yield recent.filter(source.own_changes()).values("object_id")
    for column in OWNERS if source.parts else ():
        rows = recent.filter(model__in=source.part_labels, **{f"{column}__startswith": source.prefix})
        key = Cast(Substr(column, len(source.prefix) + 1), BigIntegerField())
        yield rows.annotate(owner_key=key).values("owner_key")


class Moments(NamedTuple):
    """When a row was created and last changed; `None` if that is not in the history."""

    created: datetime | None = None
    changed: datetime | None = None


# Maps the keys of a source's rows to the keys of the resource's rows that lead to them.
SourceRows = defaultdict[int, list[int]]


def moments(
    model: type[Content], sources: Collection[Source], keys: Collection[int], at: datetime
) -> dict[int, Moments]:
    """Return when each of these rows was created and last changed. At most seven queries."""
    changed: dict[int, list[datetime]] = {key: [] for key in keys}
    source_rows = _source_rows(model, sources, keys)
    for index, source_key, moment in (
        *_own_changes(sources, source_rows),
        *_part_changes(sources, source_rows),
    ):
        for key in source_rows[index][source_key]:
            changed[key].append(moment)
    owner_columns = owner_fields(model)
    opening_fields = [moment for source in sources for moment in source.moments]
    created = _created(model, keys)
    owner_by_key: dict[int, str] = {}
    for key, *values in _rows(model, keys).values_list("pk", *owner_columns, *opening_fields):
        changed[key] += [moment for moment in values[len(owner_columns) :] if moment and moment <= at]
        if key not in created and (
            names := owner_names(model, dict(zip(owner_columns, values, strict=False)))
        ):
            owner_by_key[key] = names[0]
    # Use the creation of the owner, the earliest in the history, if that of the row is not recorded.
    changes = RowChange.objects.filter(AnyOf("object_id", owner_by_key), model=model._meta.label_lower)
    moved_to = changes.exclude(owner="").order_by("-pk").values_list("object_id", "owner")
    created |= _owner_created(owner_by_key | dict(moved_to)) if owner_by_key else {}
    return {
        key: Moments(created.get(key), max([*dates, *filter(None, [created.get(key)])], default=None))
        for key, dates in changed.items()
    }


def _rows(model: type[Content], keys: Collection[int]) -> QuerySet[Any, Any]:
    return model._base_manager.filter(AnyOf("pk", keys)).order_by()


def _source_rows(
    model: type[Content], sources: Collection[Source], keys: Collection[int]
) -> list[SourceRows]:
    """Return for each source the keys of its rows, with those of the rows that lead to them. One query."""
    source_rows = [SourceRows(list) for _source in sources]
    queries = []
    for index, source in enumerate(sources):
        if source.path:
            rows = _rows(model, keys).filter(source.where, **{f"{source.path}__isnull": False})
            queries.append(
                rows.annotate(source_number=Value(index)).values_list("source_number", "pk", source.path)
            )
        else:
            source_rows[index] |= {key: [key] for key in keys}
    for index, key, source_key in _union_all(queries):
        source_rows[index][source_key].append(key)
    return source_rows


def _own_changes(
    sources: Collection[Source], source_rows: Sequence[SourceRows]
) -> Iterable[tuple[int, int, datetime]]:
    """Return the number of the source, the key and the last change of each source row. One query."""
    queries = []
    for index, source in enumerate(sources):
        rows = RowChange.objects.filter(
            source.own_changes(), AnyOf("object_id", source_rows[index])
        ).order_by()
        numbered = rows.annotate(source_number=Value(index)).values_list("source_number", "object_id")
        queries.append(numbered.annotate(Max("change_set__at")))
    return _union_all(queries)


def _part_changes(
    sources: Collection[Source], source_rows: Sequence[SourceRows]
) -> Iterator[tuple[int, int, datetime]]:
    """Yield the number of the source, the key and the last change of parts of each source row. One query."""
    queries = []
    with_parts = {index: source for index, source in enumerate(sources) if source.parts}
    for index, source in with_parts.items():
        names = [f"{source.prefix}{key}" for key in source_rows[index]]
        for column in OWNERS:
            # Exclude empty values, so that the partial index of the column is used. Do not filter by `model`
            # here: the database might use the index of that column, which is less selective.
            rows = RowChange.objects.filter(~Q(**{column: ""}), AnyOf(column, names)).order_by()
            numbered = rows.annotate(source_number=Value(index), of_row=F(column))
            columns = numbered.values_list("source_number", "of_row", "model")
            queries.append(columns.annotate(Max("change_set__at")))
    for index, name, label, moment in _union_all(queries):
        if label in with_parts[index].part_labels:
            yield index, int(name.rpartition(":")[2]), moment


def _union_all(queries: Sequence[QuerySet[Any, Any]]) -> Iterable[Any]:
    return queries[0].union(*queries[1:], all=True).order_by() if queries else ()


def _created(model: type[Content], keys: Collection[int]) -> dict[int, datetime]:
    rows = RowChange.objects.order_by().filter(model=model._meta.label_lower, kind=Kind.CREATED)
    return dict(
        rows.filter(AnyOf("object_id", keys)).values_list("object_id").annotate(Min("change_set__at"))
    )


def _owner_created(owner_by_key: Mapping[int, str]) -> dict[int, datetime]:
    """Return by key when its owner, named as in "papers.paper:7", was created."""
    keys_by_label: dict[str, set[int]] = defaultdict(set)
    for name in owner_by_key.values():
        label, _colon, key = name.partition(":")
        keys_by_label[label].add(int(key))
    created_by_label = {label: _created(content_model(label), keys) for label, keys in keys_by_label.items()}
    return {
        key: created_by_label[label][int(owner)]
        for key, name in owner_by_key.items()
        for label, _colon, owner in [name.partition(":")]
        if int(owner) in created_by_label[label]
    }
