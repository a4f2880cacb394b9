"""A minimal Django site for comparison: a view without middleware that returns bytes, at /0, /1, …

`BARE_FOLDER` contains a file per page, named by number, and `headers.json`.
"""

import json
import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

FOLDER = Path(os.environ["BARE_FOLDER"])
HEADERS: list[dict[str, str]] = json.loads((FOLDER / "headers.json").read_text())
BODIES = [(FOLDER / str(number)).read_bytes() for number in range(len(HEADERS))]

settings.configure(ROOT_URLCONF="bench.bare", ALLOWED_HOSTS=["*"], SECRET_KEY="no secret", MIDDLEWARE=[])  # noqa: S106


def view(request: HttpRequest, number: int) -> HttpResponse:
    return HttpResponse(BODIES[number], headers=HEADERS[number])


urlpatterns = [path("<int:number>", view)]
application = get_wsgi_application()
