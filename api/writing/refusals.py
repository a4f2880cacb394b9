"""Why something is not written: what the answer says, with the fields by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as ModelError
from django.utils.translation import gettext as _
from rest_framework import status
from rest_framework.exceptions import APIException

from api.errors import shown

# What is wrong with the whole, not with one field.
WHOLE = "body"


class Refused(APIException):
    """Nothing was changed; `more` stands in the answer beside the sentence."""

    def __init__(self, code: int, said: str, **more: Any) -> None:
        self.status_code = code
        super().__init__(said)
        # Given whole: Django REST framework would turn numbers and nothing into texts.
        answer: Any = {"detail": said, **more}
        self.detail = answer


class Invalid(Refused):
    """What the body says cannot be: reasons by field, as `authors.1.person`."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        told = {shown(name): [str(reason) for reason in reasons] for name, reasons in errors.items()}
        super().__init__(status.HTTP_400_BAD_REQUEST, _("Nothing was written: see the errors."), errors=told)


def conflict(said: str, **more: Any) -> Refused:
    return Refused(status.HTTP_409_CONFLICT, said, **more)


def forbidden(said: str) -> Refused:
    return Refused(status.HTTP_403_FORBIDDEN, said)


def not_allowed(action: str, model: Any) -> str:
    """Say what somebody has no permission for."""
    said = {
        "add": _("You have no permission to add %(kind)s."),
        "change": _("You have no permission to change %(kind)s."),
        "delete": _("You have no permission to delete %(kind)s."),
    }
    return said[action] % {"kind": model._meta.verbose_name_plural}


def flat(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Walk the errors of a serializer: each field by its path, with its reasons."""
    if isinstance(detail, Mapping):
        for name, below in detail.items():
            inner = path if name == "non_field_errors" else f"{path}.{name}".lstrip(".")
            yield from flat(below, inner)
    elif detail and all(isinstance(one, str) for one in detail):
        yield path or WHOLE, [str(one) for one in detail]
    else:
        for index, below in enumerate(detail):
            if below:
                yield from flat(below, f"{path}.{index}".lstrip("."))


def of_model(error: ModelError, names: Mapping[str, str], path: str = "") -> dict[str, list[str]]:
    """Return the errors of a model's validation; `names` are the fields' names in the API, by column."""
    found: dict[str, list[str]] = {}
    by_column = error.message_dict if hasattr(error, "error_dict") else {NON_FIELD_ERRORS: error.messages}
    for column, reasons in by_column.items():
        name = "" if column == NON_FIELD_ERRORS else names.get(column, column)
        found[f"{path}.{name}".strip(".") or WHOLE] = list(reasons)
    return found
