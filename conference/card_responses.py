"""Cards as replies: each is made of few rows, asked for by anybody, and drawn only for who has it not."""

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, quote_etag

from conference.cards import Picture, draw
from conference.models import Edition
from content import revision

# Anybody may keep a copy, but has to ask whether it still holds.
CACHING = "public, max-age=0, must-revalidate"


def edition_line(edition: Edition) -> str:
    """Return the conference, its dates and its place, for the foot of a card."""
    return " · ".join(filter(None, (edition.name, edition.date_line, edition.city)))


def card(request: HttpRequest, edition: Edition, picture: Picture) -> HttpResponse:
    """Return the picture, or 304 where the asker has it already: then nothing is drawn."""
    etag = quote_etag(picture.etag)
    changed = int(revision.current(edition.pk).changed_at.timestamp())
    found = get_conditional_response(request, etag, changed)
    reply = HttpResponse(draw(picture), content_type="image/png") if found is None else found
    reply["ETag"], reply["Last-Modified"], reply["Cache-Control"] = etag, http_date(changed), CACHING
    return reply
