"""The description of the API in OpenAPI 3.1, made from what the resources and filters declare."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_filters import BooleanFilter, ChoiceFilter, DateFilter, IsoDateTimeFilter, NumberFilter
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, inline_serializer
from rest_framework import serializers

from api.files import FILES, MEDIA_TYPES
from api.filters import NAMED, NAMED_FORM
from api.pagination import MOST, RELEVANCE, USUAL
from api.serializers import ErrorSerializer, ReferenceSerializer, serializer_of
from api.shapes import RESOURCES, Resource
from api.writing import schema as writing_schema

ERRORS = {
    400: _("A parameter is unknown or malformed; it is named."),
    401: writing_schema.CODES[401],
    404: _("There is no such thing, or nothing public of that name."),
    429: writing_schema.CODES[429],
}

MOVED = OpenApiResponse(description=_("It was merged with another, which goes on at Location."))
# What can be merged.
MERGED = frozenset({"people", "institutions"})


@cache
def schema() -> dict[str, Any]:
    """Return the description of the whole API; it is the same while the process runs."""
    return described_anew()


def described_anew() -> dict[str, Any]:
    generator: Any = SchemaGenerator
    found: dict[str, Any] = generator().get_schema(public=True)
    return found


class ResourceSchema(AutoSchema):
    """How drf-spectacular reads our views."""

    @property
    def resource(self) -> Resource | None:
        found: Resource | None = getattr(self.view, "resource", None)
        return found

    @property
    def action(self) -> str:
        return getattr(self.view, "action", "")

    @property
    def writes(self) -> bool:
        return self.action in writing_schema.OPERATIONS

    @property
    def is_list(self) -> bool:
        return getattr(self.view, "action", "") == "list"

    def _is_list_view(self, serializer: object = None) -> bool:
        # A page of a list is described whole: nothing is to be wrapped, and no backend adds parameters.
        return False

    def get_operation_id(self) -> str:
        resource = self.resource
        if resource is None:
            return type(self.view).__name__.lower()
        names = "_".join(part for part in self.path.split("/") if part.startswith("{"))
        where = "_of_site" if resource.edition_optional and "{edition}" not in names else ""
        doing = writing_schema.OPERATIONS.get(self.action, "retrieve")
        return f"{resource.name}_{'list' if self.is_list else f'{doing}{where}'}"

    def get_tags(self) -> list[str]:
        return [self.resource.name if self.resource else "api"]

    def get_summary(self) -> str:
        if self.resource is None:
            return (type(self.view).__doc__ or "").partition("\n")[0]
        if self.writes:
            return str(writing_schema.SUMMARIES[self.action]).format(title=self.resource.title)
        one = gettext("One of them: %(title)s.") % {"title": self.resource.title}
        return str(self.resource.help) if self.is_list else one

    def get_description(self, *args: str) -> str:
        return ""

    def get_auth(self) -> Any:
        if self.resource is None:
            return [{}]
        return writing_schema.WRITERS if self.writes else writing_schema.READERS

    def get_request_serializer(self) -> Any:
        return writing_schema.request_body(self.resource, self.action) if self.resource else None

    def get_override_parameters(self) -> list[Any]:
        resource = self.resource
        if resource is None:
            return []
        return [
            *self._identity(),
            *self._shaping(resource),
            *(self._narrowing(resource) if self.is_list else ()),
            *([writing_schema.if_match()] if self.action in ("partial_update", "destroy") else ()),
        ]

    def _identity(self) -> Iterator[OpenApiParameter]:
        told = {
            "id": gettext("The id of the thing."),
            "edition": gettext("The slug of its edition, such as 2021."),
        }
        for name, text in told.items():
            if f"{{{name}}}" in self.path:
                yield OpenApiParameter(name, str, OpenApiParameter.PATH, required=True, description=text)

    @staticmethod
    def _shaping(resource: Resource) -> Iterator[OpenApiParameter]:
        known = gettext("Known: %(names)s.")
        fields = gettext("Only these, separated by commas; deeper ones by dots, such as authors.name.")
        names = known % {"names": ", ".join(resource.names)}
        yield OpenApiParameter("fields", str, description=f"{fields} {names}")
        if resource.relations:
            deeper = gettext(
                "With these in full, separated by commas; deeper ones by dots, at most three levels."
            )
            names = known % {"names": ", ".join(resource.relations)}
            yield OpenApiParameter("expand", str, description=f"{deeper} {names}")

    def _narrowing(self, resource: Resource) -> Iterator[OpenApiParameter]:
        view: Any = self.view
        for name, one in view.filterset.base_filters.items():
            yield OpenApiParameter(name, filter_schema(one), description=str(one.extra.get("help_text", "")))
        orders = [name for order in resource.orders for name in (order, f"-{order}")]
        orders += [RELEVANCE] if resource.kind else []
        if orders:
            yield OpenApiParameter(
                "ordering",
                {"type": "string", "enum": orders},
                description=gettext("The usual order never changes."),
            )
        size = {"type": "integer", "minimum": 1, "default": USUAL}
        most = gettext("At most %(most)d; more is answered with %(most)d.") % {"most": MOST}
        yield OpenApiParameter("page_size", size, description=most)
        if files := FILES.get(resource.name):
            known = {"type": "string", "enum": ["json", *files]}
            yield OpenApiParameter(
                "format", known, description=gettext("All that is left of the list as a file.")
            )
        yield OpenApiParameter("cursor", str, description=gettext("From “next” of the page before."))

    def get_response_serializers(self) -> Any:
        if self.resource and self.writes:
            return writing_schema.answers(self.resource, self.action)
        good: Any = writing_schema.full_serializer(self.resource) if self.resource else root_serializer()
        if self.is_list and self.resource:
            good = page_serializer(self.resource)
        can_move = not self.is_list and self.resource is not None and self.resource.name in MERGED
        moved = {301: MOVED} if can_move else {}
        codes = [400, 401, 429] if self.is_list or self.resource is None else [400, 401, 404, 429]
        files = FILES.get(self.resource.name, ()) if self.is_list and self.resource else ()
        sent = {(200, MEDIA_TYPES[name]): OpenApiTypes.STR for name in files}
        return {
            (200, "application/json"): good,
            **sent,
            **moved,
            **{code: OpenApiResponse(ErrorSerializer, ERRORS[code]) for code in codes},
        }


def filter_schema(one: Any) -> dict[str, Any]:
    """Return the schema of a parameter that narrows a list."""
    if isinstance(one, ChoiceFilter):
        return {"type": "string", "enum": [value for value, _ in one.extra["choices"]]}
    if isinstance(one, BooleanFilter):
        return {"type": "boolean"}
    if isinstance(one, NumberFilter):
        return {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
    if isinstance(one, (DateFilter, IsoDateTimeFilter)):
        return {"type": "string", "format": "date" if isinstance(one, DateFilter) else "date-time"}
    if NAMED in one.extra.get("validators", []):
        return {"type": "string", "pattern": NAMED_FORM}
    return {"type": "string", "maxLength": one.extra.get("max_length", 200)}


@cache
def page_serializer(resource: Resource) -> Any:
    """Return the serializer of one page of a list."""
    following = serializers.URLField(allow_null=True, help_text=_("The next page; null on the last."))
    return inline_serializer(
        f"{resource.title}List", {"next": following, "results": serializer_of(resource)(many=True)}
    )


@cache
def root_serializer() -> Any:
    return inline_serializer("Root", {name: serializers.URLField() for name in RESOURCES})


class RelatedExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A reference, or the whole of what it points at."""

    target_class = "api.serializers.RelatedField"

    def map_serializer_field(self, auto_schema: Any, direction: object) -> dict[str, Any]:
        whole = serializer_of(self.target.one.resource)
        refs = [auto_schema.resolve_serializer(one, direction).ref for one in (ReferenceSerializer, whole)]
        return {"anyOf": refs}


class ExpandedExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """A list of the whole of what points here."""

    target_class = "api.serializers.ExpandedField"

    def map_serializer_field(self, auto_schema: Any, direction: object) -> dict[str, Any]:
        whole = serializer_of(self.target.many.resolved)
        return {"type": "array", "items": auto_schema.resolve_serializer(whole, direction).ref}
