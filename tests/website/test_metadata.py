"""Metadata of every page; editions and people in linked data."""

import pytest
from django.test import Client

from conference.models import Edition
from people.models import PersonName
from tests import factories as make
from tests.html_pages import read
from tests.linked_data import linked_data, meta_tags
from tests.website.sample_program import PAGES, make_public_program

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]
SITE_URL = "http://127.0.0.1:8000"


def test_every_page_has_a_title_and_description(client: Client, subtests: pytest.Subtests) -> None:
    """Check title, description, canonical URL and language; `read` checks the headings."""
    make_public_program()
    for path in PAGES:
        with subtests.test(path=path):
            check_head(client, path)


def check_head(client: Client, path: str) -> None:
    page = read(client, path)
    properties = dict(meta_tags(page, "property"))

    assert page.all("html")[0].attributes["lang"] == "en"
    assert len(page.title) > 5
    assert len(page.description) > 3
    assert len(page.all("meta", name="description")) == len(page.all("link", rel="canonical")) == 1
    assert page.canonical.startswith(f"{SITE_URL}/")
    assert (properties["og:url"], properties["og:site_name"]) == (page.canonical, "Plenary")
    assert properties["og:title"] in page.title
    assert page.all("meta", name="robots") == []
    linked_data(client, path)


def test_edition_page_has_event_data(client: Client) -> None:
    make.make_edition(mode="hybrid", venue="Center", country="USA", description="Welcome *all*.")

    event = linked_data(client, "/2021/")["Event"]

    assert (event["startDate"], event["endDate"]) == ("2021-04-05", "2021-04-09")
    assert event["eventAttendanceMode"] == "https://schema.org/MixedEventAttendanceMode"
    assert [location["@type"] for location in event["location"]] == ["Place", "VirtualLocation"]
    assert event["subjectOf"]["url"] == f"{SITE_URL}/2021/schedule/"
    assert (event["description"], event["image"]) == ("Welcome all.", f"{SITE_URL}/2021/card.png")


def test_event_data_of_an_embargoed_program_has_no_schedule(client: Client) -> None:
    make.make_edition(schedule_public_from=None)

    assert "subjectOf" not in linked_data(client, "/2021/")["Event"]


def test_person_data_has_orcid_affiliation_and_public_names(client: Client) -> None:
    ada = make.make_person(
        "Ada Lovelace", uid="ada", orcid="0000-0002-1825-0097", affiliation="MIT", email="ada@example.org"
    )
    PersonName.objects.create(person=ada, name="A. Lovelace")
    PersonName.objects.create(person=ada, name="Ada Byron", hidden=True)
    make.make_paper(make.make_edition(), [ada])

    person = linked_data(client, "/people/ada/ada-lovelace/")["Person"]

    assert person == {
        "@type": "Person",
        "@id": f"{SITE_URL}/people/ada/ada-lovelace/",
        "url": f"{SITE_URL}/people/ada/ada-lovelace/",
        "name": "Ada Lovelace",
        "givenName": "Ada",
        "familyName": "Lovelace",
        "alternateName": ["A. Lovelace"],
        "affiliation": {"@type": "Organization", "name": "MIT"},
        "identifier": {
            "@type": "PropertyValue",
            "propertyID": "ORCID",
            "value": "https://orcid.org/0000-0002-1825-0097",
        },
        "sameAs": ["https://orcid.org/0000-0002-1825-0097"],
    }


def test_pages_without_their_own_card_have_that_of_the_edition(client: Client) -> None:
    edition: Edition = make.make_edition()
    properties = dict(meta_tags(read(client, "/2021/papers/"), "property"))

    assert properties["og:title"] == f"Papers · {edition.name}"
    assert (properties["og:image"], properties["og:image:alt"]) == (
        f"{SITE_URL}/2021/card.png",
        "MLSys 2021, 5 to 9 April 2021, San Jose",
    )
    assert "og:image" not in dict(meta_tags(read(client, "/people/"), "property"))


def test_error_page_has_no_canonical_url(client: Client) -> None:
    page = read(client, "/nowhere/", 404)

    assert page.all("link", rel="canonical") == []
    assert "og:url" not in dict(meta_tags(page, "property"))
    assert meta_tags(page)[-1] == ("robots", "noindex")
