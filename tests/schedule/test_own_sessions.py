"""What a session chair finds on the desk: their sessions, each with its order and a preview."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from conference.models import Edition
from people.models import PersonAccount
from schedule.models import Session
from tests.access.world import add_member
from tests.factories import (
    CLOSED,
    add_role,
    make_edition,
    make_paper,
    make_person,
    make_presentation,
    make_room,
    make_session,
)
from tests.html_pages import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def edition() -> Edition:
    return make_edition(2021, **CLOSED)


@pytest.fixture
def chair(edition: Edition, client: Client) -> User:
    """Return a session chair who is signed in."""
    user = add_member("lea", edition, Role.SESSION_CHAIR)
    PersonAccount.objects.create(user=user, person=make_person("Lea Leader"))
    client.force_login(user)
    return user


def lead(user: User, edition: Edition, title: str) -> Session:
    """Create a draft session with two presentations that the account's person chairs."""
    session = make_session(edition, title=title, room=make_room(edition, "Hall A"), status="draft")
    add_role(session, PersonAccount.objects.get(user=user).person, "chair")
    for name in ("First", "Second"):
        paper = make_paper(
            edition, [f"{name} Author"], title=f"{name} paper", abstract=f"*{name}*", status="draft"
        )
        make_presentation(session, paper, status="draft")
    return session


def test_desk_lists_own_sessions_with_order_and_preview(
    client: Client, chair: User, edition: Edition
) -> None:
    session = lead(chair, edition, "Engines")
    make_session(edition, title="Somebody else’s")
    page = Page(client.get("/admin/").text)
    section = page.all("section", "desk-own")[0]

    assert page.links()["Engines"] == f"/admin/schedule/session/{session.pk}/change/"
    assert section.text.startswith(
        "Your sessions Engines Tue 6 Apr, 08:00 to 09:00 PDT · Hall A · MLSys 2021 · Draft"
    )
    assert {link.text: link.attributes["href"] for link in section.inside("a")} == {
        "Engines": f"/admin/schedule/session/{session.pk}/change/",
        "Preview": f"/admin/schedule/session/{session.pk}/preview/",
        "Order of 2 presentations": f"/admin/schedule/session/{session.pk}/change/#presentations-group",
    }
    assert 'id="presentations-group"' in client.get(f"/admin/schedule/session/{session.pk}/change/").text


def test_desk_of_a_session_chair_without_session_says_what_to_do(client: Client, chair: User) -> None:
    page = Page(client.get("/admin/").text)

    assert "Ask a program chair to enter you as its chair." in page.all("section", "desk-own")[0].text
    assert "Add an edition" not in page.links()


def test_preview_shows_drafts_in_order_without_links_to_the_site(
    client: Client, chair: User, edition: Edition
) -> None:
    session = lead(chair, edition, "Engines")
    response = client.get(f"/admin/schedule/session/{session.pk}/preview/")
    preview = Page(response.text).all("div", "session-preview")[0]

    assert response.headers["Cache-Control"].startswith("max-age=0")
    assert preview.text.index("First paper") < preview.text.index("Second paper")
    assert all(text in preview.text for text in ("Lea Leader", "First Author", "Hall A", "08:00"))
    assert "<em>First</em>" in response.text
    assert preview.inside("a") == []


def test_preview_of_anothers_session_is_404(client: Client, chair: User, edition: Edition) -> None:
    session = make_session(edition, title="Somebody else’s")

    assert client.get(f"/admin/schedule/session/{session.pk}/preview/").status_code == 404


def test_desk_of_3_sessions_makes_as_many_queries_as_of_1(
    client: Client, chair: User, edition: Edition
) -> None:
    counts: list[Any] = []
    for titles in (["A"], ["B", "C"]):
        for title in titles:
            lead(chair, edition, title)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get("/admin/")
        counts.append(len(queries))

    assert counts == [counts[0]] * 2
