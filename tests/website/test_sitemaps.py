"""Site maps, robots.txt, llms.txt and feeds of papers: complete, deterministic, and public rows only."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from tests import factories as make
from tests.reading import read
from tests.website.sample_program import make_public_program
from website import sitemaps

pytestmark = pytest.mark.django_db
SITE = "http://127.0.0.1:8000"
ATOM = "{http://www.w3.org/2005/Atom}"


def parsed(client: Client, path: str) -> Element:
    response = client.get(path)
    assert response.status_code == 200, path
    root: Element = fromstring(response.content)
    return root


def locations(client: Client, path: str) -> list[str]:
    root = parsed(client, path)
    found = re.findall(
        r"<loc>(.*?)</loc><lastmod>\d{4}-\d\d-\d\dT[\d:]{8}\+00:00</lastmod>",
        client.get(path).content.decode(),
    )
    assert len(found) == len(root)
    return [one.removeprefix(SITE) for one in found]


def test_index_leads_to_every_page_and_all_are_there(client: Client) -> None:
    make_public_program()
    make.make_edition(2030, public_from=None)

    files = locations(client, "/sitemap.xml")
    pages = [page for file in files for page in locations(client, file)]

    assert files == [
        "/2021/sitemap-pages-1.xml",
        "/2021/sitemap-papers-1.xml",
        "/2021/sitemap-sessions-1.xml",
        "/sitemap-pages-1.xml",
        "/sitemap-people-1.xml",
        "/sitemap-institutions-1.xml",
    ]
    assert len(pages) == len({*pages})
    expected = {"/2021/", "/2021/papers/p1/notes/", "/2021/sessions/s1/engines/", "/people/ada/ada-lovelace/"}
    expected |= {"/2021/rooms/hall/", "/2021/topics/engines/", "/institutions/kings/", "/pages/conduct/"}
    assert expected <= {*pages}
    assert [page for page in pages if client.get(page).status_code != 200] == []


def test_long_maps_have_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "PATHS_PER_FILE", 2)
    edition = make.make_edition()
    for number in range(3):
        make.make_paper(edition, uid=f"p{number}", title="Same")

    assert [locations(client, f"/2021/sitemap-papers-{page}.xml") for page in (1, 2)] == [
        ["/2021/papers/p0/same/", "/2021/papers/p1/same/"],
        ["/2021/papers/p2/same/"],
    ]
    gone = ["papers-3", "papers-0", "sessions-1", "nothing-1", "pages-2"]
    assert {client.get(f"/2021/sitemap-{name}.xml").status_code for name in gone} == {404}


@pytest.mark.parametrize("number", [1, 3])
def test_map_query_counts(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, number: int
) -> None:
    edition = make.make_edition()
    for one in range(number):
        make.make_paper(edition, [f"Author {one}"])
        make.make_edition(2022 + one)

    for path, queries in {"/sitemap.xml": 6, "/2021/sitemap-papers-1.xml": 2, "/2021/papers.atom": 3}.items():
        with django_assert_num_queries(queries):
            client.get(path)


def test_robots_let_in_and_name_the_map(client: Client) -> None:
    lines = client.get("/robots.txt").content.decode().splitlines()

    assert lines[0] == "User-agent: *"
    assert {"Disallow: /admin/", "Disallow: /*/agenda/", "Disallow: /*/papers/?*&"} <= {*lines}
    assert lines[-1] == f"Sitemap: {SITE}/sitemap.xml"
    assert all(re.fullmatch(r"(User-agent|Disallow|Sitemap): \S+|", line) for line in lines)


def test_llms_text_names_data_and_editions(client: Client) -> None:
    make.make_edition()
    text = client.get("/llms.txt").content.decode()
    links = re.findall(rf"\({SITE}([^)]*)\)", text)

    assert text.startswith("# Plenary\n\n> ")
    assert {"/api/v1/", "/sitemap.xml", "/2021/", "/2021/downloads/"} <= {*links}
    assert [link for link in links if client.get(link).status_code != 200] == []


def test_papers_feed_is_valid_and_the_same_each_time(client: Client, edition: Edition) -> None:
    """Include a paper without authors or abstract, with characters that are not allowed in XML."""
    make.make_paper(edition, ["Zed Young", "Abe Old"], uid="p1", title="Notes & *more*")
    odd = make.make_paper(edition, uid="p2", title="Odd \x0b sign", abstract="")
    odd.announced_at = datetime(2021, 2, 1, tzinfo=UTC)
    odd.save()
    make.make_paper(edition, title="Secret", status="draft")

    feed = parsed(client, "/2021/papers.atom")
    entries = feed.findall(f"{ATOM}entry")

    assert [one.findtext(f"{ATOM}title") for one in entries] == ["Odd sign", "Notes & more"]
    assert [one.findtext(f"{ATOM}updated") for one in entries] == [
        "2021-02-01T00:00:00+00:00",
        "2020-01-01T00:00:00+00:00",
    ]
    assert entries[1].findtext(f"{ATOM}author/{ATOM}name") == "Zed Young, Abe Old"
    assert feed.findtext(f"{ATOM}updated") == "2021-02-01T00:00:00+00:00"
    assert all(feed.findtext(f"{ATOM}{name}") for name in ("id", "title"))
    assert client.get("/2021/papers.atom").content == client.get("/2021/papers.atom").content


def test_search_feed_lists_the_hits(client: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada Lovelace"], title="Quantum compilers")
    make.make_paper(edition, title="Something else")
    make.make_paper(edition, title="Quantum secrets", status="draft")

    feed = parsed(client, "/search/feed?q=quantum")

    assert [one.findtext(f"{ATOM}title") for one in feed.findall(f"{ATOM}entry")] == ["Quantum compilers"]
    assert feed.findtext(f"{ATOM}updated") == "2020-01-01T00:00:00+00:00"
    for words in ("", "%00", "x" * 3000, "%22%28", "author:"):
        assert parsed(client, f"/search/feed?q={words}").findall(f"{ATOM}entry") == []


def test_pages_lead_to_the_feeds(client: Client) -> None:
    make.make_paper(make.make_edition(), title="Notes")
    atom = {"rel": "alternate", "type": "application/atom+xml"}
    feeds = [one.attributes["href"] for one in read(client, "/2021/papers/").all("link", **atom)]
    search = [one.attributes["href"] for one in read(client, "/search/?q=notes").all("link", **atom)]

    assert feeds == ["/2021/announcements.atom", "/2021/changes.atom", "/2021/papers.atom"]
    assert search == ["/search/feed?q=notes"]
    assert {client.get(path).status_code for path in [*feeds, *search]} == {200}


def test_edition_map_changes_with_its_edition(client: Client, edition: Edition) -> None:
    before = client.get("/2021/sitemap-pages-1.xml").content
    same = client.get("/2021/sitemap-pages-1.xml").content
    type(edition).objects.filter(pk=edition.pk).update(changed_at=edition.changed_at + timedelta(hours=1))

    assert before == same
    assert client.get("/2021/sitemap-pages-1.xml").content != before
