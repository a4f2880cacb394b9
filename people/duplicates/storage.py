"""Searching for duplicates and storing the results, which are valid until a row changes."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import batched
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Manager, Max, Model, Q, Sum
from django.utils import timezone

from conference.models import Edition
from content import revision
from markup import fold
from people.duplicates.evidence import KEPT_APART, LikelyDuplicate, PersonCandidate
from people.duplicates.finder import find_duplicate_people
from people.duplicates.institutions import InstitutionCandidate, find_duplicate_institutions
from people.duplicates.namesakes import MixedPerson, find_mixed_people
from people.models import (
    Comparison,
    Institution,
    InstitutionDistinction,
    InstitutionPair,
    LikelyNamesake,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
    PersonPair,
)

log = logging.getLogger(__name__)
# With more rows, a search is too slow for a page view, so it runs only on request.
MAX_AUTOMATIC_ROWS = 10_000
# Only the most likely pairs are stored. Chairs cannot review more.
MAX_PAIRS = 20_000
BATCH_ROWS = 1_000
CHUNK_ROWS = 5_000
PAIR_MODELS: dict[type[Model], type[PersonPair | InstitutionPair]] = {
    Person: PersonPair,
    Institution: InstitutionPair,
}


def person_candidates(
    keys: Collection[int] | None = None, hidden_papers: Collection[int] = ()
) -> tuple[list[PersonCandidate], dict[str, str]]:
    """Return the people who were not merged, and a mapping of folded affiliations to their spelling.

    With `keys`, return only these people. `hidden_papers` are ignored.
    """
    if keys is None:
        return _candidates(Q(), Q(), hidden_papers)
    found: list[PersonCandidate] = []
    written: dict[str, str] = {}
    for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
        people, places = _candidates(Q(pk__in=batch), Q(person__in=batch), hidden_papers)
        found += people
        written |= places
    return found, written


def _candidates(
    who: Q, theirs: Q, hidden_papers: Collection[int]
) -> tuple[list[PersonCandidate], dict[str, str]]:
    written: dict[str, str] = {}

    def folded(affiliation: str) -> str:
        place = fold(affiliation)
        written.setdefault(place, affiliation)
        return place

    spellings: dict[int, list[str]] = defaultdict(list)
    names = PersonName.objects.filter(theirs).order_by("pk").values_list("person_id", "name")
    for key, name in names.iterator(CHUNK_ROWS):
        spellings[key].append(name)
    identifiers: dict[int, set[tuple[str, str]]] = defaultdict(set)
    ids = PersonIdentifier.objects.filter(theirs).order_by().values_list("person_id", "scheme", "value")
    for key, scheme, value in ids.iterator(CHUNK_ROWS):
        identifiers[key].add((scheme, value))
    found: dict[int, PersonCandidate] = {}
    columns = ("pk", "name", "native_name", "orcid", "email", "homepage", "affiliation")
    people = Person.objects.filter(who, merged_into__isnull=True).order_by("pk").values_list(*columns)
    for key, name, native, orcid, email, homepage, affiliation in people.iterator(CHUNK_ROWS):
        found[key] = PersonCandidate(
            key,
            (name, *([native] if native else []), *spellings.get(key, ())),
            orcid=orcid,
            ids=frozenset(identifiers.get(key, ())),
            contacts=frozenset(filter(None, (email.casefold(), homepage.casefold().rstrip("/")))),
            affiliations={folded(affiliation)} if affiliation else set(),
        )
    authorships = _authorships()
    places: dict[int, set[str]] = defaultdict(set)
    wrote = authorships._base_manager.filter(theirs).order_by()
    through = authorships.institutions.through._base_manager.order_by()
    if theirs:
        through = through.filter(authorship__in=wrote.values("pk"))
    for key, name in through.values_list("authorship_id", "institution__name").iterator(CHUNK_ROWS):
        places[key].add(folded(name))
    of_paper = ("paper_id", "affiliations", "paper__topic__slug", "paper__edition__year")
    rows = wrote.values_list("pk", "person_id", *of_paper)
    for key, person, paper, affiliations, topic, year in rows.iterator(CHUNK_ROWS):
        one = found.get(person)
        if one and paper not in hidden_papers:
            one.topics.update([topic] if topic else [])
            one.years.add(year)
            one.papers[paper] = frozenset({*places.get(key, ()), *map(folded, affiliations)})
            one.affiliations |= one.papers[paper]
    return list(found.values()), written


def _authorships() -> Any:
    """Return the model of authorships, which belongs to an upper package."""
    return Person._meta.get_field("authorships").related_model


def institution_candidates() -> list[InstitutionCandidate]:
    """Return the institutions that were not merged, with their authors."""
    people: dict[int, set[int]] = defaultdict(set)
    through = _authorships().institutions.through._base_manager.order_by()
    for key, person in through.values_list("institution_id", "authorship__person_id").iterator(CHUNK_ROWS):
        people[key].add(person)
    rows = Institution.objects.filter(merged_into__isnull=True).order_by("pk")
    return [
        InstitutionCandidate(key, (name, *aliases), ror, country, frozenset(people[key]))
        for key, name, aliases, ror, country in rows.values_list("pk", "name", "aliases", "ror", "country")
    ]


def current_state() -> str:
    """Return a string that changes whenever a compared row changes."""
    editions = Edition.objects.aggregate(changes=Sum("revision"))["changes"] or 0
    return f"{revision.current(None).site} {editions}"


def is_fresh(last: Comparison | None) -> bool:
    """Return whether nothing has changed since the last search."""
    return last is not None and last.state == current_state()


def search(model: type[Model]) -> int:
    """Search for duplicates, store them, and return their number."""
    now = current_state()
    pairs = PAIR_MODELS[model]
    found, mixed = _find(model)
    rows = [pairs(**_columns(one)) for one in found[:MAX_PAIRS]]
    last_key = model._default_manager.aggregate(last=Max("pk"))["last"] or 0
    with transaction.atomic():
        # This locks the row, so that a concurrent search waits before it writes its results.
        Comparison.objects.update_or_create(
            model=model._meta.label_lower, defaults={"at": timezone.now(), "state": now, "last_key": last_key}
        )
        stored: Manager[Model] = pairs._default_manager
        stored.all().delete()
        stored.bulk_create(rows, batch_size=BATCH_ROWS)
        if model is Person:
            _store_mixed(mixed[:MAX_PAIRS])
    return len(rows)


def _store_mixed(found: Iterable[MixedPerson]) -> None:
    """Replace the stored people who may be two, except those that chairs confirmed as one person."""
    LikelyNamesake.objects.filter(is_one=False).delete()
    decided = set(LikelyNamesake.objects.values_list("person", flat=True))
    LikelyNamesake.objects.bulk_create(
        (
            LikelyNamesake(person_id=one.key, score=one.score, papers=[*one.papers])
            for one in found
            if one.key not in decided
        ),
        batch_size=BATCH_ROWS,
    )


def _columns(one: LikelyDuplicate) -> dict[str, Any]:
    return {
        "first_id": one.first,
        "second_id": one.second,
        "score": one.score,
        "signs": f",{','.join(one.signs)},",
        "reasons": [[code, values] for code, values in one.reasons],
    }


def store_kept_apart(found: Iterable[LikelyDuplicate]) -> None:
    """Store pairs with a new person of an import. They remain listed until a chair decides."""
    rows = [PersonPair(**_columns(one)) for one in found]
    PersonPair.objects.bulk_create(rows, batch_size=BATCH_ROWS, ignore_conflicts=True)


def _find(model: type[Model]) -> tuple[list[LikelyDuplicate], list[MixedPerson]]:
    if model is Institution:
        distinct = InstitutionDistinction.objects.pairs()
        return find_duplicate_institutions(institution_candidates(), distinct), []
    people, written = person_candidates()
    asked = PersonPair.objects.filter(signs__contains=f",{KEPT_APART},")
    kept_apart = set(asked.values_list("first_id", "second_id"))
    found = find_duplicate_people(people, PersonDistinction.objects.pairs(), kept_apart=kept_apart)
    for one in found:
        for code, values in one.reasons:
            if code == "affiliation":
                values["place"] = written[values["place"]]
    return found, find_mixed_people(people)


def search_if_quick(model: type[Model]) -> None:
    """Search again if rows have changed, unless there are too many. Log database errors."""
    if is_fresh(Comparison.for_model(model)) or model._default_manager.count() > MAX_AUTOMATIC_ROWS:
        return
    try:
        search(model)
    except DatabaseError:
        log.exception("Duplicates could not be looked for; whoever opens the list next tries again.")


def search_all() -> None:
    """Search for duplicates of people and institutions, unless there are too many rows."""
    for model in PAIR_MODELS:
        search_if_quick(model)


@contextmanager
def deciding(model: type[Model], keys: Iterable[int]) -> Iterator[None]:
    """Delete the pairs among these rows after the block. The other results remain valid."""
    decided, was_fresh = list(keys), is_fresh(Comparison.for_model(model))
    yield
    PAIR_MODELS[model]._default_manager.filter(first__in=decided, second__in=decided).delete()
    if was_fresh:
        Comparison.objects.filter(model=model._meta.label_lower).update(state=current_state())
