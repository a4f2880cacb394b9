"""Every URL of the admin with every role: who may open it, and that others cannot change anything."""

from collections.abc import Iterator
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
    BESIDE,
    MODELS,
    NOT_ADDED,
    NOT_DELETED,
    PAGES,
    PARTLY,
    PUBLIC,
    READ_ONLY,
    READS_PRIVATE,
    WHOLE_ROW,
    of_role,
)
from tests.access.world import EVERYBODY, World, last_version

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ROW_PAGES = {"change", "delete", "history", "restore", "bring_back"}
SITE_WIDE = {"conference.conference", "conference.edition", "people.person", "people.institution"}
SITE_WIDE |= {"people.personname", "people.personidentifier", "schedule.sessionkind"}


# Rows that belong to an account, whatever its role.
OWN = {"api.token"}


def names() -> Iterator[str]:
    """Yield the names of all URLs of the admin."""
    found: list[URLPattern | URLResolver] = [*admin.site.get_urls()]
    while found:
        one = found.pop()
        if isinstance(one, URLResolver):
            found += one.url_patterns
        elif one.name:
            yield one.name


def split(name: str) -> tuple[str, str]:
    """Return model and page of a URL name such as papers_paper_bring_back; empty strings for others."""
    for page in PAGES:
        label = name.removesuffix(f"_{page}").replace("_", ".", 1)
        if name.endswith(f"_{page}") and label in MODELS:
            return label, page
    return "", ""


def expected(who: str, label: str, page: str) -> bool:
    """Return whether a role may open a page of a model, according to the table, for a row of the edition."""
    if who in ("superuser", "anonymous"):
        is_possible = label not in READ_ONLY or PAGES[page] == "v"
        is_possible = is_possible and not (label in NOT_ADDED and PAGES[page] in "ac")
        return who == "superuser" and is_possible and not (label in NOT_DELETED and page == "delete")
    if who == "other":
        # The owner of the other edition may open lists and forms of that edition's rows.
        is_choice = label in PUBLIC and page == "change"
        return is_choice or (page not in ROW_PAGES and PAGES[page] in MODELS[label][0])
    if page in PARTLY and who == Role.SESSION_CHAIR:
        return False
    if page in PARTLY and who == Role.TRACK_CHAIR and label != "papers.paper":
        return page == "restore" and of_role(who, label) == ALL
    needed = WHOLE_ROW.get(label, {}).get(page, PAGES[page])
    if label in WHOLE_ROW and page == "history" and who in READS_PRIVATE:
        needed = "v"
    return needed in of_role(who, label)


def test_every_address_stands_in_the_table() -> None:
    unknown = {name for name in names() if not split(name)[0]}

    assert unknown == {*BESIDE}
    assert {model._meta.label_lower for model in admin.site._registry} == {*MODELS}


def opened(response: Any) -> str:
    """Return the outcome of a request: "open", "closed" or "login"."""
    if response.status_code == 302:
        target = response.headers["Location"]
        return "login" if target.startswith("/admin/login/") else "closed" if target == "/admin/" else "open"
    assert response.status_code in (200, 403, 404, 409), response.status_code
    return "open" if response.status_code in (200, 409) else "closed"


def row_address(label: str, page: str, row: Any) -> str:
    name = f"admin:{label.replace('.', '_')}_{page}"
    if page == "restore":
        return reverse(name, args=[row.pk, last_version(row)])
    if page == "bring_back":
        gone = RowChange.objects.filter(model=label, object_id=row.pk, kind="deleted").first()
        return reverse(name, args=[gone.pk if gone else 0])
    return reverse(name, args=[row.pk])


def list_address(label: str, page: str) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_{page}")


def delete_copies(rows: dict[str, Any]) -> None:
    """Record a deletion of each row in the history, without deleting it."""
    for label, row in rows.items():
        key = row.edition_id if hasattr(row, "edition_id") else None
        if no_history(label) or label in SITE_WIDE:
            continue
        if change := RowChange.objects.filter(model=label, object_id=row.pk).first():
            RowChange.objects.create(
                change_set=change.change_set, kind="deleted", model=label, object_id=row.pk,
                edition_key=key or change.edition_key, label=str(row), values={},
            )  # fmt: skip


@pytest.fixture
def world(world: World) -> World:
    delete_copies(world.rows)
    delete_copies(world.others)
    return world


def walk(client: Client, who: str, rows: dict[str, Any], *, theirs: bool) -> list[str]:
    """Open every page of every model; return the results that differ from the table."""
    wrong = []
    closed = "login" if who == "anonymous" else "closed"
    for label in MODELS:
        for page in PAGES:
            may = expected(who, label, page) if theirs or who == "superuser" else False
            if page in ROW_PAGES:
                if (
                    label not in rows
                    or label in OWN
                    or (page in ("history", "restore", "bring_back") and no_history(label))
                ):
                    continue
                if page == "bring_back" and label in SITE_WIDE:
                    continue
                address = row_address(label, page, rows[label])
            elif page == "export":
                if not (theirs and list(files_of(apps.get_model(label)))):
                    continue
                address = reverse(f"admin:{label.replace('.', '_')}_export", args=["csv"])
            elif theirs and not (page == "deleted" and no_history(label)):
                address = list_address(label, page)
            else:
                continue
            found = opened(client.get(address))
            if found != ("open" if may else closed):
                wrong.append(f"{address} {page}: {found}")
    return wrong


def no_history(label: str) -> bool:
    return not hasattr(apps.get_model(label), "unrecorded_fields")


@pytest.mark.parametrize("who", EVERYBODY)
def test_pages_of_models_open_as_the_table_says(who: str, world: World) -> None:
    client = world.client(who)

    assert walk(client, who, world.rows, theirs=True) == []


@pytest.mark.parametrize("who", [one for one in EVERYBODY if one not in ("other", "superuser")])
def test_rows_of_the_other_edition_are_closed(who: str, world: World) -> None:
    client = world.client(who)

    assert walk(client, who, world.others, theirs=False) == []
