"""The OpenAPI 3.1 document of the API, generated from the declared resources, filters and bodies."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django_filters import BooleanFilter, ChoiceFilter, DateFilter, Filter, IsoDateTimeFilter, NumberFilter
from rest_framework import serializers

from api.files import FILES, MEDIA_TYPES
from api.filters import REFERENCE_PATTERN, REFERENCE_VALIDATOR, KindFilter, ResourceFilter
from api.pagination import MAX_PAGE_SIZE, PAGE_SIZE, RELEVANCE
from api.resources import RESOURCES
from api.shapes import (
    MOMENT,
    STRING,
    STRINGS,
    URL,
    VERSION,
    JsonSchema,
    Resource,
    Shape,
    Text,
    kind_schema,
)
from api.unreleased_bodies import NAME as UNRELEASED
from api.unreleased_bodies import ChangeSerializer, ReleaseBody
from api.writing.bodies import BodyField, ReferenceField, body_serializer, part_serializer
from content.publicity.tombstones import Tombstone
from schedule.unreleased.models import OnRelease

# A part of the document after encoding.
type Json = dict[str, Any]

GONE_HELP = _("It was public and is no longer: id, url, since when and why.")
CODES = {
    400: _("Nothing was written: the errors by field, or the parameter that is wrong."),
    401: _("The token is unknown or has expired, or no one is signed in."),
    403: _("No permission, a token that only reads or is for another edition, or no CSRF token."),
    404: _("Not found, or you may not see it."),
    410: GONE_HELP,
    409: _("The id is taken, or the listed rows still depend on the row to be deleted."),
    412: _("It was changed since it was read; the response contains the current version."),
    415: _("The body is not JSON."),
    428: _("If-Match is missing: send the ETag of the version you read."),
    429: _("Too many requests; Retry-After says for how many seconds to wait."),
}
READING_CODES = {
    400: _("A parameter is unknown or malformed; it is named."),
    401: CODES[401],
    404: _("Not found, or not public."),
    429: CODES[429],
}
DELETED_HELP = _(
    "With true, what was public and is no longer: id, url, since when and why. "
    "Narrowed by edition, conference and changed_since alone."
)
MOVED_HELP = _("It has another address now, or was merged into another row; Location has it.")
IF_MATCH = _("The ETag of the version you read. The request is refused if the row has changed since.")
SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token made in the admin."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "sessionid",
        "description": "Signed in at the admin. Whatever writes needs X-CSRFToken too.",
    },
}
WRITE_SECURITY: list[JsonSchema] = [{name: []} for name in SECURITY_SCHEMES]
READ_SECURITY: list[JsonSchema] = [{}, *WRITE_SECURITY]


def build_schema() -> Json:
    """Build the OpenAPI document. Use `schema()`, which caches it for the life of the process."""
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": f"{settings.SITE_NAME} API",
            "version": "1.0.0",
            "description": _("Everything published of a conference; with a staff token, drafts too."),
        },
        "servers": [{"url": settings.SITE_URL}],
        "paths": dict(paths()),
        "components": {"schemas": dict(components()), "securitySchemes": SECURITY_SCHEMES},
    }
    # Encoding turns lazy translations into text.
    built: Json = json.loads(json.dumps(document, cls=DjangoJSONEncoder))
    return built


schema = cache(build_schema)


# Schemas of values


def ref(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(name: str) -> JsonSchema:
    return {"type": "array", "items": ref(name)}


def describe(schema: JsonSchema, help: Text) -> JsonSchema:
    return {**schema, "description": help} if help else schema


def object_schema(
    properties: Mapping[str, object], required: Iterable[str] = (), help: Text = ""
) -> JsonSchema:
    """Return the schema of an object. Properties that it does not list are allowed, as OpenAPI defines it."""
    required_part = {"required": names} if (names := list(required)) else {}
    return describe({"type": "object", "properties": properties, **required_part}, help)


def components() -> Iterator[tuple[str, JsonSchema]]:
    detail = describe(STRING, _("What is wrong, in a sentence."))
    error = {
        "detail": detail,
        "parameter": describe(STRING, _("The parameter that is wrong.")),
        "allowed": describe(STRINGS, _("The values or parameters that are known.")),
    }
    refusal = {
        **error,
        "errors": describe(
            {"type": "object", "additionalProperties": STRINGS},
            _("The reasons by field, such as authors.1.person; “body” is the whole."),
        ),
        "rows": describe(list_of("Named"), _("What depends on it.")),
    }
    warning = {
        "kind": describe(STRING, _("Such as room or person.")),
        "severity": describe(STRING, _("serious or light.")),
        "message": describe(STRING, _("In a sentence.")),
        "when": describe(STRING, _("In the edition's zone.")),
        "rows": describe(list_of("Named"), _("What it concerns.")),
    }
    kind = describe(STRING, _("The resource."))
    named_row = {"kind": kind, "id": STRING, "url": URL, "name": STRING}
    reference = {"id": STRING, "url": URL}
    yield "Root", object_schema(dict.fromkeys(RESOURCES, URL), RESOURCES)
    yield "Reference", object_schema(reference, reference, _("Something else, by its identity."))
    yield "Error", object_schema(error, ["detail"], _("Why the request failed."))
    yield "Refusal", object_schema(refusal, ["detail"], _("Why nothing was written."))
    yield "Named", object_schema(named_row, named_row, _("Something that a warning or a refusal names."))
    yield (
        "Warning",
        object_schema(warning, warning, _("A schedule conflict; it doesn’t block the change.")),
    )
    deleted = {
        "id": describe(
            {"type": ["string", "null"]}, _("Its id; null for all rows of an edition, which was closed.")
        ),
        "url": describe(URL, _("The address that it had.")),
        "title": describe(STRING, _("The last public title, if it was deleted or withdrawn.")),
        "name": describe(STRING, _("The last public name, if it was deleted or withdrawn.")),
        "deleted_at": describe(
            {"type": "string", "format": "date-time"}, _("Since when it is no longer public.")
        ),
        "reason": describe({**STRING, "enum": Tombstone.Reason.values}, _("Why it is no longer public.")),
        "moved_to": describe(
            {**URL, "type": ["string", "null"]}, _("Its new address, or that of what it was merged into.")
        ),
        "detail": describe(STRING, _("In a sentence, at its own address.")),
    }
    yield "Deleted", object_schema(deleted, ["id", "url", "deleted_at", "reason", "moved_to"], GONE_HELP)
    yield "DeletedList", list_schema("Deleted")
    yield from unreleased_components(detail)
    for resource in RESOURCES.values():
        yield from resource_components(resource, detail)


def unreleased_components(detail: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    field = object_schema({"before": {}, "after": {}, "public": {}}, ["before", "after"])
    help = {name: declared.help_text or "" for name, declared in ChangeSerializer().fields.items()}
    change = {
        "id": {"type": "integer"},
        "edition": describe(STRING, help["edition"]),
        "row": describe(ref("Named"), help["row"]),
        "on_release": describe(
            {"type": ["string", "null"], "enum": [*OnRelease.values, None]}, help["on_release"]
        ),
        "fields": describe({"type": "object", "additionalProperties": field}, help["changed"]),
        "by": describe(STRING, help["by"]),
        "at": describe({"type": "string", "format": "date-time"}, help["at"]),
    }
    yield "UnreleasedChange", object_schema(change, change, ChangeSerializer.__doc__ or "")
    page = list_schema("UnreleasedChange")
    version = describe({"type": ["string", "null"]}, _("Of all changes of the edition, if one is named."))
    yield (
        "UnreleasedChangeList",
        {**page, "properties": {**page["properties"], "version": version}},  # type: ignore[dict-item]
    )
    yield "ReleaseBody", body_schema(ReleaseBody())
    released = {"released": describe({"type": "integer"}, _("The number of changes that are public now."))}
    yield "Released", object_schema(released, released)
    outdated = {"detail": detail, "current": ref("UnreleasedChange")}
    yield "UnreleasedChangeOutdated", object_schema(outdated, outdated)


def resource_components(resource: Resource, detail: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    title = resource.title
    yield title, shape_schema(resource)
    yield f"{title}List", list_schema(title)
    parts = (relation.resource for relation in resource.to_many.values() if relation.is_part)
    yield from ((part.title, shape_schema(part)) for part in parts)
    if not resource.writable:
        return
    for name, part in resource.parts.items():
        yield f"{part.resource.model.__name__}Body", body_schema(part_serializer(name, part.resource)())
    body = body_serializer(resource)()
    yield f"{title}Body", body_schema(body)
    yield f"Patched{title}Body", body_schema(body, is_partial=True)
    extra = {
        "written": describe(ref(f"{title}Body"), _("To staff: all that can be written, as a body says it.")),
        "warnings": describe(list_of("Warning"), _("After a change: the schedule conflicts it causes.")),
    }
    yield f"{title}InFull", shape_schema(resource, extra)
    outdated = {"detail": detail, "current": ref(f"{title}InFull")}
    yield f"{title}Outdated", object_schema(outdated, outdated)


def list_schema(name: str) -> JsonSchema:
    following = describe({**URL, "type": ["string", "null"]}, _("The next page; null on the last."))
    moment = {**MOMENT, "type": ["string", "null"]}
    as_of = describe(
        moment, _("All changes before it have been seen: the next changed_since. Null: keep yours.")
    )
    cursor = {"as_of": as_of} if name not in ("Deleted", "UnreleasedChange") else {}
    page = {"next": following, **cursor, "results": list_of(name)}
    return object_schema(page, page)


def shape_schema(shape: Shape, extra: Mapping[str, object] | None = None) -> JsonSchema:
    """Return the schema of a response. Only `id` is required, as `?fields=` can leave out all others."""
    fields = shape.fields.items()
    properties: dict[str, object] = {name: describe(field.schema, field.help) for name, field in fields}
    for name, relation in shape.to_one.items():
        either = [ref("Reference"), ref(relation.resource.title), {"type": "null"}]
        properties[name] = describe({"anyOf": either}, relation.help)
    for name, reverse_relation in shape.to_many.items():
        help = reverse_relation.help
        if not reverse_relation.is_part:
            help = format_lazy("{} {}", help, format_lazy(_("With expand={name}."), name=name))
        properties[name] = describe(list_of(reverse_relation.resource.title), help)
    help = shape.help if isinstance(shape, Resource) else shape.title
    return object_schema({**properties, **(extra or {})}, {"id"} & properties.keys(), help)


def body_schema(body: "serializers.Serializer[object]", *, is_partial: bool = False) -> JsonSchema:
    properties = {
        name: describe(input_schema(field), field.help_text or "") for name, field in body.fields.items()
    }
    required = [] if is_partial else [name for name, field in body.fields.items() if field.required]
    return object_schema(properties, required, type(body).__doc__ or "")


def input_schema(field: BodyField) -> JsonSchema:
    schema: JsonSchema
    match field:
        case ReferenceField():
            text = {**STRING, "minLength": 1, "maxLength": 500}
            either = [text, object_schema({"url": text, "id": text})]
            return {"anyOf": [*either, {"type": "null"}] if field.allow_null else either}
        case serializers.DictField():
            return {"type": "object", "additionalProperties": input_schema(field.child)}
        case serializers.ListSerializer():
            return list_of(type(field.child).__name__)
        case serializers.ListField():
            return {"type": "array", "items": input_schema(field.child), "maxItems": field.max_length}
        case serializers.ChoiceField():
            schema = {"type": "string", "enum": list(field.choices)}
        case serializers.BooleanField():
            schema = {"type": "boolean"}
        case serializers.IntegerField():
            schema = {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}
        case serializers.DateTimeField() | serializers.DateField():
            is_moment = isinstance(field, serializers.DateTimeField)
            schema = {"type": "string", "format": "date-time" if is_moment else "date"}
        case serializers.CharField(max_length=int() as length):
            schema = {"type": "string", "maxLength": length}
        case _:
            schema = STRING
    return {**schema, "type": [schema["type"], "null"]} if field.allow_null else schema


def filter_schema(filter_: Filter) -> JsonSchema:
    match filter_:
        case KindFilter():
            return kind_schema(filter_.model_of_kinds)
        case ChoiceFilter():
            return {"type": "string", "enum": [value for value, _label in filter_.extra["choices"]]}
        case BooleanFilter():
            return {"type": "boolean"}
        case NumberFilter():
            return {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
        case DateFilter():
            return {"type": "string", "format": "date"}
        case IsoDateTimeFilter():
            return {"type": "string", "format": "date-time"}
    if REFERENCE_VALIDATOR in filter_.extra.get("validators", []):
        return {"type": "string", "pattern": REFERENCE_PATTERN}
    return {"type": "string", "maxLength": filter_.extra["max_length"]}


# Operations


def paths() -> Iterator[tuple[str, JsonSchema]]:
    """Yield the path of each address with its operations."""
    operation = {
        "operationId": "root",
        "summary": "Where the list of each resource is.",
        "tags": ["api"],
        "security": [{}],
        "responses": {"200": json_response("", ref("Root")), **error_responses("Error", 400, 401, 429)},
    }
    yield f"/api/{VERSION}/", {"get": operation}
    for resource in RESOURCES.values():
        name, is_written = resource.name, bool(resource.writable)
        root = f"/api/{VERSION}/{name}/"
        yield (
            root,
            {"get": list_operation(resource), **({"post": create_operation(resource)} if is_written else {})},
        )
        if resource.edition:
            yield f"{root}{{edition}}/{{id}}/", single_operations(resource, ["edition", "id"])
        if not resource.edition or resource.edition_optional:
            suffix = "_of_site" if resource.edition_optional else ""
            yield f"{root}{{id}}/", single_operations(resource, ["id"], suffix)
    yield from unreleased_paths()


def unreleased_paths() -> Iterator[tuple[str, JsonSchema]]:
    """Yield the paths of unreleased changes: their list, one of them, and the release."""
    root = f"/api/{VERSION}/{UNRELEASED}/"
    edition = parameter("edition", _("Of this edition, such as 2021."), {**STRING, "maxLength": 80})
    size = parameter("page_size", "", {"type": "integer", "minimum": 1, "default": PAGE_SIZE})
    cursor = parameter("cursor", _("From “next” of the page before."), STRING)
    key = parameter("id", _("The id of the thing."), {"type": "integer", "minimum": 1}, location="path")
    version = parameter("If-Match", IF_MATCH, STRING, location="header")

    def described(name: str, summary: Text, parameters: list[JsonSchema], **more: object) -> JsonSchema:
        return {
            "operationId": f"{UNRELEASED}_{name}",
            "summary": summary,
            "tags": [UNRELEASED],
            "parameters": parameters,
            "security": WRITE_SECURITY,
            **more,
        }

    seen = error_responses("Error", 400, 401, 404, 429) | error_responses("Refusal", 403)
    refused = error_responses("Refusal", 400, 401, 403, 404, 409, 429)
    listed = {"200": json_response("", ref("UnreleasedChangeList")), **seen}
    help = _("What will differ in the program after the next release, for those who may see it.")
    yield root, {"get": described("list", help, [cursor, edition, size], responses=listed)}
    outdated = {"412": json_response(CODES[412], ref("UnreleasedChangeOutdated"))}
    taken_back = {
        "204": {"description": _("It is gone.")},
        **outdated,
        **refused,
        **error_responses("Refusal", 428),
    }
    yield (
        f"{root}{{id}}/",
        {
            "get": described(
                "retrieve",
                _("One of them: {title}.").format(title="UnreleasedChange"),
                [key],
                responses={"200": json_response("", ref("UnreleasedChange")), **seen},
            ),
            "delete": described(
                "delete",
                _("Take one back, with those that need its new row. Others’ need the right to release."),
                [version, key],
                responses=taken_back,
            ),
        },
    )
    body = {"required": True, "content": {"application/json": {"schema": ref("ReleaseBody")}}}
    released = {"200": json_response("", ref("Released")), **refused, **error_responses("Refusal", 415)}
    help = _("Make changes public, all or none. New clashes and undecided conflicts refuse it.")
    yield (
        f"{root}release/",
        {"post": described("release", help, [], requestBody=body, responses=released)},
    )


def list_operation(resource: Resource) -> JsonSchema:
    files = {MEDIA_TYPES[name]: {"schema": STRING} for name in FILES.get(resource.name, ())}
    page_schema = {"schema": ref(f"{resource.title}List")}
    if resource.model.identity:
        page_schema = {"schema": {"anyOf": [page_schema["schema"], ref("DeletedList")]}}
    page = {"application/json": page_schema, **files}
    responses = {"200": {"description": "", "content": page}, **error_responses("Error", 400, 401, 429)}
    parameters = [*selection_parameters(resource), *list_parameters(resource)]
    return operation(resource, "list", resource.help, parameters, responses, READ_SECURITY)


def create_operation(resource: Resource) -> JsonSchema:
    responses = {
        "201": json_response("", ref(f"{resource.title}InFull")),
        **error_responses("Refusal", 400, 401, 403, 404, 409, 415, 429),
    }
    summary = format_lazy(_("Create one: {title}."), title=resource.title)
    parameters = selection_parameters(resource)
    name = "create_of_site" if resource.edition_optional else "create"
    return operation(resource, name, summary, parameters, responses, body=f"{resource.title}Body")


def single_operations(resource: Resource, names: list[str], suffix: str = "") -> JsonSchema:
    title, is_written = resource.title, bool(resource.writable)
    row_schema = ref(f"{title}InFull" if is_written else title)
    help = {"id": _("The id of the thing."), "edition": _("The slug of its edition, such as 2021.")}
    parameters = [parameter(name, help[name], STRING, location="path") for name in names]
    parameters += selection_parameters(resource)
    redirects = {"301": {"description": MOVED_HELP}}
    former = {"410": json_response(GONE_HELP, ref("Deleted"))}
    responses = {
        "200": json_response("", row_schema),
        **redirects,
        **error_responses("Error", 400, 401, 404, 429),
        **former,
    }
    summary = format_lazy(_("One of them: {title}."), title=title)
    operations = {
        "get": operation(resource, f"retrieve{suffix}", summary, parameters, responses, READ_SECURITY)
    }
    if not is_written:
        return operations
    parameters.append(parameter("If-Match", IF_MATCH, STRING, location="header"))
    outdated = {"412": json_response(CODES[412], ref(f"{title}Outdated"))}
    refusals = {**error_responses("Refusal", 400, 401, 403, 404, 409, 428, 429), **outdated}
    updated = {"200": json_response("", row_schema), **refusals, **error_responses("Refusal", 415)}
    summary = format_lazy(_("Change one: {title}. What is left out stays as it is."), title=title)
    operations["patch"] = operation(
        resource, f"update{suffix}", summary, parameters, updated, body=f"Patched{title}Body", is_partial=True
    )
    deleted = {"204": {"description": _("It is gone.")}, **refusals}
    summary = format_lazy(_("Delete one: {title}, with what belongs to it."), title=title)
    operations["delete"] = operation(resource, f"delete{suffix}", summary, parameters, deleted)
    return operations


def operation(
    resource: Resource,
    name: str,
    summary: Text,
    parameters: Iterable[JsonSchema],
    responses: Mapping[str, JsonSchema],
    security: list[JsonSchema] = WRITE_SECURITY,
    body: str = "",
    *,
    is_partial: bool = False,
) -> JsonSchema:
    request_body: dict[str, object] = {"content": {"application/json": {"schema": ref(body)}}}
    if body and not is_partial:
        request_body["required"] = True
    return {
        "operationId": f"{resource.name}_{name}",
        "summary": summary,
        "tags": [resource.name],
        "parameters": sorted(parameters, key=lambda definition: str(definition["name"])),
        "security": security,
        **({"requestBody": request_body} if body else {}),
        "responses": responses,
    }


def json_response(description: Text, schema: JsonSchema) -> JsonSchema:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def error_responses(schema: str, *codes: int) -> dict[str, JsonSchema]:
    meanings = READING_CODES if schema == "Error" else CODES
    return {str(code): json_response(meanings[code], ref(schema)) for code in codes}


def parameter(name: str, help: Text, schema: JsonSchema, location: str = "query") -> JsonSchema:
    required = {"required": True} if location == "path" else {}
    return {"name": name, "in": location, "description": help, "schema": schema, **required}


def selection_parameters(resource: Resource) -> Iterator[JsonSchema]:
    fields = _("Only these, separated by commas; deeper ones by dots, such as authors.name. Known: {names}.")
    yield parameter("fields", format_lazy(fields, names=", ".join(resource.names)), STRING)
    expand = _(
        "With these in full, separated by commas; deeper ones by dots, at most three levels. Known: {names}."
    )
    if resource.relations:
        yield parameter("expand", format_lazy(expand, names=", ".join(resource.relations)), STRING)


def list_parameters(resource: Resource) -> Iterator[JsonSchema]:
    for name, filter_ in (resource.filters or ResourceFilter).base_filters.items():
        yield parameter(name, filter_.extra.get("help_text", ""), filter_schema(filter_))
    orders = [name for order in resource.orders for name in (order, f"-{order}")]
    orders += [RELEVANCE] if resource.kind else []
    if orders:
        yield parameter("ordering", _("The usual order never changes."), {**STRING, "enum": orders})
    if resource.model.identity:
        yield parameter("deleted", DELETED_HELP, {"type": "boolean"})
    help = format_lazy(_("At most {maximum}, also where more is asked for."), maximum=MAX_PAGE_SIZE)
    yield parameter("page_size", help, {"type": "integer", "minimum": 1, "default": PAGE_SIZE})
    if files := FILES.get(resource.name):
        format_schema = {**STRING, "enum": ["json", *files]}
        yield parameter("format", _("All that is left of the list as a file."), format_schema)
    yield parameter("cursor", _("From “next” of the page before."), STRING)
