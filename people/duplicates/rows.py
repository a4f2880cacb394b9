"""The people and institutions of the database as what is compared.

Upper floors stay unnamed: they are asked by the names of relations.
"""

from collections import defaultdict
from typing import Any

from markup import fold
from people.duplicates.evidence import PersonCandidate
from people.duplicates.institutions import InstitutionCandidate
from people.models import Institution, Person, PersonIdentifier, PersonName

CHUNK_ROWS = 5_000


class PeopleRows:
    """Everybody who was not merged, with what is known of them; affiliations as they are written."""

    def __init__(self) -> None:
        self.figures: dict[int, PersonCandidate] = {}
        self.written: dict[str, str] = {}
        self._read_people()
        self._read_names()
        self._read_authorships()

    def _read_people(self) -> None:
        columns = ("pk", "name", "native_name", "orcid", "email", "homepage", "affiliation")
        rows = Person.objects.filter(merged_into__isnull=True).order_by("pk").values_list(*columns)
        for key, name, native, orcid, email, homepage, affiliation in rows.iterator(CHUNK_ROWS):
            contacts = frozenset(filter(None, (email.casefold(), homepage.casefold().rstrip("/"))))
            names = (name, native) if native else (name,)
            self.figures[key] = PersonCandidate(key, names, orcid=orcid, contacts=contacts)
            if affiliation:
                self.figures[key].affiliations.add(self._place(affiliation))

    def _place(self, affiliation: str) -> str:
        place = fold(affiliation)
        self.written.setdefault(place, affiliation)
        return place

    def _read_names(self) -> None:
        others: dict[int, list[str]] = defaultdict(list)
        for key, name in (
            PersonName.objects.order_by("pk").values_list("person_id", "name").iterator(CHUNK_ROWS)
        ):
            others[key].append(name)
        for key, found in others.items():
            if key in self.figures:
                one = self.figures[key]
                one.names = (*one.names, *found)
        ids: dict[int, set[tuple[str, str]]] = defaultdict(set)
        rows = PersonIdentifier.objects.order_by().values_list("person_id", "scheme", "value")
        for key, scheme, value in rows.iterator(CHUNK_ROWS):
            ids[key].add((scheme, value))
        for key in ids.keys() & self.figures.keys():
            self.figures[key].ids = frozenset(ids[key])

    def _read_authorships(self) -> None:
        authorships: Any = Person._meta.get_field("authorships").related_model
        places: dict[int, set[str]] = defaultdict(set)
        through = authorships.institutions.through._base_manager.order_by()
        for key, name in through.values_list("authorship_id", "institution__name").iterator(CHUNK_ROWS):
            places[key].add(self._place(name))
        rows = authorships._base_manager.order_by().values_list("pk", "person_id", "paper_id", "affiliations")
        for key, person, paper, affiliations in rows.iterator(CHUNK_ROWS):
            one = self.figures.get(person)
            if one is not None:
                found = {*places.get(key, ()), *map(self._place, affiliations)}
                one.papers[paper] = frozenset(found)
                one.affiliations |= found


def institutions() -> list[InstitutionCandidate]:
    """Return the institutions that were not merged, each with the people who wrote from there."""
    authorships: Any = Institution._meta.get_field("authorships").related_model
    people: dict[int, set[int]] = defaultdict(set)
    through = authorships.institutions.through._base_manager.order_by()
    for key, person in through.values_list("institution_id", "authorship__person_id").iterator(CHUNK_ROWS):
        people[key].add(person)
    rows = Institution.objects.filter(merged_into__isnull=True).order_by("pk")
    return [
        InstitutionCandidate(key, (name, *aliases), ror, country, frozenset(people[key]))
        for key, name, aliases, ror, country in rows.values_list("pk", "name", "aliases", "ror", "country")
    ]
