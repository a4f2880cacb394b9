"""What a page costs at least on the same server: its bytes from a WSGI function, and from a bare Django view.

`BARE_FOLDER` holds one file per page, named by number, and `headers.json`. Addresses: /wsgi/0, /view/0.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

FOLDER = Path(os.environ["BARE_FOLDER"])
HEADERS: list[list[tuple[str, str]]] = json.loads((FOLDER / "headers.json").read_text())
BODIES = [(FOLDER / str(number)).read_bytes() for number in range(len(HEADERS))]

settings.configure(ROOT_URLCONF="bench.bare", ALLOWED_HOSTS=["*"], SECRET_KEY="no secret", MIDDLEWARE=[])  # noqa: S106


def view(request: HttpRequest, number: int) -> HttpResponse:
    """Answer with the bytes of a page."""
    return HttpResponse(BODIES[number], headers=dict(HEADERS[number]))


urlpatterns = [path("view/<int:number>", view)]
django = get_wsgi_application()


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer without Django, or let Django answer."""
    kind, _, number = environ["PATH_INFO"].removeprefix("/").partition("/")
    if kind != "wsgi":
        return django(environ, start_response)
    start_response("200 OK", [(name, value) for name, value in HEADERS[int(number)]])
    return [BODIES[int(number)]]
