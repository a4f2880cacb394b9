"""The most requested pages, and their rendering before a new process answers requests."""

import logging
import time
from datetime import datetime
from threading import Thread
from urllib.parse import unquote, urlsplit
from wsgiref.types import WSGIApplication, WSGIEnvironment
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models import Count, Q
from django.urls import reverse

from conference.models import Edition
from conference.request_edition import current_edition
from content import replica
from content.querysets import at_or_now
from pagecache.middleware import complete_response
from schedule.schedule_filters import used_days

log = logging.getLogger("plenary.requests.warming")

MAX_PAGES = 200
# Papers need the rest.
MAX_SESSIONS = 100


def first_pages(edition: Edition, max_pages: int = MAX_PAGES, at: datetime | None = None) -> list[str]:
    """Return paths of the edition's most requested pages, in that order. Three queries.

    Home pages, today and the other days, their grids, sessions that have not ended, papers with most stars.
    """
    at = at_or_now(at)
    today = edition.day_of(at)
    days = [
        reverse("schedule:day", args=[edition.slug, day.isoformat()])
        for day in sorted(used_days(edition, at), key=lambda day: (day < today, day))
    ]
    grids = [f"{path}?view=grid" for path in days]
    sessions = edition.sessions.published(at).order_by("uid").only("uid", "title", "start", "end", "edition")
    ordered_sessions = sorted(sessions, key=lambda row: (row.end <= at, row.start))[:MAX_SESSIONS]
    stars = Count("presentations__stars", filter=Q(presentations__stars__removed_at=None))
    papers = edition.papers.published(at).annotate(stars=stars).order_by("-stars", "uid")
    paths = ["/", edition.get_absolute_url(), reverse("schedule:index", args=[edition.slug])]
    paths += [*days[:1], *grids[:1], *days[1:], *grids[1:]]
    for row in (*ordered_sessions, *papers.only("uid", "title", "edition")[:max_pages]):
        row.edition = edition
        paths.append(row.get_absolute_url())
    return paths[:max_pages]


def warm_at_start(pages: WSGIApplication) -> None:
    """Render the first pages into the page cache of this process, for at most `WARM_SECONDS`.

    The process listens afterwards: until then nginx passes its requests to others. A page that takes longer,
    or a database that does not answer, delays the start for no longer than that.
    """
    if settings.WARM_SECONDS:
        deadline = time.monotonic() + settings.WARM_SECONDS
        thread = Thread(target=_warm, args=(pages, deadline), name="warming", daemon=True)
        thread.start()
        thread.join(settings.WARM_SECONDS)


def _warm(pages: WSGIApplication, deadline: float) -> None:
    start, done = time.monotonic(), 0
    try:
        edition = current_edition([*Edition.objects.published().select_related("conference")])
        paths = first_pages(edition) if edition else []
        with replica.read_from_replica():
            for path in paths:
                if time.monotonic() >= deadline:
                    break
                complete_response(pages, reader_request(path))
                done += 1
        log.info("%d of %d pages in %.1f seconds", done, len(paths), time.monotonic() - start)
    except DatabaseError as error:
        log.warning("No pages were rendered before the start: %s", error)
    finally:
        connections.close_all()


def reader_request(path: str) -> WSGIEnvironment:
    """Return an anonymous reader's request as it comes from the proxy."""
    site = urlsplit(settings.SITE_URL)
    header: tuple[str, str] | None = settings.SECURE_PROXY_SSL_HEADER
    path, _, query = path.partition("?")
    environ: WSGIEnvironment = {
        "PATH_INFO": unquote(path, "latin-1"),
        "QUERY_STRING": query,
        "HTTP_HOST": site.netloc,
        "HTTP_ACCEPT_ENCODING": "br",
        "wsgi.url_scheme": site.scheme,
        **dict([header] if header else []),
    }
    setup_testing_defaults(environ)
    return environ
