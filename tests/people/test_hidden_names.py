"""Tests that a hidden name is never public, in any spelling on a paper or in the admin."""

import pytest
from django.test import Client

from conference.models import Edition
from content.models import Tombstone
from content.page_paths import page_path
from exchange.exports.dump import dump
from exchange.records import stated
from people.merging.merge import merge
from people.models import PersonName
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("printed", "hidden"),
    [
        ("JOSE OLD", "Jose Old"),
        ("Jose Old", "Jose Old"),
        ("jose  old", "Jose Old"),
        ("Jos\u00e9 Old", "Jose\u0301 Old"),
        ("JOS\u00c9 OLD", "Jos\u00e9 Old"),
        ("JOSE WEISS OLD", "Jose Wei\u00df Old"),
    ],
)
def test_hidden_name_is_not_shown_in_any_spelling(
    client: Client, edition: Edition, printed: str, hidden: str
) -> None:
    paper, person = make.make_paper(edition), make.make_person("Ana New")
    make.add_author(paper, person, name=printed)
    PersonName.objects.create(person=person, name=hidden, hidden=True)

    page = client.get(paper.get_absolute_url()).text

    assert ("Ana New" in page, "old</a>" in page.casefold()) == (True, False)
    (author,) = stated(dump(edition).papers[0].authors, ())
    assert author.person.name == "Ana New"


def test_hidden_name_is_not_shown_as_another_spelling_after_a_merge(
    client: Client, admin_client: Client, edition: Edition
) -> None:
    person, other_person = make.make_person("Ana New"), make.make_person("Ana M. New")
    for author in (person, other_person):
        make.make_paper(edition, [author])
    PersonName.objects.create(person=person, name="ANA OLD")
    PersonName.objects.create(person=other_person, name="Ana Old", hidden=True)

    merge(person, [other_person])

    assert "ana old" not in client.get(person.get_absolute_url()).text.casefold()
    assert [record.other_names for record in dump(edition).people if record.ref.uid == person.uid] == [
        ("Ana M. New",)
    ]
    names = admin_client.get(f"/api/v1/people/{person.uid}/").json()["other_names"]
    assert [name["name"] for name in names] == ["Ana M. New"]
    assert person.uid in client.get("/search/?q=author:new").text
    assert person.uid not in client.get("/search/?q=author:old").text


def test_page_whose_address_tells_a_hidden_name_moves(client: Client, edition: Edition) -> None:
    person, other = make.make_person("Ana New", uid="ana-old"), make.make_person("Bo Old", uid="bo-old")
    make.make_paper(edition, [person, other])
    former = [page_path("people:detail", "ana-old", "ana-new"), "/people/ana-old/", "/api/v1/people/ana-old/"]
    assert client.get(former[0]).status_code == 200
    PersonName.objects.create(person=person, name="Ana Old", hidden=True)

    assert [client.get(address).status_code for address in former] == [404] * 3
    person.refresh_from_db()
    assert client.get(person.get_absolute_url()).status_code == 200
    assert not Tombstone.objects.exists()
    other.refresh_from_db()
    assert other.uid == "bo-old"
