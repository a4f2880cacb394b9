"""A name that must appear nowhere public, however it was typed on a paper or by the chair."""

import pytest
from django.test import Client

from exchange.exports.dump import dump
from exchange.records import stated
from people.models import PersonName
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("printed", ["JOSE OLD", "Jose Old", "jose  old"])
def test_hidden_name_appears_in_no_spelling_of_its_letters(client: Client, printed: str) -> None:
    edition = make.make_edition()
    paper, person = make.make_paper(edition), make.make_person("Ana New")
    make.add_author(paper, person, name=printed)
    PersonName.objects.create(person=person, name="Jose Old", hidden=True)

    page = client.get(paper.get_absolute_url()).text

    assert ("Ana New" in page, "old</a>" in page.casefold()) == (True, False)
    (author,) = stated(dump(edition).papers[0].authors, ())
    assert author.person.name == "Ana New"


def test_hidden_name_is_found_in_the_other_form_of_its_accents(client: Client) -> None:
    edition = make.make_edition()
    paper, person = make.make_paper(edition), make.make_person("Ana New")
    make.add_author(paper, person, name="Jos\u00e9 Old")
    PersonName.objects.create(person=person, name="Jose\u0301 Old", hidden=True)

    page = client.get(paper.get_absolute_url()).text

    assert ("Ana New" in page, "Old</a>" in page) == (True, False)
