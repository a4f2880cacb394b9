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
from tests.posted import address, listed

pytestmark = pytest.mark.django_db

LIST = "/admin/people/personpair/"
COMPARE = "/admin/people/person/compare/"


def make_twins(edition: Edition, family: str = "Costantini") -> tuple[Person, Person]:
    one, other = make.make_person(f"Paolo {family}"), make.make_person(f"{family} Paolo")
    make.make_paper(edition, [one, f"Zed {family}yan"], title="On Engines")
    make.make_paper(edition, [other], title="On Notes")
    make.make_paper(edition, [one])
    return one, other


def post_comparison(client: Client, *rows: Any, path: str = COMPARE, **values: Any) -> Any:
    """Open the page that compares two rows, and send its form with these values."""
    asked = "&".join(f"id={row.pk}" for row in rows)
    page = client.get(f"{path}?{asked}")
    sent = {"seen": page.context["shown"].fingerprint, "keep": rows[0].pk, **values}
    return client.post(f"{path}?{asked}", sent, follow=True)


def test_list_shows_likely_duplicates_with_reasons(admin_client: Client, edition: Edition) -> None:
    make_twins(edition)
    page = admin_client.get(LIST)

    assert [str(pair) for pair in page.context["cl"].result_list] == ["Paolo Costantini / Costantini Paolo"]
    assert "The same names in another order." in page.text
    assert ("2 papers" in page.text, "1 paper" in page.text) == (True, True)
    assert "Nothing has changed since." in page.text


def test_list_is_narrowed_by_edition_evidence_likelihood_and_doubt(
    admin_client: Client, edition: Edition
) -> None:
    make_twins(edition)
    other = make.make_edition(2030)
    make.make_paper(other, ["Ana Duarte", "Ana NameError Duarte"])
    both = ["Paolo Costantini / Costantini Paolo", "Ana Duarte / Ana NameError Duarte"]
    key = "edition__id__exact"

    assert sorted(listed(admin_client, LIST)) == sorted(both)
    assert listed(admin_client, LIST, **{key: edition.pk}) == both[:1]
    assert listed(admin_client, LIST, **{key: other.pk}) == both[1:]
    assert listed(admin_client, LIST, evidence="order") == both[:1]
    assert listed(admin_client, LIST, evidence="paper") == both[1:]
    assert listed(admin_client, LIST, doubtful="yes") == both[1:]
    assert listed(admin_client, LIST, likelihood="possible") == []
    assert listed(admin_client, LIST, q="duarte") == both[1:]


@pytest.mark.parametrize("path", [LIST, "/admin/people/institutionpair/"])
def test_list_takes_as_many_queries_for_one_pair_as_for_three(
    admin_client: Client, edition: Edition, path: str
) -> None:
    asked = []
    for names in (["Abaza"], ["Bertolini", "Cavalcanti"]):
        for name in names:
            make_twins(edition, name)
            make.make_institution(f"University of {name}")
            make.make_institution(f"Univ. {name}")
        storage.search_all()
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(path)
        asked.append((len(queries), len(page.context["cl"].result_list)))

    assert asked == [(asked[0][0], 1), (asked[0][0], 3)]
    assert asked[0][0] == 13


def test_comparison_takes_as_many_queries_for_two_as_for_three_with_more_papers(
    admin_client: Client, edition: Edition
) -> None:
    one, other = make_twins(edition)
    third = make.make_person("P. Costantini")
    asked = []
    for rows in ([one, other], [one, other, third]):
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(f"{COMPARE}?" + "&".join(f"id={row.pk}" for row in rows))
        asked.append(len(queries))
        make.add_role(make.make_session(edition), one)
        make.make_paper(edition, [third, other])

        assert [column.row for column in page.context["shown"].columns] == rows
    assert asked == [12, 12]


def test_merge_from_the_list_and_back(admin_client: Client, edition: Edition) -> None:
    one, other = make_twins(edition)
    storage.search(Person)
    sent: dict[str, Any] = {"value-name": other.pk, "next": LIST}
    page = post_comparison(admin_client, one, other, **sent)

    assert "“Costantini Paolo” merged into “Costantini Paolo”: 1 entry moved." in page.text
    assert (page.request["PATH_INFO"], listed(admin_client, LIST)) == (LIST, [])
    assert (one.authorships.count(), Person.objects.get(pk=one.pk).name) == (3, "Costantini Paolo")
    undo = reverse("admin:people_person_unmerge", args=[ChangeSet.objects.first().pk])  # type: ignore[union-attr]
    assert f'href="{undo}"' in page.text
    assert f'href="{undo}"' in admin_client.get(address(one, "history")).text
    assert f'href="{undo}"' in admin_client.get("/admin/people/person/merges/").text
    assert "from before the merge" in admin_client.get(undo).text
    admin_client.post(undo)
    assert [one.authorships.count(), other.authorships.count()] == [2, 1]
    assert "This merge can’t be reverted" in admin_client.get(undo).text


def test_merge_reports_an_author_who_was_twice_on_a_paper(admin_client: Client, edition: Edition) -> None:
    one, other = make.make_person("Paolo Costa"), make.make_person("Costa Paolo")
    make.make_paper(edition, [other, "Zed", one], title="On Engines")
    page = post_comparison(admin_client, one, other)

    assert "were merged: Costa Paolo, On Engines." in page.text


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"seen": "old"}, "Something changed after you opened the page."),
        ({"keep": "0"}, "Choose which address to keep."),
        ({"keep": ""}, "Choose which address to keep."),
        ({"keep": "x"}, "Choose which address to keep."),
    ],
)
def test_outdated_page_or_missing_choice_merges_nothing(
    admin_client: Client, edition: Edition, sent: dict[str, Any], problem: str
) -> None:
    page = post_comparison(admin_client, *make_twins(edition), **sent)

    assert problem in page.text
    assert not Person.objects.exclude(merged_into=None).exists()


def test_distinct_people_are_never_suggested_again(admin_client: Client, edition: Edition) -> None:
    one, other = make_twins(edition)
    page = post_comparison(admin_client, one, other, distinct="1", next=LIST)

    assert "are not the same. They won’t be suggested again." in page.text
    storage.search(Person)
    assert listed(admin_client, LIST) == []
    (said,) = PersonDistinction.objects.all()
    assert "is not Costantini Paolo" in admin_client.get(address(one, "history")).text
    admin_client.post(address(said, "delete"), {"post": "yes"})
    assert len(listed(admin_client, LIST)) == 1


def test_actions_decide_of_several_pairs(admin_client: Client, edition: Edition) -> None:
    for name in ("Abaza", "Bertolini", "Cavalcanti"):
        make_twins(edition, name)
    storage.search(Person)
    first, *others = PersonPair.objects.order_by("pk")
    admin_client.post(LIST, {"action": "not_the_same", "_selected_action": [first.pk]})
    chosen = {"action": "merge_pairs", "_selected_action": [pair.pk for pair in others]}
    asked = admin_client.post(LIST, chosen)
    assert (len(asked.context["plans"]), Person.objects.exclude(merged_into=None).count()) == (2, 0)
    page = admin_client.post(LIST, {**chosen, "confirmed": "1"}, follow=True)

    assert "2 pairs merged." in page.text
    assert Person.objects.exclude(merged_into=None).count() == 2
    assert ChangeSet.objects.filter(origin="merge").count() == 2
    assert (listed(admin_client, LIST), PersonDistinction.objects.count()) == ([], 1)


def test_people_of_the_list_are_compared(admin_client: Client, edition: Edition) -> None:
    people = [*make_twins(edition), make.make_person("P. Costantini")]
    sent: dict[str, Any] = {"action": "compare_selected", "_selected_action": [one.pk for one in people]}
    page = admin_client.post("/admin/people/person/", sent, follow=True)

    assert [column.row for column in page.context["shown"].columns] == people
    alone = admin_client.post(
        "/admin/people/person/", {**sent, "_selected_action": people[0].pk}, follow=True
    )
    assert "Choose two to 6 to compare." in alone.text


def test_form_links_to_likely_duplicates_and_from_a_merged_person_to_the_survivor(
    admin_client: Client, edition: Edition
) -> None:
    one, other = make_twins(edition)
    storage.search(Person)
    asked = f"{COMPARE}?id={one.pk}&amp;id={other.pk}"

    assert asked in admin_client.get(address(one, "change")).text
    merge.merge(one, [other])
    page = admin_client.get(address(other, "change")).text
    assert f'was merged into <a href="{address(one, "change")}">Paolo Costantini</a>' in page


def test_split_moves_what_was_ticked_to_a_new_person_and_is_reverted(
    admin_client: Client, edition: Edition
) -> None:
    one, _other = make_twins(edition)
    path = reverse("admin:people_person_split", args=[one.pk])
    row: Any = one.authorships.order_by("pk").first()
    refused = admin_client.post(path, {"name": "Paolo Costantini"})
    sent = {"name": "Paolo Costantini", "row": f"papers.authorship:{row.pk}"}
    page = admin_client.post(path, sent, follow=True)
    new = Person.objects.latest("pk")
    undo = reverse("admin:people_person_unsplit", args=[ChangeSet.objects.latest("pk").pk])

    assert "Choose what belongs to the new person." in refused.text
    assert (new.name, new.authorships.get(), one.authorships.count()) == ("Paolo Costantini", row, 1)
    assert f'<a href="{undo}">Revert the split</a>' in page.text
    assert f'<a href="{undo}">Revert the split</a>' in admin_client.get(address(new, "history")).text
    moved = "Everything moved to Paolo Costantini goes back to Paolo Costantini."
    assert moved in admin_client.get(undo).text
    back = admin_client.post(undo, follow=True)
    assert "The split was reverted:" in back.text
    assert (one.authorships.count(), Person.objects.filter(pk=new.pk).exists()) == (2, False)
    assert "This split can’t be reverted" in admin_client.get(undo).text


def test_hidden_name_cannot_be_chosen_in_the_page(admin_client: Client, edition: Edition) -> None:
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
    for place in (short, full, full):
        make.make_paper(edition, ["Ada"]).authorships.get().institutions.add(place)
    page = admin_client.get("/admin/people/institutionpair/")
    assert "One name is made of the initials of the other." in page.text
    assert InstitutionPair.objects.count() == 1
    post_comparison(admin_client, full, short, path="/admin/people/institution/compare/")
    kept = Institution.objects.get(slug="tech")

    assert (kept.aliases, kept.authorships.count()) == (["M.I.T.", "MIT"], 3)
    old = client.get("/institutions/mit/")
    assert (old.status_code, old.headers["Location"]) == (301, "/institutions/tech/")
    assert client.get("/api/v1/institutions/mit/").status_code == 301
    undo(ChangeSet.objects.get(origin="merge"))
    kept.refresh_from_db()
    assert (kept.aliases, kept.authorships.count(), short.authorships.count()) == (["M.I.T."], 2, 1)


def test_looking_again_is_asked_for_among_many(
    admin_client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "MAX_AUTOMATIC_ROWS", 1)
    make_twins(edition)
    page = admin_client.get(LIST)

    assert ("Duplicates haven’t been checked yet." in page.text, listed(admin_client, LIST)) == (True, [])
    admin_client.post(f"{LIST}look/")
    make.make_person("Another Person")
    again = admin_client.get(LIST).text
    assert "1 new entry hasn’t been compared." in again
    assert (len(listed(admin_client, LIST)), Comparison.objects.count()) == (1, 1)


def test_users_who_may_not_change_people_may_not_decide(client: Client, edition: Edition) -> None:
    user = get_user_model().objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_person"))
    client.force_login(user)
    one, other = make_twins(edition)
    asked = f"{COMPARE}?id={one.pk}&id={other.pk}"

    assert [client.get(path).status_code for path in (LIST, asked)] == [403, 403]
    assert client.post(asked, {"keep": one.pk}).status_code == 403
    assert client.post(asked, {"distinct": "1"}).status_code == 403
    assert client.get(reverse("admin:people_person_split", args=[one.pk])).status_code == 403
    assert client.get("/admin/people/institution/compare/").status_code == 403


def sign_in_editor(client: Client, edition: Edition) -> Client:
    """Sign in as an editor of the program of an edition."""
    user = get_user_model().objects.create_user("editor", is_staff=True)
    Membership.objects.create(user=user, edition=edition, role="editor")
    client.force_login(user)
    return client


def test_list_hides_drafts_elsewhere_from_an_editor(client: Client, edition: Edition) -> None:
    beside = make.make_edition(2030, papers_public_from=None)
    one, other = make_twins(edition)
    friend, secret = make.make_person("Frieda Friend"), make.make_person("Sigrid Secret")
    for person in (one, other):
        make.make_paper(edition, [person, friend])
        make.make_paper(beside, [person, secret], status="draft")
    sign_in_editor(client, edition)
    page = client.get(LIST).text

    assert ("Frieda Friend" in page, "Sigrid Secret" in page) == (True, False)
    assert ("3 papers" in page, "4 papers" in page, "2 papers" in page) == (True, False, True)
    asked = f"{COMPARE}?id={one.pk}&id={other.pk}"
    assert "Sigrid Secret" not in client.get(asked).text
    assert len(listed(client, LIST, edition__id__exact=make.make_edition(2031).pk)) == 1


def test_editor_changes_no_institution_that_was_merged_into_one_of_others(
    client: Client, edition: Edition
) -> None:
    beside = make.make_edition(2030)
    kept, gone, ours = (make.make_institution(name) for name in ("Tech", "MIT", "Lab"))
    here, there = (make.make_paper(one, ["Ada"]).authorships.get() for one in (edition, beside))
    here.institutions.add(ours)
    there.institutions.add(kept)
    merge.merge(kept, [gone])
    merge.merge(ours, [old := make.make_institution("Old Lab")])
    sign_in_editor(client, edition)
    paths = [reverse("admin:people_institution_change", args=[one.pk]) for one in (gone, old)]

    for path in paths:
        client.post(path, {"name": "Taken", "slug": "taken", "aliases": "[]", "country": "", "ror": ""})
    assert [one.name for one in Institution.objects.filter(merged_into__isnull=False)] == ["MIT", "Taken"]


def test_editor_merges_only_people_of_the_own_editions(client: Client, edition: Edition) -> None:
    beside = make.make_edition(2030)
    sign_in_editor(client, edition)
    one, other = make_twins(edition)
    make.make_paper(beside, [other], title="Seen beside")
    make.make_paper(beside, [other], title="Drafted beside", status="draft")
    page = client.get(f"{COMPARE}?id={one.pk}&id={other.pk}")

    assert ("On Notes" in page.text, "Drafted beside" in page.text) == (True, False)
    refused = post_comparison(client, one, other)
    assert "Costantini Paolo: in editions that you can’t change. Keep that entry." in refused.text
    post_comparison(client, other, one)
    one.refresh_from_db()
    assert (one.merged_into, other.authorships.count()) == (other, 5)
