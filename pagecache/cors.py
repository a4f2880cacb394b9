"""Headers that let pages of all sites read public responses, and answers to preflight requests of browsers.

Browsers send neither cookies nor passwords with these requests. A page may send a token of the API that its
user has given to it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

METHODS = "GET, HEAD, OPTIONS"
# Headers that browsers ask for before they send them.
REQUEST_HEADERS = "Accept, Authorization, If-None-Match, If-Modified-Since"
EXPOSED_HEADERS = "ETag, Last-Modified, Retry-After"
PREFLIGHT_SECONDS = 86400


def allow_all_sites(request: HttpRequest, response: HttpResponseBase) -> None:
    """Add the headers to a response, which may be the answer to a preflight request."""
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = METHODS
        response.headers["Access-Control-Allow-Headers"] = REQUEST_HEADERS
        response.headers["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)


def public_file[**P](
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Let pages of all sites read the file of a view, also with conditional requests."""

    @wraps(view)
    def wrapper(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        is_preflight = request.method == "OPTIONS"
        response = HttpResponse(status=204) if is_preflight else view(request, *args, **kwargs)
        allow_all_sites(request, response)
        return response

    return wrapper
