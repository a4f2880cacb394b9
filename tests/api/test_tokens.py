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
from tests.pagecache.site import ask

pytestmark = pytest.mark.django_db
DRAFT = "/api/v1/papers/2021/draft/"
NEW = {"edition": "2021", "title": "New"}


@pytest.fixture
def edition() -> Edition:
    edition = make.make_edition()
    make.make_paper(edition, ["Ada"], uid="draft", title="Secret", status="draft")
    return edition


def titles(**headers: Any) -> list[str]:
    rows = Client().get("/api/v1/papers/", **headers).json()["results"]
    return [f"{row['title']}: {row['status']}" for row in rows]


# In the admin


def test_token_is_made_in_the_admin_and_its_text_shown_once(admin_client: Client, edition: Edition) -> None:
    assert "lasts" in admin_client.get("/admin/api/token/add/").text
    made = {"name": "Phone app", "scope": "read", "edition": str(edition.pk), "lasts": "30"}
    page = admin_client.post("/admin/api/token/add/", made)
    token = Token.objects.get()
    text = page.context["text"]

    assert text in page.text
    assert f'value="{text}"' not in page.text
    assert "no-store" in page["Cache-Control"]
    assert (token.name, token.scope, token.edition, token.user.username) == (
        "Phone app",
        "read",
        edition,
        "admin",
    )
    assert timedelta(days=29) < token.expiry - timezone.now() <= timedelta(days=30)
    assert text not in str(list(Token.objects.values()))
    assert titles(**bearer(text)) == ["Secret: draft"]
    listed = admin_client.get("/admin/api/token/").text
    assert "Phone app" in listed
    assert text not in listed + admin_client.get(f"/admin/api/token/{token.pk}/change/").text


def test_form_offers_the_editions_that_its_owner_reaches(edition: Edition) -> None:
    """Do not reveal the name of an edition that is not announced yet."""
    secret = make.make_edition(2030, name="Secret in Seoul", public_from=None)
    make_token(make_staff(name="owner"), edition=secret)
    user = make_staff("add_token", "view_token")
    Membership.objects.create(user=user, edition=edition, role="editor")
    client = Client()
    client.force_login(user)
    page = client.get("/admin/api/token/add/").text
    made = {"name": "App", "scope": "read", "edition": str(secret.pk), "lasts": "30"}

    assert "MLSys 2021" in page
    assert "Seoul" not in page
    assert "Select a valid choice" in client.post("/admin/api/token/add/", made).text
    assert "Seoul" not in client.get("/admin/api/token/").text
    assert Token.objects.filter(user=user).count() == 0


def test_token_is_revoked_by_deleting_it(admin_client: Client, edition: Edition) -> None:
    text = make_token(make_staff())
    admin_client.post(f"/admin/api/token/{Token.objects.get().pk}/delete/", {"post": "yes"})

    assert Client().get("/api/v1/papers/", **bearer(text)).status_code == 401


def test_two_tokens_of_one_owner_have_different_names(admin_client: Client, edition: Edition) -> None:
    made = {"name": "App", "scope": "read", "edition": "", "lasts": "30"}
    admin_client.post("/admin/api/token/add/", made)
    page = admin_client.post("/admin/api/token/add/", made)

    assert "You already have a token with this name." in page.text
    assert Token.objects.count() == 1


def test_others_do_not_see_ones_tokens(client: Client) -> None:
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
def test_token_that_is_none_is_refused(edition: Edition, header: str) -> None:
    response = Client().get(DRAFT, HTTP_AUTHORIZATION=header.encode().decode("latin-1"))

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Cache-Control"] == "private, no-store"


def test_expired_token_and_those_of_former_staff_are_refused(edition: Edition) -> None:
    expired = make_token(make_staff(name="a"), days=-1)
    former = make_token(make_staff(name="b", is_staff=False))
    gone = make_token(make_staff(name="c", is_active=False))

    codes = [Client().get(DRAFT, **bearer(text)).status_code for text in (expired, former, gone)]
    assert codes == [401, 401, 401]
    assert Token.objects.count() == 3


def test_only_who_is_signed_in_writes(edition: Edition) -> None:
    response = Client().post("/api/v1/papers/", NEW, content_type="application/json")
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    visitor = Client()
    visitor.force_login(User.objects.create_user("visitor"))
    assert visitor.post("/api/v1/papers/", NEW, content_type="application/json").status_code == 403
    assert visitor.get(DRAFT).status_code == 404


def test_session_writes_with_a_csrf_token_alone(edition: Edition) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_staff())
    refused = client.post("/api/v1/papers/", NEW, content_type="application/json")
    assert refused.status_code == 403
    client.cookies["csrftoken"] = "a" * 32
    made = client.post("/api/v1/papers/", NEW, content_type="application/json", HTTP_X_CSRFTOKEN="a" * 32)
    assert made.status_code == 201


# Permissions


def test_draft_is_shown_to_a_token_and_never_kept(edition: Edition) -> None:
    """Trap 17."""
    cache = PageCache(application)
    token = bearer(make_token(make_staff()))
    for _ in range(2):
        status, headers, body = ask(cache, DRAFT, **token)
        assert (status, headers["Cache-Control"]) == ("200 OK", "private, no-store")
        assert b"Secret" in body
        assert ask(cache, DRAFT)[0] == "404 Not Found"
        assert b"Secret" in ask(cache, "/api/v1/papers/", **token)[2]
        assert b"Secret" not in ask(cache, "/api/v1/papers/")[2]
        assert b"Secret" not in ask(cache, "/api/v1/papers/", "expand=authors.person")[2]


@pytest.mark.parametrize(
    "path", ["papers/", "papers/2021/draft/", "papers/?format=bibtex", "", "papers/?x=1"]
)
def test_answers_to_a_token_are_never_shared(edition: Edition, path: str) -> None:
    response = Client().get(f"/api/v1/{path}", **bearer(make_token(make_staff())))

    assert response["Cache-Control"] == "private, no-store"
    assert {"Authorization", "Cookie"} <= {*response["Vary"].split(", ")}


def test_session_of_staff_sees_drafts_and_what_can_be_written(edition: Edition) -> None:
    client = Client()
    client.force_login(make_staff())

    assert client.get(DRAFT).json()["written"]["status"] == "draft"
    assert "written" not in client.get("/api/v1/papers/").json()["results"][0]
    assert Client().get(DRAFT).status_code == 404


def test_token_shows_what_its_owner_may_view(edition: Edition) -> None:
    make.make_paper(edition, title="Out")
    some = make_staff("view_paper", name="some")
    other = make_staff("view_room", name="other")

    assert titles(**bearer(make_token(some))) == ["Secret: draft", "Out: published"]
    assert titles(**bearer(make_token(other))) == ["Out: published"]
    body = Client().get(DRAFT, **bearer(make_token(some, name="b"))).json()
    # Authors are rows of another model, which the owner may not view.
    assert body["authors"] == []


def test_token_does_what_its_owner_may(edition: Edition) -> None:
    make.make_person("Ada", uid="ada")
    user = make_staff("view_paper", "change_paper", "view_person", "view_authorship")
    writer = Writer(make_token(user))

    writer.create("papers", 403, **NEW)
    writer.delete("papers/2021/draft/", 403)
    assert writer.patch("papers/2021/draft/", title="Other")["title"] == "Other"
    refused = writer.patch("papers/2021/draft/", 403, title="Third", authors=[{"person": "ada"}])
    assert refused["detail"] == "You don’t have permission to add authorships."
    assert Paper.objects.get().title == "Other"


def test_deleting_needs_the_right_to_what_goes_along(edition: Edition) -> None:
    user = make_staff("view_paper", "delete_paper")
    refused = Writer(make_token(user)).delete("papers/2021/draft/", 403).json()

    assert refused["detail"] == "You don’t have permission to delete authorships."
    assert Paper.objects.count() == 1


def test_token_for_reading_writes_nothing(edition: Edition) -> None:
    writer = Writer(make_token(make_staff(), scope="read"))

    assert writer.create("papers", 403, **NEW)["detail"] == "This token is read-only."
    assert writer.delete("papers/2021/draft/", 403).json()["detail"] == "This token is read-only."
    assert Paper.objects.count() == 1


def test_token_for_one_edition_sees_and_writes_no_drafts_of_others(edition: Edition) -> None:
    other = make.make_edition(2022)
    make.make_paper(other, uid="hidden", title="Of next year", status="draft")
    make.make_paper(other, uid="out", title="Out")
    writer = Writer(make_token(make_staff(), edition=edition))

    assert titles(**writer.headers) == ["Secret: draft", "Out: published"]
    writer.get("papers/2022/hidden/", 404)
    writer.create("papers", 403, edition="2022", title="New")
    writer.patch("papers/2022/out/", 403, title="Other")
    writer.delete("papers/2022/out/", 403)
    writer.create("papers", 201, **NEW)
    # People can be added for papers, but not changed, because they belong to all editions.
    person = writer.create("people", 201, name="New Person")["id"]
    writer.patch(f"people/{person}/", 403, name="Other")
    assert Paper.objects.get(uid="out").title == "Out"


def test_token_for_an_edition_deletes_nothing_along_in_another(edition: Edition) -> None:
    old = make.make_paper(edition, ["Bob", "Mia"], uid="old")
    make.make_award(make.make_edition(2022), [old])
    writer = Writer(make_token(make_staff(), edition=edition))
    refused = writer.delete("papers/2021/old/", 403).json()
    writer.delete("papers/2021/draft/")

    assert refused["detail"] == "You don’t have permission to delete award grants."
    assert [*Paper.objects.all()] == [old]


@pytest.mark.parametrize(("role", "allowed"), [("owner", True), ("viewer", False)])
def test_what_goes_along_is_judged_in_one_query(
    role: str, allowed: bool, edition: Edition, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    caller = Caller(add_member("asker", edition, role))
    paper = make.make_paper(edition, ["Ada", "Bob", "Mia"])
    authors = Authorship.objects.filter(paper=paper)
    # Read the memberships, which the caller caches.
    caller.may("view", Paper)

    with django_assert_num_queries(1):
        assert caller.may_rows(authors, "delete") is allowed
