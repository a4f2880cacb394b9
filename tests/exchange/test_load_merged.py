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

TWICE = paper("p1", author("Paolo Costa", "paolo"), author("Zed", "zed"), author("Costa Paolo", "costa"))
OTHER = paper("p2", author("Costa Paolo", "costa", affiliations=("Turin",)))


def people(*described: str) -> tuple[PersonRecord, ...]:
    known = {"paolo": "Paolo Costa", "costa": "Costa Paolo", "zed": "Zed"}
    return tuple(
        PersonRecord(ref=PersonRef(name=known[uid], uid=uid), affiliation=f"Of {uid}") for uid in described
    )


def bare(*papers: Any) -> Program:
    """Return a program of the same papers, with people that have no key."""
    without = [
        replace(one, authors=tuple(author(each.person.name) for each in one.authors)) for one in papers
    ]
    return program(*without)


def merge(kept: str, gone: str) -> Any:
    return merging.merge(Person.objects.get(uid=kept), [Person.objects.get(uid=gone)])


@pytest.mark.parametrize("described", [(), ("paolo",), ("costa",), ("costa", "paolo"), ("paolo", "costa")])
@pytest.mark.parametrize(("kept", "gone"), [("paolo", "costa"), ("costa", "paolo")])
def test_merged_person_is_not_made_anew(described: tuple[str, ...], kept: str, gone: str) -> None:
    file = program(TWICE, OTHER, people=people(*described))
    load(file, "2021")
    merge(kept, gone)
    report = load(file, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert load(file, "2021").run is None
    assert Person.objects.filter(merged_into=None).count() == 2
    assert not Conflict.objects.exists()


def test_merged_person_is_not_made_anew_by_the_bare_name() -> None:
    file = bare(TWICE, OTHER)
    load(file, "2021")
    kept, gone = Person.objects.get(name="Paolo Costa"), Person.objects.get(name="Costa Paolo")
    merging.merge(kept, [gone])
    reports = [load(file, "2021") for _ in range(3)]

    assert [(one.total["new"], one.total["changed"], one.conflicts) for one in reports] == [(0, 0, ())] * 3
    assert Person.objects.filter(merged_into=None).count() == 2


def test_a_file_that_follows_the_merge_and_its_undoing_changes_nothing() -> None:
    file = program(TWICE, OTHER, people=people("paolo", "costa"))
    load(file, "2021")
    merged = merge("paolo", "costa")
    load(file, "2021")
    undo(ChangeSet.objects.get(pk=merged.change_set))
    report = load(file, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Person.objects.filter(merged_into=None).count() == 3


def test_person_is_found_by_the_orcid_that_did_not_survive() -> None:
    first, second = "0000-0002-1825-0097", "0000-0001-5109-3700"
    papers = [
        paper("p1", author("Paolo Costa", orcid=first)),
        paper("p2", author("Costa Paolo", orcid=second)),
    ]
    load(program(*papers), "2021")
    kept, gone = Person.objects.get(orcid=first), Person.objects.get(orcid=second)
    merging.merge(kept, [gone], {"orcid": gone.pk})
    report = load(program(*papers), "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Person.objects.filter(merged_into=None).count() == 1


@pytest.mark.parametrize("described", [("mit",), ("tech",), ("tech", "mit"), ("mit", "tech")])
def test_merged_institution_is_not_made_anew(described: tuple[str, ...]) -> None:
    known = {"mit": "MIT", "tech": "Massachusetts Institute of Technology"}
    first = program(
        paper("p1", author("Ada", institutions=("mit",)), author("Bo", institutions=("tech", "mit"))),
        institutions=tuple(InstitutionRecord(slug=slug, name=name) for slug, name in known.items()),
    )
    load(first, "2021")
    merging.merge(Institution.objects.get(slug="mit"), [Institution.objects.get(slug="tech")])
    again = replace(
        first, institutions=tuple(InstitutionRecord(slug=slug, name=known[slug]) for slug in described)
    )
    report = load(again, "2021")

    assert (report.total["new"], report.total["changed"], report.conflicts) == (0, 0, ())
    assert Institution.objects.filter(merged_into=None).count() == 1


def test_people_merged_in_a_circle_hold_up_nothing() -> None:
    load(program(paper("p1", "Ada", "Zed")), "2021")
    ada, zed = Person.objects.order_by("uid")
    for row, there in ((ada, zed), (zed, ada)):
        Person.objects.filter(pk=row.pk).update(merged_into=there)
    load(program(paper("p1", "Ada", "Zed", title="New")), "2021")

    assert Paper.objects.get().title == "New"
    assert RowFinder(Paper.objects.get().edition).row("person", "ada") in (ada, zed)
