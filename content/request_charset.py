"""A WSGI application around Django's, for content types of requests that Django fails on."""

import codecs
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.utils.http import parse_header_parameters


class CharsetLayer:
    """Ignores content types of requests without a body, and refuses those whose charset is not of text.

    Django decodes the query string with the charset, before it handles errors, and fails if that is "zlib".
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.application = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
            environ.pop("CONTENT_TYPE", None)
        elif not has_text_charset(environ.get("CONTENT_TYPE", "")):
            start_response("400 Bad Request", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"The content type of the request is invalid.\n"]
        return self.application(environ, start_response)


def has_text_charset(content_type: str) -> bool:
    """Return whether Django can read a content type and decode text in its charset, if it has a known one."""
    try:
        _type, parameters = parse_header_parameters(content_type)
        charset = parameters.get("charset", "utf-8")
        codecs.lookup(charset)
    except ValueError:
        return False
    except LookupError:
        # Django ignores an unknown charset.
        return True
    try:
        b"a".decode(charset, "replace")
    except (LookupError, ValueError):
        return False
    return True
