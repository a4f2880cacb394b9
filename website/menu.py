"""The links through the site: an edition's own menu, a sensible one where it has none, those of all years."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext_lazy

from conference.models import Edition, MenuItem, Page
from pagecache.per_revision import cached_per_revision
from website.sections import filled_sections

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

Section = MenuItem.Section

# Where each section of an edition is; what is the whole site's takes no edition.
SECTION_VIEWS = {
    Section.HOME: "website:edition",
    Section.SCHEDULE: "schedule:index",
    Section.PAPERS: "papers:list",
    Section.TALKS: "schedule:talks",
    Section.POSTERS: "schedule:posters",
    Section.AWARDS: "papers:awards",
    Section.RECORDINGS: "schedule:recordings",
    Section.SPONSORS: "conference:sponsors",
    Section.COMMITTEE: "people:committee",
    Section.CHANGES: "schedule:changes",
    Section.STATISTICS: "papers:statistics",
    Section.DOWNLOADS: "exchange:downloads",
}


@dataclass(frozen=True, slots=True)
class MenuLink:
    """One line of a menu; `current` where it leads to the page shown, or to a page above it."""

    label: Any
    url: str
    current: bool = False
    children: Sequence["MenuLink"] = ()


def section_url(edition: Edition, section: str) -> str:
    """Return the address of a built-in section."""
    view = SECTION_VIEWS.get(Section(section))
    return reverse(view, args=[edition.slug]) if view else reverse("people:list")


def page_url(edition: Edition, slug: str) -> str:
    """Return the address of a page of an edition."""
    return reverse("conference:page", args=[edition.slug, slug])


CACHED_EDITIONS = 24


def site_revision(edition: Edition) -> tuple[object, object] | None:
    """Return the site's revision, if the edition was fetched with it and something has changed so far."""
    held = vars(edition)
    return (held["site_revision"], held["site_changed_at"]) if held.get("site_revision") else None


def menus(
    edition: Edition | None, path: str, at: datetime, editions: Sequence[Edition] = ()
) -> tuple[list[MenuLink], list[MenuLink]]:
    """Return the edition's menu for the page at `path`, and the links of all years.

    Up to three queries after a change, else none. Any of the site's `editions` knows the site's revision.
    """
    revision = site_revision(editions[0]) if editions else None
    site_lines = [*fixed_links(), *(_site_lines(editions[0], at, revision) if revision else site_pages())]
    if edition is None:
        return [], site_lines
    lines = _lines(edition, at, revision) if revision else edition_menu(edition, at)
    return [mark_current(line, edition, path) for line in lines], site_lines


@cached_per_revision(CACHED_EDITIONS, is_dated=True)
def _lines(edition: Edition, at: datetime, _site: Hashable) -> list[MenuLink]:
    return edition_menu(edition, at)


@cached_per_revision(1)
def _site_lines(_newest: Edition, _at: datetime, _site: Hashable) -> list[MenuLink]:
    return site_pages()


def edition_menu(edition: Edition, at: datetime) -> list[MenuLink]:
    """Return the chairs' own menu, else the sections with content in the usual order, and the pages."""
    found = filled_sections(edition, at)
    if found.has_menu:
        return own_menu(edition)
    shown = [section for section in Section if section == Section.HOME or section in found.sections]
    sections = [MenuLink(section.label, section_url(edition, section)) for section in shown]
    return sections + [MenuLink(title, page_url(edition, slug)) for slug, title in found.pages]


def own_menu(edition: Edition) -> list[MenuLink]:
    """Return the menu that the chairs wrote."""
    children: dict[int | None, list[MenuItem]] = {}
    for line in edition.menu_items.published().with_targets():
        children.setdefault(line.parent_id, []).append(line)
    return [
        item_link(line, edition, [item_link(child, edition) for child in children.get(line.pk, [])])
        for line in children.get(None, [])
    ]


def item_link(line: MenuItem, edition: Edition, children: Sequence[MenuLink] = ()) -> MenuLink:
    """Return a line of the menu with the address of its target."""
    url = line.url or (line.page.get_absolute_url() if line.page else section_url(edition, line.section))
    return MenuLink(line.label, url, children=children)


def mark_current(link: MenuLink, edition: Edition, path: str) -> MenuLink:
    """Return a line of the menu as it stands on the page at `path`."""
    children = [mark_current(child, edition, path) for child in link.children]
    return replace(link, current=is_current(link.url, edition, path), children=children)


def is_current(url: str, edition: Edition, path: str) -> bool:
    """Whether the page at `path` is the one at `url` or below it; every page is below an edition's home."""
    return path == url or (url != edition.get_absolute_url() and path.startswith(url))


def fixed_links() -> list[MenuLink]:
    """Return the links of all years that are always there."""
    return [
        MenuLink(gettext("People"), reverse("people:list")),
        MenuLink(gettext("Awards"), reverse("papers:all_awards")),
    ]


def site_pages() -> list[MenuLink]:
    """Return the links to the pages of the whole site."""
    return [MenuLink(page.title, page.get_absolute_url()) for page in _site_pages(timezone.now())]


def _site_pages(at: datetime) -> Any:
    return Page.objects.published(at).filter(edition=None)


@dataclass(frozen=True, slots=True)
class ProgramLink:
    """A way into the program, with how much is there."""

    label: str
    url: str
    words: str


# What there is to count in a section.
COUNTED = {
    Section.SCHEDULE: ngettext_lazy("%(number)s session", "%(number)s sessions", "count"),
    Section.PAPERS: ngettext_lazy("%(number)s paper", "%(number)s papers", "count"),
    Section.TALKS: ngettext_lazy("%(number)s invited talk", "%(number)s invited talks", "count"),
    Section.POSTERS: ngettext_lazy("%(number)s poster", "%(number)s posters", "count"),
    Section.AWARDS: ngettext_lazy("%(number)s award", "%(number)s awards", "count"),
}


def counted(words: "StrPromise", number: int) -> str:
    """Return "1,200 papers"."""
    return str(words % {"count": number, "number": number_format(number, force_grouping=True)})


def program_links(edition: Edition, counts: dict[str, int]) -> list[ProgramLink]:
    """Return the ways into an edition's program that lead somewhere."""
    found = [
        ProgramLink(str(section.label), section_url(edition, section), counted(said, number))
        for section, said in COUNTED.items()
        if (number := counts[section])
    ]
    words = gettext("Authors and speakers, A to Z")
    people = ProgramLink(str(Section.PEOPLE.label), section_url(edition, Section.PEOPLE), words)
    return [*found, people] if found else []
