"""Helpers that extract the text, headings and times of a page."""

import html
import re

from django.test import Client


def fetch(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, path
    return response.content.decode()


def main(page: str) -> str:
    return page[page.index("<main") : page.index("</main>")]


def text(markup: str) -> str:
    """Return the text of a page's main part, with single spaces."""
    words = re.sub(r"<[^>]+>", "", re.sub(r"<(p|li|h[1-6]|article|div|section)\b", r" <\1", main(markup)))
    return " ".join(html.unescape(words).split())


def read(client: Client, path: str, status: int = 200) -> str:
    return text(fetch(client, path, status))


def headings(markup: str) -> list[tuple[int, str]]:
    """Return the levels and texts of the headings; of a time only the clock, "08:00"."""
    found = re.findall(r"(?s)<h([1-6])[^>]*>(.*?)</h\1>", main(markup))
    plain = [(int(level), html.unescape(re.sub(r"<[^>]+>", "", words)).strip()) for level, words in found]
    return [(level, re.sub(r"^([0-9]{2}:[0-9]{2}) .*$", r"\1", words)) for level, words in plain]


def moments(markup: str) -> list[str]:
    return re.findall(r'<time datetime="([^"]+)"', main(markup))
