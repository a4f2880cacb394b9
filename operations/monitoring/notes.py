"""Additions of Django and of tasks to the note of a request, and error reports with its id.

Reports are sent to Sentry if `SENTRY_DSN` is set. They contain no names, addresses, forms or variables.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.tasks import TaskResult
from django.tasks.signals import task_finished, task_started

from conference.logs import redact
from pagecache import request_log

if TYPE_CHECKING:
    from django.views import View


class RequestNoteMiddleware:
    """Writes the view and the URL pattern of a request into its note."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: "View", args: object, kwargs: object) -> None:
        note, match = request_log.current_note(), request.resolver_match
        if note and match:
            note.view, note.route = match.view_name or "", match.route


@receiver(task_started)
def begin_task(task_result: TaskResult[..., object], **kwargs: object) -> None:
    """Open a note for a task of a worker; a task that runs in a request shares the note of the request."""
    if request_log.current_note() is None:
        request_log.begin(task_result.id).view = task_result.task.module_path


@receiver(task_finished)
def end_task(task_result: TaskResult[..., object], **kwargs: object) -> None:
    """Close the note of a task, after Django has logged its end."""
    note = request_log.current_note()
    if note is not None and note.request == task_result.id:
        request_log.end()


def strip_report(event: dict[str, Any], hint: object) -> dict[str, Any]:
    """Remove personal data from a report, and add the id of the request or task, which the log has, too."""
    for name in ("user", "request", "server_name", "extra", "breadcrumbs"):
        event.pop(name, None)
    if "logentry" in event:
        # Drop the parameters, which may contain an address.
        event["logentry"] = {"message": redact(str(event["logentry"].get("message", "")))}
    if note := request_log.current_note():
        event["tags"] = {"request": note.request}
    for error in event.get("exception", {}).get("values", ()):
        error["value"] = redact(str(error.get("value", "")))
    return event


def start_reporting() -> None:
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=strip_report,
    )
