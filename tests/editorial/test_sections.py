"""Sections of the admin's index and sidebar, named for chairs; only superusers see join tables."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.roles import Role
from editorial.sections import DeskSection
from tests.access.world import add_member
from tests.factories import make_edition

pytestmark = pytest.mark.django_db

OF_CHAIRS = [
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

    assert list(sections) == OF_CHAIRS
    assert JOIN_TABLES.isdisjoint({path for paths in sections.values() for path in paths})
    assert sections["Pages and news"] == [
        "conference/announcement", "conference/keydate", "conference/page", "conference/menuitem",
    ]  # fmt: skip


def test_superusers_have_the_join_tables_folded_at_the_end(admin_client: Client) -> None:
    make_edition()
    sections = sections_of(admin_client)
    page = admin_client.get("/admin/").text

    assert list(sections) == [*OF_CHAIRS, "Technical"] == [str(one.label) for one in DeskSection]
    assert set(sections["Technical"]) == JOIN_TABLES
    assert "<details><summary>Technical</summary>" in page
    assert "<details open><summary>Technical" in admin_client.get("/admin/papers/authorship/").text


def test_permissions_that_hold_everywhere_list_the_tables_they_are_for(client: Client) -> None:
    user = get_user_model().objects.create_user("helper", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_authorship"))
    client.force_login(user)

    assert sections_of(client) == {"Technical": ["papers/authorship"]}


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (
            Role.CHAIR,
            ["Add a paper", "Add a session", "Timetable editor", "Add news", "Add an award", "Import"],
        ),
        (Role.VIEWER, []),
    ],
)  # fmt: skip
def test_quick_links_are_those_that_a_role_may_use(client: Client, role: str, words: list[str]) -> None:
    edition = make_edition()
    client.force_login(add_member("member", edition, role))
    page = client.get("/admin/")

    said = [str(link) for link, _ in page.context["add_links"]]

    # Links to less common pages follow.
    assert (said[: len(words)], bool(said)) == (words, bool(words))
    assert f"/admin/conference/announcement/add/?edition={edition.pk}" in page.text or not words
