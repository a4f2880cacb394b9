"""Stored likely duplicates: searched on request, and valid until something changes."""

import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.db import DatabaseError, models, transaction
from django.db.models import Sum
from django.utils import timezone

from conference.models import Edition
from content import revision
from markup import fold
from people.duplicates.evidence import LikelyDuplicate, PersonCandidate
from people.duplicates.finder import find
from people.duplicates.institutions import InstitutionCandidate, find_duplicates
from people.models import (
    Comparison,
    Institution,
    InstitutionDistinction,
    InstitutionPair,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
    PersonPair,
)

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


log = logging.getLogger(__name__)
# With more rows, a search is too slow for a page view: it runs only on request.
MAX_AUTOMATIC_ROWS = 10_000
# As many as a chair could ever review; only the likeliest are stored.
MAX_PAIRS = 20_000
BATCH_ROWS = 1_000
PAIR_MODELS: dict[type[models.Model], type[Any]] = {Person: PersonPair, Institution: InstitutionPair}


def state() -> str:
    """Return what changes with anything that is compared."""
    editions = Edition.objects.aggregate(changes=Sum("revision"))["changes"] or 0
    return f"{revision.current(None).site} {editions}"


def is_fresh(model: type[Any]) -> bool:
    """Return whether nothing has changed since the last search."""
    last = Comparison.of(model)
    return last is not None and last.state == state()


def search(model: type[Any]) -> int:
    """Search for duplicates, store them, and return their number."""
    now = state()
    found = _found(model)[:MAX_PAIRS]
    pairs = PAIR_MODELS[model]
    rows = [
        pairs(
            first_id=one.first,
            second_id=one.second,
            score=one.score,
            signs=f",{','.join(one.signs)},",
            reasons=[[code, values] for code, values in one.reasons],
        )
        for one in found
    ]
    last_key = model._default_manager.aggregate(last=models.Max("pk"))["last"] or 0
    with transaction.atomic():
        # Locked before the pairs: of two that look at once the second writes after the first.
        Comparison.objects.update_or_create(
            model=model._meta.label_lower, defaults={"at": timezone.now(), "state": now, "last_key": last_key}
        )
        pairs._default_manager.all().delete()
        pairs._default_manager.bulk_create(rows, batch_size=BATCH_ROWS)
    return len(rows)


def _found(model: type[Any]) -> list[LikelyDuplicate]:
    if model is Institution:
        return find_duplicates(institutions(), InstitutionDistinction.objects.pairs())
    people = PeopleRows()
    found = find(people.figures.values(), PersonDistinction.objects.pairs())
    for one in found:
        for code, values in one.reasons:
            if code == "affiliation":
                values["place"] = people.written[values["place"]]
    return found


def search_if_quick(model: type[Any]) -> None:
    """Search again if rows have changed and few exist; skip if the database is busy."""
    if is_fresh(model) or model._default_manager.count() > MAX_AUTOMATIC_ROWS:
        return
    try:
        search(model)
    except DatabaseError:
        log.exception("Duplicates could not be looked for; whoever opens the list next tries again.")


def search_all() -> None:
    """Look at everything that can be listed twice, where it takes no time."""
    for model in PAIR_MODELS:
        search_if_quick(model)


def exclude_decided(model: type[Any], keys: Iterable[int], *, was_fresh: bool) -> None:
    """Forget the pairs among these rows, of which a chair has decided; all others stay as they were found."""
    wanted = list(keys)
    PAIR_MODELS[model]._default_manager.filter(first__in=wanted, second__in=wanted).delete()
    if was_fresh:
        Comparison.objects.filter(model=model._meta.label_lower).update(state=state())
