"""Payloads in every field of every model stay text: on pages, in the admin, in files, feeds and the API."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser

from tests.attack.answers import Document, documents, faults
from tests.attack.payloads import PAYLOADS, WORD, refused
from tests.attack.world import attacked_world, desk_addresses, public_addresses, unattacked

# Each round starts with another payload; ATTACK_ROUNDS=17 runs all of them.
ROUNDS = range(int(os.environ.get("ATTACK_ROUNDS", "1")))
SCRIPT = (Path(__file__).parent / "inspect.js").read_text()
# Status codes 403 and 405 are of URLs for POST alone or without permission, 409 of edit conflicts.
ANSWERS = {200, 403, 404, 405, 409}
# Fields that accept no payload, by reason: choices, validated formats, URLs.
CHOICES = {"scope", "status", "mode", "role", "section", "kind", "decision", "state"}
CHOICES |= {"applies_to", "counts_as", "hero_focus", "home_sections", "origin"}
ADDRESSES = {"uid", "slug", "email", "username", "timezone", "second_timezone", "accent", "color", "orcid"}
ADDRESSES |= {"language", "isbn", "issn", "license", "data_license"}
LINKS = {"website", "url", "homepage", "ror", "stream_url", "recording_url", "chat_url"}
LINKS |= {"map_url", "registration_url"}

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


def test_fields_that_take_no_payload_have_a_reason() -> None:
    names = {name.rpartition(".")[2] for name in refused()}

    assert names <= CHOICES | ADDRESSES | LINKS


def ask(client: Client, paths: set[str]) -> tuple[list[str], list[Document]]:
    """Return the faults of the responses, and the documents that a browser has to check."""
    wrong: list[str] = []
    shown: list[Document] = []
    for path in sorted(paths):
        response: Any = client.get(path, follow=True)
        body = response.getvalue()
        wrong += [f"{path}: {response.status_code}"] if response.status_code not in ANSWERS else []
        wrong += faults(path, response, body)
        shown += documents(path, response.headers["Content-Type"].partition(";")[0], body)
    return wrong, shown


def looked_at(browser: Browser, shown: list[Document]) -> list[str]:
    """Parse documents in a browser; return the payloads that became active."""
    page = browser.new_page()
    found: list[str] = page.evaluate(SCRIPT, [WORD, [[*one] for one in shown]])
    page.close()
    return found


def test_browser_finds_what_is_active(browser: Browser) -> None:
    """Assert that the browser detects each payload that is HTML, when it is not escaped."""
    raw = [one for one in PAYLOADS if "<" in one and "title" not in one and "mouse" not in one]
    found = looked_at(browser, [(str(place), "text/html", one) for place, one in enumerate(raw)])

    assert {line.partition(":")[0] for line in found} == {str(place) for place in range(len(raw))}


@pytest.mark.parametrize("number", ROUNDS)
def test_trap_12_xss_payloads_are_text_wherever_they_show(number: int, browser: Browser) -> None:
    world = attacked_world(number)
    wrong, shown = ask(Client(), {*public_addresses(world)})
    wrong_there, shown_there = ask(world.client("superuser"), {*desk_addresses(world)})
    found = looked_at(browser, shown + shown_there)

    assert unattacked(world) == set()
    assert [*wrong, *wrong_there, *found] == []
    assert sum(WORD in text for _, _, text in shown + shown_there) > 150
