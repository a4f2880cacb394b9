"""The answers where there is no page: it cannot be read, is refused, failed, or is away for a moment."""

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
    """Say what to do where a form came without its mark, as after signing in elsewhere."""
    return render(request, "403_csrf.html", status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Say that something failed here; where only the database is away, when to come again."""
    is_away = isinstance(sys.exception(), OperationalError | InterfaceError)
    status = 503 if is_away else 500
    headers = {"Retry-After": RETRY_AFTER, "Cache-Control": "no-store"} if is_away else {}
    if request.path.startswith(API):
        words = _("The site is away for a moment.") if is_away else _("Something went wrong here.")
        return JsonResponse({"detail": words}, status=status, headers=headers)
    # Without the request: what every page needs may be what failed.
    return HttpResponse(loader.get_template(f"{status}.html").render(), status=status, headers=headers)
