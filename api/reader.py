"""Read rows for the API: which rows a reader may see, which fields are wanted, and their JSON objects.

Objects are built from `values()` with one query for each relation: a page of 50 papers takes milliseconds.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from api.errors import BadValue
from api.permissions import ANONYMOUS, Caller, visible_rows
from api.shapes import CHANGED_AT, LATEST, Resource, Row, Rows, Shape, ToMany, ToOne
from conference.models import Edition
from content.array_lookup import AnyOf
from content.changed.reading import latest, opened_by_editions
from search.hits import MAX_HITS, find_documents
from search.query import parse_query

if TYPE_CHECKING:
    from conference.querysets import EditionQuerySet

MAX_DEPTH = 3
MAX_SELECTED_FIELDS = 40

type JsonObject = dict[str, object]


@dataclass(slots=True)
class Selection:
    """The requested fields of one level (empty: the default ones), and the selections of its relations."""

    fields: set[str] = field(default_factory=set)
    nested_by_name: dict[str, "Selection"] = field(default_factory=dict)
    expanded: set[str] = field(default_factory=set)

    def names(self, shape: Shape) -> list[str]:
        """Return the names of the fields in the response, in the order of their declaration."""
        selected = self.fields or {*shape.default_names, *self.expanded}
        return [name for name in shape.names if name in selected or (name == "id" and name in shape.fields)]

    def nested(self, name: str) -> "Selection":
        """Return the selection of a relation."""
        return self.nested_by_name.setdefault(name, Selection())

    def add(self, shape: Shape, path: str, parameter: str) -> None:
        """Add a path such as "presentations.room" from `fields` or `expand`; raise `BadValue` if invalid."""
        steps = path.split(".")
        if len(steps) > MAX_DEPTH:
            message = _("Use at most %(number)d levels.") % {"number": MAX_DEPTH}
            raise BadValue(parameter, path, message)
        selection = self
        for depth, step in enumerate(steps, start=1):
            is_last = depth == len(steps)
            allowed: Iterable[str] = shape.names if parameter == "fields" and is_last else shape.relations
            if step not in allowed:
                raise BadValue(parameter, path, allowed=sorted(allowed))
            if parameter == "fields":
                selection.fields.add(step)
            if parameter == "expand" or step not in shape.default_names or not is_last:
                selection.expanded.add(step)
            if step in shape.relations:
                shape, selection = shape.relations[step].resource, selection.nested(step)


def select(shape: Shape, fields: str, expand: str) -> Selection:
    """Return the selection of these two parameters; raise `BadValue` with the allowed names."""
    selection = Selection()
    for parameter, value in (("expand", expand), ("fields", fields)):
        paths = [path for path in (part.strip() for part in value.split(",")) if path]
        if len(paths) > MAX_SELECTED_FIELDS:
            raise BadValue(parameter, value, _("Name at most %(number)d.") % {"number": MAX_SELECTED_FIELDS})
        for path in paths:
            selection.add(shape, path, parameter)
    return selection


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads rows for a caller at a moment. All lists, details, nested rows and filters use it."""

    at: datetime
    caller: Caller = ANONYMOUS

    def rows(self, model: type[Model]) -> Rows:
        return visible_rows(self.caller, model._default_manager.all(), self.at)

    def editions(self) -> "EditionQuerySet":
        return visible_rows(self.caller, Edition.objects.all(), self.at)

    def objects(self, shape: Shape, keys: Sequence[int], selection: Selection) -> list[JsonObject]:
        """Return the JSON objects of the visible rows with these primary keys, in this order."""
        object_by_key = self._by_key(shape, keys, selection)
        return [object_by_key[key] for key in keys if key in object_by_key]

    def _by_key(self, shape: Shape, keys: Collection[int], selection: Selection) -> dict[int, JsonObject]:
        if not keys:
            return {}
        rows = self._read(shape, keys, "pk", selection)
        return dict(zip((row["pk"] for row in rows), self._objects(shape, rows, selection), strict=True))

    def _objects(self, shape: Shape, rows: Sequence[Row], selection: Selection) -> list[JsonObject]:
        names = selection.names(shape)
        makers = [(name, shape.fields[name].make) for name in names if name in shape.fields]
        objects: list[JsonObject] = [{name: make(row) for name, make in makers} for row in rows]
        values: Iterable[object]
        for name in names:
            if name in shape.to_one:
                values = self._to_one_values(shape.to_one[name], rows, selection, name)
            elif name in shape.to_many:
                values = self._to_many_values(shape.to_many[name], rows, selection.nested(name))
            else:
                continue
            for obj, value in zip(objects, values, strict=True):
                obj[name] = value
        return objects

    def _to_one_values(
        self, relation: ToOne, rows: Sequence[Row], selection: Selection, name: str
    ) -> Iterable[JsonObject | None]:
        if name in selection.expanded:
            keys = {row[relation.path] for row in rows} - {None}
            object_by_key = self._by_key(relation.resource, keys, selection.nested(name))
            return [object_by_key.get(row[relation.path]) for row in rows]
        url, key, edition = relation.resource.url, relation.key_column(), relation.edition_column()
        return [
            {"id": str(row[key]), "url": url(row[edition] if edition else None, row[key])}
            if row[relation.path] is not None
            else None
            for row in rows
        ]

    def _to_many_values(
        self, relation: ToMany, rows: Sequence[Row], selection: Selection
    ) -> Iterable[list[JsonObject]]:
        """Return the related objects of each row, in order. One query, and those of nested relations."""
        groups: dict[int, list[JsonObject]] = {row["pk"]: [] for row in rows}
        if groups:
            related_rows = self._read(relation.resource, groups, relation.owner, selection, relation.order)
            for row, obj in zip(
                related_rows, self._objects(relation.resource, related_rows, selection), strict=True
            ):
                groups[row[relation.owner]].append(obj)
        return [groups[row["pk"]] for row in rows]

    def _read(
        self,
        shape: Shape,
        keys: Collection[int],
        owner: str,
        selection: Selection,
        order: tuple[str, ...] = (),
    ) -> list[Row]:
        """Return the wanted columns of the visible rows whose `owner` is one of the keys. One query."""
        columns = {"pk", owner}
        for name in selection.names(shape):
            if name in shape.fields:
                columns.update(shape.fields[name].columns)
            elif name in shape.to_one:
                columns.update(shape.to_one[name].columns())
        queryset = shape.prepare(self.rows(shape.model), self.at).filter(AnyOf(owner, keys))
        rows = list(queryset.order_by(*order).values(*sorted(columns)))
        if rows and isinstance(shape, Resource) and CHANGED_AT in selection.names(shape):
            opened = opened_by_editions(shape.model, {row["pk"] for row in rows}, self.at)
            for row in rows:
                row[LATEST] = latest(row, shape.model, opened, self.at)
        return rows


def search_keys(text: str, kind: str, edition: str = "") -> list[int]:
    """Return the primary keys of the matching rows, the most relevant first; at most 1,000."""
    # The module that updates the index is in a higher layer, so it is imported by name.
    import_string(settings.SEARCH_INDEX_REFRESH)()
    key = Edition.objects.published().filter(slug=edition).values_list("pk", flat=True).first()
    hits = find_documents(parse_query(text), edition=key, kinds=[kind], limit=MAX_HITS)
    return [hit.object_id for hit in hits.page]
