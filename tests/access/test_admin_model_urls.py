"""Every URL of the admin with every role: who may open it, and that others cannot change anything."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from accounts.roles import Role
from content.history import RowChange
from editorial.lists import files_of
from tests.access.permission_table import (
    ALL,
    MODELS,
    NOT_ADDABLE,
    NOT_DELETABLE,
    OTHER_URLS,
    PAGES,
    PRIVATE_READERS,
    PUBLIC_CHOICES,
    READ_ONLY,
    RESTORING_PAGES,
    STRICTER_PAGES,
    role_permissions,
)
from tests.access.world import USERNAMES, World, last_change_set, unrendered_pages

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ROW_PAGES = {"change", "delete", "history", "restore", "bring_back"}
SITE_WIDE = {"conference.conference", "conference.edition", "people.person", "people.institution"}
SITE_WIDE |= {"people.personname", "people.personidentifier", "schedule.sessionkind"}

# These users open the same pages as the owner, so only the owner's are rendered. Refusals are not rendered:
# they are the same for all models.
SAME_PAGES_AS_OWNER = {"chair", "editor", "other"}

# Models of rows that belong to an account, whatever its role.
ACCOUNT_MODELS = {"api.token"}


def url_names() -> Iterator[str]:
    """Yield the names of all URLs of the admin."""
    patterns: list[URLPattern | URLResolver] = [*admin.site.get_urls()]
    while patterns:
        pattern = patterns.pop()
        if isinstance(pattern, URLResolver):
            patterns += pattern.url_patterns
        elif pattern.name:
            yield pattern.name


def split_url_name(name: str) -> tuple[str, str]:
    """Return model and page of a URL name such as papers_paper_bring_back; empty strings for others."""
    for page in PAGES:
        label = name.removesuffix(f"_{page}").replace("_", ".", 1)
        if name.endswith(f"_{page}") and label in MODELS:
            return label, page
    return "", ""


def is_allowed(username: str, label: str, page: str) -> bool:
    """Return whether a role may open a page of a model, according to the table, for a row of the edition."""
    if username in ("superuser", "anonymous"):
        is_possible = label not in READ_ONLY or PAGES[page] == "v"
        is_possible = is_possible and not (label in NOT_ADDABLE and PAGES[page] in "ac")
        return username == "superuser" and is_possible and not (label in NOT_DELETABLE and page == "delete")
    if username == "other":
        # The owner of the other edition may open lists and forms of that edition's rows.
        is_choice = label in PUBLIC_CHOICES and page == "change"
        return is_choice or (page not in ROW_PAGES and PAGES[page] in MODELS[label][0])
    if page in RESTORING_PAGES and username == Role.SESSION_CHAIR:
        return False
    if page in RESTORING_PAGES and username == Role.TRACK_CHAIR and label != "papers.paper":
        return page == "restore" and role_permissions(username, label) == ALL
    permission = STRICTER_PAGES.get(label, {}).get(page, PAGES[page])
    if label in STRICTER_PAGES and page == "history" and username in PRIVATE_READERS:
        permission = "v"
    return permission in role_permissions(username, label)


def test_permission_table_lists_every_admin_url() -> None:
    unknown = {name for name in url_names() if not split_url_name(name)[0]}

    assert unknown == {*OTHER_URLS}
    assert {model._meta.label_lower for model in admin.site._registry} == {*MODELS}


def outcome(response: Any) -> str:
    """Return the outcome of a request: "open", "closed" or "login"."""
    if response.status_code == 302:
        location = response.headers["Location"]
        if location.startswith("/admin/login/"):
            return "login"
        return "closed" if location == "/admin/" else "open"
    assert response.status_code in (200, 403, 404, 409), response.status_code
    return "open" if response.status_code in (200, 409) else "closed"


def row_url(label: str, page: str, row: Any) -> str:
    name = f"admin:{label.replace('.', '_')}_{page}"
    if page == "restore":
        return reverse(name, args=[row.pk, last_change_set(row)])
    if page == "bring_back":
        deletion = RowChange.objects.filter(model=label, object_id=row.pk, kind="deleted").first()
        return reverse(name, args=[deletion.pk if deletion else 0])
    return reverse(name, args=[row.pk])


def list_url(label: str, page: str) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_{page}")


def record_deletions(rows: dict[str, Any]) -> None:
    """Record a deletion of each row in the history, without deleting it."""
    for label, row in rows.items():
        edition_key = row.edition_id if hasattr(row, "edition_id") else None
        if has_no_history(label) or label in SITE_WIDE:
            continue
        if change := RowChange.objects.filter(model=label, object_id=row.pk).first():
            RowChange.objects.create(
                change_set=change.change_set, kind="deleted", model=label, object_id=row.pk,
                edition_key=edition_key or change.edition_key, label=str(row), values={},
            )  # fmt: skip


@pytest.fixture
def world(world: World) -> World:
    record_deletions(world.rows)
    record_deletions(world.other_rows)
    return world


def find_differences(client: Client, username: str, rows: dict[str, Any], *, is_own: bool) -> list[str]:
    """Open every page of every model; return the results that differ from the table."""
    differences = []
    refusal = "login" if username == "anonymous" else "closed"
    for label in MODELS:
        for page in PAGES:
            allowed = (is_own or username == "superuser") and is_allowed(username, label, page)
            if page in ROW_PAGES:
                if (
                    label not in rows
                    or label in ACCOUNT_MODELS
                    or (page in ("history", "restore", "bring_back") and has_no_history(label))
                ):
                    continue
                if page == "bring_back" and label in SITE_WIDE:
                    continue
                url = row_url(label, page, rows[label])
            elif page == "export":
                if not (is_own and list(files_of(apps.get_model(label)))):
                    continue
                url = reverse(f"admin:{label.replace('.', '_')}_export", args=["csv"])
            elif is_own and not (page == "deleted" and has_no_history(label)):
                url = list_url(label, page)
            else:
                continue
            with nullcontext() if allowed and username not in SAME_PAGES_AS_OWNER else unrendered_pages():
                result = outcome(client.get(url))
            if result != ("open" if allowed else refusal):
                differences.append(f"{url} {page}: {result}")
    return differences


def has_no_history(label: str) -> bool:
    return not hasattr(apps.get_model(label), "unrecorded_fields")


@pytest.mark.parametrize("username", USERNAMES)
def test_model_pages_open_as_in_the_permission_table(username: str, world: World) -> None:
    client = world.client(username)

    assert find_differences(client, username, world.rows, is_own=True) == []


@pytest.mark.parametrize("username", [name for name in USERNAMES if name not in ("other", "superuser")])
def test_rows_of_another_edition_are_closed(username: str, world: World) -> None:
    client = world.client(username)

    assert find_differences(client, username, world.other_rows, is_own=False) == []
