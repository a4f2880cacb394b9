"""What the API says when it cannot answer: JSON with a `detail` for people, and the parameter by name."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import BadRequest
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.response import Response
from rest_framework.views import exception_handler

from content.pagination import BadParameter

MAX_SHOWN_CHARS = 60


class BadValue(APIException):
    """A parameter that is not known, or has a value that is not: the answer names it and what it knows."""

    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(
        self, parameter: str, value: str, hint: Any = "", *, allowed: Iterable[str] | None = None
    ) -> None:
        self.parameter, self.allowed = shown(parameter), None if allowed is None else list(allowed)
        known = _("It knows: %(names)s.") % {"names": ", ".join(self.allowed)} if self.allowed else ""
        words = {"value": shown(value), "parameter": self.parameter}
        said = _("“%(value)s” is not a value of “%(parameter)s”.") % words
        super().__init__(" ".join(str(part) for part in (said, hint, known) if part))


class UnknownParameter(BadValue):
    """A parameter that the resource does not have."""

    def __init__(self, parameter: str, known: Iterable[str]) -> None:
        super().__init__(parameter, "", allowed=sorted(known))
        words = {"parameter": self.parameter, "names": ", ".join(self.allowed or ())}
        said = _("There is no parameter “%(parameter)s”. Known are: %(names)s.") % words
        self.detail = APIException(said).detail


def shown(text: str) -> str:
    """Return a text of the asker's as it can be repeated: short, and of visible characters."""
    short = text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in short)


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception into an answer, for Django REST framework."""
    if isinstance(error, BadParameter):
        return Response({"detail": str(error)}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, BadRequest):
        return Response({"detail": _("The request cannot be read.")}, status=status.HTTP_400_BAD_REQUEST)
    response: Response | None = exception_handler(error, context)
    if response is not None and isinstance(error, UnsupportedMediaType):
        said = _("Send JSON. Files are uploaded in the admin; a material takes an address as “href”.")
        response.data = {"detail": said}
    if response is not None and isinstance(error, BadValue):
        response.data = {"detail": str(error.detail), "parameter": error.parameter}
        if error.allowed is not None:
            response.data["allowed"] = error.allowed
    return response
