"""Pagination by cursor: a row is in one page only, whatever is added or deleted between two requests.

A cursor names the last row of a page by its sort value and primary key; the next page begins after it.
The default order is that of the primary key, which never changes. In another order a row is repeated only
if a change of its sort value moved it ahead between two requests.
"""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from api.errors import BadValue
from api.shapes import Rows

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

PAGE_SIZE, MAX_PAGE_SIZE = 50, 200
# Responses with expanded relations take longer to build.
MAX_EXPANDED_ROWS = 100
MAX_KEY = 2**63 - 1
RELEVANCE = "relevance"
CURSOR_HINT = _("Take it from “next” of the previous page, with the same order.")


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in an ordered list: after the row with this primary key and sort value."""

    order: str
    value: object
    key: int

    def __str__(self) -> str:
        value = self.value.isoformat() if isinstance(self.value, datetime | date) else self.value
        encoded = json.dumps([self.order, value, self.key], separators=(",", ":"), ensure_ascii=False)
        return urlsafe_b64encode(encoded.encode()).decode().rstrip("=")


def read_cursor(text: str, order: str) -> Cursor:
    """Return the cursor in a query string; raise `BadValue` if it is malformed or of another order."""
    try:
        padded = text + "=" * (-len(text) % 4)
        cursor_order, value, key = json.loads(urlsafe_b64decode(padded.encode("ascii")))
        if cursor_order != order or type(key) is not int or not 0 <= key <= MAX_KEY:
            raise ValueError
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise BadValue("cursor", text, CURSOR_HINT) from None
    return Cursor(order, value, key)


def to_database_value(value: object) -> object:
    """Return the value in a form that all databases accept, or raise `ValueError`."""
    if value is None or (isinstance(value, int) and abs(value) > MAX_KEY):
        raise ValueError
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError
        return value.astimezone(UTC)
    if isinstance(value, str) and "\0" in value.encode().decode():
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class Page:
    """A request for one page. `orders` maps the names of orders to expressions."""

    size: int
    order: str
    cursor: str
    orders: "Mapping[str, Combinable]"

    def paginate_rows(self, rows: Rows) -> tuple[list[int], Cursor | None]:
        """Return the primary keys of the page, and the cursor of the next page or `None`. One query."""
        name = self.order.removeprefix("-")
        expression = self.orders.get(name, F("pk"))
        is_descending = self.order.startswith("-")
        rows = rows.annotate(sort_value=expression)
        if self.cursor:
            rows = rows.filter(self._after_cursor(rows, is_descending))
        ordering = ("-sort_value", "-pk") if is_descending else ("sort_value", "pk")
        pairs = list(rows.order_by(*ordering).values_list("pk", "sort_value")[: self.size + 1])
        page = pairs[: self.size]
        next_cursor = Cursor(self.order, page[-1][1], page[-1][0]) if len(pairs) > self.size else None
        return [key for key, _ in page], next_cursor

    def _after_cursor(self, rows: Rows, is_descending: bool) -> Q:
        cursor = read_cursor(self.cursor, self.order)
        field = rows.query.annotations["sort_value"].output_field
        try:
            value = to_database_value(field.to_python(cursor.value))
        except (ValidationError, ValueError, TypeError, OverflowError):
            raise BadValue("cursor", self.cursor, CURSOR_HINT) from None
        comparison = "lt" if is_descending else "gt"
        return Q(**{f"sort_value__{comparison}": value}) | Q(
            sort_value=value, **{f"pk__{comparison}": cursor.key}
        )

    def paginate_keys(self, keys: Sequence[int]) -> tuple[list[int], Cursor | None]:
        """Return the page of keys that are sorted by relevance, and the cursor of the next page or `None`."""
        start = 0
        if self.cursor:
            cursor = read_cursor(self.cursor, self.order)
            # Without the row of the cursor, the rows after it moved up by at least one.
            offset = max(0, cursor.value - 1) if type(cursor.value) is int else 0
            start = keys.index(cursor.key) + 1 if cursor.key in keys else offset
        page = list(keys[start : start + self.size])
        end = start + len(page)
        return page, Cursor(self.order, end, page[-1]) if end < len(keys) and page else None
