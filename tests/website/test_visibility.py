"""No URL shows hidden rows: drafts of each model contain a marker, and tests request all URLs."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

import pytest
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from django.views import defaults

from conference.art import art_hash
from conference.models import Edition
from conference.request_edition import first_path_part
from exchange.exports.agenda_files import KINDS
from search.models import Document, Word
from tests import factories as make
from tests.website.sample_program import DRAFT_PATHS, MARKER, MARKER_LOWER, make_program_with_hidden_rows

pytestmark = pytest.mark.django_db

# Sample values of parameters of URLs. A new parameter needs an entry here.
SAMPLES: dict[str, list[Any]] = {
    "day": ["2021-04-06"],
    "digest": [art_hash("MLSys 2021", "#0b6b62"), "0123456789"],
    "edition": ["2021", "2030", "2031"],
    "file": ["2021.json", "2030.json"],
    "form": ["program_json"],
    "kind": ["poster", "session"],
    "page": ["calendar", "awards_detail", "papers.html"],
    "name": ["logos/none.png"],
    "ending": [*KINDS],
    "section": ["pages", "papers", "sessions", "people", "institutions"],
    "token": ["x" * 32],
    "year": [2021, 2030],
}
# Keys of rows by section of the URL: public rows, hidden ones, and one of a hidden edition.
ROW_KEYS = {
    "institutions": ["kings", f"{MARKER_LOWER}-university"],
    "pages": ["guide", "conduct", f"{MARKER_LOWER}-page"],
    "papers": ["p1", f"{MARKER_LOWER}-p", f"{MARKER_LOWER}-w", f"{MARKER_LOWER}-ghost"],
    "people": ["ada", f"{MARKER_LOWER}-m", f"{MARKER_LOWER}-m1", f"{MARKER_LOWER}-ghost"],
    "presentations": ["a1", f"{MARKER_LOWER}-a", f"{MARKER_LOWER}-b", f"{MARKER_LOWER}-c"],
    "rooms": ["hall", f"{MARKER_LOWER}-room", f"{MARKER_LOWER}-ghost"],
    "sessions": [
        "s1",
        "t1",
        f"{MARKER_LOWER}-s",
        f"{MARKER_LOWER}-part",
        "back-to-draft",
        f"{MARKER_LOWER}-ghost",
    ],
    "topics": ["engines", f"{MARKER_LOWER}-topic"],
}
SAMPLES["uid"] = sorted(
    {uid for name in ("papers", "people", "presentations", "sessions") for uid in ROW_KEYS[name]}
)
# In `virtual/<year>/day/4/6`, the day is a number.
INTEGER_SAMPLES = {"month": [4], "day": [6], "page": [1]}
QUERY_STRINGS = [f"?q={MARKER}", "?by=topic", "?by=track&sort=schedule", "?view=grid", "?letter=X"]
QUERY_STRINGS += ["?view=detailed", "?show=people", "?sort=random&seed=1", "?q=ada", "?q=notes&kind=paper"]
PREVIEWED_PATHS = [*DRAFT_PATHS, f"/2021/search/?q={MARKER}", f"/search/?q={MARKER}"]
PREVIEWED_PATHS += ["/2021/papers/?sort=schedule"]
# The desk requires a password and has its own tests. tests/api requests all URLs of the API.
EXCLUDED_APPS = {"admin", "api"}


def routes(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    """Yield the routes of the URLconf, except those of the admin and the API."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if pattern.app_name not in EXCLUDED_APPS:
                yield from routes(pattern.url_patterns, route)
        else:
            yield route


def sample_paths(route: str) -> list[str]:
    """Return the paths of a route with every combination of sample values."""
    route = route.replace("<str:slug>", "x")  # After a uid, any slug redirects to the right one.
    if "<" not in route:
        return [f"/{route}"]
    before, _, rest = route.partition("<")
    parameter, _, after = rest.partition(">")
    converter, _, name = parameter.rpartition(":")
    section = before.rstrip("/").rpartition("/")[2]
    samples = INTEGER_SAMPLES[name] if converter == "int" else ROW_KEYS.get(section) or SAMPLES[name]
    return [path for sample in samples for path in sample_paths(f"{before}{sample}{after}")]


def all_paths() -> list[str]:
    return [path for route in routes(get_resolver().url_patterns) for path in sample_paths(route)]


def response_text(body: bytes) -> str:
    """Return a response body as text; of a ZIP file, the names and texts of all members."""
    if not body.startswith(b"PK"):
        return body.decode(errors="replace")
    with ZipFile(BytesIO(body)) as packed:
        return " ".join(f"{name} {packed.read(name).decode(errors='replace')}" for name in packed.namelist())


def find_leaks(client: Client, paths: list[str]) -> list[str]:
    """Return the paths whose response contains the marker, in any case, except where it repeats the query."""
    leaking = []
    for path in paths:
        response = client.get(path, follow=True)
        assert response.status_code < 500, path
        body = response_text(response.getvalue())
        text = f"{body} {response.headers} {response.redirect_chain}".lower()
        for echo in (
            path.lower(),
            f"q={MARKER_LOWER}",
            f'value="{MARKER_LOWER}"',
            f"words</span> {MARKER_LOWER}",
            f"“{MARKER_LOWER}”",
        ):
            text = text.replace(echo, "")
        if MARKER_LOWER in text:
            leaking.append(path)
    return leaking


@pytest.fixture(scope="module", autouse=True)
def program(made_once: Callable[..., Any]) -> Any:
    return made_once(make_program_with_hidden_rows)


def share_pages_of_missing_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render the page "not found" once per edition. All its other parts but the address are the same."""
    pages: dict[object, bytes] = {}

    def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
        state = vars(request)
        key = first_path_part(request), state.get("edition_slug"), state.get("preview")
        if key not in pages:
            page = defaults.page_not_found(request, exception).content
            pages[key] = page.replace(request.path.encode(), b"")
        return HttpResponseNotFound(pages[key])

    monkeypatch.setattr("website.urls.handler404", page_not_found, raising=False)


@pytest.fixture(autouse=True)
def _shared_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    share_pages_of_missing_rows(monkeypatch)


@pytest.fixture(autouse=True)
def _cards_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render cards as text, because the marker cannot be found in a picture."""
    monkeypatch.setattr("conference.cards.draw", lambda picture: repr(picture).encode())


def test_no_page_shows_hidden_rows_or_sets_a_cookie(
    program: dict[str, Any], client: Client, admin_client: Client
) -> None:
    """Request all pages after previews by others in the same process, whose drafts must not be cached."""
    admin_client.get(f"/admin/conference/edition/{program['edition'].pk}/preview/")
    for path in PREVIEWED_PATHS:
        assert MARKER in admin_client.get(path).text, path
    future_edition = make.make_edition(
        2031, public_from=timezone.now() + timedelta(days=1), name=f"MLSys {MARKER}"
    )
    make.make_topic(future_edition, MARKER)

    assert find_leaks(client, all_paths()) == []
    assert client.cookies == {}
    assert [str(document) for document in Document.objects.all() if MARKER_LOWER in document.text()] == []
    assert not Word.objects.filter(word__contains=MARKER_LOWER).exists()


def test_no_list_shows_hidden_rows_with_any_parameters(client: Client) -> None:
    # Routes without the key of a row are lists.
    list_routes = [
        route
        for route in routes(get_resolver().url_patterns)
        if set(re.findall(r"<\w+:(\w+)>", route)) <= {"edition", "day"}
    ]
    lists = [
        path
        for route in list_routes
        for path in sample_paths(route)
        if not path.startswith(("/2030/", "/2031/"))
    ]

    assert {"/2021/papers/", "/2021/schedule/2021-04-06/", "/people/", "/search/feed"} <= set(lists)
    assert find_leaks(client, [path + query for path in lists for query in QUERY_STRINGS]) == []


@pytest.mark.parametrize(
    "words", [MARKER, f"{MARKER[:-1]}x", MARKER_LOWER[:4], f"author:{MARKER}", f"ada -{MARKER[:3]}"]
)
def test_hidden_rows_are_not_found_suggested_or_used_as_corrections(client: Client, words: str) -> None:
    for scope in ("", "/2021", "/2030"):
        for page in ("search/", "search/suggest"):
            text = unquote(client.get(f"{scope}/{page}", {"q": words}).getvalue().decode().lower())
            assert MARKER_LOWER not in text.replace(words.lower(), "").replace(f"“{MARKER_LOWER}”", ""), (
                f"{scope}/{page}"
            )
    assert [str(document) for document in Document.objects.all() if MARKER_LOWER in document.text()] == []
    assert not Word.objects.filter(word__contains=MARKER_LOWER).exists()


@pytest.mark.parametrize("embargo", [None, timedelta(hours=1)])
def test_no_page_shows_rows_of_an_embargoed_program(client: Client, embargo: timedelta | None) -> None:
    until = embargo and timezone.now() + embargo
    opening_times = {"public_from": make.PAST, "papers_public_from": until, "schedule_public_from": until}
    Edition.objects.filter(year=2030).update(**opening_times, name="MLSys 2030", city="San Jose")
    edition = Edition.objects.get(year=2030)
    edition.pages.all().delete()
    edition.sponsors.all().delete()
    edition.announcements.all().delete()
    edition.key_dates.all().delete()
    edition.committee_roles.all().delete()

    assert find_leaks(client, [path for path in all_paths() if "2021" not in path]) == []


def test_pages_show_public_rows_of_every_kind(client: Client) -> None:
    """Assert that the requests see public rows of every model, so that the search is meaningful."""
    missing = {"Notes", "Keynote", "Engines", "Hall A", "Babbage &amp; Sons", "Welcome", "Ada Lovelace"}
    missing.add("Addendum")
    for path in all_paths():
        if missing and MARKER_LOWER not in path and "2021" in path:
            page = client.get(path).getvalue().decode(errors="replace")
            missing = {word for word in missing if word not in page}

    assert missing == set()


def test_every_url_parameter_has_sample_values() -> None:
    assert all(sample_paths(route) for route in routes(get_resolver().url_patterns))
