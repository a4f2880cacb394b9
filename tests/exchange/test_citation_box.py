"""Tests of the citation box of a paper and the downloads page: text, links, public data only."""

import pytest
from django.db import connection
from django.db.models import Q
from django.template import Context, Template
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conference.models import Edition
from exchange.exports.citation_files import citation_of, dump_for_citation
from exchange.formats import bibtex, writable
from people.models import PersonName
from tests import factories as make
from tests.html_pages import Page, read
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.django_db


def render_box() -> Page:
    edition = Edition.objects.select_related("conference").get()
    paper = edition.papers.published().with_details().get()
    with CaptureQueriesContext(connection) as queries:
        html = Template("{% load cite %}{% cite_box paper %}").render(
            Context({"paper": paper, "edition": edition})
        )
    assert len(queries) == 0
    return Page(html)


def test_box_shows_citation_bibtex_and_file_links() -> None:
    make_public_program()
    page = render_box()

    assert page.all("p", id="cite-apa")[0].text == (
        "Lovelace, A. (2021). Notes. In Conference on Machine Learning and Systems. "
        "http://127.0.0.1:8000/2021/papers/p1/"
    )
    assert page.all("pre")[0].text.startswith("@inproceedings{mlsys2021.p1, author = {Lovelace, Ada},")
    assert page.links() == {
        "BibTeX": "/2021/papers/p1.bib",
        "RIS": "/2021/papers/p1.ris",
        "CSL-JSON": "/2021/papers/p1.csl.json",
    }


def test_copy_buttons_are_hidden_without_script() -> None:
    make_public_program()
    page = render_box()
    buttons = page.all("button")

    assert ["hidden" in button.attributes for button in buttons] == [True, True]
    assert all(page.all(id=button.attributes["data-copy"]) for button in buttons)


def test_box_has_the_same_bibtex_as_the_file() -> None:
    edition = make.make_edition(city="San José", country="USA")
    ana = make.make_person("Ana Ruiz Soto", given="Ana", family="Ruiz Soto")
    paper = make.make_paper(edition, [ana], title="On $x$ & {B}", pages="1-2", doi="10.1/x", keywords=["k"])
    make.add_author(paper, make.make_person("Bo Li"), name="Bo Hidden Li")
    PersonName.objects.create(
        person=paper.authorships.get(position=2).person, name="Bo Hidden Li", hidden=True
    )
    (cited_paper,) = edition.papers.published().with_authors()
    citation = citation_of(cited_paper, edition)
    content = b"".join(bibtex.cite([dump_for_citation(edition, Q(pk=paper.pk))])).decode()

    assert citation["bibtex"] == content
    assert "author = {Ruiz Soto, Ana and Li, Bo}" in content


def test_links_of_the_downloads_page_work(client: Client) -> None:
    make_public_program()
    page = read(client, "/2021/downloads/")
    links = [link.attributes["href"] for link in page.all("main")[0].inside("a")]

    assert [heading for heading in page.outline if heading.startswith("2")][:4] == [
        "2 Calendar",
        "2 Conference apps",
        "2 References",
        "2 The whole program",
    ]
    assert {client.get(link).status_code for link in links} == {200}
    names = {link.rpartition("/")[0].rpartition("/")[2] for link in links}
    assert {"program_json", "orals_posters", "tables"} <= names
    assert set(writable()) >= names - {"2021", "docs"}


def test_downloads_page_is_empty_before_publication(client: Client) -> None:
    edition = make.make_edition(papers_public_from=None, schedule_public_from=None)
    make.make_paper(edition)
    make.make_session(edition)
    page = read(client, "/2021/downloads/")

    assert "Nothing to download yet" in page.main
    assert page.all("main")[0].inside("code") == []
