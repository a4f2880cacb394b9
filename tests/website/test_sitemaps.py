"""Site maps, robots.txt, llms.txt and feeds of papers: complete, deterministic, and public rows only."""

import re
from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring
from django.test import Client
from django.utils.translation import override
from pytest_django.fixtures import DjangoAssertNumQueries

from conference.models import Edition
from schedule.releases import ChangesFeed
from tests import factories as make
from tests.html_pages import read
from tests.website.sample_program import make_public_program
from website import feeds, sitemaps

pytestmark = pytest.mark.django_db
SITE_URL = "http://127.0.0.1:8000"
ATOM = "{http://www.w3.org/2005/Atom}"


def fetch_xml(client: Client, path: str) -> Element:
    response = client.get(path)
    assert response.status_code == 200, path
    root: Element = fromstring(response.content)
    return root


def locations(client: Client, path: str) -> list[str]:
    root = fetch_xml(client, path)
    urls = re.findall(
        r"<loc>(.*?)</loc><lastmod>\d{4}-\d\d-\d\dT[\d:]{8}\+00:00</lastmod>",
        client.get(path).content.decode(),
    )
    assert len(urls) == len(root)
    return [url.removeprefix(SITE_URL) for url in urls]


def test_sitemaps_list_all_public_pages_and_each_exists(client: Client) -> None:
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


def test_long_sitemaps_are_paginated(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "PATHS_PER_FILE", 2)
    edition = make.make_edition()
    for number in range(3):
        make.make_paper(edition, uid=f"p{number}", title="Same")

    assert [locations(client, f"/2021/sitemap-papers-{page}.xml") for page in (1, 2)] == [
        ["/2021/papers/p0/same/", "/2021/papers/p1/same/"],
        ["/2021/papers/p2/same/"],
    ]
    missing_names = ["papers-3", "papers-0", "sessions-1", "nothing-1", "pages-2"]
    assert {client.get(f"/2021/sitemap-{name}.xml").status_code for name in missing_names} == {404}


@pytest.mark.parametrize("number", [50_001, 2**63 - 1, 10**30], ids=["50001", "64 bits", "30 digits"])
def test_sitemap_with_a_huge_number_is_a_404(client: Client, number: int) -> None:
    make.make_edition()

    assert client.get(f"/sitemap-people-{number}.xml").status_code == 404
    assert client.get(f"/2021/sitemap-papers-{number}.xml").status_code == 404


@pytest.mark.parametrize("row_count", [1, 3])
def test_query_count_is_the_same_for_1_and_3_rows(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, row_count: int
) -> None:
    edition = make.make_edition()
    for index in range(row_count):
        make.make_paper(edition, [f"Author {index}"])
        make.make_edition(2022 + index)

    for path, queries in {"/sitemap.xml": 6, "/2021/sitemap-papers-1.xml": 2, "/2021/papers.atom": 3}.items():
        with django_assert_num_queries(queries):
            client.get(path)


def test_robots_txt_has_rules_and_names_the_sitemap(client: Client) -> None:
    lines = client.get("/robots.txt").content.decode().splitlines()

    assert lines[0] == "User-agent: *"
    assert {"Disallow: /admin/", "Disallow: /*/agenda/", "Disallow: /*/papers/?*&"} <= {*lines}
    assert lines[-1] == f"Sitemap: {SITE_URL}/sitemap.xml"
    assert all(re.fullmatch(r"(User-agent|Disallow|Sitemap): \S+|", line) for line in lines)


def test_llms_txt_links_to_data_and_editions(client: Client) -> None:
    make.make_edition()
    text = client.get("/llms.txt").content.decode()
    links = re.findall(rf"\({SITE_URL}([^)]*)\)", text)

    assert text.startswith("# Plenary\n\n> ")
    assert {"/api/v1/", "/sitemap.xml", "/2021/", "/2021/downloads/"} <= {*links}
    assert [link for link in links if client.get(link).status_code != 200] == []


def test_papers_feed_is_valid_and_deterministic(client: Client, edition: Edition) -> None:
    """Include a paper without authors or abstract, with characters that are not allowed in XML."""
    make.make_paper(edition, ["Zed Young", "Abe Old"], uid="p1", title="Notes & *more*")
    unusual = make.make_paper(edition, uid="p2", title="Odd \x0b sign", abstract="")
    unusual.announced_at = datetime(2021, 2, 1, tzinfo=UTC)
    unusual.save()
    make.make_paper(edition, title="Secret", status="draft")

    feed = fetch_xml(client, "/2021/papers.atom")
    entries = feed.findall(f"{ATOM}entry")

    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["Odd sign", "Notes & more"]
    assert [entry.findtext(f"{ATOM}updated") for entry in entries] == [
        "2021-02-01T00:00:00+00:00",
        "2020-01-01T00:00:00+00:00",
    ]
    assert entries[1].findtext(f"{ATOM}author/{ATOM}name") == "Zed Young, Abe Old"
    assert feed.findtext(f"{ATOM}updated") == "2021-02-01T00:00:00+00:00"
    assert all(feed.findtext(f"{ATOM}{name}") for name in ("id", "title"))
    assert client.get("/2021/papers.atom").content == client.get("/2021/papers.atom").content


def test_titles_of_feeds_are_translated(edition: Edition) -> None:
    # A test can't change the site's own language: addresses that Django caches depend on it.
    with override("de"):
        titles = [feed().title(edition) for feed in (feeds.AnnouncementsFeed, ChangesFeed, feeds.PapersFeed)]

    assert titles == [
        f"{edition.name}: {name}" for name in ("Ankündigungen", "Programmänderungen", "Beiträge")
    ]


def test_search_feed_lists_the_results(client: Client, edition: Edition) -> None:
    make.make_paper(edition, ["Ada Lovelace"], title="Quantum compilers")
    make.make_paper(edition, title="Something else")
    make.make_paper(edition, title="Quantum secrets", status="draft")

    feed = fetch_xml(client, "/search/feed?q=quantum")

    assert [entry.findtext(f"{ATOM}title") for entry in feed.findall(f"{ATOM}entry")] == ["Quantum compilers"]
    assert feed.findtext(f"{ATOM}updated") == "2020-01-01T00:00:00+00:00"
    for words in ("", "%00", "x" * 3000, "%22%28", "author:"):
        assert fetch_xml(client, f"/search/feed?q={words}").findall(f"{ATOM}entry") == []


def test_search_feed_has_the_newest_papers_rather_than_the_best_matches(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MAX_ENTRIES", 2)
    for title in ("Quantum", "Quantum logic"):
        make.make_paper(edition, title=title)
        make.make_paper(edition, title=title, status="draft")
    newest = make.make_paper(
        edition, title="On the many hopes and fears of those who first compute with quantum"
    )
    newest.announced_at = datetime(2021, 2, 1, tzinfo=UTC)
    newest.save()

    entries = fetch_xml(client, "/search/feed?q=quantum").findall(f"{ATOM}entry")

    assert [entry.findtext(f"{ATOM}title") for entry in entries] == [newest.title, "Quantum"]


def test_pages_link_to_their_feeds(client: Client) -> None:
    make.make_paper(make.make_edition(), title="Notes")
    atom = {"rel": "alternate", "type": "application/atom+xml"}
    editions = [link.attributes["href"] for link in read(client, "/2021/papers/").all("link", **atom)]
    search = [link.attributes["href"] for link in read(client, "/search/?q=notes").all("link", **atom)]

    assert editions == ["/2021/announcements.atom", "/2021/changes.atom", "/2021/papers.atom"]
    assert search == ["/search/feed?q=notes"]
    assert {client.get(path).status_code for path in [*editions, *search]} == {200}


def test_edition_sitemap_changes_only_with_its_edition(client: Client, edition: Edition) -> None:
    before = client.get("/2021/sitemap-pages-1.xml").content
    unchanged = client.get("/2021/sitemap-pages-1.xml").content
    type(edition).objects.filter(pk=edition.pk).update(changed_at=edition.changed_at + timedelta(hours=1))

    assert before == unchanged
    assert client.get("/2021/sitemap-pages-1.xml").content != before
