"""Payloads in every field of every model stay text: on pages, in the admin, in files, feeds and the API."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser

from tests.attack.payloads import MARKER, PAYLOADS, rejecting_fields
from tests.attack.responses import Document, documents, response_problems
from tests.attack.world import admin_urls, attacked_world, models_without_row, public_urls

# Each round starts with another payload; ATTACK_ROUNDS=17 runs all of them.
ROUNDS = range(int(os.environ.get("ATTACK_ROUNDS", "1")))
SCRIPT = (Path(__file__).parent / "find_active_payloads.js").read_text()
# Status codes 403 and 405 are of URLs for POST alone or without permission, 409 of edit conflicts.
STATUS_CODES = {200, 403, 404, 405, 409}
# Fields that accept no payload, by reason: choices, validated formats, URLs.
CHOICE_FIELDS = {"scope", "status", "mode", "role", "section", "kind", "decision", "state"}
CHOICE_FIELDS |= {"applies_to", "counts_as", "hero_focus", "home_sections", "origin"}
FORMATTED_FIELDS = {
    "uid",
    "slug",
    "email",
    "username",
    "timezone",
    "second_timezone",
    "accent",
    "color",
    "orcid",
}
FORMATTED_FIELDS |= {"language", "isbn", "issn", "license", "data_license", "publication"}
URL_FIELDS = {"website", "url", "homepage", "ror", "stream_url", "recording_url", "chat_url"}
URL_FIELDS |= {"map_url", "registration_url"}

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


def test_fields_without_payload_have_a_known_reason() -> None:
    names = {name.rpartition(".")[2] for name in rejecting_fields()}

    assert names <= CHOICE_FIELDS | FORMATTED_FIELDS | URL_FIELDS


def check_responses(client: Client, paths: set[str]) -> tuple[list[str], list[Document]]:
    """Return the faults of the responses, and the documents that a browser has to check."""
    faults_found: list[str] = []
    documents_found: list[Document] = []
    for path in sorted(paths):
        response: Any = client.get(path, follow=True)
        body = response.getvalue()
        faults_found += (
            [f"{path}: {response.status_code}"] if response.status_code not in STATUS_CODES else []
        )
        faults_found += response_problems(path, response, body)
        documents_found += documents(path, response.headers["Content-Type"].partition(";")[0], body)
    return faults_found, documents_found


def active_payloads(browser: Browser, page_documents: list[Document]) -> list[str]:
    """Parse documents in a browser; return the payloads that became active."""
    page = browser.new_page()
    active: list[str] = page.evaluate(SCRIPT, [MARKER, [[*document] for document in page_documents]])
    page.close()
    return active


def test_unescaped_html_payloads_are_detected(browser: Browser) -> None:
    """Assert that the browser detects each payload that is HTML, when it is not escaped."""
    html_payloads = [
        payload
        for payload in PAYLOADS
        if "<" in payload and "title" not in payload and "mouse" not in payload
    ]
    active = active_payloads(
        browser, [(str(index), "text/html", payload) for index, payload in enumerate(html_payloads)]
    )

    assert {line.partition(":")[0] for line in active} == {str(index) for index in range(len(html_payloads))}


@pytest.mark.parametrize("number", ROUNDS)
def test_trap_12_xss_payloads_are_text_on_all_pages_and_in_all_files(number: int, browser: Browser) -> None:
    world = attacked_world(number)
    public_faults, public_documents = check_responses(Client(), {*public_urls(world)})
    desk_faults, desk_documents = check_responses(world.client("superuser"), {*admin_urls(world)})
    active = active_payloads(browser, public_documents + desk_documents)

    assert models_without_row(world) == set()
    assert [*public_faults, *desk_faults, *active] == []
    assert sum(MARKER in text for _, _, text in public_documents + desk_documents) > 150
