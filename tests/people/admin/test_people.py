"""Tests of people in the admin: search in any spelling, choices of namesakes, refused deletion."""

import json

import pytest
from django.test import Client

from papers.models import Authorship, Paper
from people.models import Person
from tests import factories as make
from tests.admin_forms import admin_url, autocomplete_choices, formset, listed_rows

pytestmark = pytest.mark.django_db

LIST = "/admin/people/person/"


@pytest.mark.parametrize("term", ["simek", "ŠIMEK", "Simek Václav", "vasek", "li ming"])
def test_search_finds_any_spelling_without_accents(term: str, admin_client: Client) -> None:
    person = make.make_person("Václav Šimek", native_name="李明")
    person.names.create(name="Vašek Šimek")
    make.make_person("Milan Znojil")

    assert listed_rows(admin_client, LIST, q=term) == ["Václav Šimek"]


def test_list_shows_affiliation_and_counts_of_papers_and_roles(admin_client: Client) -> None:
    edition = make.make_edition()
    person = make.make_person("Ada Lovelace", affiliation="Analytical Engines")
    make.make_paper(edition, [person])
    make.make_paper(edition, [person])
    make.add_role(make.make_session(edition), person)
    page = admin_client.get(LIST).text

    assert '<td class="field-affiliation">Analytical Engines</td>' in page
    assert '<td class="field-paper_count">2</td><td class="field-role_count">1</td>' in page


def test_form_lists_the_papers_of_all_years(admin_client: Client) -> None:
    person = make.make_person()
    papers = [
        make.make_paper(make.make_edition(year), [person], title=f"Paper of {year}") for year in (2020, 2021)
    ]
    page = admin_client.get(admin_url(person, "change")).text

    for paper in papers:
        assert f'<a href="{admin_url(paper, "change")}">{paper}</a> (MLSys {paper.edition.year})' in page


def test_names_and_identifiers_are_saved_with_the_person(admin_client: Client) -> None:
    values = {
        "uid": "ada",
        "name": "Ada Lovelace",
        "given": "",
        "family": "",
        **formset("names", added=[{"name": "Ada Byron", "hidden": "on"}]),
        **formset("identifiers", added=[{"scheme": "dblp", "value": "l/ada"}]),
    }
    admin_client.post(admin_url(Person, "add"), values)
    person = Person.objects.get()

    assert person.family == "Lovelace"
    assert list(person.names.values_list("name", "hidden")) == [("Ada Byron", True)]
    assert [str(identifier) for identifier in person.identifiers.all()] == ["dblp: l/ada"]


def test_pop_up_sends_the_affiliation_to_the_form_that_opened_it(admin_client: Client) -> None:
    rows = formset("names") | formset("identifiers")
    values = {"uid": "ada", "name": "Ada", "affiliation": "Engines </script> & Co.", **rows, "_popup": "1"}
    response = admin_client.post(admin_url(Person, "add"), values)

    assert json.loads(response.context["popup_response_data"]) == {
        "value": str(Person.objects.get().pk),
        "obj": "Ada",
        "affiliation": "Engines </script> & Co.",
    }


def test_trap_8_deleting_a_person_with_papers_is_refused_with_the_list(admin_client: Client) -> None:
    person = make.make_person("Ada Lovelace")
    paper = make.make_paper(make.make_edition(), [person], title="On Engines")
    bulk = {"action": "delete_selected", "_selected_action": person.pk, "post": "yes"}
    pages = [
        admin_client.get(admin_url(person, "delete")),
        admin_client.post(admin_url(person, "delete"), {"post": "yes"}),
        admin_client.post(LIST, {**bulk, "post": ""}),
        admin_client.post(LIST, bulk),
    ]
    link = f'<a href="{admin_url(paper, "change")}">On Engines</a>'
    line = f"Paper: {link} (MLSys 2021), authorship of Ada Lovelace"

    assert [line in page.text for page in pages] == [True, True, True, True]
    assert (Person.objects.count(), Paper.objects.count(), Authorship.objects.count()) == (1, 1, 1)


def test_deleting_a_person_with_roles_names_sessions_and_offices(admin_client: Client) -> None:
    edition = make.make_edition()
    person = make.make_person("Ada Lovelace")
    session = make.make_session(edition, title="Opening")
    make.add_role(session, person)
    make.make_committee_role(edition, person)
    page = admin_client.get(admin_url(person, "delete")).text

    assert (
        f'Session: <a href="{admin_url(session, "change")}">Opening</a> (MLSys 2021), session role of' in page
    )
    assert (
        f'Edition: <a href="{admin_url(edition, "change")}">MLSys 2021</a> (MLSys 2021), committee role'
        in page
    )


def test_autocomplete_distinguishes_namesakes_and_omits_merged_people(admin_client: Client) -> None:
    survivor = make.make_person("Yang Liu", affiliation="Peking University")
    make.make_person("Yang Liu", affiliation="MIT")
    make.make_person("Liu Yang", merged_into=survivor)
    edition = make.make_edition()

    assert sorted(autocomplete_choices(admin_client, Authorship, "person", edition, "yang liu")) == [
        "Yang Liu (MIT)",
        "Yang Liu (Peking University)",
    ]


def test_institution_is_found_by_its_other_names(admin_client: Client) -> None:
    make.make_institution("Eidgenössische Technische Hochschule Zürich", aliases=["ETH"])
    make.make_institution("Oslo")

    results = [listed_rows(admin_client, "/admin/people/institution/", q=term) for term in ("zurich", "eth")]
    assert results == [["Eidgenössische Technische Hochschule Zürich"]] * 2


def test_form_lists_the_first_papers_and_links_to_all(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("people.admin.people.MAX_LISTED_PAPERS", 2)
    edition, ada = make.make_edition(), make.make_person("Ada")
    for title in ("One", "Two"):
        make.make_paper(edition, [ada], title=title)
    assert "papers</a>" not in admin_client.get(admin_url(ada, "change")).text

    make.make_paper(edition, [ada], title="Three")
    list_url = f"{admin_url(Authorship, 'changelist')}?person__id__exact={ada.pk}"
    page = admin_client.get(admin_url(ada, "change")).text

    assert f'<a href="{list_url}">All 3 papers</a>' in page
    assert ">One" in page
    assert ">Three" not in page
    assert admin_client.get(list_url).context["cl"].result_count == 3
