"""No page of the admin has axe violations: every list and form, and our own pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Session
from tests.browser.axe import DESK_LOOKS, hindrances
from tests.posted import address
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.browser

# These apps have a row of nearly every model. Models of others, such as logs, may have none.
PROGRAM = {"conference", "papers", "people", "schedule"}
# The forms of accounts and groups are those of Django, with its own script.
MODELS = [model for model in admin.site._registry if model._meta.app_label != "auth"]
# Check further pages of these models only, because histories and deletions look alike for all models, and the
# form to add a row has the same fields as the form to change one.
ENTIRE = (Edition, Paper, Person, Session)
APPS = sorted({model._meta.app_label for model in MODELS})


def pages_of(model: Any) -> Iterator[str]:
    """Yield the URLs of a model's list and form; for models in ENTIRE, also of its other pages."""
    row = model._default_manager.order_by("pk").first()
    yield address(model, "changelist")
    yield address(row or model, "change" if row else "add")
    if model in ENTIRE:
        yield from (address(model, "add"), address(model, "deleted"))
        yield from (address(row, "history"), address(row, "delete"))


def seen(page: Page, paths: list[str]) -> dict[str, list[str]]:
    """Return the violations by path; skip pages that are forbidden, such as the form to add a log entry."""
    answers = ((path, page.goto(path)) for path in paths)
    return {path: hindrances(page, DESK_LOOKS) for path, answer in answers if answer and answer.status == 200}


@pytest.mark.parametrize("app", APPS)
def test_no_page_of_a_model_hinders_anybody(app: str, open_desk: Callable[..., Page]) -> None:
    make_public_program()
    models: list[Any] = [model for model in MODELS if model._meta.app_label == app]
    found = seen(open_desk(), [path for model in models for path in pages_of(model)])

    assert {address(model, "changelist") for model in models} <= found.keys()
    assert len(found) >= len(models) * (2 if app in PROGRAM else 1)
    assert {path: what for path, what in found.items() if what} == {}


def test_no_page_of_our_own_hinders_anybody(open_desk: Callable[..., Page]) -> None:
    make_public_program()
    publish = f"/admin/conference/edition/{Edition.objects.get(slug='2021').pk}/publish/?part="
    paths = ["/admin/", "/admin/schedule/session/clashes/", "/admin/password_change/"]
    paths += ["/admin/search/?q=a", "/admin/conference/edition/new/"]
    found = seen(open_desk(), [*paths, f"{publish}everything", f"{publish}papers"])

    assert len(found) == 7
    assert {path: what for path, what in found.items() if what} == {}
