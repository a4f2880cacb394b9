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
    candidates: list[PersonCandidate] = []
    spellings: dict[str, str] = {}
    for batch in batched(sorted(keys), BATCH_ROWS, strict=False):
        batch_candidates, batch_spellings = _candidates(Q(pk__in=batch), Q(person__in=batch), hidden_papers)
        candidates += batch_candidates
        spellings |= batch_spellings
    return candidates, spellings


def _candidates(
    person_filter: Q, part_filter: Q, hidden_papers: Collection[int]
) -> tuple[list[PersonCandidate], dict[str, str]]:
    affiliation_spellings: dict[str, str] = {}

    def fold_affiliation(affiliation: str) -> str:
        folded = fold(affiliation)
        affiliation_spellings.setdefault(folded, affiliation)
        return folded

    other_names: dict[int, list[str]] = defaultdict(list)
    names = PersonName.objects.filter(part_filter).order_by("pk").values_list("person_id", "name")
    for key, name in names.iterator(CHUNK_ROWS):
        other_names[key].append(name)
    identifiers: dict[int, set[tuple[str, str]]] = defaultdict(set)
    ids = PersonIdentifier.objects.filter(part_filter).order_by().values_list("person_id", "scheme", "value")
    for key, scheme, value in ids.iterator(CHUNK_ROWS):
        identifiers[key].add((scheme, value))
    candidates: dict[int, PersonCandidate] = {}
    columns = ("pk", "name", "native_name", "orcid", "email", "homepage", "affiliation")
    people = Person.objects.filter(person_filter, merged_into__isnull=True).order_by("pk")
    people_rows = people.values_list(*columns)
    for key, name, native_name, orcid, email, homepage, affiliation in people_rows.iterator(CHUNK_ROWS):
        candidates[key] = PersonCandidate(
            key,
            (name, *([native_name] if native_name else []), *other_names.get(key, ())),
            orcid=orcid,
            ids=frozenset(identifiers.get(key, ())),
            contacts=frozenset(filter(None, (email.casefold(), homepage.casefold().rstrip("/")))),
            affiliations={fold_affiliation(affiliation)} if affiliation else set(),
        )
    authorship_model = _authorship_model()
    institutions_by_authorship: dict[int, set[str]] = defaultdict(set)
    authorships = authorship_model._base_manager.filter(part_filter).order_by()
    links = authorship_model.institutions.through._base_manager.order_by()
    if part_filter:
        links = links.filter(authorship__in=authorships.values("pk"))
    for key, name in links.values_list("authorship_id", "institution__name").iterator(CHUNK_ROWS):
        institutions_by_authorship[key].add(fold_affiliation(name))
    paper_columns = ("paper_id", "affiliations", "paper__topic__slug", "paper__edition__year")
    rows = authorships.values_list("pk", "person_id", *paper_columns)
    for key, person, paper, affiliations, topic, year in rows.iterator(CHUNK_ROWS):
        candidate = candidates.get(person)
        if candidate and paper not in hidden_papers:
            candidate.topics.update([topic] if topic else [])
            candidate.years.add(year)
            candidate.papers[paper] = frozenset(
                {*institutions_by_authorship.get(key, ()), *map(fold_affiliation, affiliations)}
            )
            candidate.affiliations |= candidate.papers[paper]
    return list(candidates.values()), affiliation_spellings


def _authorship_model() -> Any:
    """Return the model of authorships, which belongs to an upper package."""
    return Person._meta.get_field("authorships").related_model


def institution_candidates() -> list[InstitutionCandidate]:
    """Return the institutions that were not merged, with their authors."""
    people_by_institution: dict[int, set[int]] = defaultdict(set)
    links = _authorship_model().institutions.through._base_manager.order_by()
    for key, person in links.values_list("institution_id", "authorship__person_id").iterator(CHUNK_ROWS):
        people_by_institution[key].add(person)
    rows = Institution.objects.filter(merged_into__isnull=True).order_by("pk")
    return [
        InstitutionCandidate(key, (name, *aliases), ror, country, frozenset(people_by_institution[key]))
        for key, name, aliases, ror, country in rows.values_list("pk", "name", "aliases", "ror", "country")
    ]


def current_state() -> str:
    """Return a string that changes whenever a compared row changes."""
    editions = Edition.objects.aggregate(changes=Sum("revision"))["changes"] or 0
    return f"{revision.current(None).site} {editions}"


def is_fresh(comparison: Comparison | None) -> bool:
    """Return whether nothing has changed since the last search."""
    return comparison is not None and comparison.state == current_state()


def search(model: type[Model]) -> int:
    """Search for duplicates, store them, and return their number."""
    state = current_state()
    pair_model = PAIR_MODELS[model]
    duplicates, mixed_people = _find_duplicates(model)
    rows = [pair_model(**_pair_fields(duplicate)) for duplicate in duplicates[:MAX_PAIRS]]
    last_key = model._default_manager.aggregate(last=Max("pk"))["last"] or 0
    with transaction.atomic():
        # This locks the row, so that a concurrent search waits before it writes its results.
        Comparison.objects.update_or_create(
            model=model._meta.label_lower,
            defaults={"at": timezone.now(), "state": state, "last_key": last_key},
        )
        pairs: Manager[Model] = pair_model._default_manager
        pairs.all().delete()
        pairs.bulk_create(rows, batch_size=BATCH_ROWS)
        if model is Person:
            _store_namesakes(mixed_people[:MAX_PAIRS])
    return len(rows)


def _store_namesakes(mixed_people: Iterable[MixedPerson]) -> None:
    """Replace the stored people who may be two, except those that chairs confirmed as one person."""
    LikelyNamesake.objects.filter(is_one=False).delete()
    decided_keys = set(LikelyNamesake.objects.values_list("person", flat=True))
    LikelyNamesake.objects.bulk_create(
        (
            LikelyNamesake(person_id=mixed.key, score=mixed.score, papers=[*mixed.papers])
            for mixed in mixed_people
            if mixed.key not in decided_keys
        ),
        batch_size=BATCH_ROWS,
    )


def _pair_fields(duplicate: LikelyDuplicate) -> dict[str, Any]:
    return {
        "first_id": duplicate.first,
        "second_id": duplicate.second,
        "score": duplicate.score,
        "signs": f",{','.join(duplicate.signs)},",
        "reasons": [[code, values] for code, values in duplicate.reasons],
    }


def store_kept_apart(duplicates: Iterable[LikelyDuplicate]) -> None:
    """Store pairs with a new person of an import. They remain listed until a chair decides."""
    rows = [PersonPair(**_pair_fields(duplicate)) for duplicate in duplicates]
    PersonPair.objects.bulk_create(rows, batch_size=BATCH_ROWS, ignore_conflicts=True)


def _find_duplicates(model: type[Model]) -> tuple[list[LikelyDuplicate], list[MixedPerson]]:
    if model is Institution:
        distinct = InstitutionDistinction.objects.pairs()
        return find_duplicate_institutions(institution_candidates(), distinct), []
    people, spellings = person_candidates()
    kept_apart_pairs = PersonPair.objects.filter(signs__contains=f",{KEPT_APART},")
    kept_apart = set(kept_apart_pairs.values_list("first_id", "second_id"))
    duplicates = find_duplicate_people(people, PersonDistinction.objects.pairs(), kept_apart=kept_apart)
    for duplicate in duplicates:
        for code, values in duplicate.reasons:
            if code == "affiliation":
                values["place"] = spellings[values["place"]]
    return duplicates, find_mixed_people(people)


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
    decided_keys, was_fresh = list(keys), is_fresh(Comparison.for_model(model))
    yield
    PAIR_MODELS[model]._default_manager.filter(first__in=decided_keys, second__in=decided_keys).delete()
    if was_fresh:
        Comparison.objects.filter(model=model._meta.label_lower).update(state=current_state())
