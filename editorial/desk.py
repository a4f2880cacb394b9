"""The desk: counts and open tasks of an edition, registered by the apps, each with a link to its list.

Each app registers counts (`RowCount`) and checks for chairs (`Check`) in its `admin`. A count and its list
use the same function, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from content import preview_context, revision
from content.changed import reads
from content.models import Content
from editorial.current_edition import LIST_FILTER, format_moment
from pagecache.lru import LRUCache

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from accounts.access_scope import Access
    from conference.models import Edition

type Text = StrPromise | str

CHECK_PARAMETER = "todo"
# Editions whose counts are cached.
CACHED_EDITIONS = 12


@dataclass(frozen=True, slots=True, eq=False)
class RowCount:
    """Some rows of an edition and the list that shows exactly these. `label` is a lazy plural with `count`.

    `narrow` filters the rows of the edition, which are found by `lookup`. In the query string of the list,
    `edition_parameter` is that of the edition, and `query` are the others.
    """

    model: type[Model]
    label: Text
    narrow: Callable[[Any], QuerySet[Any]] = lambda rows: rows
    query: tuple[tuple[str, str], ...] = ()
    lookup: str = "edition"
    edition_parameter: str = LIST_FILTER
    position: int = 50
    # Columns that counting reads for texts alone, such as titles.
    only_shown: frozenset[str] = frozenset()
    # Returns text about the counted rows, such as their names.
    details: Callable[[Edition], str] | None = None

    def rows(self, edition: Edition) -> QuerySet[Model]:
        return self.narrow(self.model._default_manager.filter(**{self.lookup: edition}))

    def count(self, edition: Edition) -> int:
        return self.rows(edition).count()

    def shown(self, edition: Edition, counts: ContentCounts) -> tuple[int, Text]:
        """Return the count that the desk shows, and its label."""
        return counts[self], self.label

    def address(self, edition: Edition) -> str:
        meta = self.model._meta
        query = [(self.edition_parameter, edition.pk), *self.parameters()]
        return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist", query=query)

    def parameters(self) -> tuple[tuple[str, str], ...]:
        return self.query


@dataclass(frozen=True, slots=True, eq=False)
class Check(RowCount):
    """Rows that a chair has to check. `name` is used in URLs, `title` in the filter."""

    name: str = ""
    title: Text = ""

    def parameters(self) -> tuple[tuple[str, str], ...]:
        return self.query or ((CHECK_PARAMETER, self.name),)


ROW_COUNTS: list[RowCount] = []
CHECKS: list[RowCount] = []


@dataclass(frozen=True, slots=True)
class AddLink:
    """A link to a page that creates rows in the edition; `publishes`: visitors see them at once.

    `fills_edition`: the page creates a whole program, with which an empty edition can begin.
    """

    model: type[Model]
    label: Text
    page: str
    publishes: bool = False
    fills_edition: bool = False
    position: int = 50
    # Replaces the check for permission to add rows of the model.
    may: Callable[[Access, Edition], bool] | None = None

    def is_open_to(self, access: Access, edition: Edition) -> bool:
        return self.may(access, edition) if self.may else access.may_all_rows("add", self.model, edition)

    def address(self, edition: Edition) -> str:
        return reverse(self.page, query={"edition": edition.pk})


ADD_LINKS: list[AddLink] = []


class CheckFilter(admin.SimpleListFilter):
    """Filters a list to the rows of a check."""

    title = _("to do")
    parameter_name = CHECK_PARAMETER

    def checks_of(self, model: type[Model]) -> dict[str, Check]:
        return {check.name: check for check in CHECKS if isinstance(check, Check) and check.model is model}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Model]) -> list[tuple[str, Text]]:
        return [(name, check.title) for name, check in self.checks_of(model_admin.model).items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        check = self.checks_of(queryset.model).get(self.value() or "")
        return check.narrow(queryset) if check else queryset


@dataclass(frozen=True, slots=True)
class DeskCount:
    """A `RowCount` with its count, for the template."""

    count: int
    label: str
    address: str
    area: str
    # The label of the app of its model.
    app: str = ""


class ContentCounts:
    """The counts of an edition, each made when it is first asked for. Those of content are kept."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        # Each count with the tables and columns that it was read from.
        self._counts: dict[RowCount, tuple[int, frozenset[str]]] = {}

    def __getitem__(self, line: RowCount) -> int:
        if not issubclass(line.model, Content):
            return line.count(self.edition)
        if line not in self._counts:
            with reads.noted() as names:
                count = line.count(self.edition)
            self._counts[line] = count, frozenset(names - line.only_shown)
        return self._counts[line][0]

    def take_over(self, earlier: CachedCounts, edition: Edition) -> None:
        """Take over those counts that no change up to the edition's revision affects."""
        for line, (count, names) in earlier.counts._counts.items():
            if not revision.is_affected(names, edition, earlier.state):
                self._counts[line] = count, names


@dataclass(frozen=True, slots=True)
class CachedCounts:
    """Counts, with the revisions of the site and the edition that they are from."""

    site: revision.Revision
    state: tuple[int, datetime]
    counts: ContentCounts


_cached_counts: LRUCache[Hashable, CachedCounts] = LRUCache(CACHED_EDITIONS, size_of=lambda entry: 1)


def content_counts(edition: Edition) -> ContentCounts:
    """Return the counts of public content, cached until the revision changes. Two queries.

    After a change of the edition alone, only lines that read what has changed are counted again.
    """
    stored = type(edition)._base_manager.only("slug", "revision", "changed_at").get(pk=edition.pk)
    site = revision.current(None)
    key, state = (edition.pk, preview_context.cache_key_part()), (stored.revision, stored.changed_at)
    entry = _cached_counts.get(key)
    if entry is None or entry.site != site or entry.state != state:
        counts = ContentCounts(edition)
        if entry is not None and entry.site == site:
            counts.take_over(entry, stored)
        entry = CachedCounts(site, state, counts)
        _cached_counts.put(key, entry)
    return entry.counts


@dataclass(frozen=True, slots=True)
class Switch:
    """The public state of the site, the papers or the schedule of an edition."""

    name: str
    label: Text
    state: str
    when: str


# Name, label and gate of each switch.
SWITCHES = [
    ("site", _("Site"), "public_from"),
    ("papers", _("Papers"), "papers_public_from"),
    ("schedule", _("Schedule"), "schedule_public_from"),
]
OPEN, WAITING, CLOSED, BEHIND = "open", "waiting", "closed", "behind"


def switches(edition: Edition, at: datetime) -> list[Switch]:
    """Return the switches at a moment. A part that is public before its site is `BEHIND`."""
    site = edition.public_from
    result = []
    for name, label, gate in SWITCHES:
        moment = getattr(edition, gate)
        is_behind = moment is not None and (site is None or (site > moment and site > at))
        state, shown_moment = (BEHIND, site) if is_behind else (switch_state(moment, at), moment)
        result.append(
            Switch(name, label, state, format_moment(shown_moment, edition) if shown_moment else "")
        )
    return result


def switch_state(moment: datetime | None, at: datetime) -> str:
    """Return whether a part is public at a moment, will be, or has no date."""
    if moment is None:
        return CLOSED
    return OPEN if moment <= at else WAITING


def visible_counts(
    lines: Iterable[RowCount],
    edition: Edition,
    cached: ContentCounts,
    may_see: Callable[[type[Model]], bool],
) -> list[DeskCount]:
    """Return the counts of the lines whose lists the user may see."""
    counts = []
    for line in sorted(lines, key=attrgetter("position")):
        if may_see(line.model):
            count, words = line.shown(edition, cached)
            app, label = line.model._meta.app_config, str(words % {"count": count})
            if count and line.details and (detail_text := line.details(edition)):
                label = _("%(words)s: %(named)s") % {"words": label, "named": detail_text}
            counts.append(DeskCount(count, label, line.address(edition), str(app.verbose_name), app.label))
    return counts


def open_checks(edition: Edition, may_see: Callable[[type[Model]], bool]) -> list[DeskCount]:
    """Return the checks that found rows."""
    cached = content_counts(edition)
    return [line for line in visible_counts(CHECKS, edition, cached, may_see) if line.count]


def rows_by_model(counts: ContentCounts) -> dict[str, int]:
    """Return the number of rows by model name, for the first steps."""
    numbers: dict[str, int] = {}
    for line in ROW_COUNTS:
        name = str(line.model._meta.model_name)
        numbers[name] = max(numbers.get(name, 0), counts[line])
    return numbers


def desk_context(edition: Edition, at: datetime, may_see: Callable[[type[Model]], bool]) -> dict[str, Any]:
    """Return the template context of the desk. Counts of content are cached."""
    cached = content_counts(edition)
    counts, checks = (visible_counts(lines, edition, cached, may_see) for lines in (ROW_COUNTS, CHECKS))
    return {
        "edition": edition,
        "switches": switches(edition, at),
        "counts": counts,
        "open_checks": [check for check in checks if check.count],
        "passed_checks": [check for check in checks if not check.count],
        "row_numbers": rows_by_model(cached),
    }
