"""Headers for caches and for pages of other sites: ETag, Cache-Control, CORS."""

from datetime import datetime
from hashlib import blake2b
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date, quote_etag
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from conference.cache_lifetimes import read_cache_states
from content import replica
from content.changed.cursor import seen_until
from pagecache.cors import allow_all_sites
from pagecache.entries import ENCODERS, MIN_COMPRESSED_BYTES, accepted_encodings
from pagecache.revisions import SITE, CacheStates
from pagecache.tags import edition_slug

# Caches may store a response, but have to revalidate it.
PUBLIC_CACHE_CONTROL = "public, max-age=0, must-revalidate"
# Responses that may contain drafts are private.
PRIVATE_CACHE_CONTROL = "private, no-store"


def is_anonymous(request: HttpRequest) -> bool:
    """Return whether the request has no session and no token."""
    return not ("HTTP_AUTHORIZATION" in request.META or request.user.is_authenticated)


def make_conditional(request: Request, response: HttpResponse, states: CacheStates) -> Any:
    """Add an ETag and the date of these states, which must have been read first; or return a 304."""
    if not is_anonymous(request):
        response["Cache-Control"] = PRIVATE_CACHE_CONTROL
        patch_vary_headers(response, ["Authorization", "Cookie"])
    is_whole = response.status_code == status.HTTP_200_OK and not response.streaming
    if not is_whole or request.method not in ("GET", "HEAD"):
        return response
    if response.has_header("ETag") and not is_anonymous(request):
        # The ETag is the version of the row, for If-Match. Responses with other fields have the same one.
        return response
    if isinstance(response, Response):
        response.render()
    changed, encoding = None, ""
    if is_anonymous(request):
        slug = edition_slug(request.path, request.META.get("QUERY_STRING", ""))
        changed = int((states.get(slug) or states[SITE]).shown_at.timestamp())
        response["Last-Modified"] = http_date(changed)
        response.setdefault("Cache-Control", PUBLIC_CACHE_CONTROL)
        patch_vary_headers(response, ["Accept-Encoding"])
        if len(response.content) >= MIN_COMPRESSED_BYTES:
            accepted = accepted_encodings(request.META.get("HTTP_ACCEPT_ENCODING", ""))
            encoding = next((name for name in ENCODERS if name in accepted), "")
    # Use the same form of ETags as the page cache.
    digest = blake2b(response.content, digest_size=9).hexdigest()
    response["ETag"] = quote_etag(f"{digest}-{encoding}" if encoding else digest)
    conditional = get_conditional_response(request._request, response["ETag"], changed, response)
    if conditional is response and encoding:
        response.content, response["Content-Encoding"] = ENCODERS[encoding](response.content), encoding
    return conditional


class ConditionalView(APIView):
    """Base class of all views of the API, with conditional responses and CORS headers."""

    states: CacheStates = {}

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Read the date of a response before its content, so that it is never later than the content."""
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD") and is_anonymous(request):
            self.states = read_cache_states(timezone.now())

    def seen_until(self, at: datetime) -> datetime | None:
        """Return the `as_of` of a list: the moment to use as the next `changed_since`.

        It is `None` while only a replica answers, which doesn't tell which transactions are still to come.
        """
        may_use_replica = replica.is_reading()
        try:
            with replica.read_from_replica(allowed=False):
                states = self.states or read_cache_states(at)
                newest_revision = max(state.changed_at for state in states.values())
                return seen_until(newest_revision, max(newest_revision, states[SITE].shown_at), at)
        except (InterfaceError, OperationalError):
            if may_use_replica:
                return None
            raise

    def options(self, request: HttpRequest, *args: object, **kwargs: object) -> Response:
        """Respond to preflight requests of browsers."""
        return Response(status=status.HTTP_204_NO_CONTENT)

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        """Break the reference cycle of view and response, so that a list frees its megabyte at once."""
        response = super().dispatch(request, *args, **kwargs)
        del self.response
        return response

    def get_throttles(self) -> list[BaseThrottle]:
        return [] if self.request.method == "OPTIONS" else super().get_throttles()

    def finalize_response(self, request: Request, response: Response, *args: object, **kwargs: object) -> Any:
        finished = super().finalize_response(request, response, *args, **kwargs)
        if isinstance(finished, Response):
            finished.add_post_render_callback(lambda rendered: rendered.renderer_context.clear())
        allow_all_sites(self.request, finished)
        return make_conditional(self.request, finished, self.states)
