"""The menus of editions and of all years, and queries for the sections that have content."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext, override

from conference.menu_sections import SECTIONS, Rows
from conference.models import Edition, MenuItem, Page
from content.querysets import at_or_now
from pagecache.per_revision import cached_per_revision

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


@dataclass(frozen=True, slots=True)
class MenuLink:
    """A link of a menu. `current` is true if it leads to the current page, or to one above it."""

    label: "str | StrPromise"
    url: str
    current: bool = False
    children: Sequence["MenuLink"] = ()


# Each edition and language has its own cache entry.
CACHED_MENUS = 60
CACHED_SITE_LINES = 12
# The icons of the sections in the tab bar of a phone.
TAB_ICONS = {"home": "home", "schedule": "calendar", "papers": "file"}
# Sections without rows of their own. They have content as soon as another section does.
ALWAYS_MORE = frozenset(("downloads", "statistics"))


def site_revision(edition: Edition) -> tuple[object, object] | None:
    """Return the site's revision and its time of change.

    Return `None` if the edition was fetched without them, or if nothing has ever changed.
    """
    values = vars(edition)
    return (values["site_revision"], values["site_changed_at"]) if values.get("site_revision") else None


@dataclass(frozen=True, slots=True)
class EditionMenu:
    """The navigation links of the pages of an edition.

    `lines` are the chairs' menu. `tabs` are the links of the tab bar on phones, with their icons. `more` are
    the sections with content that the menu omits. The edition's name links to its home, so `lines` omit it.
    """

    lines: Sequence[MenuLink] = ()
    tabs: Sequence[tuple[str, MenuLink]] = ()
    more: Sequence[MenuLink] = ()

    def at_path(self, path: str, edition: Edition) -> "EditionMenu":
        """Return a copy of the menu in which the links that lead to `path` are marked as current."""
        lines = [mark_current(line, edition, path) for line in self.lines]
        tabs = [(icon, mark_current(tab, edition, path)) for icon, tab in self.tabs]
        return EditionMenu(lines, tabs, self.more)


def menus(
    edition: Edition | None, path: str, at: datetime, editions: Sequence[Edition] = ()
) -> tuple[EditionMenu, list[MenuLink]]:
    """Return the edition's menu for the page at `path`, and the links of all years.

    Up to three queries after a change, else none. The site's revision is read from the first of `editions`.
    """
    revision = site_revision(editions[0]) if editions else None
    site_lines = [
        MenuLink(gettext("People"), reverse("people:list")),
        MenuLink(gettext("Awards of all years"), reverse("papers:all_awards")),
        *(_cached_site_pages(editions[0], at, revision) if revision else site_pages()),
    ]
    if edition is None:
        return EditionMenu(), site_lines
    menu = _cached_menu(edition, at, revision) if revision else edition_menu(edition, at)
    return menu.at_path(path, edition), site_lines


@cached_per_revision(CACHED_MENUS, is_dated=True, by_language=True)
def _cached_menu(edition: Edition, at: datetime, _site: Hashable) -> EditionMenu:
    return edition_menu(edition, at)


@cached_per_revision(CACHED_SITE_LINES, by_language=True)
def _cached_site_pages(_newest: Edition, _at: datetime, _site: Hashable) -> list[MenuLink]:
    return site_pages()


def edition_menu(edition: Edition, at: datetime) -> EditionMenu:
    """Return the chairs' menu. By default, it has the sections with content, and then the pages."""
    filled = filled_sections(edition, at)
    home = edition.get_absolute_url()
    lines = [line for line in menu_lines(edition, at, filled) if line.url != home or line.children]
    urls = {line.url for line in lines} | {child.url for line in lines for child in line.children}
    links = {name: MenuLink(section.label, section.url(edition)) for name, section in SECTIONS.items()}
    names = [name for name in links if name in filled.sections or (name in ALWAYS_MORE and filled.sections)]
    more = [links[name] for name in names if links[name].url not in urls]
    tabs = [(TAB_ICONS[name], links[name]) for name in TAB_ICONS if name == "home" or name in filled.sections]
    return EditionMenu(lines, tabs, more)


def menu_lines(edition: Edition, at: datetime, filled: "FilledSections") -> list[MenuLink]:
    if filled.has_menu:
        children: dict[int | None, list[MenuItem]] = {}
        for item in edition.menu_items.published().select_related("page__edition"):
            children.setdefault(item.parent_id, []).append(item)
        return [
            item_link(item, edition, [item_link(child, edition) for child in children.get(item.pk, [])])
            for item in children.get(None, [])
        ]
    sections = [section for name, section in SECTIONS.items() if name in filled.sections]
    links = [MenuLink(section.label, section.url(edition)) for section in sections]
    pages = ((title, reverse("conference:page", args=[edition.slug, slug])) for slug, title in filled.pages)
    return links + [MenuLink(*page) for page in pages]


def item_link(item: MenuItem, edition: Edition, children: Sequence[MenuLink] = ()) -> MenuLink:
    url = item.url or (item.page.get_absolute_url() if item.page else SECTIONS[item.section].url(edition))
    return MenuLink(item_label(item), url, children=children)


def item_label(item: MenuItem) -> "str | StrPromise":
    """Return the chairs' label. The default label of a section is translated."""
    section = SECTIONS.get(item.section)
    if section is None:
        return item.label
    with override(settings.LANGUAGE_CODE):
        default_label = str(section.label)
    return section.label if item.label == default_label else item.label


def mark_current(link: MenuLink, edition: Edition, path: str) -> MenuLink:
    """Return a copy of the link. It is current if `path` is its own address or one below it."""
    children = [mark_current(child, edition, path) for child in link.children]
    # All pages are below the edition's home, so its link is current only on the home itself.
    is_below = link.url != edition.get_absolute_url() and path.startswith(link.url)
    return replace(link, current=path == link.url or is_below, children=children)


def site_pages() -> list[MenuLink]:
    pages = Page.objects.published().filter(edition=None)
    return [MenuLink(page.title, page.get_absolute_url()) for page in pages]


@dataclass(frozen=True, slots=True)
class ProgramLink:
    label: str
    url: str
    description: str
    number: str = ""


def program_links(edition: Edition, counts: dict[str, int]) -> list[ProgramLink]:
    """Return links to the parts of an edition's program that have content."""
    links = []
    for name, section in SECTIONS.items():
        if section.counted and counts[name]:
            number = number_format(counts[name], force_grouping=True)
            text = str(section.counted % {"count": counts[name], "number": number})
            links.append(ProgramLink(str(section.label), section.url(edition), text, number))
    people = SECTIONS["people"]
    text = gettext("Authors and speakers, A to Z")
    return [*links, ProgramLink(str(people.label), people.url(edition), text)] if links else []


@dataclass(frozen=True, slots=True)
class FilledSections:
    """The sections of an edition with content, its pages (slug and title), and whether it has a menu."""

    sections: set[str]
    pages: list[tuple[str, str]]
    has_menu: bool


def filled_sections(edition: Edition, at: datetime | None = None) -> FilledSections:
    """Return the sections, pages and menu that an edition has. One query, two without public authors."""
    at = at_or_now(at)
    rows = {name: section.rows for name, section in SECTIONS.items() if section.rows}
    exists = _exist(rows, edition.pk, at)
    menu = Exists(MenuItem.objects.published(at).filter(edition=edition))
    editions = Edition.objects.filter(pk=edition.pk)
    beside_pages = editions.beside_pages().order_by("page__slug").annotate(**exists, has_menu=menu)
    values = list(beside_pages.values("page__slug", "page__title", "has_menu", *exists))
    pages = [(row["page__slug"], row["page__title"]) for row in values if row["page__slug"]]
    sections = {name for name in rows if values[0][f"has_{name}"]}
    others = [section for name, section in SECTIONS.items() if name not in sections]
    if rare_rows := {section.name: section.rare_rows for section in others if section.rare_rows}:
        exists = _exist(rare_rows, edition.pk, at)
        found = editions.annotate(**exists).values(*exists).get()
        sections |= {name for name in rare_rows if found[f"has_{name}"]}
    return FilledSections(sections, pages, values[0]["has_menu"])


def _exist(rows: Mapping[str, Rows], edition: int, at: datetime) -> dict[str, Any]:
    """Return an annotation for each section: whether it has such rows."""
    return {
        f"has_{name}": ExpressionWrapper(reduce(or_, map(Exists, get_rows(edition, at))), BooleanField())
        for name, get_rows in rows.items()
    }


def count_section_rows(edition: Edition, at: datetime | None = None) -> dict[str, int]:
    """Return the number of public rows of each section that the home page counts. One query."""
    numbers = {}
    for section in SECTIONS.values():
        if section.counted and section.rows:
            (rows,) = section.rows(edition.pk, at_or_now(at))
            number = rows.order_by().values("edition").annotate(n=Count("pk")).values("n")
            numbers[f"number_{section.name}"] = Coalesce(Subquery(number), 0)
    row = Edition.objects.filter(pk=edition.pk).annotate(**numbers).values(*numbers).get()
    return {name.removeprefix("number_"): number for name, number in row.items()}
