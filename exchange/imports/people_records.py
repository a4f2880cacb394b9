"""People of the database as records, many with few queries; hidden names stay out."""

from collections.abc import Iterable, Iterator
from typing import Any

from content.array_lookup import Among
from exchange.imports.kinds import PERSON
from exchange.records import PersonRecord, PersonRef
from people.models import Person, PersonIdentifier, PersonName


def persons(keys: list[int]) -> Iterator[PersonRecord]:
    """Read people in the order of their keys."""
    mine = Among("person_id", keys)
    spellings = _by_person(PersonName.objects.filter(mine, hidden=False).values_list("person", "name"))
    ids = _by_person(PersonIdentifier.objects.filter(mine).values_list("person", "scheme", "value"))
    rows = Person.objects.filter(Among("pk", keys)).order_by().values("pk", "uid", *PERSON.plain)
    found = {row.pop("pk"): row for row in rows}
    for key in (key for key in keys if key in found):
        row = found[key]
        ref = PersonRef(
            name=row.pop("name"),
            uid=row.pop("uid"),
            orcid=row.pop("orcid"),
            ids=tuple(sorted(map(tuple, ids.get(key, [])))),
        )
        others = tuple(sorted(name for (name,) in spellings.get(key, [])))
        yield PersonRecord(ref=ref, other_names=others, **row)


def _by_person(rows: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for person, *values in rows:
        found.setdefault(person, []).append(values)
    return found
