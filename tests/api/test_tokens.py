"""Tokens: created, shown once and revoked in the admin; drafts for staff only, never cached (trap 17)."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Membership
from api.models import Token
from api.permissions import Caller
from conference.models import Edition
from pagecache.middleware import PageCache
from papers.models import Authorship, Paper
from tests import factories as make
from tests.access.world import add_member
from tests.api.reading import application
from tests.api.writing import Writer, bearer, make_staff, make_token
from tests.pagecache.wsgi_site import fetch

pytestmark = pytest.mark.django_db
DRAFT = "/api/v1/papers/2021/draft/"
NEW = {"edition": "2021", "title": "New"}


@pytest.fixture
def edition() -> Edition:
    edition = make.make_edition()
    make.make_paper(edition, ["Ada"], uid="draft", title="Secret", status="draft")
    return edition


def titles_and_statuses(**headers: Any) -> list[str]:
    rows = Client().get("/api/v1/papers/", **headers).json()["results"]
    return [f"{row['title']}: {row['status']}" for row in rows]


# In the admin


def test_token_is_created_in_the_admin_and_shown_once(admin_client: Client, edition: Edition) -> None:
    assert "lasts" in admin_client.get("/admin/api/token/add/").text
    values = {"name": "Phone app", "scope": "read", "edition": str(edition.pk), "lasts": "30"}
    page = admin_client.post("/admin/api/token/add/", values)
    token = Token.objects.get()
    text = page.context["text"]

    assert text in page.text
    assert f'value="{text}"' not in page.text
    assert "no-store" in page["Cache-Control"]
    assert (token.name, token.scope, token.edition) == ("Phone app", "read", edition)
    assert token.user.username == "admin"
    assert timedelta(days=29) < token.expiry - timezone.now() <= timedelta(days=30)
    assert text not in str(list(Token.objects.values()))
    assert titles_and_statuses(**bearer(text)) == ["Secret: draft"]
    list_page = admin_client.get("/admin/api/token/").text
    assert "Phone app" in list_page
    assert text not in list_page + admin_client.get(f"/admin/api/token/{token.pk}/change/").text


def test_form_offers_only_editions_that_the_user_may_access(edition: Edition) -> None:
    """Do not reveal the name of an edition that is not announced yet."""
    secret = make.make_edition(2030, name="Secret in Seoul", public_from=None)
    make_token(make_staff(name="owner"), edition=secret)
    user = make_staff("add_token", "view_token")
    Membership.objects.create(user=user, edition=edition, role="editor")
    client = Client()
    client.force_login(user)
    page = client.get("/admin/api/token/add/").text
    values = {"name": "App", "scope": "read", "edition": str(secret.pk), "lasts": "30"}

    assert "MLSys 2021" in page
    assert "Seoul" not in page
    assert "Select a valid choice" in client.post("/admin/api/token/add/", values).text
    assert "Seoul" not in client.get("/admin/api/token/").text
    assert Token.objects.filter(user=user).count() == 0


def test_token_is_revoked_by_deleting_it(admin_client: Client, edition: Edition) -> None:
    text = make_token(make_staff())
    admin_client.post(f"/admin/api/token/{Token.objects.get().pk}/delete/", {"post": "yes"})

    assert Client().get("/api/v1/papers/", **bearer(text)).status_code == 401


def test_token_names_of_a_user_are_unique(admin_client: Client, edition: Edition) -> None:
    values = {"name": "App", "scope": "read", "edition": "", "lasts": "30"}
    admin_client.post("/admin/api/token/add/", values)
    page = admin_client.post("/admin/api/token/add/", values)

    assert "You already have a token with this name." in page.text
    assert Token.objects.count() == 1


def test_tokens_of_other_users_are_inaccessible(client: Client) -> None:
    make_token(make_staff(name="ada"), name="Of Ada")
    client.force_login(make_staff("view_token", "delete_token", name="bo"))

    assert "Of Ada" not in client.get("/admin/api/token/").text
    assert (
        client.post(f"/admin/api/token/{Token.objects.get().pk}/delete/", {"post": "yes"}).status_code != 200
    )
    assert Token.objects.count() == 1


# Authentication


@pytest.mark.parametrize(
    "header", ["Bearer wrong", "Bearer", "Bearer a b", "Bearer pl\xe9nary", "Bearer \u2020"]
)
def test_invalid_token_is_refused(edition: Edition, header: str) -> None:
    response = Client().get(DRAFT, HTTP_AUTHORIZATION=header.encode().decode("latin-1"))

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("is_signed_in", [False, True])
@pytest.mark.parametrize(
    "header",
    ["Token {token}", "Basic Y2hhaXI6YSBsb25nIHBhc3N3b3Jk", "Digest username=chair", "Unknown x", "{token}",
     "bearer{token}", "Bearer, {token}", "", " ", ",", "\x00", "Bearer\x00{token}"],
)  # fmt: skip
def test_other_kinds_of_authorization_are_refused(edition: Edition, header: str, is_signed_in: bool) -> None:
    client, text = Client(), make_token(make_staff())
    if is_signed_in:
        client.force_login(User.objects.get())
    for path in ("", "papers/", "papers/2021/draft/", "papers/?format=bibtex", "nothing/"):
        response = client.get(f"/api/v1/{path}", HTTP_AUTHORIZATION=header.format(token=text))

        assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
        assert response["Cache-Control"] == "private, no-store"
        assert response.json().keys() == {"detail"}


@pytest.mark.parametrize("header", ["Token x", "Basic x", ""])
def test_refusals_are_neither_taken_from_the_page_cache_nor_put_there(edition: Edition, header: str) -> None:
    cache = PageCache(application)
    for _ in range(2):
        assert fetch(cache, "/api/v1/papers/", HTTP_AUTHORIZATION=header)[0] == "401 Unauthorized"
        assert fetch(cache, "/api/v1/papers/")[0] == "200 OK"


def test_schemes_are_case_insensitive(edition: Edition) -> None:
    text = make_token(make_staff())

    assert titles_and_statuses(HTTP_AUTHORIZATION=f"bEARER  {text} ") == ["Secret: draft"]


def test_tokens_that_expired_or_belong_to_former_staff_are_refused(edition: Edition) -> None:
    expired = make_token(make_staff(name="a"), days=-1)
    former = make_token(make_staff(name="b", is_staff=False))
    inactive = make_token(make_staff(name="c", is_active=False))

    statuses = [Client().get(DRAFT, **bearer(text)).status_code for text in (expired, former, inactive)]
    assert statuses == [401, 401, 401]
    assert Token.objects.count() == 3


def test_writing_requires_a_staff_account(edition: Edition) -> None:
    response = Client().post("/api/v1/papers/", NEW, content_type="application/json")
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    visitor = Client()
    visitor.force_login(User.objects.create_user("visitor"))
    assert visitor.post("/api/v1/papers/", NEW, content_type="application/json").status_code == 403
    assert visitor.get(DRAFT).status_code == 404


def test_session_needs_a_csrf_token_to_write(edition: Edition) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_staff())
    refused = client.post("/api/v1/papers/", NEW, content_type="application/json")
    assert refused.status_code == 403
    client.cookies["csrftoken"] = "a" * 32
    accepted = client.post("/api/v1/papers/", NEW, content_type="application/json", HTTP_X_CSRFTOKEN="a" * 32)
    assert accepted.status_code == 201


# Permissions


def test_draft_is_shown_to_a_token_and_not_cached(edition: Edition) -> None:
    """Trap 17."""
    cache = PageCache(application)
    token = bearer(make_token(make_staff()))
    for _ in range(2):
        status, headers, body = fetch(cache, DRAFT, **token)
        assert (status, headers["Cache-Control"]) == ("200 OK", "private, no-store")
        assert b"Secret" in body
        assert fetch(cache, DRAFT)[0] == "404 Not Found"
        assert b"Secret" in fetch(cache, "/api/v1/papers/", **token)[2]
        assert b"Secret" not in fetch(cache, "/api/v1/papers/")[2]
        assert b"Secret" not in fetch(cache, "/api/v1/papers/", "expand=authors.person")[2]


@pytest.mark.parametrize(
    "path", ["papers/", "papers/2021/draft/", "papers/?format=bibtex", "", "papers/?x=1"]
)
def test_responses_to_a_token_are_not_cached(edition: Edition, path: str) -> None:
    response = Client().get(f"/api/v1/{path}", **bearer(make_token(make_staff())))

    assert response["Cache-Control"] == "private, no-store"
    assert {"Authorization", "Cookie"} <= {*response["Vary"].split(", ")}


def test_staff_session_sees_drafts_and_writable_fields(edition: Edition) -> None:
    client = Client()
    client.force_login(make_staff())

    assert client.get(DRAFT).json()["written"]["status"] == "draft"
    assert "written" not in client.get("/api/v1/papers/").json()["results"][0]
    assert Client().get(DRAFT).status_code == 404


def test_token_shows_rows_that_its_user_may_view(edition: Edition) -> None:
    make.make_paper(edition, title="Out")
    some = make_staff("view_paper", name="some")
    other = make_staff("view_room", name="other")

    assert titles_and_statuses(**bearer(make_token(some))) == ["Secret: draft", "Out: published"]
    assert titles_and_statuses(**bearer(make_token(other))) == ["Out: published"]
    body = Client().get(DRAFT, **bearer(make_token(some, name="b"))).json()
    # Authors are rows of another model, which the owner may not view.
    assert body["authors"] == []


def test_token_writes_with_the_permissions_of_its_user(edition: Edition) -> None:
    make.make_person("Ada", uid="ada")
    user = make_staff("view_paper", "change_paper", "view_person", "view_authorship")
    writer = Writer(make_token(user))

    writer.create("papers", 403, **NEW)
    writer.delete("papers/2021/draft/", 403)
    assert writer.patch("papers/2021/draft/", title="Other")["title"] == "Other"
    refused = writer.patch("papers/2021/draft/", 403, title="Third", authors=[{"person": "ada"}])
    assert refused["detail"] == "You don’t have permission to add authorships."
    assert Paper.objects.get().title == "Other"


def test_deleting_requires_permission_for_related_rows(edition: Edition) -> None:
    user = make_staff("view_paper", "delete_paper")
    refused = Writer(make_token(user)).delete("papers/2021/draft/", 403).json()

    assert refused["detail"] == "You don’t have permission to delete authorships."
    assert Paper.objects.count() == 1


def test_read_only_token_cannot_write(edition: Edition) -> None:
    writer = Writer(make_token(make_staff(), scope="read"))

    assert writer.create("papers", 403, **NEW)["detail"] == "This token is read-only."
    assert writer.delete("papers/2021/draft/", 403).json()["detail"] == "This token is read-only."
    assert Paper.objects.count() == 1


def test_token_of_one_edition_cannot_read_drafts_or_write_elsewhere(edition: Edition) -> None:
    other = make.make_edition(2022)
    make.make_paper(other, uid="hidden", title="Of next year", status="draft")
    make.make_paper(other, uid="out", title="Out")
    writer = Writer(make_token(make_staff(), edition=edition))

    assert titles_and_statuses(**writer.headers) == ["Secret: draft", "Out: published"]
    writer.get("papers/2022/hidden/", 404)
    writer.create("papers", 403, edition="2022", title="New")
    writer.patch("papers/2022/out/", 403, title="Other")
    writer.delete("papers/2022/out/", 403)
    writer.create("papers", 201, **NEW)
    # People can be added for papers, but not changed, because they belong to all editions.
    person = writer.create("people", 201, name="New Person")["id"]
    writer.patch(f"people/{person}/", 403, name="Other")
    assert Paper.objects.get(uid="out").title == "Out"


def test_token_of_one_edition_cannot_delete_related_rows_of_another(edition: Edition) -> None:
    old = make.make_paper(edition, ["Bob", "Mia"], uid="old")
    make.make_award(make.make_edition(2022), [old])
    writer = Writer(make_token(make_staff(), edition=edition))
    refused = writer.delete("papers/2021/old/", 403).json()
    writer.delete("papers/2021/draft/")

    assert refused["detail"] == "You don’t have permission to delete award grants."
    assert [*Paper.objects.all()] == [old]


@pytest.mark.parametrize(("role", "allowed"), [("owner", True), ("viewer", False)])
def test_permission_for_related_rows_takes_one_query(
    role: str, allowed: bool, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    caller = Caller(add_member("asker", edition, role))
    paper = make.make_paper(edition, ["Ada", "Bob", "Mia"])
    authors = Authorship.objects.filter(paper=paper)
    # Read the memberships, which the caller caches.
    caller.may("view", Paper)

    with django_assert_num_queries(1):
        assert caller.may_rows(authors, "delete") is allowed
