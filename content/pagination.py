"""Pagination, and errors for invalid query parameters."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
        shown = value if len(value) <= MAX_SHOWN_CHARS else f"{value[:MAX_SHOWN_CHARS]}…"
        shown = "".join(sign if sign.isprintable() else "\ufffd" for sign in shown)
        said = gettext("This page does not know “%(value)s” as a value of “%(name)s”.")
        super().__init__(f"{said % {'value': shown, 'name': name}} {hint}".strip())


def page_of[T](request: HttpRequest, rows: Sequence[T] | QuerySet[Model, T], size: int) -> Page[T]:
    """Return the page of the rows that the address asks for; raise `BadParameter` where there is none."""
    paginator = Paginator(rows, size)
    wanted = request.GET.get("page", "1")
    if not NUMBER.fullmatch(wanted) or int(wanted) > paginator.num_pages:
        raise BadParameter(
            "page", wanted, gettext("The last page is %(number)d.") % {"number": paginator.num_pages}
        )
    return paginator.page(int(wanted))


def base_query(chosen: Mapping[str, object], but: Iterable[str] = ()) -> str:
    """Return the chosen parameters as the start of a query string, without empty ones and without `but`."""
    kept = {name: value for name, value in chosen.items() if value and name not in but}
    return f"{urlencode(kept)}&" if kept else ""
