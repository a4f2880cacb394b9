"""The search of the admin: groups, drafts, the current edition first, permissions."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from operations.indexing.update import refresh
from tests.access.world import add_member
from tests.factories import make_edition, make_page, make_paper, make_person, make_presentation, make_session

pytestmark = pytest.mark.django_db


def search(client: Client, text: str, **params: Any) -> dict[str, list[str]]:
    page = client.get("/admin/search/", {"q": text, **params})
    return {str(group.title): [row.label for row in group.rows] for group in page.context["results"]}


def test_every_model_is_found_with_drafts_and_links_to_forms(admin_client: Client) -> None:
    edition = make_edition()
    draft = make_paper(edition, title="Quokka graphs", status="draft")
    make_person("Quokka Smith")
    make_session(edition, title="Quokka session")
    make_presentation(make_session(edition, title="Keynote"), title="The quokka")
    make_page(edition, title="Quokka travel")
    page = admin_client.get("/admin/search/", {"q": "quokka"})

    assert search(admin_client, "quokka") == {
        "Papers": ["Quokka graphs"],
        "People": ["Quokka Smith"],
        "Sessions": ["Quokka session"],
        "Talks": ["The quokka"],
        "Pages": ["Quokka travel"],
    }
    assert f'<a href="/admin/papers/paper/{draft.pk}/change/">Quokka graphs</a>' in page.text
    assert "<span>Draft</span>" in page.text


def test_current_edition_comes_first_and_abstracts_are_searched(admin_client: Client) -> None:
    old, new = make_edition(2021), make_edition(2022)
    make_paper(new, title="Newer", abstract="About quokkas.")
    make_paper(old, title="Older", abstract="About quokkas.")
    refresh()

    assert search(admin_client, "quokkas", edition=old.pk) == {"Papers": ["Older", "Newer"]}
    assert search(admin_client, "quokkas", edition=new.pk) == {"Papers": ["Newer", "Older"]}


@pytest.mark.parametrize(("role", "papers"), [(Role.VIEWER, ["Mine quokka"]), (Role.SESSION_CHAIR, [])])
def test_search_finds_only_rows_that_the_role_may_view(client: Client, role: str, papers: list[str]) -> None:
    own_edition, other_edition = make_edition(2021), make_edition(2022)
    make_paper(own_edition, title="Mine quokka")
    make_paper(other_edition, title="Other quokka")
    refresh()
    client.force_login(add_member("somebody", own_edition, role))

    assert search(client, "quokka").get("Papers", []) == papers
    assert "Other" not in client.get("/admin/search/", {"q": "quokka"}).text


@pytest.mark.parametrize(
    "text", ["", "   ", '"', '""', "-", "nothing-like-this", "%00", "a" * 5000, "title:", "<b>x"]
)
def test_unusual_query_finds_nothing_without_error(text: str, admin_client: Client) -> None:
    make_edition()
    page = admin_client.get("/admin/search/", {"q": text})

    assert (page.status_code, page.context["results"]) == (200, [])


def test_search_box_keeps_the_query(admin_client: Client) -> None:
    make_edition()
    page = admin_client.get("/admin/search/", {"q": "nothing-like-this"}).text

    assert 'value="nothing-like-this"' in page
    assert "Nothing found for “nothing-like-this”." in page


def test_10_rows_take_as_many_queries_as_1_and_link_to_their_list(admin_client: Client) -> None:
    edition = make_edition()
    query_counts, page = [], None
    for row_count in (1, 9):
        for number in range(row_count):
            make_paper(edition, title=f"Quokka {row_count}.{number}")
        refresh()
        admin_client.get("/admin/search/", {"q": "quokka"})
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get("/admin/search/", {"q": "quokka"})
        query_counts.append(len(queries))

    assert query_counts[0] == query_counts[1] <= 16
    assert page is not None
    assert [len(group.rows) for group in page.context["results"]] == [8]
    assert 'href="/admin/papers/paper/?q=quokka"' in page.text


def test_admin_pages_have_the_search_form(admin_client: Client) -> None:
    make_edition()
    pages = [
        admin_client.get(path).text
        for path in ("/admin/", "/admin/papers/paper/", "/admin/papers/paper/add/")
    ]

    assert [
        page.count('<form class="desk-find" role="search" action="/admin/search/">') for page in pages
    ] == [1, 1, 1]
