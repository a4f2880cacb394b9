"""Pages of the site that the search suggests: sections, days, the agenda, rooms and topics."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from conference.request_edition import published_editions
from content import times
from content.page_paths import page_path
from papers.paper_search import PaperSearch
from search.folding import fold_words
from website.menu import MenuLink, menus

MAX_JUMPS = 5
# Without words, all sections and days are offered.
MAX_PAGES = 40


@dataclass(frozen=True, slots=True)
class Jump:
    """A suggested page: its name, the part of the site that it belongs to, and its address."""

    label: str
    hint: str
    url: str
    is_likely: bool = False


def find_jumps(request: HttpRequest, text: str, search: PaperSearch | None = None) -> list[Jump]:
    """Return the pages whose names have words with these prefixes; without words, the sections and days.

    With `search`, they are pages of its edition. Pages whose label alone matches are marked as likely and
    come first.

    Up to three queries after a change, else none.
    """
    edition = search.edition if search else None
    menu, site_links = menus(edition, request.path, timezone.now(), published_editions(request))
    pages = [Jump(gettext("Home"), edition.name, edition.get_absolute_url())] if edition else []
    pages += (Jump(str(link.label), "", link.url) for link in flatten_links([*menu.lines, *menu.more]))
    if search:
        pages += day_pages(search)
        pages.append(Jump(gettext("My agenda"), "", page_path("schedule:agenda", search.edition.slug)))
    else:
        pages += (Jump(row.name, "", row.get_absolute_url()) for row in published_editions(request))
    pages += (Jump(str(link.label), "", link.url) for link in site_links)
    if not text:
        return unique_pages(pages)[:MAX_PAGES]
    typed_words = fold_words(text)
    likely = [replace(page, is_likely=True) for page in pages if matches_prefixes(page.label, typed_words)]
    others = [page for page in pages if matches_prefixes(f"{page.label} {page.hint}", typed_words)]
    if search:
        others = [*named_pages(search), *others]
        if len("".join(typed_words)) > 1:
            others += (page for page in program_pages(search) if matches_prefixes(page.label, typed_words))
    return unique_pages([*likely, *others])[:MAX_JUMPS]


def unique_pages(pages: Iterable[Jump]) -> list[Jump]:
    """Return the first page of each address."""
    pages_by_url: dict[str, Jump] = {}
    for page in pages:
        pages_by_url.setdefault(page.url, page)
    return list(pages_by_url.values())


def matches_prefixes(name: str, prefixes: Sequence[str]) -> bool:
    """Return whether each typed word is a prefix of a word of the name."""
    name_words = fold_words(name)
    return bool(prefixes) and all(any(word.startswith(prefix) for word in name_words) for prefix in prefixes)


def flatten_links(links: Iterable[MenuLink]) -> Iterator[MenuLink]:
    for link in links:
        yield link
        yield from link.children


def day_pages(search: PaperSearch) -> Iterator[Jump]:
    """Yield the days of the schedule."""
    for day in search.words.days:
        url = page_path("schedule:day", search.edition.slug, day.isoformat())
        yield Jump(times.day_name(day), gettext("Schedule"), url)


def program_pages(search: PaperSearch) -> Iterator[Jump]:
    """Yield rooms and topics."""
    slug, facets = search.edition.slug, search.catalog.facets
    for room in facets["room"].values():
        yield Jump(room.label, gettext("Room"), page_path("schedule:room", slug, room.value))
    for topic in facets["topic"].values():
        yield Jump(topic.label, gettext("Topic"), page_path("papers:topic", slug, topic.value))


def named_pages(search: PaperSearch) -> list[Jump]:
    """Return the pages of the days, rooms and topics that the search words name."""
    views = {"day": "schedule:day", "room": "schedule:room", "topic": "papers:topic"}
    urls = {
        page_path(views[filter_.facet], search.edition.slug, filter_.value)
        for filter_ in search.reading.filters
        if filter_.facet in views
    }
    pages = [*day_pages(search), *program_pages(search)] if urls else []
    return [page for page in pages if page.url in urls]
