"""Pages of an inline with many rows: a form shows and saves the rows of one page, and no others.

The page is a parameter of the form's address, such as `?presentations-page=2`. A submitted form names the
rows that it showed, so that it saves the same ones, even if others were added or deleted in the meantime.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.forms.formsets import INITIAL_FORM_COUNT
from django.http import HttpRequest, QueryDict

from content.request_keys import parse_key

# The field of a submitted form with the number of the page that it showed, after the prefix.
PAGE_FIELD = "PAGE"
PARAMETER_SUFFIX = "-page"
# The request attribute with the shown rows of its inlines, by prefix.
SHOWN_PARTS = "shown_parts"


@dataclass(frozen=True, slots=True)
class PartPage:
    """The page of an inline that a form shows or saves."""

    prefix: str
    page: Page[Any]
    query: QueryDict

    @property
    def field_name(self) -> str:
        return f"{self.prefix}-{PAGE_FIELD}"

    def address(self, number: int) -> str:
        query = self.query.copy()
        query[f"{self.prefix}{PARAMETER_SUFFIX}"] = str(number)
        return f"?{query.urlencode()}"

    def links(self) -> Iterator[tuple[int | str, str]]:
        """Yield the numbers of pages with their addresses; that of a gap is empty."""
        for number in self.page.paginator.get_elided_page_range(self.page.number):
            yield number, self.address(number) if isinstance(number, int) else ""

    def previous_address(self) -> str:
        return self.address(self.page.previous_page_number()) if self.page.has_previous() else ""

    def next_address(self) -> str:
        return self.address(self.page.next_page_number()) if self.page.has_next() else ""


@dataclass(frozen=True, slots=True)
class ShownParts:
    """The rows of an inline that a form shows or saves, and their page if there are several."""

    rows: QuerySet[Any]
    page: PartPage | None = None


def shown_parts(request: HttpRequest, prefix: str, rows: QuerySet[Any], size: int) -> ShownParts:
    """Return those of an inline's `rows` that the form of a request shows or saves.

    More than `size` rows are shown in pages of this size. A form that is opened reads them once, so that its
    marks and its inputs agree.
    """
    ordered = rows if rows.totally_ordered else rows.order_by(*rows.model._meta.ordering, "pk")
    if request.method == "POST":
        return _submitted_parts(request, prefix, ordered, size)
    shown: dict[str, ShownParts] = vars(request).setdefault(SHOWN_PARTS, {})
    if prefix not in shown:
        shown[prefix] = _requested_parts(request, prefix, ordered, size)
    return shown[prefix]


def _requested_parts(request: HttpRequest, prefix: str, rows: QuerySet[Any], size: int) -> ShownParts:
    first_rows = rows[: size + 1]
    if len(first_rows) <= size:
        return ShownParts(first_rows)
    page = Paginator(rows, size).get_page(request.GET.get(f"{prefix}{PARAMETER_SUFFIX}"))
    page_rows = rows[page.start_index() - 1 : page.end_index()]
    return ShownParts(page_rows, PartPage(prefix, page, request.GET))


def _submitted_parts(request: HttpRequest, prefix: str, rows: QuerySet[Any], size: int) -> ShownParts:
    number = parse_key(request.POST.get(f"{prefix}-{PAGE_FIELD}"))
    if not number:
        return ShownParts(rows)
    count = min(parse_key(request.POST.get(f"{prefix}-{INITIAL_FORM_COUNT}")), size)
    names = (f"{prefix}-{index}-{rows.model._meta.pk.name}" for index in range(count))
    keys = {parse_key(request.POST.get(name)) for name in names}
    page = Paginator(rows, size).get_page(number)
    return ShownParts(rows.filter(pk__in=keys), PartPage(prefix, page, request.GET))
