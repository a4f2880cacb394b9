"""All texts of the admin's pages go through gettext: lists and forms of every model."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from tests.pseudolocale import pseudolocale, untranslated

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

APPS = ["exchange", "schedule", "papers", "people", "conference"]
NAMES = [
    f"{model._meta.app_label}_{model._meta.model_name}"
    for model in admin.site._registry
    if model._meta.app_label in APPS
]
# Names of the site, of its chair, of a time zone and of a key of the keyboard.
KNOWN_WORDS = ["Plenary", "admin", "UTC", "Ctrl"]


def untranslated_texts(client: Client, url: str) -> list[str]:
    with pseudolocale():
        page = client.get(url, follow=True).text
    assert page.count("⟦") > 10
    return untranslated(page, KNOWN_WORDS)


@pytest.mark.parametrize("name", NAMES)
def test_list_has_no_untranslated_text(admin_client: Client, name: str) -> None:
    assert untranslated_texts(admin_client, reverse(f"admin:{name}_changelist")) == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("exchange_")])
def test_form_has_no_untranslated_text(admin_client: Client, name: str) -> None:
    assert untranslated_texts(admin_client, reverse(f"admin:{name}_add")) == []
