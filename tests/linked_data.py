"""Metadata of a page: its tags in order, and its linked data, validated against schema.org."""

import json
from datetime import date, datetime
from typing import Any

from django.test import Client

from tests.html_pages import Page, read

# Required by search engines: https://developers.google.com/search/docs/appearance/structured-data
REQUIRED = {
    "ScholarlyArticle": {"headline", "name", "url", "datePublished", "image", "inLanguage", "publisher"},
    "Event": {"name", "startDate", "location", "eventStatus", "eventAttendanceMode", "url"},
    "Person": {"name"},
    "Organization": {"name"},
    "Place": {"name", "address"},
    "PostalAddress": set(),
    "VirtualLocation": {"url"},
    "BreadcrumbList": {"itemListElement"},
    "ListItem": {"position", "name", "item"},
    "PropertyValue": {"propertyID", "value"},
    "CreativeWork": {"name"},
    "DataDownload": {"contentUrl"},
    "Dataset": {"name", "description", "url", "license"},
    "MediaObject": {"contentUrl", "encodingFormat"},
    "Book": {"name"},
    "BookSeries": {"name"},
    "PublicationVolume": {"volumeNumber"},
    "Thing": {"name"},
    "WebPage": {"name", "url"},
}
URL_PROPERTIES = {"url", "@id", "item", "image", "contentUrl", "mainEntityOfPage"}


def meta_tags(page: Page, key: str = "name") -> list[tuple[str, str]]:
    """Return the page's <meta> tags with the attribute `key`, in order."""
    return [
        (element.attributes[key], element.attributes["content"])
        for element in page.all("meta")
        if key in element.attributes
    ]


def linked_data(client: Client, path: str) -> dict[str, Any]:
    """Return the linked data of a page by type; assert that all of it is valid."""
    scripts = read(client, path).all("script", type="application/ld+json")
    items = [json.loads("".join(script.text_parts)) for script in scripts]
    for item in items:
        assert item.pop("@context") == "https://schema.org"
        assert_valid(item)
    return {item["@type"]: item for item in items}


def assert_valid(item: Any) -> None:
    """Assert that an item, and everything nested in it, is valid."""
    if isinstance(item, list):
        for part in item:
            assert_valid(part)
    if not isinstance(item, dict):
        return
    assert REQUIRED[item["@type"]] <= item.keys(), item
    for name, value in item.items():
        assert value not in ("", None, [], {}), name
        if name in URL_PROPERTIES:
            assert value.startswith(("http://", "https://")), (name, value)
        if name in {"startDate", "endDate", "previousStartDate"}:
            assert "T" not in value or datetime.fromisoformat(value).tzinfo
            assert "T" in value or date.fromisoformat(value).year
        assert_valid(value)
