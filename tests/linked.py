"""Metadata of a page: its tags in order, and its linked data, validated against schema.org."""

import json
from datetime import date, datetime
from typing import Any

from django.test import Client

from tests.reading import Page, read

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
ADDRESSES = {"url", "@id", "item", "image", "contentUrl", "mainEntityOfPage"}


def tags(page: Page, key: str = "name") -> list[tuple[str, str]]:
    """Return the page's <meta> tags with the attribute `key`, in order."""
    return [
        (one.attributes[key], one.attributes["content"]) for one in page.all("meta") if key in one.attributes
    ]


def linked(client: Client, path: str) -> dict[str, Any]:
    """Return the linked data of a page by type; assert that all of it is valid."""
    scripts = read(client, path).all("script", type="application/ld+json")
    things = [json.loads("".join(one.words)) for one in scripts]
    for thing in things:
        assert thing.pop("@context") == "https://schema.org"
        check(thing)
    return {thing["@type"]: thing for thing in things}


def check(thing: Any) -> None:
    """Assert that a thing, and everything nested in it, is valid."""
    if isinstance(thing, list):
        for one in thing:
            check(one)
    if not isinstance(thing, dict):
        return
    assert REQUIRED[thing["@type"]] <= thing.keys(), thing
    for name, value in thing.items():
        assert value not in ("", None, [], {}), name
        if name in ADDRESSES:
            assert value.startswith(("http://", "https://")), (name, value)
        if name in {"startDate", "endDate", "previousStartDate"}:
            assert "T" not in value or datetime.fromisoformat(value).tzinfo
            assert "T" in value or date.fromisoformat(value).year
        check(value)
