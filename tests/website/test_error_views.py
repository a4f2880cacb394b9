"""Error pages: plain words, the right status code, and links to other pages."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.urls import resolve

from tests import factories as make
from tests.html_pages import read

pytestmark = pytest.mark.django_db


def raising(error: Exception) -> Any:
    def raise_error(*args: Any, **kwargs: Any) -> None:
        raise error

    return raise_error


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False)


def test_500_page_says_that_something_went_wrong(visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website.context_processors.published_editions", raising(ValueError("x")))
    page = read(visitor, "/people/", 500)

    assert page.texts("h1") == ["Something went wrong"]
    assert [link.attributes["href"] for link in page.all("a")] == ["/", "/"]


def test_503_page_while_the_database_is_unavailable(visitor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("website.context_processors.published_editions", raising(OperationalError("x")))
    response = visitor.get("/people/")
    page = read(visitor, "/people/", 503)

    assert response.headers["Retry-After"] == "30"
    assert response.headers["Cache-Control"] == "no-store"
    assert page.texts("h1") == ["Back in a moment"]
    assert [link.text for link in page.all("a")] == ["Program", "Try again", "Front page"]


@pytest.mark.parametrize(("error", "status"), [(OperationalError("x"), 503), (ValueError("x"), 500)])
def test_api_errors_are_json(
    visitor: Client, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    monkeypatch.setattr("api.reader.Reader.rows", raising(error))
    make.make_edition()
    response = visitor.get("/api/v1/papers/")

    assert (response.status_code, list(json.loads(response.content))) == (status, ["detail"])


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [
        ("/2021/nothing/", 404, "Page not found"),
        ("/2021/papers/?sort=nonsense", 400, "That link doesn’t work"),
    ],
)
def test_error_page_links_to_pages_of_the_site(client: Client, path: str, status: int, title: str) -> None:
    make.make_paper(make.make_edition())
    page = read(client, path, status)
    urls = [link.attributes["href"] for link in page.all("div", "fault")[0].inside("a")]

    assert page.texts("h1") == [title]
    assert "/" in urls
    assert all(resolve(url.partition("?")[0]) for url in urls)


def test_403_page_links_to_the_admin() -> None:
    User.objects.create_user("editor", password="correct horse", is_staff=True)
    client = Client()
    client.login(username="editor", password="correct horse")
    page = read(client, "/admin/papers/paper/add/", 403)

    assert page.texts("h1") == ["You don’t have access to this page"]
    assert page.all("div", "fault")[0].inside("a")[0].attributes["href"] == "/admin/"


def test_form_without_csrf_token_is_403_and_links_back() -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/admin/login/", {"username": "chair", "password": "x"})

    assert response.status_code == 403
    assert "Nothing was saved." in response.content.decode()
    assert 'href="/admin/login/"' in response.content.decode()
