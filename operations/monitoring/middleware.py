"""Django's part in the note of a request: which view answers, and what the database could not."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse

from pagecache import request_log

if TYPE_CHECKING:
    from django.views import View


class RequestNoteMiddleware:
    """Writes the view and the pattern of the address into the note."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: "View", args: object, kwargs: object) -> None:
        note, match = request_log.note(), request.resolver_match
        if note and match:
            note.view, note.route = match.view_name or "", match.route
