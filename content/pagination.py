"""Pagination, and errors for invalid query parameters."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

NUMBER = re.compile(r"[1-9][0-9]{0,5}")
MAX_SHOWN_CHARS = 60


class BadParameter(BadRequest):
    """A query parameter has an invalid value; the message is shown to the visitor."""

    def __init__(self, name: str, value: str, hint: str = "") -> None:
        message = gettext("“%(value)s” isn’t a valid value for “%(name)s”.")
        super().__init__(f"{message % {'value': printable(value), 'name': name}} {hint}".strip())


def printable(text: str) -> str:
    """Return a visitor's text for an error message: shortened, with unprintable characters replaced."""
    short = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
    return "".join(char if char.isprintable() else "\ufffd" for char in short)


def paginate[T](
    request: HttpRequest, rows: Sequence[T] | QuerySet[Model, T], size: int, total: int | None = None
) -> Page[T]:
    """Return the page of rows that `?page=` requests; raise `BadParameter` if it does not exist.

    `total` is the number of rows where it is known: they are not counted again.
    """
    paginator = Paginator(rows, size)
    if total is not None:
        paginator.count = total
    page_number = request.GET.get("page", "1")
    if not NUMBER.fullmatch(page_number) or int(page_number) > paginator.num_pages:
        hint = gettext("The last page is %(number)d.") % {"number": paginator.num_pages}
        raise BadParameter("page", page_number, hint)
    return paginator.page(int(page_number))


def base_query(parameters: Mapping[str, object]) -> str:
    """Return the chosen parameters as the start of a query string, without empty ones."""
    non_empty = {name: value for name, value in parameters.items() if value}
    return f"{urlencode(non_empty)}&" if non_empty else ""
