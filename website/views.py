"""Views of the home pages of the site and of each edition, and of errors."""

import sys

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template import loader
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conference.cards import Picture, card_response
from conference.models import Edition
from conference.request_edition import current_edition, edition_page, published_editions, show_edition
from content import replica
from content.pagination import BadParameter
from content.storage.failures import storage_failure, with_advice
from content.write_conflicts import is_blocked
from website.context_processors import home_head
from website.edition_home import home_context
from website.front_page import front_page_context

# The seconds after which clients may retry.
RETRY_AFTER = "30"
RETRY_AFTER_LOCK = "5"
API_PREFIX = "/api/"
READING_METHODS = ("GET", "HEAD", "OPTIONS")
ADMIN_PREFIX = "/admin/"


@require_safe
def home(request: HttpRequest) -> HttpResponseBase:
    """Show the home of the current edition. If there are several conferences, list them instead."""
    editions = published_editions(request)
    current = current_edition(editions)
    if current is None or len({edition.conference_id for edition in editions}) > 1:
        return render(request, "website/conferences.html", front_page_context(editions, timezone.now()))
    show_edition(request, current)
    return edition_home(request, edition=current.slug)


@edition_page
def edition_home(request: HttpRequest, edition: Edition) -> HttpResponse:
    context = home_context(edition, timezone.now()) | {"head": home_head(edition)}
    return render(request, "website/home.html", context)


@edition_page
def edition_card(request: HttpRequest, edition: Edition) -> HttpResponse:
    foot = f"{edition.date_line} · {edition.place_line}" if edition.place_line else edition.date_line
    series = edition.conference.full_name
    return card_response(
        request, edition, Picture(edition.conference.name, edition.name, series, foot, edition.accent)
    )


# Errors


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show which parameter of the address is invalid, or that the request was too large."""
    reason = str(exception) if isinstance(exception, BadParameter) else ""
    if isinstance(exception, RequestDataTooBig):
        reason = _("The text you sent is too long. Shorten it, or upload it as a file.")
    return render(request, "400.html", {"reason": reason}, status=400)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Explain what to do after a form was sent without a valid CSRF token."""
    return render(request, "403_csrf.html", status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return a 500 page, or a 503 with `Retry-After` if the database is unavailable."""
    error = sys.exception()
    failure = storage_failure(error) if error is not None and request.method not in READING_METHODS else None
    is_unavailable = failure is not None or isinstance(error, OperationalError | InterfaceError)
    if is_unavailable and replica.is_reading():
        # The request is repeated with the primary database (`content.replica.ReplicaLayer`).
        replica.use.leave("does not answer")
    is_locked = isinstance(error, OperationalError) and is_blocked(error)
    status = 503 if is_unavailable else 500
    wait = RETRY_AFTER_LOCK if is_locked else RETRY_AFTER
    headers = {"Retry-After": wait, "Cache-Control": "no-store"} if is_unavailable else {}
    if request.path.startswith(API_PREFIX):
        message = _("The site is temporarily unavailable.") if is_unavailable else _("Something went wrong.")
        if is_locked:
            message = _("Someone else is saving the same data. Nothing was saved: try again in a moment.")
        message = with_advice(failure) if failure else message
        return JsonResponse({"detail": message}, status=status, headers=headers)
    # Render without the request, because the context processors may have failed.
    page = loader.get_template(f"{status}.html").render(
        {
            "is_locked": is_locked,
            "failure": failure and with_advice(failure),
            "fields": posted_fields(request) if is_unavailable else [],
        }
    )
    return HttpResponse(page, status=status, headers=headers)


def posted_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return what a form of the admin has sent, so that it can be sent again.

    Empty if it has files, which a page cannot send again, or a password, which no page should contain.
    """
    if request.method != "POST" or not request.path.startswith(ADMIN_PREFIX) or request.FILES:
        return []
    fields = [(name, str(value)) for name, values in request.POST.lists() for value in values]
    return [] if any("password" in name for name, _value in fields) else fields
