"""Error pages: bad request, CSRF failure, server error, database away."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _

from content.pagination import BadParameter

# In seconds.
RETRY_AFTER = "30"
API = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say in a sentence which part of the address cannot be read."""
    reason = str(exception) if isinstance(exception, BadParameter) else ""
    return render(request, "400.html", {"reason": reason}, status=400)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say what to do about a form without a valid CSRF token, as after signing in elsewhere."""
    return render(request, "403_csrf.html", status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Report a failure; if the database is away, a 503 with `Retry-After`."""
    is_away = isinstance(sys.exception(), OperationalError | InterfaceError)
    status = 503 if is_away else 500
    headers = {"Retry-After": RETRY_AFTER, "Cache-Control": "no-store"} if is_away else {}
    if request.path.startswith(API):
        words = _("The site is away for a moment.") if is_away else _("Something went wrong here.")
        return JsonResponse({"detail": words}, status=status, headers=headers)
    # Without the request: the context processors may be what failed.
    return HttpResponse(loader.get_template(f"{status}.html").render(), status=status, headers=headers)
