"""Error reports to your own Sentry, if a setting names it: no names, addresses, forms or variables."""

from typing import Any

from django.conf import settings

from conference.logs import bare
from pagecache.request_log import note


def stripped(event: dict[str, Any], hint: object) -> dict[str, Any]:
    """Remove personal data from a report; add the id of the request or task, as the log has it."""
    for name in ("user", "request", "server_name", "extra", "breadcrumbs"):
        event.pop(name, None)
    if "logentry" in event:
        # Its parameters may contain an address.
        event["logentry"] = {"message": bare(str(event["logentry"].get("message", "")))}
    if found := note():
        event["tags"] = {"request": found.request}
    for error in event.get("exception", {}).get("values", ()):
        error["value"] = bare(str(error.get("value", "")))
    return event


def start() -> None:
    """Start reporting, if a setting names a Sentry."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=stripped,
    )
