"""Tests of likely duplicates in the admin: comparing, merging, distinguishing, splitting, reverting."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Membership
from conference.models import Edition
from content.history import ChangeSet
from content.history.revert import undo
from people.duplicates import storage
from people.merging import merge
from people.models import (
    Comparison,
    Institution,
    InstitutionPair,
    Person,
    PersonDistinction,
    PersonName,
    PersonPair,
)
from tests import factories as make
from tests.admin_forms import admin_url, listed_rows

pytestmark = pytest.mark.django_db

LIST = "/admin/people/personpair/"
COMPARE = "/admin/people/person/compare/"


def make_twins(edition: Edition, family: str = "Costantini") -> tuple[Person, Person]:
    first, second = make.make_person(f"Paolo {family}"), make.make_person(f"{family} Paolo")
    make.make_paper(edition, [first, f"Zed {family}yan"], title="On Engines")
    make.make_paper(edition, [second], title="On Notes")
    make.make_paper(edition, [first])
    return first, second


def post_comparison(client: Client, *rows: Any, path: str = COMPARE, **values: Any) -> Any:
    """Open the page that compares two rows, and send its form with these values."""
    query = "&".join(f"id={row.pk}" for row in rows)
    page = client.get(f"{path}?{query}")
    data = {"seen": page.context["comparison"].fingerprint, "keep": rows[0].pk, **values}
    return client.post(f"{path}?{query}", data, follow=True)


def test_list_shows_likely_duplicates_with_reasons(admin_client: Client, edition: Edition) -> None:
    make_twins(edition)
    page = admin_client.get(LIST)

    assert [str(pair) for pair in page.context["cl"].result_list] == ["Paolo Costantini / Costantini Paolo"]
    assert "The same names in another order." in page.text
    assert ("2 papers" in page.text, "1 paper" in page.text) == (True, True)
    assert "Nothing has changed since." in page.text


def test_list_is_filtered_by_edition_evidence_likelihood_and_doubt(
    admin_client: Client, edition: Edition
) -> None:
    make_twins(edition)
    other = make.make_edition(2030)
    make.make_paper(other, ["Ana Duarte", "Ana NameError Duarte"])
    both = ["Paolo Costantini / Costantini Paolo", "Ana Duarte / Ana NameError Duarte"]
    key = "edition__id__exact"

    assert sorted(listed_rows(admin_client, LIST)) == sorted(both)
    assert listed_rows(admin_client, LIST, **{key: edition.pk}) == both[:1]
    assert listed_rows(admin_client, LIST, **{key: other.pk}) == both[1:]
    assert listed_rows(admin_client, LIST, evidence="order") == both[:1]
    assert listed_rows(admin_client, LIST, evidence="paper") == both[1:]
    assert listed_rows(admin_client, LIST, doubtful="yes") == both[1:]
    assert listed_rows(admin_client, LIST, likelihood="possible") == []
    assert listed_rows(admin_client, LIST, q="duarte") == both[1:]


@pytest.mark.parametrize("path", [LIST, "/admin/people/institutionpair/"])
def test_list_query_count_is_the_same_for_1_and_3_pairs(
    admin_client: Client, edition: Edition, path: str
) -> None:
    counts = []
    for names in (["Abaza"], ["Bertolini", "Cavalcanti"]):
        for name in names:
            make_twins(edition, name)
            make.make_institution(f"University of {name}")
            make.make_institution(f"Univ. {name}")
        storage.search_all()
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(path)
        counts.append((len(queries), len(page.context["cl"].result_list)))

    assert counts == [(counts[0][0], 1), (counts[0][0], 3)]
    assert counts[0][0] == 14


def test_comparison_query_count_is_the_same_for_2_and_3_people(
    admin_client: Client, edition: Edition
) -> None:
    first, second = make_twins(edition)
    third = make.make_person("P. Costantini")
    query_counts = []
    for rows in ([first, second], [first, second, third]):
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(f"{COMPARE}?" + "&".join(f"id={row.pk}" for row in rows))
        query_counts.append(len(queries))
        make.add_role(make.make_session(edition), first)
        make.make_paper(edition, [third, second])

        assert [column.row for column in page.context["comparison"].columns] == rows
    assert query_counts == [13, 13]


def test_merge_from_the_list_and_its_revert(admin_client: Client, edition: Edition) -> None:
    first, second = make_twins(edition)
    storage.search(Person)
    data: dict[str, Any] = {"value-name": second.pk, "next": LIST}
    page = post_comparison(admin_client, first, second, **data)

    assert "“Costantini Paolo” merged into “Costantini Paolo”: 1 entry moved." in page.text
    assert (page.request["PATH_INFO"], listed_rows(admin_client, LIST)) == (LIST, [])
    assert (first.authorships.count(), Person.objects.get(pk=first.pk).name) == (3, "Costantini Paolo")
    undo = reverse("admin:people_person_unmerge", args=[ChangeSet.objects.first().pk])  # type: ignore[union-attr]
    assert f'href="{undo}"' in page.text
    assert f'href="{undo}"' in admin_client.get(admin_url(first, "history")).text
    assert f'href="{undo}"' in admin_client.get("/admin/people/person/merges/").text
    assert "from before the merge" in admin_client.get(undo).text
    admin_client.post(undo)
    assert [first.authorships.count(), second.authorships.count()] == [2, 1]
    assert "This merge can’t be reverted" in admin_client.get(undo).text


def test_merge_reports_an_author_listed_twice_on_a_paper(admin_client: Client, edition: Edition) -> None:
    first, second = make.make_person("Paolo Costa"), make.make_person("Costa Paolo")
    make.make_paper(edition, [second, "Zed", first], title="On Engines")
    page = post_comparison(admin_client, first, second)

    assert "were merged: Costa Paolo, On Engines." in page.text


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"seen": "old"}, "Something changed after you opened the page."),
        ({"keep": "0"}, "Choose which address to keep."),
        ({"keep": ""}, "Choose which address to keep."),
        ({"keep": "x"}, "Choose which address to keep."),
    ],
)
def test_outdated_page_or_missing_choice_merges_nothing(
    admin_client: Client, edition: Edition, data: dict[str, Any], problem: str
) -> None:
    page = post_comparison(admin_client, *make_twins(edition), **data)

    assert problem in page.text
    assert not Person.objects.exclude(merged_into=None).exists()


def test_distinct_people_are_never_suggested_again(admin_client: Client, edition: Edition) -> None:
    first, second = make_twins(edition)
    page = post_comparison(admin_client, first, second, distinct="1", next=LIST)

    assert "are not the same. They won’t be suggested again." in page.text
    storage.search(Person)
    assert listed_rows(admin_client, LIST) == []
    (distinction,) = PersonDistinction.objects.all()
    assert "is not Costantini Paolo" in admin_client.get(admin_url(first, "history")).text
    admin_client.post(admin_url(distinction, "delete"), {"post": "yes"})
    assert len(listed_rows(admin_client, LIST)) == 1


def test_actions_distinguish_and_merge_several_pairs(admin_client: Client, edition: Edition) -> None:
    for name in ("Abaza", "Bertolini", "Cavalcanti"):
        make_twins(edition, name)
    storage.search(Person)
    first, *others = PersonPair.objects.order_by("pk")
    admin_client.post(LIST, {"action": "not_the_same", "_selected_action": [first.pk]})
    data = {"action": "merge_pairs", "_selected_action": [pair.pk for pair in others]}
    confirmation = admin_client.post(LIST, data)
    assert (len(confirmation.context["plans"]), Person.objects.exclude(merged_into=None).count()) == (2, 0)
    page = admin_client.post(LIST, {**data, "confirmed": "1"}, follow=True)

    assert "2 pairs merged." in page.text
    assert Person.objects.exclude(merged_into=None).count() == 2
    assert ChangeSet.objects.filter(origin="merge").count() == 2
    assert (listed_rows(admin_client, LIST), PersonDistinction.objects.count()) == ([], 1)


def test_action_compares_selected_people(admin_client: Client, edition: Edition) -> None:
    people = [*make_twins(edition), make.make_person("P. Costantini")]
    data: dict[str, Any] = {
        "action": "compare_selected",
        "_selected_action": [person.pk for person in people],
    }
    page = admin_client.post("/admin/people/person/", data, follow=True)

    assert [column.row for column in page.context["comparison"].columns] == people
    refused = admin_client.post(
        "/admin/people/person/", {**data, "_selected_action": people[0].pk}, follow=True
    )
    assert "Choose two to 6 to compare." in refused.text


def test_form_links_to_likely_duplicates_and_to_the_survivor_of_a_merge(
    admin_client: Client, edition: Edition
) -> None:
    first, second = make_twins(edition)
    storage.search(Person)
    comparison = f"{COMPARE}?id={first.pk}&amp;id={second.pk}"

    assert comparison in admin_client.get(admin_url(first, "change")).text
    merge.merge(first, [second])
    page = admin_client.get(admin_url(second, "change")).text
    assert f'was merged into <a href="{admin_url(first, "change")}">Paolo Costantini</a>' in page


def test_split_moves_checked_rows_to_a_new_person_and_is_reverted(
    admin_client: Client, edition: Edition
) -> None:
    person, _other = make_twins(edition)
    path = reverse("admin:people_person_split", args=[person.pk])
    row: Any = person.authorships.order_by("pk").first()
    refused = admin_client.post(path, {"name": "Paolo Costantini"})
    data = {"name": "Paolo Costantini", "row": f"papers.authorship:{row.pk}"}
    page = admin_client.post(path, data, follow=True)
    new = Person.objects.latest("pk")
    undo = reverse("admin:people_person_unsplit", args=[ChangeSet.objects.latest("pk").pk])

    assert "Choose what belongs to the new person." in refused.text
    assert (new.name, new.authorships.get(), person.authorships.count()) == ("Paolo Costantini", row, 1)
    assert f'<a href="{undo}">Revert the split</a>' in page.text
    assert f'<a href="{undo}">Revert the split</a>' in admin_client.get(admin_url(new, "history")).text
    message = "Everything moved to Paolo Costantini goes back to Paolo Costantini."
    assert message in admin_client.get(undo).text
    revert_page = admin_client.post(undo, follow=True)
    assert "The split was reverted:" in revert_page.text
    assert (person.authorships.count(), Person.objects.filter(pk=new.pk).exists()) == (2, False)
    assert "This split can’t be reverted" in admin_client.get(undo).text


def test_hidden_name_cannot_be_chosen_on_the_comparison_page(admin_client: Client, edition: Edition) -> None:
    new, old = make.make_person("Ana New"), make.make_person("Ana Old")
    PersonName.objects.create(person=new, name="Ana Old", hidden=True)
    page = admin_client.get(f"{COMPARE}?id={new.pk}&id={old.pk}")

    assert "Hidden: it must not appear in public." in page.text
    refused = post_comparison(admin_client, new, old, path=COMPARE, **{"value-name": str(old.pk)})
    assert "“Ana Old” is hidden and must not appear anywhere. Choose another name." in refused.text


def test_institutions_are_suggested_compared_and_merged(
    client: Client, admin_client: Client, edition: Edition
) -> None:
    short = make.make_institution("MIT", slug="mit")
    full = make.make_institution("Massachusetts Institute of Technology", slug="tech", aliases=["M.I.T."])
    for institution in (short, full, full):
        make.make_paper(edition, ["Ada"]).authorships.get().institutions.add(institution)
    page = admin_client.get("/admin/people/institutionpair/")
    assert "One name is made of the initials of the other." in page.text
    assert InstitutionPair.objects.count() == 1
    post_comparison(admin_client, full, short, path="/admin/people/institution/compare/")
    survivor = Institution.objects.get(slug="tech")

    assert (survivor.aliases, survivor.authorships.count()) == (["M.I.T.", "MIT"], 3)
    response = client.get("/institutions/mit/")
    assert (response.status_code, response.headers["Location"]) == (301, "/institutions/tech/")
    assert client.get("/api/v1/institutions/mit/").status_code == 301
    undo(ChangeSet.objects.get(origin="merge"))
    survivor.refresh_from_db()
    assert (survivor.aliases, survivor.authorships.count(), short.authorships.count()) == (["M.I.T."], 2, 1)


def test_search_among_many_rows_starts_only_on_request(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "MAX_AUTOMATIC_ROWS", 1)
    make_twins(edition)
    page = admin_client.get(LIST)

    assert ("Duplicates haven’t been checked yet." in page.text, listed_rows(admin_client, LIST)) == (
        True,
        [],
    )
    admin_client.post(f"{LIST}look/")
    make.make_person("Another Person")
    text = admin_client.get(LIST).text
    assert "1 new entry hasn’t been compared." in text
    assert (len(listed_rows(admin_client, LIST)), Comparison.objects.count()) == (1, 1)


def test_users_without_permission_cannot_compare_or_split(client: Client, edition: Edition) -> None:
    user = get_user_model().objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_person"))
    client.force_login(user)
    first, second = make_twins(edition)
    comparison = f"{COMPARE}?id={first.pk}&id={second.pk}"

    assert [client.get(path).status_code for path in (LIST, comparison)] == [403, 403]
    assert client.post(comparison, {"keep": first.pk}).status_code == 403
    assert client.post(comparison, {"distinct": "1"}).status_code == 403
    assert client.get(reverse("admin:people_person_split", args=[first.pk])).status_code == 403
    assert client.get("/admin/people/institution/compare/").status_code == 403


def sign_in_editor(client: Client, edition: Edition) -> Client:
    """Sign in as an editor of the program of an edition."""
    user = get_user_model().objects.create_user("editor", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role="editor")
    client.force_login(user)
    return client


def test_list_hides_drafts_of_other_editions_from_an_editor(client: Client, edition: Edition) -> None:
    other_edition = make.make_edition(2030, papers_public_from=None)
    first, second = make_twins(edition)
    friend, secret = make.make_person("Frieda Friend"), make.make_person("Sigrid Secret")
    for person in (first, second):
        make.make_paper(edition, [person, friend])
        make.make_paper(other_edition, [person, secret], status="draft")
    sign_in_editor(client, edition)
    page = client.get(LIST).text

    assert ("Frieda Friend" in page, "Sigrid Secret" in page) == (True, False)
    assert ("3 papers" in page, "4 papers" in page, "2 papers" in page) == (True, False, True)
    comparison = f"{COMPARE}?id={first.pk}&id={second.pk}"
    assert "Sigrid Secret" not in client.get(comparison).text
    assert len(listed_rows(client, LIST, edition__id__exact=make.make_edition(2031).pk)) == 1


def test_editor_cannot_change_an_institution_merged_into_one_of_others(
    client: Client, edition: Edition
) -> None:
    other_edition = make.make_edition(2030)
    survivor, merged, own_institution = (make.make_institution(name) for name in ("Tech", "MIT", "Lab"))
    own_authorship, other_authorship = (
        make.make_paper(row, ["Ada"]).authorships.get() for row in (edition, other_edition)
    )
    own_authorship.institutions.add(own_institution)
    other_authorship.institutions.add(survivor)
    merge.merge(survivor, [merged])
    merge.merge(own_institution, [own_merged := make.make_institution("Old Lab")])
    sign_in_editor(client, edition)
    paths = [reverse("admin:people_institution_change", args=[row.pk]) for row in (merged, own_merged)]

    for path in paths:
        client.post(path, {"name": "Taken", "slug": "taken", "aliases": "[]", "country": "", "ror": ""})
    assert [row.name for row in Institution.objects.filter(merged_into__isnull=False)] == ["MIT", "Taken"]


def test_editor_can_merge_only_people_of_the_own_editions(client: Client, edition: Edition) -> None:
    other_edition = make.make_edition(2030)
    sign_in_editor(client, edition)
    first, second = make_twins(edition)
    make.make_paper(other_edition, [second], title="Seen beside")
    make.make_paper(other_edition, [second], title="Drafted beside", status="draft")
    page = client.get(f"{COMPARE}?id={first.pk}&id={second.pk}")

    assert ("On Notes" in page.text, "Drafted beside" in page.text) == (True, False)
    refused = post_comparison(client, first, second)
    assert "Costantini Paolo: in editions that you can’t change. Keep that entry." in refused.text
    post_comparison(client, second, first)
    first.refresh_from_db()
    assert (first.merged_into, second.authorships.count()) == (second, 5)
