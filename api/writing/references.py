"""Names in a body become rows: one query for each kind of thing that it names."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from api.errors import shown
from api.reader import Reader
from api.shapes import RESOURCES
from api.writing.declared import Part, Written
from api.writing.refusals import Invalid

# Where a name stands: the mapping or list that holds it, its place there, its path, what it points at.
type Place = tuple[Any, Any, str, str]


def places(written: Written, body: dict[str, Any]) -> Iterator[Place]:
    """Walk the names of other things in a body that was read."""
    yield from _in(body, written.references, "")
    for name, part in written.parts.items():
        for index, row in enumerate(body.get(name, ())):
            yield from _in_part(part, row, f"{name}.{index}.")


def _in_part(part: Part, row: dict[str, Any], path: str) -> Iterator[Place]:
    yield from _in(row, part.references, path)
    for column, target in part.many.items():
        for index in range(len(row.get(column, ()))):
            yield row[column], index, f"{path}{column}.{index}", target


def _in(row: dict[str, Any], references: Mapping[str, str], path: str) -> Iterator[Place]:
    for column, target in references.items():
        if row.get(column) is not None:
            yield row, column, f"{path}{column}", target


def resolve(written: Written, body: dict[str, Any], reader: Reader, edition: str) -> None:
    """Put rows that the reader may see in place of names; an id alone is one of this edition."""
    asked: dict[str, list[Place]] = defaultdict(list)
    for place in places(written, body):
        asked[place[3]].append(place)
    errors: dict[str, list[str]] = {}
    for target, found in asked.items():
        known = rows_named(target, [holder[spot] for holder, spot, _path, _target in found], reader, edition)
        for holder, spot, path, _target in found:
            row = known.get(full_name(target, holder[spot], edition))
            if row is None:
                name = shown("/".join(part for part in holder[spot] if part))
                errors[path] = [_("There is no “%(name)s” among %(kind)s.") % {"name": name, "kind": target}]
            holder[spot] = row
    if errors:
        raise Invalid(errors)


def full_name(target: str, name: tuple[str, str], edition: str) -> tuple[str, str]:
    """Return edition and id; things of the whole site have no edition."""
    return (name[0] or edition if RESOURCES[target].edition else "", name[1])


def rows_named(
    target: str, names: list[tuple[str, str]], reader: Reader, edition: str
) -> dict[tuple[str, str], Any]:
    """Return the rows with these names that the reader may see. One query."""
    resource = RESOURCES[target]
    wanted = {full_name(target, name, edition) for name in names}
    rows = reader.rows(resource.model).filter(**{f"{resource.key}__in": [key for _slug, key in wanted]})
    if resource.edition:
        rows = rows.filter(edition__slug__in={slug for slug, _key in wanted}).select_related("edition")
    found = {(row.edition.slug if resource.edition else "", getattr(row, resource.key)): row for row in rows}
    return {name: row for name, row in found.items() if name in wanted}
