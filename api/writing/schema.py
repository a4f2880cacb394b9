"""The OpenAPI description of writes: request bodies, responses, errors."""

from functools import cache
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from api.serializers import ErrorSerializer, serializer_of
from api.shapes import Resource
from api.writing.bodies import body_serializer
from api.writing.writable import WRITABLE

OPERATIONS = {"create": "create", "partial_update": "update", "destroy": "delete"}
SUMMARIES = {
    "create": _("Make one: {title}."),
    "partial_update": _("Change one: {title}. What is left out stays as it is."),
    "destroy": _("Delete one: {title}, with what belongs to it."),
}
WRITERS: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
READERS: list[dict[str, list[str]]] = [{}, *WRITERS]
CODES = {
    400: _("Nothing was written: the errors by field, or the parameter that is wrong."),
    401: _("The token is unknown or has expired, or nobody is signed in."),
    403: _("No permission, a token that only reads or is for another edition, or no CSRF token."),
    404: _("There is no such thing, or the asker may not see it."),
    409: _("The id is taken, or other things, which are listed, hold what was to be deleted."),
    412: _("Somebody changed it meanwhile; the answer holds what stands now."),
    415: _("The body is not JSON: no form, and no file."),
    428: _("If-Match is missing: the ETag with which it was read."),
    429: _("Too many requests; Retry-After says for how many seconds to wait."),
}
REFUSALS = {
    "create": (400, 401, 403, 404, 409, 415, 429),
    "partial_update": (400, 401, 403, 404, 409, 412, 415, 428, 429),
    "destroy": (400, 401, 403, 404, 409, 412, 428, 429),
}


class NamedSerializer(serializers.Serializer[Any]):
    """Something that a warning or a refusal names."""

    kind = serializers.CharField(help_text=_("The resource."))
    id = serializers.CharField()
    url = serializers.URLField()
    name = serializers.CharField()


class WarningSerializer(serializers.Serializer[Any]):
    """What gets in each other's way; nothing is refused for it."""

    kind = serializers.CharField(help_text=_("Such as room or person."))
    severity = serializers.CharField(help_text=_("serious or light."))
    message = serializers.CharField(help_text=_("In a sentence."))
    when = serializers.CharField(help_text=_("In the edition's zone."))
    rows = NamedSerializer(many=True, help_text=_("What it concerns."))


class RefusalSerializer(ErrorSerializer):
    """Why nothing was written."""

    errors: Any = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text=_("The reasons by field, such as authors.1.person; “body” is the whole."),
    )
    rows = NamedSerializer(many=True, required=False, help_text=_("What holds it."))


@cache
def full_serializer(resource: Resource) -> Any:
    """Return the serializer of one thing as staff get it."""
    written = WRITABLE.get(resource.name)
    if written is None:
        return serializer_of(resource)
    more = {
        "written": body_serializer(written)(
            required=False, help_text=_("To staff: all that can be written, as a body says it.")
        ),
        "warnings": WarningSerializer(
            many=True, required=False, help_text=_("After a change: what it gets in the way of.")
        ),
    }
    return type(f"{resource.title}InFullSerializer", (serializer_of(resource),), more)


def if_match() -> OpenApiParameter:
    told = gettext("The ETag with which it was read. It is refused if something was changed since.")
    return OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=False, description=told)


def request_body(resource: Resource, action: str) -> Any:
    """Return the serializer of the body; nothing where there is none."""
    return body_serializer(WRITABLE[resource.name]) if action in ("create", "partial_update") else None


def answers(resource: Resource, action: str) -> dict[Any, Any]:
    """Return what an operation that writes answers, by status."""
    refused: dict[Any, Any] = {
        code: OpenApiResponse(RefusalSerializer, CODES[code]) for code in REFUSALS[action]
    }
    if 412 in refused:
        refused[412] = OpenApiResponse(outdated(resource), CODES[412])
    if action == "destroy":
        return {204: OpenApiResponse(description=_("It is gone.")), **refused}
    return {201 if action == "create" else 200: full_serializer(resource), **refused}


@cache
def outdated(resource: Resource) -> Any:
    said = serializers.CharField(help_text=_("What is wrong, in a sentence."))
    return inline_serializer(
        f"{resource.title}Outdated", {"detail": said, "current": full_serializer(resource)()}
    )


class ReferenceExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """The name of something else, or an object that has it."""

    target_class = "api.writing.bodies.ReferenceField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1, "maxLength": 500}
        named = {"type": "object", "properties": {"url": text, "id": text}}
        return {"anyOf": [text, named]}
