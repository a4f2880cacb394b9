"""Pages are in the language of their URL; files, the API and the admin have one URL for all languages."""

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
from tests.reading import read
from tests.website.sample_program import PAGES, make_public_program

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_address_names_the_language() -> None:
    assert [language_of_path(path) for path in ("/de/", "/zh-hans/2021/")] == ["de", "zh-hans"]
    others = ("/", "/2021/", "/de", "/en/", "/it/", "/people/de/")
    assert {language_of_path(path) for path in others} == {"en"}
    assert (strip_language("/de/2021/"), strip_language("/2021/")) == ("/2021/", "/2021/")
    assert [path_in_language("/de/2021/", code) for code in ("fr", "en")] == ["/fr/2021/", "/2021/"]


def test_no_edition_takes_the_address_of_a_language() -> None:
    with pytest.raises(ValidationError):
        validate_edition_slug("de")


def test_page_links_to_itself_in_each_language(client: Client) -> None:
    make_public_program()
    page = read(client, "/de/2021/papers/?track=Research&page=1")

    assert [(one.attributes["hreflang"], one.attributes["href"]) for one in page.all("link", rel="alternate")
            if "hreflang" in one.attributes] == [
        (tag, f"http://127.0.0.1:8000{path}2021/papers/?page=1&track=Research")
        for tag, path in (("en", "/"), ("x-default", "/"), ("de", "/de/"), ("fr", "/fr/"), ("es", "/es/"),
                          ("zh-Hans", "/zh-hans/"))
    ]  # fmt: skip
    (canonical,) = page.all("link", rel="canonical")
    assert canonical.attributes["href"].startswith("http://127.0.0.1:8000/de/2021/papers/")
    (foot,) = page.all("footer", "foot")
    assert [
        (one.text, one.attributes["href"]) for one in foot.inside("a") if "hreflang" in one.attributes
    ] == [
        ("English", "/2021/papers/?page=1&track=Research"),
        ("Deutsch", "/de/2021/papers/?page=1&track=Research"),
        ("Français", "/fr/2021/papers/?page=1&track=Research"),
        ("Español", "/es/2021/papers/?page=1&track=Research"),
        ("简体中文", "/zh-hans/2021/papers/?page=1&track=Research"),
    ]


def test_response_names_its_language_and_none_is_guessed(client: Client) -> None:
    make_public_program()
    for path, tag in (("/2021/", "en"), ("/de/2021/", "de"), ("/zh-hans/no-such-page/", "zh-Hans")):
        response = client.get(path, headers={"accept-language": "fr"})
        assert f'<html lang="{tag}">' in response.text
        assert response.headers["Content-Language"] == tag
        assert "Accept-Language" not in response.headers.get("Vary", "")


def test_site_with_one_language_has_no_switch(client: Client) -> None:
    make_public_program()
    with override_settings(LANGUAGES=[("en", "English")]):
        assert "hreflang" not in client.get("/2021/").text
        assert client.get("/de/2021/").status_code == 404


def test_only_pages_have_a_prefix(client: Client) -> None:
    """Assert that links of German pages lead to German pages, or to URLs without a language."""
    make_public_program()
    known = set()
    for path in PAGES:
        for link in read(client, f"/de{path}").all("a"):
            own, is_switch = urlsplit(link.attributes["href"]), "hreflang" in link.attributes
            if own.path.startswith("/") and not own.netloc and not is_switch:
                known.add(own.path)
    files = {path for path in known if not path.startswith("/de/")}

    assert {"/de/2021/papers/", "/de/people/", "/de/2021/papers/p1/notes/"} <= known
    assert {"/2021/papers.bib", "/2021/papers.atom"} & files
    for path in files:
        assert client.get(path).status_code == 200, path
        assert client.get(f"/de{path}", follow=True).status_code == 404, path
    beside = (
        "/api/v1/",
        "/api/docs/",
        "/admin/",
        "/robots.txt",
        "/sitemap.xml",
        "/2021/card.png",
        "/healthz",
    )
    for path in beside:
        assert client.get(f"/de{path}", follow=True).status_code == 404, path


def test_dates_are_written_as_the_language_does(client: Client) -> None:
    make_public_program()
    written = {
        "de": "6. April 2021",
        "fr": "6 avril 2021",
        "es": "6 de abril de 2021",
        "zh-hans": "2021年4月6日",
    }
    for language, words in written.items():
        assert words in client.get(f"/{language}/2021/schedule/2021-04-06/").text
    assert "6 April 2021" in client.get("/2021/schedule/2021-04-06/").text


def test_nothing_cached_is_of_another_language(client: Client) -> None:
    """Assert that pages do not depend on previous requests in another language."""
    make_public_program()
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


def test_language_costs_no_query(client: Client) -> None:
    make_public_program()
    counted = {}
    for language in ("en", "de"):
        for path in ("/2021/", "/2021/papers/", "/2021/schedule/2021-04-06/", "/2021/papers/p1/notes/"):
            per_revision.clear_caches()
            with CaptureQueriesContext(connection) as queries:
                client.get(path_in_language(path, language))
            counted[language, path] = len(queries)
    assert [count for (language, _), count in counted.items() if language == "en"] == [
        count for (language, _), count in counted.items() if language == "de"
    ]


def test_page_cache_knows_each_language_as_its_own_page() -> None:
    own, german = parse_address("/2021/papers/", "").key, parse_address("/de/2021/papers/", "").key
    assert own
    assert german
    assert own != german
    assert edition_slug(*german) == "2021"
    assert parse_address("/de/2021/search/", "q=steam").key is not None
    assert edition_slug("/de/2021/search/", "") == ""
    body = b'<a href="/de/2021/papers/p1/notes/">'
    paper = parse_address("/de/2021/papers/p1/notes/", "").key
    assert paper
    assert response_tags(paper, body, ["2021"]) == {"site", "edition:2021", "paper:p1", "title:p1"}


def test_saved_agenda_is_known_in_each_language(client: Client) -> None:
    make_public_program()
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
