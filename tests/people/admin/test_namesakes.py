"""Tests of the list of records that may be two people: splitting, or confirming that they are one."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from people.duplicates import storage
from people.models import LikelyNamesake, Person, PersonIdentifier
from tests import factories as make
from tests.access.world import add_member
from tests.admin_forms import listed_rows

pytestmark = pytest.mark.django_db
LIST = "/admin/people/likelynamesake/"


def make_mixed_person(edition: Edition, name: str = "Lei Wang") -> Person:
    lei = make.make_person(name)
    for affiliation, team in (
        ("ETH", ["Ann A", "Bo B", "Cy C"]),
        ("ETH", ["Ann A"]),
        ("MIT", ["Xi X", "Yo Y", "Zu Z"]),
    ):
        co_authors = [Person.objects.filter(name=name).first() or make.make_person(name) for name in team]
        make.add_author(make.make_paper(edition, co_authors), lei, affiliations=[affiliation])
    return lei


def test_list_links_to_split_with_the_other_papers_checked(admin_client: Client, edition: Edition) -> None:
    lei = make_mixed_person(edition)
    page = admin_client.get(LIST)
    (mixed,) = page.context["cl"].result_list
    index = admin_client.get("/admin/")

    split_page = admin_client.get(f"{LIST}{mixed.pk}/change/", follow=True)

    authorship = lei.authorships.get(affiliations=["MIT"])
    assert "3 papers; 1 shares no co-author and no institution with the others" in page.text
    assert "person who may be two" in index.text
    assert split_page.redirect_chain[0][0].startswith(f"/admin/people/person/{lei.pk}/split/")
    assert split_page.context["selected_keys"] == [f"papers.authorship:{authorship.pk}"]


def test_people_with_papers_that_a_user_may_not_see_are_left_out(client: Client, edition: Edition) -> None:
    lei = make_mixed_person(edition)
    storage.search(Person)
    client.force_login(add_member("mia", edition, "editor"))
    lists = [listed_rows(client, LIST)]
    make.add_author(make.make_paper(make.make_edition(2020), status="draft"), lei)
    lists.append(listed_rows(client, LIST))

    assert lists == [["Lei Wang"], []]


def test_person_marked_as_one_is_not_listed_again(admin_client: Client, edition: Edition) -> None:
    make_mixed_person(edition)
    storage.search(Person)
    row = LikelyNamesake.objects.get()

    admin_client.post(LIST, {"action": "are_one", "_selected_action": row.pk})
    storage.search(Person)

    assert LikelyNamesake.objects.get().is_one is True
    assert listed_rows(admin_client, LIST) == []


def test_list_shows_co_authors_affiliations_and_identifiers_of_both_sides(
    admin_client: Client, edition: Edition
) -> None:
    lei = make_mixed_person(edition)
    for value in ("l/LeiWang1", "l/LeiWang2"):
        PersonIdentifier.objects.create(person=lei, scheme="dblp", value=value)
    (row,) = admin_client.get(LIST).context["cl"].result_list
    page = admin_client.get(LIST).text

    assert vars(row)["sides"] == ["ETH; with Ann A, Bo B, Cy C", "MIT; with Xi X, Yo Y, Zu Z"]
    assert "These: MIT; with Xi X, Yo Y, Zu Z<br>The others: ETH; with Ann A, Bo B, Cy C" in page
    assert '<td class="field-identifiers">2</td>' in page


def test_query_count_of_the_list_is_the_same_for_1_and_3_people(
    admin_client: Client, edition: Edition
) -> None:
    counts = []
    for names in (["Lei Wang"], ["Wei Wang", "Wei Li"]):
        for name in names:
            make_mixed_person(edition, name)
        storage.search(Person)
        with CaptureQueriesContext(connection) as queries:
            rows = admin_client.get(LIST).context["cl"].result_list
        counts.append((len(rows), len(queries)))

    assert counts == [(1, counts[0][1]), (3, counts[0][1])]
