"""Tests of requests that declare a charset other than UTF-8."""

import io
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from content.request_charset import CharsetLayer
from tests.api.reading import application

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

CODECS = ["zlib", "hex", "rot13", "undefined"]
TEXT_CHARSETS = ["utf-8", "utf-16", "cp037", "iso-8859-1", "unknown"]


def status(method: str, query: str, content_type: str, body: bytes = b"") -> str:
    """Return the status of a request of the login page."""
    statuses: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/admin/login/",
        "QUERY_STRING": query,
        "HTTP_HOST": "127.0.0.1:8000",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    setup_testing_defaults(environ)

    def start_response(text: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Any:
        statuses.append(text)

    b"".join(CharsetLayer(application)(environ, start_response))
    return statuses[0]


@pytest.mark.parametrize("charset", [*CODECS, *TEXT_CHARSETS])
def test_charset_of_a_request_without_a_body_is_ignored(charset: str) -> None:
    assert status("GET", "next=%2Fadmin%2F", f"text/html; charset={charset}") == "200 OK"


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("charset", CODECS)
def test_charset_that_is_no_encoding_of_text_is_refused(content_type: str, charset: str) -> None:
    assert status("POST", "next=/", f"{content_type}; charset={charset}", b"{}") == "400 Bad Request"


@pytest.mark.parametrize("charset", TEXT_CHARSETS)
def test_charset_of_text_reaches_django(charset: str) -> None:
    assert status("POST", "next=/", f"application/json; charset={charset}", b"{}") == "200 OK"


def test_long_content_type_is_refused() -> None:
    assert status("POST", "", "text/plain; x=" + "x" * 10_001) == "400 Bad Request"
