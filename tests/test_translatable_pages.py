"""All texts of the admin's pages go through gettext: lists and forms of every model."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.pseudolocale import pseudolocale, untranslated

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FLOORS = ["exchange", "schedule", "papers", "people", "conference"]
NAMES = [
    f"{one._meta.app_label}_{one._meta.model_name}"
    for one in admin.site._registry
    if one._meta.app_label in FLOORS
]
# Names of the site, of its chair, of a time zone and of a key of the keyboard.
KNOWN = ["Plenary", "admin", "UTC", "Ctrl"]


def said(client: Client, address: str) -> list[str]:
    with pseudolocale():
        page = client.get(address, follow=True).text
    assert page.count("⟦") > 10
    return untranslated(page, KNOWN)


@pytest.mark.parametrize("name", NAMES)
def test_list_says_nothing_untranslated(admin_client: Client, name: str) -> None:
    assert said(admin_client, reverse(f"admin:{name}_changelist")) == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("exchange_")])
def test_form_says_nothing_untranslated(admin_client: Client, name: str) -> None:
    assert said(admin_client, reverse(f"admin:{name}_add")) == []
