"""Pages are in the language of their URL; files, the API and the admin have one URL for all languages."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from content.fields import validate_edition_slug
from content.languages import language_of_path, path_in_language, strip_language
from pagecache import per_revision
from pagecache.keys import parse_address
from pagecache.tags import edition_slug, response_tags
from tests.html_pages import read
from tests.website.sample_program import PAGES, make_public_program

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture(scope="module", autouse=True)
def _program(made_once: Callable[..., Any]) -> None:
    made_once(make_public_program)


def test_language_is_read_from_the_path() -> None:
    assert [language_of_path(path) for path in ("/de/", "/zh-hans/2021/")] == ["de", "zh-hans"]
    english_paths = ("/", "/2021/", "/de", "/en/", "/it/", "/people/de/")
    assert {language_of_path(path) for path in english_paths} == {"en"}
    assert (strip_language("/de/2021/"), strip_language("/2021/")) == ("/2021/", "/2021/")
    assert [path_in_language("/de/2021/", code) for code in ("fr", "en")] == ["/fr/2021/", "/2021/"]


def test_language_code_is_an_invalid_edition_slug() -> None:
    with pytest.raises(ValidationError):
        validate_edition_slug("de")


def test_page_links_to_itself_in_each_language(client: Client) -> None:
    page = read(client, "/de/2021/papers/?track=Research&page=1")

    alternates = [
        link.attributes for link in page.all("link", rel="alternate") if "hreflang" in link.attributes
    ]
    assert [(link["hreflang"], link["href"]) for link in alternates] == [
        (tag, f"http://127.0.0.1:8000{path}2021/papers/?page=1&track=Research")
        for tag, path in (("en", "/"), ("x-default", "/"), ("de", "/de/"), ("fr", "/fr/"), ("es", "/es/"),
                          ("zh-Hans", "/zh-hans/"))
    ]  # fmt: skip
    (canonical,) = page.all("link", rel="canonical")
    assert canonical.attributes["href"].startswith("http://127.0.0.1:8000/de/2021/papers/")
    (footer,) = page.all("footer", "foot")
    assert [
        (link.text, link.attributes["href"]) for link in footer.inside("a") if "hreflang" in link.attributes
    ] == [
        ("English", "/2021/papers/?page=1&track=Research"),
        ("Deutsch", "/de/2021/papers/?page=1&track=Research"),
        ("Français", "/fr/2021/papers/?page=1&track=Research"),
        ("Español", "/es/2021/papers/?page=1&track=Research"),
        ("简体中文", "/zh-hans/2021/papers/?page=1&track=Research"),
    ]


def test_language_depends_on_the_path_and_not_on_accept_language(client: Client) -> None:
    for path, tag in (("/2021/", "en"), ("/de/2021/", "de"), ("/zh-hans/no-such-page/", "zh-Hans")):
        response = client.get(path, headers={"accept-language": "fr"})
        assert f'<html lang="{tag}">' in response.text
        assert response.headers["Content-Language"] == tag
        assert "Accept-Language" not in response.headers.get("Vary", "")


def test_site_with_one_language_has_no_language_links(client: Client) -> None:
    with override_settings(LANGUAGES=[("en", "English")]):
        assert "hreflang" not in client.get("/2021/").text
        assert client.get("/de/2021/").status_code == 404


def test_files_api_and_admin_have_no_language_prefix(client: Client) -> None:
    """Assert that links of German pages lead to German pages, or to URLs without a language."""
    linked_paths = set()
    for path in PAGES:
        for link in read(client, f"/de{path}").all("a"):
            url, is_language_link = urlsplit(link.attributes["href"]), "hreflang" in link.attributes
            if url.path.startswith("/") and not url.netloc and not is_language_link:
                linked_paths.add(url.path)
    files = {path for path in linked_paths if not path.startswith("/de/")}

    assert {"/de/2021/papers/", "/de/people/", "/de/2021/papers/p1/notes/"} <= linked_paths
    assert {"/2021/papers.bib", "/2021/papers.atom"} & files
    for path in files:
        assert client.get(path).status_code == 200, path
        assert client.get(f"/de{path}", follow=True).status_code == 404, path
    other_paths = (
        "/api/v1/",
        "/api/docs/",
        "/admin/",
        "/robots.txt",
        "/sitemap.xml",
        "/2021/card.png",
        "/healthz",
    )
    for path in other_paths:
        assert client.get(f"/de{path}", follow=True).status_code == 404, path


def test_dates_are_formatted_for_the_language(client: Client) -> None:
    date_by_language = {
        "de": "6. April 2021",
        "fr": "6 avril 2021",
        "es": "6 de abril de 2021",
        "zh-hans": "2021年4月6日",
    }
    for language, date in date_by_language.items():
        assert date in client.get(f"/{language}/2021/schedule/2021-04-06/").text
    assert "6 April 2021" in client.get("/2021/schedule/2021-04-06/").text


def test_cached_values_are_kept_per_language(client: Client) -> None:
    """Assert that pages do not depend on previous requests in another language."""
    paths = ["/2021/", "/2021/papers/", "/2021/papers/p1/notes/", "/2021/search/?q=notes"]

    def pages(language: str) -> dict[str, str]:
        return {path: client.get(path_in_language(path, language)).text for path in paths}

    per_revision.clear_caches()
    english = pages("en")
    german = pages("de")
    per_revision.clear_caches()
    assert pages("de") == german
    assert pages("en") == english
    assert "Di, 6. Apr" in german["/2021/papers/"]


def test_query_count_is_the_same_in_english_and_german(client: Client) -> None:
    query_counts = {}
    for language in ("en", "de"):
        for path in ("/2021/", "/2021/papers/", "/2021/schedule/2021-04-06/", "/2021/papers/p1/notes/"):
            per_revision.clear_caches()
            with CaptureQueriesContext(connection) as queries:
                client.get(path_in_language(path, language))
            query_counts[language, path] = len(queries)
    assert [count for (language, _), count in query_counts.items() if language == "en"] == [
        count for (language, _), count in query_counts.items() if language == "de"
    ]


def test_cache_keys_and_tags_of_translated_pages() -> None:
    english, german = parse_address("/2021/papers/", "").key, parse_address("/de/2021/papers/", "").key
    assert english
    assert german
    assert english != german
    assert edition_slug(*german) == "2021"
    assert parse_address("/de/2021/search/", "q=steam").key is not None
    assert edition_slug("/de/2021/search/", "") == ""
    body = b'<a href="/de/2021/papers/p1/notes/">'
    paper = parse_address("/de/2021/papers/p1/notes/", "").key
    assert paper
    assert response_tags(paper, body, ["2021"]) == {"site", "edition:2021", "paper:p1", "title:p1"}


def test_saved_agenda_has_a_cookie_for_each_language(client: Client) -> None:
    client.post("/de/2021/agenda/stars/", {"star": "s.s1"})

    assert {name: cookie["path"] for name, cookie in client.cookies.items()} == {
        "agenda": "/2021/agenda/",
        "agenda-de": "/de/2021/agenda/",
        "agenda-fr": "/fr/2021/agenda/",
        "agenda-es": "/es/2021/agenda/",
        "agenda-zh-hans": "/zh-hans/2021/agenda/",
    }
    for path in ("/2021/agenda/", "/fr/2021/agenda/"):
        assert "Engines" in client.get(path).text
