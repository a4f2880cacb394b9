"""Helpers that extract the text, headings and times of the main part of a page."""

import html
import re

from django.test import Client


def fetch(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, path
    return response.content.decode()


def main_markup(page: str) -> str:
    return page[page.index("<main") : page.index("</main>")]


def main_text(page: str) -> str:
    """Return the text of a page's main part, with single spaces."""
    markup = re.sub(r"<(p|li|h[1-6]|article|div|section)\b", r" <\1", main_markup(page))
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", markup)).split())


def read_text(client: Client, path: str, status: int = 200) -> str:
    return main_text(fetch(client, path, status))


def headings(page: str) -> list[tuple[int, str]]:
    """Return the levels and texts of the headings; of a time only the clock, "08:00"."""
    matches = re.findall(r"(?s)<h([1-6])[^>]*>(.*?)</h\1>", main_markup(page))
    texts = [(int(level), html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()) for level, markup in matches]
    return [(level, re.sub(r"^([0-9]{2}:[0-9]{2}) .*$", r"\1", text)) for level, text in texts]


def time_values(page: str) -> list[str]:
    return re.findall(r'<time datetime="([^"]+)"', main_markup(page))
