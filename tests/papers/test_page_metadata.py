"""Tests of the metadata of a paper's page: citation tags, cards, linked data."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from conference.models import Edition
from papers.models import Paper
from papers.page_metadata import parse_pages
from people.models import PersonName
from tests import factories as make
from tests.exchange.programs import PROCEEDINGS
from tests.html_pages import read
from tests.linked_data import linked_data, meta_tags

pytestmark = pytest.mark.django_db
SITE_URL = "http://127.0.0.1:8000"


@pytest.fixture
def edition() -> Edition:
    return make.make_edition(venue="Convention Center", country="USA")


@pytest.fixture
def paper(edition: Edition) -> Paper:
    fields: dict[str, Any] = {
        "uid": "p1",
        "title": "Fast $O(n^2)$ & *safe* </script>",
        "abstract": "What *was* done.",
    }
    paper = make.make_paper(edition, keywords=["graphs", "speed"], doi="10.1/x", pages="12\u201325", **fields)
    make.add_author(paper, "Zed Young", affiliations=["King's College", "MIT"])
    make.add_author(paper, make.make_person("Abe Old", orcid="0000-0002-1825-0097", email="abe@example.org"))
    make.add_author(paper, "Mia Šimek")
    return paper


def head_tags(client: Client, paper: Paper, prefix: str, key: str = "name") -> list[tuple[str, str]]:
    all_tags = meta_tags(read(client, paper.get_absolute_url()), key)
    return [(name.removeprefix(prefix), content) for name, content in all_tags if name.startswith(prefix)]


def test_metadata_describes_the_proceedings(client: Client, edition: Edition, paper: Paper) -> None:
    Edition.objects.update(**{**PROCEEDINGS, "proceedings_editors": ["Mia Zed", "Ann Abe"]})
    proceedings = {
        ("conference_title", "Proceedings of the Fourth Meeting"),
        ("inbook_title", "Proceedings of the Fourth Meeting"),
        ("conference", "MLSys 2021"),
        ("series_title", "Notes & Letters"),
        ("volume", "139"),
        ("editor", "Mia Zed"),
        ("editor", "Ann Abe"),
        ("publisher", "Old Press"),
        ("isbn", "978-3-16-148410-0"),
        ("issn", "2640-3498"),
    }
    names = {name for name, _ in proceedings}

    assert {tag for tag in head_tags(client, paper, "citation_") if tag[0] in names} == proceedings
    assert {("publisher", "Old Press"), ("source", "Proceedings of the Fourth Meeting")} <= {
        *head_tags(client, paper, "DC.")
    }
    article = linked_data(client, paper.get_absolute_url())["ScholarlyArticle"]
    assert article["isPartOf"] == {
        "@type": "Book",
        "name": "Proceedings of the Fourth Meeting",
        "editor": [{"@type": "Person", "name": "Mia Zed"}, {"@type": "Person", "name": "Ann Abe"}],
        "isbn": "978-3-16-148410-0",
        "isPartOf": {
            "@type": "PublicationVolume",
            "volumeNumber": "139",
            "isPartOf": {"@type": "BookSeries", "name": "Notes & Letters", "issn": "2640-3498"},
        },
    }
    assert article["publisher"] == {"@type": "Organization", "name": "Old Press", "address": "Oslo"}


def test_metadata_has_the_licenses_of_paper_and_materials(
    client: Client, edition: Edition, paper: Paper
) -> None:
    license_url = "https://creativecommons.org/licenses/by/4.0/"
    Edition.objects.update(license="CC-BY-4.0")
    make.make_material(paper, kind="data", url="https://a.test/data", license="LicenseRef-Ours")
    page = read(client, paper.get_absolute_url())

    assert ("rights", "CC-BY-4.0") in head_tags(client, paper, "DC.")
    assert [link.attributes["href"] for link in page.all("link", rel="license")] == [license_url]
    article = linked_data(client, paper.get_absolute_url())["ScholarlyArticle"]
    assert article["license"] == license_url
    assert article["hasPart"] == [
        {
            "@type": "CreativeWork",
            "name": "Data",
            "url": "https://a.test/data",
            "license": {"@type": "CreativeWork", "name": "LicenseRef-Ours"},
        }
    ]


def test_citation_tags_list_the_authors_in_printed_order(client: Client, paper: Paper) -> None:
    make.make_material(paper, url="", file=ContentFile(b"%PDF-1.7", "notes.pdf"))

    assert head_tags(client, paper, "citation_") == [
        ("title", "Fast O(n²) & safe </script>"),
        ("author", "Zed Young"),
        ("author_institution", "King's College"),
        ("author_institution", "MIT"),
        ("author", "Abe Old"),
        ("author_orcid", "https://orcid.org/0000-0002-1825-0097"),
        ("author", "Mia Šimek"),
        ("publication_date", "2021/04/05"),
        ("conference_title", "Conference on Machine Learning and Systems"),
        ("conference", "MLSys 2021"),
        ("firstpage", "12"),
        ("lastpage", "25"),
        ("doi", "10.1/x"),
        ("language", "en"),
        ("keywords", "graphs"),
        ("keywords", "speed"),
        ("abstract_html_url", f"{SITE_URL}{paper.get_absolute_url()}"),
        ("pdf_url", f"{SITE_URL}{paper.materials.get().file.url}"),
    ]


def test_pdf_on_another_host_is_not_in_the_metadata(client: Client, paper: Paper) -> None:
    make.make_material(paper, url="https://example.org/paper.pdf")

    assert "pdf_url" not in dict(head_tags(client, paper, "citation_"))
    assert "encoding" not in linked_data(client, paper.get_absolute_url())["ScholarlyArticle"]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("12-25", ("12", "25")),
        ("7", ("7", "7")),
        ("e12 – e13", ("e12", "e13")),
        ("to appear", ("", "")),
        ("", ("", "")),
    ],
)
def test_first_and_last_page_are_parsed(text: str, pages: tuple[str, str]) -> None:
    assert parse_pages(text) == pages


def test_dublin_core_tags(client: Client, paper: Paper) -> None:
    assert head_tags(client, paper, "DC.") == [
        ("title", "Fast O(n²) & safe </script>"),
        ("creator", "Zed Young"),
        ("creator", "Abe Old"),
        ("creator", "Mia Šimek"),
        ("subject", "graphs"),
        ("subject", "speed"),
        ("description", "What was done."),
        ("publisher", "Conference on Machine Learning and Systems"),
        ("date", "2021-04-05"),
        ("type", "Text"),
        ("format", "text/html"),
        ("identifier", f"{SITE_URL}{paper.get_absolute_url()}"),
        ("identifier", "doi:10.1/x"),
        ("source", "MLSys 2021"),
        ("language", "en"),
    ]


def test_open_graph_and_twitter_tags(client: Client, paper: Paper) -> None:
    assert head_tags(client, paper, "og:", "property") == [
        ("title", "Fast O(n²) & safe </script>"),
        ("url", f"{SITE_URL}{paper.get_absolute_url()}"),
        ("type", "article"),
        ("site_name", "Plenary"),
        ("description", "What was done."),
        ("image", f"{SITE_URL}/2021/papers/p1/card.png"),
        ("image:type", "image/png"),
        ("image:width", "1200"),
        ("image:height", "630"),
        ("image:alt", "Fast O(n²) & safe </script>. Zed Young, Abe Old, Mia Šimek. MLSys 2021"),
    ]
    assert head_tags(client, paper, "twitter:") == [("card", "summary_large_image")]


def test_linked_data_has_article_and_breadcrumbs(client: Client, paper: Paper) -> None:
    data = linked_data(client, paper.get_absolute_url())
    article, breadcrumbs = data["ScholarlyArticle"], data["BreadcrumbList"]

    assert article["headline"] == "Fast O(n²) & safe </script>"
    assert [(entry["name"], entry.get("sameAs")) for entry in article["author"]] == [
        ("Zed Young", None),
        ("Abe Old", "https://orcid.org/0000-0002-1825-0097"),
        ("Mia Šimek", None),
    ]
    assert [entry["name"] for entry in article["author"][0]["affiliation"]] == ["King's College", "MIT"]
    assert (article["pageStart"], article["pageEnd"], article["datePublished"]) == ("12", "25", "2021-04-05")
    assert article["identifier"] == {"@type": "PropertyValue", "propertyID": "doi", "value": "10.1/x"}
    assert [(entry["name"], entry["item"]) for entry in breadcrumbs["itemListElement"]] == [
        ("MLSys 2021", f"{SITE_URL}/2021/"),
        ("Papers", f"{SITE_URL}/2021/papers/"),
    ]


def test_linked_data_of_a_paper_has_its_presentations_as_events(
    client: Client, edition: Edition, paper: Paper
) -> None:
    session = make.make_session(edition, room=make.make_room(edition, "Hall B"))
    make.make_presentation(session, paper)
    make.make_presentation(None, paper, kind="poster")
    make.make_presentation(session, paper, kind="spotlight", status="cancelled")

    events = linked_data(client, paper.get_absolute_url())["ScholarlyArticle"]["subjectOf"]

    assert [(event["startDate"], event["eventStatus"].rpartition("/")[2]) for event in events] == [
        ("2021-04-06T08:00:00-07:00", "EventScheduled"),
        ("2021-04-06T08:00:00-07:00", "EventCancelled"),
    ]
    assert [(place["name"], place["containedInPlace"]["name"]) for place in events[0]["location"]] == [
        ("Hall B", "Convention Center")
    ]


def test_script_end_tag_in_linked_data_is_escaped(client: Client, paper: Paper) -> None:
    text = client.get(paper.get_absolute_url()).content.decode()

    assert "\\u003c/script\\u003e" in text
    assert text.count("</script>") == text.count("<script")


def test_hidden_name_and_email_are_not_in_the_page(client: Client, paper: Paper) -> None:
    author = paper.authorships.get(position=1)
    PersonName.objects.create(person=author.person, name="Former Name", hidden=True)
    paper.authorships.filter(pk=author.pk).update(name="FORMER NAME")

    text = client.get(paper.get_absolute_url()).content.decode().lower()

    assert ("former name" in text, "abe@" in text, text.count("zed young") > 4) == (False, False, True)


def test_linked_data_of_a_minimal_paper_is_valid(client: Client, edition: Edition) -> None:
    paper = make.make_paper(edition, uid="bare", title="Bare", abstract="")

    article = linked_data(client, paper.get_absolute_url())["ScholarlyArticle"]

    assert "author" not in article
    assert [entry["@type"] for entry in (article["publisher"], article["isPartOf"])] == [
        "Organization",
        "Book",
    ]
