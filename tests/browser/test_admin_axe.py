"""No page of the admin hinders anybody: every list, form, history and page of our own, asked of axe."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Page, ViewportSize
from pytest_django.live_server_helper import LiveServer

from conference.models import Edition
from tests.browser.axe import violations
from tests.posted import address
from tests.website.marked import make_public_program

pytestmark = pytest.mark.browser

LOOKS = {
    "phone dark": (ViewportSize(width=390, height=844), "dark"),
    "desktop light": (ViewportSize(width=1280, height=900), "light"),
}


@pytest.fixture
def client(transactional_db: None) -> Client:
    """Somebody who may do everything, with one row of nearly every kind."""
    user = get_user_model().objects.create_superuser("chair", "chair@example.org", "chairs' secret")
    signed_in = Client()
    signed_in.force_login(user)
    make_public_program()
    return signed_in


def pages_of(model: Any, client: Client) -> Iterator[str]:
    """The pages of one model: its list, what was deleted, the forms, and the history of a row."""
    row = model._default_manager.order_by("pk").first()
    yield address(model, "changelist")
    names = {pattern.name for pattern in admin.site.get_model_admin(model).urls}
    prefix = f"{model._meta.app_label}_{model._meta.model_name}"
    yield from (address(model, name) for name in ("deleted", "add") if f"{prefix}_{name}" in names)
    if row is not None:
        yield from (address(row, name) for name in ("change", "history", "delete"))


def every_page(client: Client) -> list[str]:
    """Every page that there is; those that are refused, such as adding to a log, are left out."""
    edition = Edition.objects.get(slug="2021")
    own = [
        f"/admin/conference/edition/{edition.pk}/publish/?part={part}" for part in ("everything", "papers")
    ]
    # The forms of accounts and groups are Django's own, with its own script.
    ours = [model for model in admin.site._registry if model._meta.app_label != "auth"]
    models = [page for model in ours for page in pages_of(model, client)]
    paths = ["/admin/", "/admin/schedule/session/clashes/", "/admin/password_change/", *own, *models]
    return [path for path in paths if client.get(path, follow=True).status_code == 200]


@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_no_page_of_the_admin_hinders_anybody(
    look: tuple[ViewportSize, Any], client: Client, open_page: Callable[..., Page], live_server: LiveServer
) -> None:
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    page = open_page(viewport=look[0], color_scheme=look[1])
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    paths, found = every_page(client), {}
    for path in paths:
        page.goto(path)
        found[path] = violations(page)

    assert len(paths) > 100
    assert {path: what for path, what in found.items() if what} == {}
