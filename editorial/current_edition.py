"""The edition that a form works on: it sets the time zone and limits the choices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.access_scope import access_of
from content import times
from content.editions import get_edition_model
from content.request_keys import parse_key

if TYPE_CHECKING:
    from datetime import datetime

    from conference.models import Edition

# The query parameter of a list's edition filter.
LIST_FILTER = "edition__id__exact"
# The session key of the edition chosen on the desk.
CHOSEN_EDITION_KEY = "desk_edition"

_working_edition: ContextVar[Edition | None] = ContextVar("working_edition", default=None)


@contextmanager
def working_on(edition: Edition | None) -> Iterator[None]:
    """Set the working edition for the block: its time zone is activated, and choices are its rows."""
    token = _working_edition.set(edition)
    try:
        with timezone.override(edition.zone if edition else timezone.get_default_timezone()):
            yield
    finally:
        _working_edition.reset(token)


def get_working_edition() -> Edition | None:
    return _working_edition.get()


def edition_of(row: Model) -> Edition | None:
    """Return the edition that a row belongs to; `None` for rows of the whole site."""
    if isinstance(row, get_edition_model()):
        return row
    owner: object = row
    for step in filter(None, getattr(row, "edition_lookup", "").split("__")):
        owner = getattr(owner, step)
    return owner if isinstance(owner, get_edition_model()) else None


def format_moment(at: datetime | None, edition: Edition | None) -> str:
    """Return text such as "Tue 6 Apr 2021, 08:00 PDT", in the edition's zone or in the default one."""
    if at is None:
        return "-"
    zone = edition.zone if edition else timezone.get_default_timezone()
    local = at.astimezone(zone)
    clock = f"{times.clock_time(at, zone)} {times.zone_label(at, zone)}"
    return f"{times.short_day(local)} {local.year}, {clock}"


def editions_for(request: HttpRequest) -> QuerySet[Edition]:
    """Return the editions in which the user has a role, or all for permissions on all; newest first."""
    access = access_of(request.user)
    rows = get_edition_model().objects.all()
    is_limited = access.roles and not access.may_everywhere("view", get_edition_model())
    return rows.filter(pk__in=access.roles) if is_limited else rows


def choose_edition(request: HttpRequest, edition: Edition) -> None:
    """Store the chosen edition in the session, as the default of lists and forms."""
    request.session[CHOSEN_EDITION_KEY] = str(edition.pk)


def chosen_edition(request: HttpRequest) -> Edition | None:
    """Return the edition chosen on the desk, unless it was deleted or the user lost access."""
    key = request.session.get(CHOSEN_EDITION_KEY)
    return editions_for(request).filter(pk=key).first() if key else None


def requested_edition(request: HttpRequest) -> Edition | None:
    """Return the edition of the form, the URL or the list filter, else the chosen or the newest one."""
    editions = editions_for(request)
    list_filters = parse_qs(request.GET.get("_changelist_filters", ""))
    values = [request.POST.get("edition"), request.GET.get("edition"), *list_filters.get(LIST_FILTER, [])]
    for value in values:
        if (key := parse_key(value)) and (edition := editions.filter(pk=key).first()):
            return edition
    return chosen_edition(request) or editions.first()
