"""Errors of the API: JSON with a `detail` message, and the parameters or fields that are wrong."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, BadRequest
from django.core.exceptions import ValidationError as ModelError
from django.db.models import Model
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.response import Response
from rest_framework.views import exception_handler

from content.pagination import BadParameter, printable


class BadValue(APIException):
    """Raised for a parameter with an invalid value. The response names it and lists the `allowed` values."""

    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(
        self, parameter: str, value: str, hint: object = "", *, allowed: Iterable[str] | None = None
    ) -> None:
        self.parameter, self.allowed = printable(parameter), None if allowed is None else list(allowed)
        allowed_text = (
            _("Valid values: %(names)s.") % {"names": ", ".join(self.allowed)} if self.allowed else ""
        )
        params = {"value": printable(value), "parameter": self.parameter}
        message = _("“%(value)s” isn’t a valid value for “%(parameter)s”.") % params
        super().__init__(" ".join(str(part) for part in (message, hint, allowed_text) if part))


class UnknownParameter(BadValue):
    def __init__(self, parameter: str, allowed: Iterable[str]) -> None:
        super().__init__(parameter, "", allowed=sorted(allowed))
        params = {"parameter": self.parameter, "names": ", ".join(self.allowed or ())}
        message = _("There is no parameter “%(parameter)s”. Valid parameters: %(names)s.") % params
        self.detail = APIException(message).detail


def answer_error(error: Exception, context: dict[str, object]) -> Response | None:
    """Return the response for an exception; `None` if the framework should raise it as a server error."""
    if isinstance(error, BadParameter):
        return Response({"detail": str(error)}, status=status.HTTP_400_BAD_REQUEST)
    if isinstance(error, BadRequest):
        return Response({"detail": _("The request isn’t valid.")}, status=status.HTTP_400_BAD_REQUEST)
    response: Response | None = exception_handler(error, context)
    if response is not None and isinstance(error, UnsupportedMediaType):
        message = _("Send JSON. Files are uploaded in the admin; a material can link to a file with “href”.")
        response.data = {"detail": message}
    if response is not None and isinstance(error, BadValue):
        response.data = {"detail": str(error.detail), "parameter": error.parameter}
        if error.allowed is not None:
            response.data["allowed"] = error.allowed
    return response


# The key of errors that do not belong to a single field.
WHOLE_BODY = "body"


class WriteError(APIException):
    """Raised when a write is refused; nothing is stored. `more` is added to the response."""

    def __init__(self, code: int, message: str, **more: object) -> None:
        self.status_code = code
        super().__init__(message)
        # Assigned here because APIException turns numbers and None into strings.
        self.detail = {"detail": message, **more}  # type: ignore[dict-item] # rendered as it is


class InvalidBodyError(WriteError):
    """Raised for an invalid request body, with the reasons by path, such as `authors.1.person`."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        errors_by_path = {
            printable(name): [str(reason) for reason in reasons] for name, reasons in errors.items()
        }
        super().__init__(
            status.HTTP_400_BAD_REQUEST, _("Nothing was written: see the errors."), errors=errors_by_path
        )


def conflict(message: str, **more: object) -> WriteError:
    return WriteError(status.HTTP_409_CONFLICT, message, **more)


def permission_text(action: str, model: type[Model]) -> str:
    """Return a sentence about a missing permission; `action` is "add", "change" or "delete"."""
    sentences = {
        "add": _("You don’t have permission to add %(kind)s."),
        "change": _("You don’t have permission to change %(kind)s."),
        "delete": _("You don’t have permission to delete %(kind)s."),
    }
    return sentences[action] % {"kind": model._meta.verbose_name_plural}


def flat_errors(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the reasons of each error of a serializer."""
    if isinstance(detail, Mapping):
        for name, nested in detail.items():
            nested_path = path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
            yield from flat_errors(nested, nested_path)
    elif detail and all(isinstance(reason, str) for reason in detail):
        yield path or WHOLE_BODY, [str(reason) for reason in detail]
    else:
        for index, nested in enumerate(detail):
            if nested:
                yield from flat_errors(nested, f"{path}.{index}".lstrip("."))


def model_errors(error: ModelError, names: Mapping[str, str], path: str = "") -> dict[str, list[str]]:
    """Return the errors of a model by path; `names` maps columns to names in the API."""
    errors: dict[str, list[str]] = {}
    by_column = error.message_dict if hasattr(error, "error_dict") else {NON_FIELD_ERRORS: error.messages}
    for column, reasons in by_column.items():
        name = "" if column == NON_FIELD_ERRORS else names.get(column, column)
        errors[f"{path}.{name}".strip(".") or WHOLE_BODY] = list(reasons)
    return errors
