"""Five pages of the site that this one replaces: our pages contain all their facts, in the same order.

`reference/` lists the facts: a line for each row of the old page, with facts separated by middle dots.
"""

import html
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.demo.programs import import_demo

pytestmark = pytest.mark.django_db

REFERENCE = Path(__file__).parent / "reference"

ADDRESSES = {
    "awards-2021": "/2021/awards/",
    "awards-2022": "/2022/awards/",
    "day-2021": "/2021/schedule/2021-04-06/",
    "day-2023": "/2023/schedule/2023-06-07/",
    "session-2022": "/2022/schedule/2022-08-29/",  # linked to the session
}


@pytest.fixture(autouse=True, scope="module")
def demo(made_once: Callable[..., Any]) -> None:
    made_once(import_demo)


def reference_rows(name: str) -> list[list[str]]:
    lines = (REFERENCE / f"{name}.txt").read_text().splitlines()
    return [line.split(" · ") for line in lines]


def page_url(client: Client, name: str) -> str:
    if name != "session-2022":
        return ADDRESSES[name]
    link = re.search(r'href="([^"]+)"[^>]*>\s*ML Compilers', client.get(ADDRESSES[name]).text)
    assert link, "the day page does not lead to the session"
    return link[1]


def page_text(client: Client, path: str) -> str:
    """Return the text of a page's main part, without tags, and with single spaces."""
    main = re.search(r"<main\b.*?</main>", client.get(path).text, re.S)
    assert main, f"{path} has no main part"
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", main[0]))).casefold()


def missing_facts(text: str, facts: Iterable[str]) -> list[str]:
    """Return the facts that the text does not contain in this order."""
    missing, position = [], 0
    for fact in facts:
        start = text.find(fact.casefold(), position)
        if start < 0:
            missing.append(fact)
        else:
            position = start + len(fact)
    return missing


@pytest.mark.parametrize("name", ADDRESSES)
def test_page_contains_all_reference_facts_in_order(client: Client, name: str) -> None:
    text = page_text(client, page_url(client, name))
    assert missing_facts(text, [fact for row in reference_rows(name) for fact in row]) == []


@pytest.mark.parametrize("name", ["awards-2021", "awards-2022"])
def test_awards_page_shows_each_paper_once(client: Client, name: str) -> None:
    titles = [row[0] for row in reference_rows(name)]
    headings = re.findall(r"<h[23][^>]*>(.*?)</h[23]>", client.get(ADDRESSES[name]).text, re.S)
    shown_titles = [
        re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", heading))).strip() for heading in headings
    ]
    assert [title for title in shown_titles if title in titles] == titles
