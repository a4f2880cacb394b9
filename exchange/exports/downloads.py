"""File responses: conditional requests use the revision, contents are streamed."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header, http_date, quote_etag

from conference.models import Announcement, Edition
from conference.request_edition import published_editions
from content import revision

# Anybody may keep a copy, but has to ask whether it still holds.
CACHING = "public, max-age=0, must-revalidate"


@dataclass(frozen=True, slots=True)
class SourceState:
    """The state of what a file is made of: while it is the same, so is the file."""

    key: str
    changed_at: datetime


def state_of(edition: Edition, at: datetime | None = None) -> SourceState:
    """Return the state of an edition: its revision, and which gates have opened since."""
    stamp = _stamp(edition)
    opened = _opened(edition, at or timezone.now())
    changed = max([stamp.changed_at, *opened])
    return SourceState(f"{stamp.etag}.{int(changed.timestamp())}", changed)


def _stamp(edition: Edition) -> revision.Revision:
    """Return the revision of an edition as it was fetched: rows read later are no older."""
    held = vars(edition)
    if "site_revision" not in held:
        return revision.current(edition.pk)
    changed = max(edition.changed_at, held["site_changed_at"] or revision.FIRST_REVISION)
    return revision.Revision(edition.revision, held["site_revision"] or 0, changed)


def state_of_all(request: HttpRequest, at: datetime | None = None) -> SourceState:
    """Return the state of everything that is public."""
    editions = published_editions(request)
    stamp = revision.current(None)
    moments = [moment for edition in editions for moment in _gates(edition, at or timezone.now())]
    changed = max([stamp.changed_at, *(edition.changed_at for edition in editions), *moments])
    parts = "-".join(f"{edition.pk}.{edition.revision}" for edition in editions)
    digest = hashlib.sha256(f"{parts} {int(changed.timestamp())}".encode()).hexdigest()[:16]
    return SourceState(f"{stamp.etag}.{digest}", changed)


def _gates(edition: Edition, at: datetime) -> list[datetime]:
    gates = (edition.public_from, edition.papers_public_from, edition.schedule_public_from)
    return [gate for gate in gates if gate and gate <= at]


def _opened(edition: Edition, at: datetime) -> list[datetime]:
    """Return the moments by which something became public on its own, announcements among it."""
    announced = Announcement.objects.published(at).filter(edition=edition).order_by("-published_at")
    newest = announced.values_list("published_at", flat=True)[:1]
    return [*_gates(edition, at), *newest]


def reply(
    request: HttpRequest,
    state: SourceState,
    name: str,
    media_type: str,
    make: Callable[[], Iterable[bytes]],
) -> HttpResponse | StreamingHttpResponse:
    """Return the file, or 304 where the asker has it already: then `make` is not called."""
    etag, changed = quote_etag(state.key), int(state.changed_at.timestamp())
    found = get_conditional_response(request, etag, changed)
    answer: HttpResponse | StreamingHttpResponse
    if found is None:
        answer = StreamingHttpResponse(make(), content_type=media_type)
        answer.headers["Content-Disposition"] = content_disposition_header(True, name)
    else:
        answer = found
    # Other origins may read public data; no cookies are sent.
    answer["Access-Control-Allow-Origin"] = "*"
    answer["Access-Control-Expose-Headers"] = "ETag, Last-Modified"
    answer["ETag"], answer["Last-Modified"], answer["Cache-Control"] = etag, http_date(changed), CACHING
    return answer
