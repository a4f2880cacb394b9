"""Tests of repeated imports after people or institutions were merged: no duplicates are created."""

from dataclasses import replace
from typing import Any

import pytest

from content.history import ChangeSet
from content.history.revert import undo
from exchange.imports.load import load
from exchange.jobs.conflicts import RowFinder
from exchange.models import Conflict
from exchange.records import InstitutionRecord, PersonRecord, PersonRef, Program
from papers.models import Paper
from people.merging import merge as merging
from people.models import Institution, Person
from tests.exchange.programs import author, paper, program

pytestmark = pytest.mark.django_db

PAPER_WITH_BOTH = paper(
    "p1", author("Paolo Costa", "paolo"), author("Zed", "zed"), author("Costa Paolo", "costa")
)
OTHER_PAPER = paper("p2", author("Costa Paolo", "costa", affiliations=("Turin",)))


def person_records(*uids: str) -> tuple[PersonRecord, ...]:
    names = {"paolo": "Paolo Costa", "costa": "Costa Paolo", "zed": "Zed"}
    return tuple(
        PersonRecord(ref=PersonRef(name=names[uid], uid=uid), affiliation=f"Of {uid}") for uid in uids
    )


def without_keys(*papers: Any) -> Program:
    """Return a program of the same papers, with people that have no key."""
    records = [
        replace(record, authors=tuple(author(entry.person.name) for entry in record.authors))
        for record in papers
    ]
    return program(*records)


def merge_people(kept: str, merged: str) -> Any:
    return merging.merge(Person.objects.get(uid=kept), [Person.objects.get(uid=merged)])


@pytest.mark.parametrize(
    "described_keys", [(), ("paolo",), ("costa",), ("costa", "paolo"), ("paolo", "costa")]
)
@pytest.mark.parametrize(("kept", "merged"), [("paolo", "costa"), ("costa", "paolo")])
def test_merged_person_is_not_created_again(described_keys: tuple[str, ...], kept: str, merged: str) -> None:
    file = program(PAPER_WITH_BOTH, OTHER_PAPER, people=person_records(*described_keys))
    load(file, "2021")
    merge_people(kept, merged)
    report = load(file, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert load(file, "2021").run is None
    assert Person.objects.filter(merged_into=None).count() == 2
    assert not Conflict.objects.exists()


def test_merged_person_is_not_created_again_by_name() -> None:
    file = without_keys(PAPER_WITH_BOTH, OTHER_PAPER)
    load(file, "2021")
    kept, merged = Person.objects.get(name="Paolo Costa"), Person.objects.get(name="Costa Paolo")
    merging.merge(kept, [merged])
    reports = [load(file, "2021") for _ in range(3)]

    assert [(report.total["new"], report.total["changed"], report.conflicts) for report in reports] == [
        (0, 0, ())
    ] * 3
    assert Person.objects.filter(merged_into=None).count() == 2


def test_import_after_a_merge_and_its_undo_changes_nothing() -> None:
    file = program(PAPER_WITH_BOTH, OTHER_PAPER, people=person_records("paolo", "costa"))
    load(file, "2021")
    result = merge_people("paolo", "costa")
    load(file, "2021")
    undo(ChangeSet.objects.get(pk=result.change_set))
    report = load(file, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Person.objects.filter(merged_into=None).count() == 3


def test_person_is_found_by_the_orcid_dropped_in_a_merge() -> None:
    first, second = "0000-0002-1825-0097", "0000-0001-5109-3700"
    papers = [
        paper("p1", author("Paolo Costa", orcid=first)),
        paper("p2", author("Costa Paolo", orcid=second)),
    ]
    load(program(*papers), "2021")
    kept, merged = Person.objects.get(orcid=first), Person.objects.get(orcid=second)
    merging.merge(kept, [merged], {"orcid": merged.pk})
    report = load(program(*papers), "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Person.objects.filter(merged_into=None).count() == 1


@pytest.mark.parametrize("described_keys", [("mit",), ("tech",), ("tech", "mit"), ("mit", "tech")])
def test_merged_institution_is_not_created_again(described_keys: tuple[str, ...]) -> None:
    names = {"mit": "MIT", "tech": "Massachusetts Institute of Technology"}
    first_program = program(
        paper("p1", author("Ada", institutions=("mit",)), author("Bo", institutions=("tech", "mit"))),
        institutions=tuple(InstitutionRecord(slug=slug, name=name) for slug, name in names.items()),
    )
    load(first_program, "2021")
    merging.merge(Institution.objects.get(slug="mit"), [Institution.objects.get(slug="tech")])
    second_program = replace(
        first_program,
        institutions=tuple(InstitutionRecord(slug=slug, name=names[slug]) for slug in described_keys),
    )
    report = load(second_program, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Institution.objects.filter(merged_into=None).count() == 1


def test_circular_merge_does_not_block_an_import() -> None:
    load(program(paper("p1", "Ada", "Zed")), "2021")
    ada, zed = Person.objects.order_by("uid")
    for row, target in ((ada, zed), (zed, ada)):
        Person.objects.filter(pk=row.pk).update(merged_into=target)
    load(program(paper("p1", "Ada", "Zed", title="New")), "2021")

    assert Paper.objects.get().title == "New"
    assert RowFinder(Paper.objects.get().edition).row("person", "ada") in (ada, zed)
