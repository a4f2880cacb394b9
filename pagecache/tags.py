"""The cache tags of a response, which determine the changes that invalidate it.

Every response has the tags of the site and of the editions that it shows. Some pages show the text of papers
only next to links to them. They have the tags of these papers, or of their titles if they show no abstracts.
Any other page has the tag of all papers.
"""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

from content.invalidation import (
    EDITIONS_TAG,
    PAPER_PREFIX,
    SITE_TAG,
    TITLE_PREFIX,
    edition_tag,
    paper_tag,
    papers_tag,
    title_tag,
)
from content.languages import strip_language
from pagecache.keys import API_SECTION, Key, is_search

# Pages of an edition: home page, papers, sessions, days, calendars of talks. Lists, whose order depends on
# texts, counts and searches are not among them.
LINKING_PAGES = re.compile(r"|(papers|sessions)/[^/]+/[^/]+/|schedule/[^/]+/|presentations/[^/]+\.ics")
# Those that may show abstracts of the papers that they link to.
PAGES_WITH_ABSTRACTS = re.compile(r"/[^/]+/(sessions/.*|schedule/.*|.*\.ics)")
LINKING_PERSON_PAGE = re.compile(r"/people/[^/]+/[^/]+/")
PAPER_LINK = re.compile(rb"/papers/([^/\"'<>\s]+)/")
# Calendars fold long lines with this.
LINE_FOLD = b"\r\n "
# Resources of the API that belong to no edition.
SITE_RESOURCES = frozenset(("conferences", "editions", "institutions", "people"))
# Proxies refuse long headers: nginx takes 4,096 bytes for all.
MAX_HEADER_BYTES = 600


def edition_slug(path: str, query: str) -> str:
    """Return the slug of the only edition that a response shows; any other text if it may show several.

    A search of an edition also finds rows of the whole site. The API names an edition after the resource, or
    in the parameter `edition`; deeply expanded rows, also those of `fields`, may belong to other years.
    """
    first, *parts = strip_language(path).lstrip("/").split("/")
    if first != API_SECTION:
        return "" if is_search(path) else first
    parameters = dict(parse_qsl(query))
    is_deep = any("." in parameters.get(name, "") for name in ("expand", "fields"))
    if SITE_RESOURCES.intersection(parts[1:2]) or is_deep:
        return ""
    # v1/papers/?edition=2021, or v1/papers/2021/17/
    slug_by_length = {3: parameters.get("edition", ""), 5: "".join(parts[2:3])}
    return slug_by_length.get(len(parts), "")


def response_tags(key: Key, body: bytes, slugs: Iterable[str]) -> frozenset[str]:
    """Return the tags of a response on a site that has these editions."""
    all_slugs = {*slugs}
    slug = edition_slug(*key)
    editions = {slug} if slug in all_slugs else all_slugs
    tags = {SITE_TAG, *map(edition_tag, editions)}
    if key.query or not is_linking_page(key.path, all_slugs):
        return frozenset(tags.union(map(papers_tag, editions)))
    text = body.replace(LINE_FOLD, b"") if key.path.endswith(".ics") else body
    link_tag = paper_tag if PAGES_WITH_ABSTRACTS.fullmatch(strip_language(key.path)) else title_tag
    tags.update(link_tag(uid) for uid in linked_papers(text))
    # The page of a paper.
    return frozenset(tags.union(map(paper_tag, linked_papers(key.path.encode()))))


def linked_papers(text: bytes) -> set[str]:
    """Return the uids in all links to papers in a text."""
    return {uid.decode(errors="replace") for uid in PAPER_LINK.findall(text)}


def is_linking_page(path: str, slugs: Iterable[str]) -> bool:
    """Return whether this page shows a paper's text only next to a link to the paper."""
    path = strip_language(path)
    slug, slash, page_path = path.removeprefix("/").partition("/")
    is_of_edition = slug in slugs and slash and LINKING_PAGES.fullmatch(page_path)
    return bool(is_of_edition or LINKING_PERSON_PAGE.fullmatch(path))


def header_tags(tags: frozenset[str]) -> list[str]:
    """Return the sorted tags for headers; if they are too long, those of all papers, or of all editions."""
    editions = [tag.partition(":")[2] for tag in tags if tag.startswith(edition_tag(""))]
    tags_of_all_papers = {tag for tag in tags if not tag.startswith((PAPER_PREFIX, TITLE_PREFIX))}.union(
        map(papers_tag, editions)
    )
    for candidate_tags in (tags, tags_of_all_papers):
        if sum(map(len, candidate_tags)) + len(candidate_tags) <= MAX_HEADER_BYTES:
            return sorted(candidate_tags)
    return [EDITIONS_TAG, SITE_TAG]
