"""The links through the site: menus of editions and of all years, and which sections have content."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext_lazy

from conference.models import Edition, MenuItem, Page, Sponsor
from content.querysets import moment
from pagecache.per_revision import cached_per_revision
from papers.models import Award, Paper
from people.models import CommitteeRole, Person
from schedule.models import Presentation, Release, Session

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


def contents(edition: int, at: datetime) -> dict[str, QuerySet[Any]]:
    """Return the public rows that fill the sections of an edition, which is named by its key.

    People and recordings come in several ways: see `_filled`.
    """
    sessions = Session.objects.published(at).filter(edition=edition)
    presentations = Presentation.objects.published(at).filter(edition=edition)
    return {
        Section.SCHEDULE: sessions,
        Section.PAPERS: Paper.objects.published(at).filter(edition=edition),
        Section.TALKS: sessions.invited_talks(),
        Section.POSTERS: presentations.posters(),
        Section.AWARDS: Award.objects.published(at).filter(edition=edition),
        Section.SPONSORS: Sponsor.objects.published(at).filter(edition=edition),
        Section.COMMITTEE: CommitteeRole.objects.published(at).filter(edition=edition),
        Section.CHANGES: Release.objects.published(at).filter(edition=edition),
    }


@dataclass(frozen=True, slots=True)
class FilledSections:
    """What an edition has: sections with content, pages of its own by slug and title, a menu of its own."""

    sections: set[Section]
    pages: list[tuple[str, str]]
    has_menu: bool


def filled_sections(edition: Edition, at: datetime | None = None) -> FilledSections:
    """Return what an edition has. One query."""
    rows = list(_filled(edition.pk, moment(at)))
    pages = [(row["page__slug"], row["page__title"]) for row in rows if row["page__slug"]]
    sections = {section for section in Section if rows[0].get(f"has_{section}")}
    return FilledSections(sections, pages, rows[0]["has_menu"])


def _filled(edition: int, at: datetime) -> Any:
    asked: dict[str, Any] = {section: Exists(rows) for section, rows in contents(edition, at).items()}
    # Each part is looked up by itself: PostgreSQL would collect all videos, and all who appear anywhere.
    presentations = Presentation.objects.published(at).filter(edition=edition)
    recorded = presentations.exclude(recording_url=""), presentations.with_video(at)
    sessions = Session.objects.published(at).filter(edition=edition).recorded()
    asked[Section.RECORDINGS] = any_of(*recorded, sessions)
    asked[Section.PEOPLE] = any_of(*Person.objects.published_appearances(at))
    asked["menu"] = Exists(MenuItem.objects.published(at).filter(edition=edition))
    named = {f"has_{what}": is_there for what, is_there in asked.items()}
    rows = Edition.objects.filter(pk=edition).beside_pages().annotate(**named).order_by("page__slug")
    return rows.values("page__slug", "page__title", *named)


def any_of(*several: QuerySet[Any]) -> Any:
    """Return whether one of these has rows."""
    return ExpressionWrapper(reduce(or_, map(Exists, several)), BooleanField())


def counts(edition: Edition, at: datetime | None = None) -> dict[str, int]:
    """Return how many public rows fill the sections that a home page counts."""
    (row,) = _counts(edition.pk, moment(at))
    return {Section(name.removeprefix("number_")): number for name, number in row.items()}


def _counts(edition: int, at: datetime) -> Any:
    rows = contents(edition, at)
    asked = {
        f"number_{section}": Coalesce(
            Subquery(rows[section].order_by().values("edition").annotate(n=Count("pk")).values("n")), 0
        )
        for section in (Section.SCHEDULE, Section.PAPERS, Section.TALKS, Section.POSTERS, Section.AWARDS)
    }
    return Edition.objects.filter(pk=edition).annotate(**asked).values(*asked)
