"""Pages of the admin without axe violations: the lists and forms of all models, and other pages."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from playwright.sync_api import Page

from conference.models import Edition
from papers.models import Paper
from people.models import Person
from schedule.models import Session
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, display_issues
from tests.browser.visitor import OpenPage
from tests.website.sample_program import make_public_program

pytestmark = pytest.mark.browser

# These apps have a row of nearly every model. Models of others, such as logs, may have none.
PROGRAM_APPS = {"conference", "papers", "people", "schedule"}
# The forms of accounts and groups are those of Django, with its own script.
MODELS = [model for model in admin.site._registry if model._meta.app_label != "auth"]
# Check further pages of these models only, because histories and deletions look alike for all models, and the
# form to add a row has the same fields as the form to change one.
FULLY_CHECKED_MODELS = (Edition, Paper, Person, Session)
APPS = sorted({model._meta.app_label for model in MODELS})


def model_urls(model: Any) -> Iterator[str]:
    """Yield the URLs of the list and form of a model; for some models, also of their other pages."""
    row = model._default_manager.order_by("pk").first()
    yield admin_url(model, "changelist")
    yield admin_url(row or model, "change" if row else "add")
    if model in FULLY_CHECKED_MODELS:
        yield from (admin_url(model, "add"), admin_url(model, "deleted"))
        yield from (admin_url(row, "history"), admin_url(row, "delete"))


def issues_by_path(page: Page, paths: list[str]) -> dict[str, list[str]]:
    """Return the issues by path; skip pages that are forbidden, such as the form to add a log entry."""
    responses = ((path, page.goto(path)) for path in paths)
    return {
        path: display_issues(page, DESK_DISPLAYS)
        for path, response in responses
        if response and response.status == 200
    }


@pytest.mark.parametrize("app", APPS)
def test_pages_of_each_model_have_no_axe_violations(app: str, open_desk: OpenPage) -> None:
    make_public_program()
    models: list[Any] = [model for model in MODELS if model._meta.app_label == app]
    results = issues_by_path(open_desk(), [path for model in models for path in model_urls(model)])

    assert {admin_url(model, "changelist") for model in models} <= results.keys()
    assert len(results) >= len(models) * (2 if app in PROGRAM_APPS else 1)
    assert {path: issues for path, issues in results.items() if issues} == {}


def test_other_admin_pages_have_no_axe_violations(open_desk: OpenPage) -> None:
    make_public_program()
    publish_url = f"/admin/conference/edition/{Edition.objects.get(slug='2021').pk}/publish/?part="
    paths = ["/admin/", "/admin/schedule/session/clashes/", "/admin/password_change/"]
    paths += ["/admin/search/?q=a", "/admin/conference/edition/new/"]
    results = issues_by_path(open_desk(), [*paths, f"{publish_url}everything", f"{publish_url}papers"])

    assert len(results) == 7
    assert {path: issues for path, issues in results.items() if issues} == {}
