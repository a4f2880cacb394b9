"""Read rows for the API: which rows a reader may see, and their JSON objects.

Objects are made of `values()`, with one query for each relation: a page of 50 papers takes milliseconds.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from api.permissions import NOBODY, Asker, visible
from api.selection import Wanted
from api.shapes import Many, One, Resource, Row, Shape
from conference.models import Edition
from content.array_lookup import Among, Keys
from search.hits import MAX_HITS, find
from search.query import parse


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who reads at a moment. Lists, details, nested rows and filters all take rows from here."""

    at: datetime
    asker: Asker = NOBODY

    def rows(self, model: Any) -> Any:
        """Return the rows of a model that this reader may see."""
        return visible(self.asker, model.objects.all(), self.at)

    def editions(self) -> Any:
        """Return the editions that this reader may see."""
        return self.rows(Edition)


type Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A query for the columns of rows whose `owner` is one of some keys, in an order."""

    owner: str
    columns: tuple[str, ...]
    order: tuple[str, ...]

    def of(self, shape: Shape, keys: Keys, reader: Reader) -> Any:
        rows = shape.prepare(reader.rows(shape.model), reader.at).filter(Among(self.owner, keys))
        return rows.order_by(*self.order).values(*self.columns)


def _published(shape: Shape, chosen: Chosen, keys: Keys, at: datetime) -> Any:
    return chosen.of(shape, keys, Reader(at))


class Builder:
    """Makes the answers of one request: what its reader may see, nested as deep as is wanted."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def in_order(self, resource: Resource, keys: Sequence[int], wanted: Wanted) -> list[Answer]:
        """Return the rows with these primary keys, in this order."""
        found = self.by_key(resource, keys, wanted)
        return [found[key] for key in keys if key in found]

    def by_key(self, shape: Shape, keys: Collection[int], wanted: Wanted) -> dict[int, Answer]:
        """Return the answers of the visible rows among those with these primary keys."""
        if not keys:
            return {}
        rows = self._read(shape, keys, "pk", self._columns(shape, wanted))
        return dict(zip((row["pk"] for row in rows), self._answers(shape, rows, wanted), strict=True))

    def _answers(self, shape: Shape, rows: Sequence[Row], wanted: Wanted) -> list[Answer]:
        names = wanted.names(shape)
        makers = [(name, shape.all_fields[name].make) for name in names if name in shape.all_fields]
        answers = [{name: make(row) for name, make in makers} for row in rows]
        values: Iterable[Any]
        for name in names:
            if name in shape.ones:
                values = self._ones(shape.ones[name], rows, wanted, name)
            elif name in shape.manys:
                values = self._manys(shape.manys[name], rows, wanted.of(name))
            else:
                continue
            for answer, value in zip(answers, values, strict=True):
                answer[name] = value
        return answers

    def _ones(self, one: One, rows: Sequence[Row], wanted: Wanted, name: str) -> Iterable[Answer | None]:
        if name in wanted.expanded:
            keys = {row[one.path] for row in rows} - {None}
            found = self.by_key(one.resource, keys, wanted.of(name))
            return [found.get(row[one.path]) for row in rows]
        url, key, edition = one.resource.url, one.key_column(), one.edition_column()
        return [
            {"id": str(row[key]), "url": url(row[edition] if edition else None, row[key])}
            if row[one.path] is not None
            else None
            for row in rows
        ]

    def _manys(self, many: Many, rows: Sequence[Row], wanted: Wanted) -> Iterable[list[Answer]]:
        """Return the rows on the far side, each owner's in their order. One query, and those below it."""
        shape, owner = many.resolved, many.owner
        keys = [row["pk"] for row in rows]
        groups: dict[int, list[Answer]] = {key: [] for key in keys}
        if keys:
            found = self._related(shape, many, keys, wanted)
            for row, answer in zip(found, self._answers(shape, found, wanted), strict=True):
                groups[row[owner]].append(answer)
        return [groups[key] for key in keys]

    def _related(self, shape: Shape, many: Many, keys: list[int], wanted: Wanted) -> list[Row]:
        columns = self._columns(shape, wanted) | {many.owner}
        return self._read(shape, keys, many.owner, columns, many.order)

    def _read(
        self, shape: Shape, keys: Collection[int], owner: str, columns: set[str], order: tuple[str, ...] = ()
    ) -> list[Row]:
        """Return the rows that the reader may see. One query."""
        chosen = Chosen(owner, tuple(sorted(columns)), order)
        if self.reader.asker == NOBODY:
            return list(_published(shape, chosen, Keys(keys), self.reader.at))
        return list(chosen.of(shape, Keys(keys), self.reader))

    @staticmethod
    def _columns(shape: Shape, wanted: Wanted) -> set[str]:
        """Return the columns that the fields and references wanted are made of."""
        columns = {"pk"}
        for name in wanted.names(shape):
            if name in shape.all_fields:
                columns.update(shape.all_fields[name].columns)
            elif name in shape.ones:
                columns.update(shape.ones[name].columns())
        return columns


def ranked(words: str, kind: str, edition: str = "") -> list[int]:
    """Return the keys of the things found, the best first; at most 1,000."""
    # Who keeps the index is a floor above: it knows what goes in.
    refresh: Callable[[], Any] = import_string(settings.SEARCH_INDEX_REFRESH)
    refresh()
    key = Edition.objects.published().filter(slug=edition).values_list("pk", flat=True).first()
    hits = find(parse(words), edition=key, kinds=[kind], limit=MAX_HITS)
    return [hit.object_id for hit in hits.page]
