"""Headers of every kind of response, as Mozilla's Observatory checks them; no cookies for visitors."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.middleware.security import SecurityMiddleware
from django.test import Client
from pytest_django import Settings

from tests import factories as make
from tests.website.sample_program import make_public_program

# Paths that anonymous visitors and programs request, one of each kind, with their status codes.
STATUS_BY_PATH = {
    "/": 200,
    "/2021/papers/": 200,
    "/2021/papers/?sort=nonsense": 400,
    "/nothing/here/": 404,
    "/2021/schedule.ics": 200,
    "/2021/papers.atom": 200,
    "/2021/card.png": 200,
    "/sitemap.xml": 200,
    "/robots.txt": 200,
    "/healthz": 200,
    "/api/v1/papers/": 200,
    "/api/v1/nothing/": 404,
    "/api/docs/": 200,
    "/admin/login/": 200,
    "/admin/": 302,
    "/static/css/plenary.css": 200,
    "/media/logos/pixel.png": 200,
    "/media/material/page.html": 200,
}
# Pictures for other sites, and resources that scripts of other sites may read.
CROSS_ORIGIN_PATHS = ("/2021/card.png", "/api/v1/", "/static/")


@pytest.fixture
def https_client(settings: Settings, tmp_path: Path, client: Client) -> Client:
    """Return a client of a site over https, with uploaded and static files."""
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "plenary.css").write_text("p {}")
    settings.STATIC_ROOT = tmp_path
    settings.SECURE_HSTS_SECONDS = 31_536_000
    for name in ("logos/pixel.png", "material/page.html"):
        default_storage.save(name, ContentFile(b"x"))
    paper = make_public_program()["paper"]
    make.make_material(paper, file="material/page.html")
    type(paper.edition).objects.update(logo="logos/pixel.png")
    client.defaults["wsgi.url_scheme"] = "https"
    return client


def directives(response: Any) -> dict[str, list[str]]:
    parts = [part.split() for part in response.headers["Content-Security-Policy"].split(";") if part.strip()]
    return {name: values for name, *values in parts}


@pytest.mark.django_db
def test_security_headers_of_every_kind_of_response(https_client: Client, subtests: pytest.Subtests) -> None:
    for path, status in STATUS_BY_PATH.items():
        with subtests.test(path=path):
            check_headers(https_client, path, status)


def check_headers(https_client: Client, path: str, status: int) -> None:
    response = https_client.get(path, secure=True)
    headers = response.headers
    policy = directives(response)

    assert response.status_code == status
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert policy["default-src"] == ["'none'"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "strict-origin-when-cross-origin"
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    resource_policy = (
        "cross-origin" if "Access-Control-Allow-Origin" in headers or "card" in path else "same-origin"
    )
    assert headers["Cross-Origin-Resource-Policy"] == resource_policy
    assert (
        path.startswith(CROSS_ORIGIN_PATHS)
        or resource_policy == "same-origin"
        or path.endswith((".ics", ".atom"))
    )


@pytest.mark.django_db
def test_pages_have_a_strict_content_security_policy(https_client: Client) -> None:
    User.objects.create_superuser("chair", password="correct horse")
    staff = Client()
    staff.login(username="chair", password="correct horse")
    responses = [
        https_client.get("/2021/", secure=True),
        staff.get("/admin/"),
        staff.get("/admin/papers/paper/add/"),
    ]

    for policy in map(directives, responses):
        assert policy["script-src"][0] == policy["style-src"][0] == "'self'"
        assert [source for source in policy["script-src"][1:] if not source.startswith("'nonce-")] == []
        assert policy["base-uri"] == policy["frame-ancestors"] == ["'none'"]
        assert policy["form-action"] == ["'self'"]


@pytest.mark.django_db
def test_cookies_are_secure_and_http_only(client: Client, settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    User.objects.create_superuser("chair", password="correct horse")
    client.get("/admin/login/")
    client.post("/admin/login/", {"username": "chair", "password": "correct horse"})

    flags = {
        name: (cookie["secure"], cookie["httponly"], cookie["samesite"])
        for name, cookie in client.cookies.items()
    }
    assert flags == {"csrftoken": (True, True, "Lax"), "sessionid": (True, True, "Lax")}


@pytest.mark.django_db
def test_uploaded_image_is_inline_and_html_a_sandboxed_attachment(https_client: Client) -> None:
    picture, page = https_client.get("/media/logos/pixel.png"), https_client.get("/media/material/page.html")

    assert picture.headers["Content-Type"] == "image/png"
    assert picture.headers["Content-Disposition"] == 'inline; filename="pixel.png"'
    assert page.headers["Content-Type"] == "application/octet-stream"
    assert page.headers["Content-Disposition"] == 'attachment; filename="page.html"'
    assert page.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["../settings.py", "%2e%2e/secret-key", "/etc/passwd", "logos", "a%00b", "people/a%00b.png"]
)
def test_invalid_media_path_is_refused(client: Client, name: str) -> None:
    default_storage.save("logos/pixel.png", ContentFile(b"x"))

    assert client.get(f"/media/{name}").status_code in {400, 404}


def test_security_middleware_also_applies_to_static_files(settings: Settings) -> None:
    names = [name.rpartition(".")[2] for name in settings.MIDDLEWARE]
    outer = names[: names.index("WhiteNoiseMiddleware")]

    assert {"HeadersMiddleware", SecurityMiddleware.__name__, "ContentSecurityPolicyMiddleware"} <= set(outer)
