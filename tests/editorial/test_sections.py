"""Sections of the admin's index and sidebar, named for chairs; only superusers see join tables."""

import re
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.roles import Role
from editorial.sections import DeskSection
from tests.access.world import add_member
from tests.factories import make_edition

pytestmark = pytest.mark.django_db

CHAIR_SECTIONS = [
    "Editions", "Papers", "Sessions and timetable", "People", "Awards", "Pages and news", "Sponsors",
    "Committee", "Imports", "Members",
]  # fmt: skip
JOIN_TABLES = {
    "papers/authorship", "papers/awardgrant", "schedule/sessionrole", "schedule/speaker", "people/personname",
    "people/personidentifier", "people/persondistinction", "people/institutiondistinction",
    "exchange/provenance",
}  # fmt: skip


def sections_of(client: Client) -> dict[str, list[str]]:
    sections = client.get("/admin/").context["app_list"]
    return {
        str(section["name"]): [line["path"].strip("/").removeprefix("admin/") for line in section["models"]]
        for section in sections
    }


def test_chairs_see_their_sections_and_no_join_table(client: Client) -> None:
    client.force_login(add_member("chair", make_edition(), Role.CHAIR))
    sections = sections_of(client)

    assert list(sections) == CHAIR_SECTIONS
    assert JOIN_TABLES.isdisjoint({path for paths in sections.values() for path in paths})
    assert sections["Pages and news"] == [
        "conference/announcement", "conference/keydate", "conference/page", "conference/menuitem",
    ]  # fmt: skip


def test_superusers_see_join_tables_in_a_collapsed_last_section(admin_client: Client) -> None:
    make_edition()
    sections = sections_of(admin_client)
    page = admin_client.get("/admin/").text

    assert list(sections) == [*CHAIR_SECTIONS, "Technical"] == [str(section.label) for section in DeskSection]
    assert set(sections["Technical"]) == JOIN_TABLES
    assert "<details><summary>Technical</summary>" in page
    assert "<details open><summary>Technical" in admin_client.get("/admin/papers/authorship/").text


def test_global_permission_lists_its_join_table(client: Client) -> None:
    user = get_user_model().objects.create_user("helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_authorship"))
    client.force_login(user)

    assert sections_of(client) == {"Technical": ["papers/authorship"]}


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        (
            Role.CHAIR,
            ["Add a paper", "Add a session", "Timetable editor", "Add news", "Add an award", "Import"],
        ),
        (Role.VIEWER, []),
    ],
)  # fmt: skip
def test_add_links_depend_on_the_role(client: Client, role: str, labels: list[str]) -> None:
    edition = make_edition()
    client.force_login(add_member("member", edition, role))
    page = client.get("/admin/")

    shown_labels = [str(link) for link, _ in page.context["add_links"]]

    # Links to less common pages follow.
    assert (shown_labels[: len(labels)], bool(shown_labels)) == (labels, bool(labels))
    assert f"/admin/conference/announcement/add/?edition={edition.pk}" in page.text or not labels


@pytest.mark.parametrize("is_chosen", [True, False])
@pytest.mark.parametrize("model", ["page", "menuitem"])
def test_rows_made_from_the_sidebar_belong_to_the_edition_of_work(
    admin_client: Client, model: str, is_chosen: bool
) -> None:
    old, newest = make_edition(2021), make_edition(2022)
    # Without a choice, the desk shows the newest edition.
    desk = admin_client.get("/admin/", {"edition": old.pk} if is_chosen else {})
    lines = {line["path"]: line for section in desk.context["app_list"] for line in section["models"]}
    line = lines[f"/admin/conference/{model}/"]
    listed = admin_client.get(line["admin_url"])
    button = re.findall(rf'href="(/admin/conference/{model}/add/[^"]*)" class="addlink">', listed.text)
    forms = [admin_client.get(unescape(address)) for address in (line["add_url"], *button)]

    expected = old if is_chosen else newest
    assert [str(form.context["adminform"].form["edition"].value()) for form in forms] == [
        str(expected.pk)
    ] * 2
