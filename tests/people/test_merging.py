"""Tests of merging and splitting people: relations, order, names, addresses, reverting."""

import re
from typing import Any

import pytest
from django.core import serializers
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from content.history import ChangeSet, Origin
from content.history.revert import undo
from papers.models import Authorship
from people.merging import merge, split
from people.models import Institution, Person, PersonDistinction, PersonName
from people.querysets import resolve_links
from tests import factories as make

pytestmark = pytest.mark.django_db


def all_content() -> str:
    """Return people, institutions and all rows that refer to people, as JSON, without their times."""
    models: list[Any] = [
        Person,
        PersonName,
        Institution,
        PersonDistinction,
        *(relation.related_model for relation in Person._meta.related_objects),
    ]
    rows = [row for model in dict.fromkeys(models) for row in model._base_manager.order_by("pk")]
    stored = str(serializers.serialize("json", rows, indent=1))
    return re.sub('"(created|changed|edited)_at": "[^"]*"', "", stored)


def author_rows(paper: Any) -> list[tuple[int, str, str]]:
    rows = paper.authorships.order_by("position")
    return [(row.position, row.name, row.person.name) for row in rows]


@pytest.fixture
def paolo() -> Person:
    return make.make_person("Paolo Costa", uid="paolo", affiliation="Politecnico di Milano")


@pytest.fixture
def costa() -> Person:
    return make.make_person("Costa Paolo", uid="costa", homepage="https://costa.example.org/")


def test_merge_moves_all_rows_to_the_survivor(edition: Edition, paolo: Person, costa: Person) -> None:
    paper, session = make.make_paper(edition, ["Zed", costa, "Abe"]), make.make_session(edition)
    make.add_role(session, costa)
    make.make_presentation(session, speakers=[costa])
    make.make_committee_role(edition, costa)
    make.make_award(edition, [costa])
    costa.identifiers.create(scheme="dblp", value="c/paolo")
    earlier = make.make_person("P. Costa", merged_into=costa)
    merged = merge.merge(paolo, [costa])

    assert merged.moved_count == 7
    relations = ("authorships", "session_roles", "talks", "committee_roles", "grants", "identifiers")
    assert [getattr(paolo, name).count() for name in relations] == [1] * 6
    assert [getattr(costa, name).count() for name in relations] == [0] * 6
    assert [row.name for row in paper.authorships.order_by("position")] == ["Zed", "Costa Paolo", "Abe"]
    earlier.refresh_from_db()
    assert (merged.survivor.homepage, earlier.merged_into) == ("https://costa.example.org/", paolo)
    assert [(row.name, row.hidden) for row in paolo.names.all()] == [("Costa Paolo", False)]


@pytest.mark.parametrize(
    ("author_names", "expected"),
    [
        (["paolo", "Zed", "costa", "Abe"], ["Paolo Costa", "Zed", "Abe"]),
        (["Zed", "costa", "Abe", "paolo"], ["Zed", "Paolo Costa", "Abe"]),
    ],
)
def test_trap_7_author_listed_twice_keeps_the_first_position_after_a_merge(
    edition: Edition, paolo: Person, costa: Person, author_names: list[str], expected: list[str]
) -> None:
    people = {"paolo": paolo, "costa": costa}
    paper = make.make_paper(edition, [people.get(name, name) for name in author_names], title="On Engines")
    Authorship.objects.filter(person=paolo).update(affiliations=["Milan"])
    Authorship.objects.filter(person=costa).update(affiliations=["Turin"], presenting=True)
    institution = make.make_institution()
    Authorship.objects.get(person=costa).institutions.add(institution)
    before = all_content()
    merged = merge.merge(paolo, [costa])
    authorship = Authorship.objects.get(person=paolo)

    assert author_rows(paper) == [(n, name, name) for n, name in enumerate(expected, start=1)]
    assert (authorship.affiliations, authorship.presenting) == (["Milan", "Turin"], True)
    assert list(authorship.institutions.all()) == [institution]
    assert merged.dropped == ["Costa Paolo, On Engines"]
    undo(ChangeSet.objects.get(pk=merged.change_set))
    assert all_content() == before


def test_merge_is_one_change_set_and_its_revert_restores_both(
    edition: Edition, paolo: Person, costa: Person
) -> None:
    costa.orcid, costa.biography = "0000-0002-1825-0097", "He *wrote*."
    costa.save()
    make.make_paper(edition, ["Zed", costa])
    make.make_paper(edition, [costa, "Abe", paolo])
    make.add_role(make.make_session(edition), costa)
    PersonName.objects.create(person=costa, name="Paul Costa")
    other = make.make_person("Paola Costa")
    merge.mark_distinct([costa, other])
    before, change_sets_before = all_content(), ChangeSet.objects.count()
    merged = merge.merge(paolo, [costa])
    change_set = ChangeSet.objects.get(pk=merged.change_set)

    assert (ChangeSet.objects.count() - change_sets_before, change_set.origin) == (1, Origin.MERGE)
    assert merged.survivor.orcid == "0000-0002-1825-0097"
    assert list(PersonDistinction.objects.values_list("first", "second")) == [(paolo.pk, other.pk)]
    assert undo(change_set)[0].kept == []
    assert all_content() == before


def test_marking_two_as_distinct_reads_only_their_distinctions(paolo: Person, costa: Person) -> None:
    merge.mark_distinct([costa, make.make_person("Paola Costa")])
    with CaptureQueriesContext(connection) as queries:
        assert merge.mark_distinct([paolo, costa]) == 1
        assert merge.mark_distinct([costa, paolo]) == 0
    selects = [
        query["sql"]
        for query in queries
        if query["sql"].startswith('SELECT "people_persondistinction"."first_id"')
    ]

    assert len(selects) == 2
    assert all(f" IN ({min(paolo.pk, costa.pk)}, {max(paolo.pk, costa.pk)})" in sql for sql in selects)


def test_reverted_merge_keeps_later_edits(edition: Edition, paolo: Person, costa: Person) -> None:
    make.make_paper(edition, [costa])
    merged = merge.merge(paolo, [costa])
    paolo = merged.survivor
    paolo.homepage = "https://new.example.org/"
    paolo.save()
    result, _done = undo(ChangeSet.objects.get(pk=merged.change_set))
    paolo.refresh_from_db()

    assert paolo.homepage == "https://new.example.org/"
    assert (paolo.authorships.count(), costa.authorships.count()) == (0, 1)
    assert [str(value) for value in result.kept] == ["person “Paolo Costa”: homepage"]


def test_three_people_are_merged_at_once(edition: Edition, paolo: Person, costa: Person) -> None:
    third = make.make_person("PAOLO COSTA")
    paper = make.make_paper(edition, [third, "Zed", costa])
    before = all_content()
    merged = merge.merge(paolo, [costa, third])

    assert author_rows(paper) == [(1, "Costa Paolo", "Paolo Costa"), (2, "Zed", "Zed")]
    undo(ChangeSet.objects.get(pk=merged.change_set))
    assert all_content() == before


def test_merge_keeps_chosen_values_and_the_other_orcid_as_an_identifier(paolo: Person, costa: Person) -> None:
    Person.objects.filter(pk=paolo.pk).update(orcid="0000-0002-1825-0097")
    Person.objects.filter(pk=costa.pk).update(orcid="0000-0001-5109-3700")
    before = all_content()
    merged = merge.merge(paolo, [costa], {"name": costa.pk, "orcid": costa.pk})
    costa.refresh_from_db()

    assert (merged.survivor.name, merged.survivor.orcid) == ("Costa Paolo", "0000-0001-5109-3700")
    assert [str(row) for row in paolo.identifiers.all()] == ["orcid: 0000-0002-1825-0097"]
    assert (costa.orcid, [row.name for row in paolo.names.all()]) == ("", ["Paolo Costa"])
    undo(ChangeSet.objects.get(pk=merged.change_set))
    assert all_content() == before


def test_merged_person_cannot_be_merged_again(paolo: Person, costa: Person) -> None:
    merge.merge(paolo, [costa])
    costa.refresh_from_db()
    before = all_content()

    for survivor, others in ((costa, [make.make_person("Ada")]), (paolo, [costa]), (paolo, [paolo])):
        with pytest.raises(merge.CannotMergeError):
            merge.merge(survivor, others)
    Person.objects.filter(name="Ada").delete()
    assert all_content() == before


def test_hidden_names_stay_hidden_and_cannot_be_chosen(edition: Edition, costa: Person) -> None:
    ana = make.make_person("Ana New")
    PersonName.objects.create(person=ana, name="costa paolo", hidden=True)
    with pytest.raises(merge.CannotMergeError, match="must not appear anywhere"):
        merge.merge(ana, [costa], {"name": costa.pk})
    merged = merge.merge(costa, [ana])

    assert merged.survivor.name == "Ana New"
    assert [(row.name, row.hidden) for row in costa.names.all()] == [("costa paolo", True)]


def test_merge_can_hide_a_name(paolo: Person) -> None:
    other = make.make_person("Paolo NameError Costa")
    merge.merge(paolo, [other], hide=["Paolo NameError Costa"])

    assert [(row.name, row.hidden) for row in paolo.names.all()] == [("Paolo NameError Costa", True)]


def test_trap_9_urls_of_a_merged_person_redirect(
    client: Client, edition: Edition, paolo: Person, costa: Person
) -> None:
    make.make_paper(edition, [paolo])
    make.make_paper(edition, [costa])
    page_url, api_url = costa.get_absolute_url(), f"/api/v1/people/{costa.uid}/"
    merge.merge(paolo, [costa])
    page, response = client.get(page_url), client.get(api_url)

    assert (page.status_code, page.headers["Location"]) == (301, paolo.get_absolute_url())
    assert response.status_code == 301
    assert response.headers["Location"].endswith(f"/api/v1/people/{paolo.uid}/")


def test_split_moves_chosen_rows_to_a_new_person(edition: Edition, paolo: Person) -> None:
    kept_paper, moved_paper = make.make_paper(edition, [paolo]), make.make_paper(edition, [paolo, "Zed"])
    role = make.add_role(make.make_session(edition), paolo)
    spelling = PersonName.objects.create(person=paolo, name="P. Costa")
    keys_by_model: dict[type[Any], list[int]] = {
        Authorship: [moved_paper.authorships.get(person=paolo).pk],
        type(role): [role.pk],
    }
    new = split.split(paolo, "Paolo Costa", {**keys_by_model, PersonName: [spelling.pk]})

    assert author_rows(moved_paper)[0] == (1, "Paolo Costa", "Paolo Costa")
    assert {row.paper for row in new.authorships.all()} == {moved_paper}
    assert {row.paper for row in paolo.authorships.all()} == {kept_paper}
    assert [new.session_roles.count(), new.names.count(), paolo.names.count()] == [1, 1, 0]
    assert PersonDistinction.objects.pairs() == {frozenset((paolo.pk, new.pk))}
    assert ChangeSet.objects.first().detail == "split from Paolo Costa"  # type: ignore[union-attr]


def test_split_moves_no_rows_of_another_person(edition: Edition, paolo: Person, costa: Person) -> None:
    paper = make.make_paper(edition, [costa])
    new = split.split(paolo, "Paolo Costa", {Authorship: [paper.authorships.get().pk]})

    assert (new.authorships.count(), costa.authorships.count()) == (0, 1)


def test_reverted_split_restores_all_rows(edition: Edition, paolo: Person) -> None:
    paper, other = make.make_paper(edition, ["Zed", paolo]), make.make_paper(edition, [paolo, "Abe"])
    role = make.add_role(make.make_session(edition), paolo)
    spelling = PersonName.objects.create(person=paolo, name="P. Costa")
    before, change_sets_before = all_content(), ChangeSet.objects.count()
    author = paper.authorships.get(person=paolo)
    split.split(
        paolo, "Paolo Costa", {Authorship: [author.pk], type(role): [role.pk], PersonName: [spelling.pk]}
    )
    change_set = split.split_change_sets().get()
    result = split.revert_split(change_set)

    assert all_content() == before
    assert (result.kept, ChangeSet.objects.count() - change_sets_before) == ([], 2)
    assert [paper.pk, other.pk] == [row.paper_id for row in paolo.authorships.order_by("pk")]
    assert split.inspect_split(change_set).is_empty


def test_reverted_split_keeps_a_new_person_with_later_changes(
    edition: Edition, paolo: Person, costa: Person
) -> None:
    papers = [make.make_paper(edition, [paolo]) for _ in range(3)]
    authorship_keys = [paper.authorships.get().pk for paper in papers]
    busy, edited = (split.split(paolo, "Paolo Costa", {Authorship: [key]}) for key in authorship_keys[:2])
    later_paper = make.make_paper(edition, [busy])
    edited.biography = "She wrote."
    edited.save()
    merge.merge(costa, [paolo])
    kept = [split.revert_split(change_set).kept for change_set in split.split_change_sets()]

    assert kept == [["Paolo Costa"], ["Paolo Costa"]]
    assert [row.paper for row in busy.authorships.all()] == [later_paper]
    assert {row.pk for row in costa.authorships.all()} == {*authorship_keys}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ({}, {}),
        ({1: 2}, {1: 2}),
        ({1: 2, 2: 3, 4: 3}, {1: 3, 2: 3, 4: 3}),
        ({1: 2, 2: 3, 3: 2}, {1: 2, 2: 2, 3: 3}),
        ({1: 1}, {1: 1}),
    ],
)
def test_merge_links_are_resolved_to_their_end(links: dict[int, int], expected: dict[int, int]) -> None:
    assert resolve_links(links) == expected
