"""Drafts in a preview: only users who started it see them, marked, and on pages alone."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory
from django.utils import timezone

from conference.models import Edition
from content.preview_context import PreviewScope, preview_as
from operations.indexing.update import refresh
from pagecache.middleware import PageCache
from papers.models import Paper
from people.models import Person
from search.models import Document
from tests import factories as make
from tests.connections import keep_connections_open
from tests.website.sample_program import DRAFT_PATHS, MARKER, MARKER_LOWER, make_program_with_hidden_rows
from tests.website.test_visibility import all_paths, find_leaks, share_pages_of_missing_rows
from website.wsgi import django

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def program(made_once: Callable[..., Any]) -> Any:
    """Create a public program of 2021 with drafts, and an edition of 2030 that is not public."""
    return made_once(make_program_with_hidden_rows)


def start_preview(client: Client, edition: Edition) -> None:
    client.get(f"/admin/conference/edition/{edition.pk}/preview/")


def request_through_cache(cache: PageCache, path: str, cookie: str = "") -> tuple[str, dict[str, str], str]:
    """Request a page through the page cache; return status, headers and body."""
    started: list[Any] = []
    environ = {**RequestFactory().get(path).environ, "HTTP_COOKIE": cookie, "wsgi.errors": None}
    with keep_connections_open():
        body = cache(environ, lambda status, headers, exc_info=None: started.extend((status, dict(headers))))  # type: ignore[arg-type]
        return started[0], started[1], b"".join(body).decode(errors="replace")


def test_preview_shows_drafts_on_marked_uncached_pages(
    program: dict[str, Any], admin_client: Client, subtests: pytest.Subtests
) -> None:
    before = {path: admin_client.get(path).text for path in DRAFT_PATHS}
    start_preview(admin_client, program["edition"])
    for path in DRAFT_PATHS:
        with subtests.test(path=path):
            page = admin_client.get(path)
            assert MARKER_LOWER not in before[path].lower().replace(path, "")
            assert page.status_code == 200
            assert MARKER in page.text
            assert "<b>Preview of MLSys 2021</b>" in page.text
            assert page.headers["Cache-Control"] == "private, no-store"


def test_preview_shows_an_edition_that_is_not_public_yet(admin_client: Client) -> None:
    edition = Edition.objects.get(year=2030)
    soon = timezone.now() + timedelta(days=1)
    Edition.objects.filter(pk=edition.pk).update(papers_public_from=soon, schedule_public_from=None)
    paths = ["/2030/", "/2030/papers/", "/2030/schedule/", "/2030/awards/", "/2030/committee/", "/people/"]
    before = {path: MARKER in admin_client.get(path).text for path in paths}
    start_preview(admin_client, edition)
    during = {path: MARKER in admin_client.get(path).text for path in paths}
    admin_client.get(f"/admin/conference/edition/{edition.pk}/as-public/")
    after = {path: MARKER in admin_client.get(path).text for path in paths}

    assert set(before.values()) == set(after.values()) == {False}
    assert set(during.values()) == {True}


def test_preview_shows_no_hidden_names_emails_or_withdrawn_papers(admin_client: Client) -> None:
    edition = make.make_edition(2022)
    ada = make.make_person("Ada Byron", email="ada@secret.example")
    ada.names.create(name="Old Byronname", hidden=True)
    paper = make.make_paper(edition, title="Early", status="draft")
    make.add_author(paper, ada, name="Old Byronname")
    make.make_material(paper, label="Kept back", visible=False)
    withdrawn = make.make_paper(edition, title="Gone", status="withdrawn")
    start_preview(admin_client, edition)
    page = admin_client.get(paper.get_absolute_url()).text

    assert "Ada Byron" in page
    assert [word for word in ("Byronname", "secret.example", "Kept back") if word in page] == []
    assert admin_client.get(withdrawn.get_absolute_url()).status_code == 404


def test_preview_of_one_edition_shows_no_drafts_of_another(
    program: dict[str, Any], admin_client: Client
) -> None:
    start_preview(admin_client, make.make_edition(2022))

    assert find_leaks(admin_client, [path for path in DRAFT_PATHS if MARKER_LOWER not in path]) == []
    assert admin_client.get("/2030/").status_code == 404


@pytest.mark.anywhere
def test_preview_shows_drafts_only_on_pages_and_stylesheets(
    program: dict[str, Any], admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that files, feeds, site maps, pictures and suggestions are public during a preview too.

    Only pages and the stylesheet with the colors of topics may show drafts.
    """
    share_pages_of_missing_rows(monkeypatch)
    start_preview(admin_client, program["edition"])
    leaking_paths = []
    for path in all_paths():
        response = admin_client.get(path, follow=True)
        is_marked = '<aside class="preview"' in response.getvalue().decode(errors="replace")
        body = f"{response.getvalue().decode(errors='replace')} {response.headers}".lower()
        is_stylesheet = "/2021/colors-" in path
        if MARKER_LOWER in body.replace(path.lower(), "") and not (is_marked or is_stylesheet):
            leaking_paths.append(path)
        if is_marked or is_stylesheet:
            assert response.headers["Cache-Control"] == "private, no-store", path
        if is_marked:
            assert response.headers["Content-Type"].startswith("text/html"), path

    assert leaking_paths == []


def test_search_index_is_built_without_drafts_during_a_preview(program: dict[str, Any]) -> None:
    edition: Edition = program["edition"]
    with preview_as(PreviewScope(edition.pk, drafts=True)):
        draft_papers = Paper.objects.published().filter(title=MARKER).count()
        draft_people = Person.objects.published().filter(name=f"Drafted {MARKER}").count()
        refresh()

    assert (draft_papers, draft_people) == (2, 1)
    assert [document for document in Document.objects.all() if MARKER_LOWER in document.text()] == []


def test_page_cache_neither_serves_nor_stores_previews(program: dict[str, Any], admin_client: Client) -> None:
    cache = PageCache(django)
    start_preview(admin_client, program["edition"])
    cookie = f"sessionid={admin_client.cookies['sessionid'].value}"
    before = request_through_cache(cache, "/2021/papers/")
    preview = request_through_cache(cache, "/2021/papers/", cookie)
    after = request_through_cache(cache, "/2021/papers/")

    assert (MARKER in before[2], MARKER in preview[2], MARKER in after[2]) == (False, True, False)
    assert preview[1]["Cache-Control"] == "private, no-store"
    assert "ETag" not in preview[1]


def test_preview_never_returns_304(program: dict[str, Any], admin_client: Client) -> None:
    start_preview(admin_client, program["edition"])
    page = admin_client.get("/2021/papers/", headers={"if-none-match": "*"})

    assert page.status_code == 200


def test_preview_refuses_to_save_changes(program: dict[str, Any], admin_client: Client) -> None:
    start_preview(admin_client, program["edition"])
    page = admin_client.post("/2021/agenda/", {"make": "1"})

    assert page.status_code == 403
    assert "Previews can’t save changes" in page.text
    assert "Leave the preview" in page.text


def test_preview_redirects_to_the_requested_page_and_back(
    program: dict[str, Any], admin_client: Client
) -> None:
    edition: Edition = program["edition"]
    base = f"/admin/conference/edition/{edition.pk}"
    draft = f"/2021/papers/{MARKER_LOWER}-p/{MARKER_LOWER}/"
    page = admin_client.get(f"{base}/preview/", {"next": draft}, follow=True)
    links = re.findall(r'<p class="out"><a href="([^"]+)">[^<]+</a> <a href="([^"]+)">', page.text)
    public = admin_client.get(links[0][0].replace("&amp;", "&"))

    assert page.redirect_chain == [(draft, 302)]
    assert links[0][1] == f"/admin/?edition={edition.pk}"
    assert public.headers["Location"] == draft
    assert admin_client.get(draft).status_code == 404


@pytest.mark.parametrize("path", ["//evil.example/", "https://evil.example/", "evil", "/\\evil.example"])
def test_preview_redirects_to_no_other_site(path: str, program: dict[str, Any], admin_client: Client) -> None:
    edition: Edition = program["edition"]
    response = admin_client.get(f"/admin/conference/edition/{edition.pk}/preview/", {"next": path})

    assert response.headers["Location"] == "/2021/"


def test_preview_requires_permission_to_view_the_edition(program: dict[str, Any], client: Client) -> None:
    edition: Edition = program["edition"]
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_edition"))
    client.force_login(user)
    start_preview(client, edition)
    is_draft_shown = [MARKER in client.get("/2021/papers/").text]
    user.user_permissions.clear()
    is_draft_shown.append(MARKER in client.get("/2021/papers/").text)
    status = client.get(f"/admin/conference/edition/{edition.pk}/preview/").status_code

    assert is_draft_shown == [True, False]
    assert status == 404


def test_form_of_a_draft_links_to_its_preview(admin_client: Client) -> None:
    paper = make.make_paper(make.make_edition(2022), status="draft", title="Early")
    form = admin_client.get(f"/admin/papers/paper/{paper.pk}/change/").text
    link = re.findall(r'<a href="([^"]+)">Preview</a>', form)[0]

    assert ">Early</h1>" in admin_client.get(link, follow=True).text.replace("\n", "")
