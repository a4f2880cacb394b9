"""Request bodies: serializers validate types and names, references become rows. Models validate the rest."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.db import models
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from api.errors import InvalidBodyError
from api.reader import Reader
from api.shapes import RESOURCES, VERSION, Resource, Shape
from content import times
from content.fields import LinesField
from content.pagination import printable
from schedule.session_kinds import KindField

# The validated data of a body.
type Body = dict[str, Any]
type BodyField = serializers.Field[Any, Any, Any, Any]
type Column = models.Field[object, object]

# Columns of uploaded files, which cannot be written over REST.
UPLOAD_FIELDS = frozenset({"file", "logo", "photo", "teaser"})
MAX_ROWS = 2000


class StrictSerializer(serializers.Serializer[Any]):
    """Serializer that refuses unknown names."""

    def to_internal_value(self, data: object) -> Any:
        if isinstance(data, dict):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                field_names = ", ".join(self.fields)
                message = _("This field can’t be set here. Fields you can set: %(names)s.") % {
                    "names": field_names
                }
                upload = _("Files are uploaded in the admin.")
                raise serializers.ValidationError({
                    printable(str(name)): [upload, message] if name in UPLOAD_FIELDS else [message]
                    for name in unknown
                })  # fmt: skip
        return super().to_internal_value(data)


class AwareDateTimeField(serializers.DateTimeField):
    """Field of a moment, which must have a UTC offset."""

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            message = _("A time needs an offset, such as 2027-05-04T09:00:00-07:00, or Z for UTC.")
            raise serializers.ValidationError(message)
        if value.year not in times.YEARS:
            raise serializers.ValidationError(times.BAD_YEAR)
        return super().enforce_timezone(value)


class ReferenceField(serializers.Field[Any, Any, Any, Any]):
    """Field of `<edition>/<id>`, an id, or an object with `url` or `id`; its value is (edition or "", id)."""

    default_error_messages = {
        "form": gettext_lazy("Write <edition>/<id>, or the id alone, or an object with the “url” or “id”.")
    }

    def __init__(self, target: str, **kwargs: Any) -> None:
        self.target = target
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> tuple[str, str]:
        reference = data.get("url", data.get("id")) if isinstance(data, dict) else data
        if isinstance(reference, int) and not isinstance(reference, bool):
            reference = str(reference)
        if not isinstance(reference, str) or not reference.isprintable() or not 0 < len(reference) <= 500:
            self.fail("form")
        try:
            address_path = urlsplit(reference).path
        except ValueError:
            self.fail("form")
        _start, prefix, path = address_path.partition(f"/api/{VERSION}/{self.target}/")
        edition, _slash, key = (path if prefix else reference).strip("/").rpartition("/")
        if not key or "/" in edition:
            self.fail("form")
        return edition, key


def column_of(model: type[models.Model], name: str) -> Column:
    return next(field for field in model._meta.fields if field.name == name)


def serializer_field(column: Column) -> BodyField:
    """Return the serializer field of a column."""
    arguments: dict[str, Any] = {
        "help_text": column.help_text or column.verbose_name,
        "required": not (column.blank or column.has_default() or column.null),
    }
    if column.choices and not isinstance(column, KindField):
        arguments["error_messages"] = {
            "invalid_choice": _("Valid values: %(names)s.") % {"names": ", ".join(dict(column.choices))}
        }
        choices = [(value, str(label)) for value, label in column.choices]
        return serializers.ChoiceField(choices=choices, **arguments)
    if isinstance(column, models.DateTimeField):
        return AwareDateTimeField(allow_null=column.null, **arguments)
    if isinstance(column, models.DateField):
        return serializers.DateField(allow_null=column.null, validators=[times.validate_year], **arguments)
    if isinstance(column, models.BooleanField):
        return serializers.BooleanField(**arguments)
    if isinstance(column, models.IntegerField):
        return serializers.IntegerField(min_value=0, max_value=2**31 - 1, allow_null=column.null, **arguments)
    if isinstance(column, LinesField):
        line = serializers.CharField(max_length=500)
        return serializers.ListField(child=line, max_length=MAX_ROWS, **arguments)
    return serializers.CharField(allow_blank=column.blank, max_length=column.max_length, **arguments)


def serializer_fields(shape: Shape) -> dict[str, BodyField]:
    fields: dict[str, BodyField] = {}
    for name, target in shape.references.items():
        is_null = column_of(shape.model, name).null
        text = gettext_lazy("{kind}: its id, preceded by its edition if that is a different one.")
        help = format_lazy(text, kind=RESOURCES[target].title)
        fields[name] = ReferenceField(target, required=not is_null, allow_null=is_null, help_text=help)
    renamed = shape.renamed if isinstance(shape, Resource) else {}
    for name in shape.writable:
        column = column_of(shape.model, name)
        fields[renamed.get(name, name)] = serializer_field(column)
    return fields


def part_serializer(name: str, shape: Shape) -> type[StrictSerializer]:
    fields = serializer_fields(shape)
    for column, target in shape.lists_of_references.items():
        child = ReferenceField(target)
        fields[column] = serializers.ListField(child=child, max_length=MAX_ROWS, required=False)
    help = f"One of “{name}”. What is left out stays as it is."
    title = f"{shape.model.__name__}Body"
    return type(title, (StrictSerializer,), {**fields, "__doc__": help})


@cache
def body_serializer(resource: Resource) -> type[StrictSerializer]:
    fields: dict[str, BodyField] = {}
    if resource.key != "pk":
        column = column_of(resource.model, resource.key)
        fields["id"] = serializers.CharField(
            max_length=column.max_length,
            required=not column.has_default(),
            help_text=gettext_lazy("Can only be set when the row is created."),
        )
    if resource.has_edition:
        optional = resource.edition_optional
        fields["edition"] = ReferenceField(
            "editions",
            required=not optional,
            allow_null=optional,
            help_text=gettext_lazy("The edition; can’t be changed later."),
        )
    fields |= serializer_fields(resource)
    for name, part in resource.parts.items():
        part_class = part_serializer(name, part.resource)
        fields[name] = part_class(  # type: ignore[call-arg] # of many: becomes a ListSerializer
            many=True, required=False, max_length=MAX_ROWS, help_text=gettext_lazy("All of them, in order.")
        )
    title = f"{resource.title}Body"
    return type(title, (StrictSerializer,), {**fields, "__doc__": f"What can be written: {title[:-4]}."})


# A reference in a body: its container, its key or index in it, its path, and the name of its resource.
type ReferenceLocation = tuple[Any, Any, str, str]


def references_in(shape: Shape, body: Body, path: str = "") -> Iterator[ReferenceLocation]:
    for column, target in shape.references.items():
        if body.get(column) is not None:
            yield body, column, f"{path}{column}", target
    for column, part in shape.to_many.items():
        if column not in body:
            continue
        for index, row in enumerate(body[column]):
            if isinstance(part.shape, str):
                yield body[column], index, f"{path}{column}.{index}", part.shape
            else:
                yield from references_in(part.shape, row, f"{path}{column}.{index}.")


def resolve_references(resource: Resource, body: Body, reader: Reader, edition: str) -> None:
    """Replace references by rows that the reader may see; an id alone refers to this edition.

    Raises `InvalidBodyError` for unknown references.
    """
    by_target: dict[str, list[ReferenceLocation]] = defaultdict(list)
    for reference in references_in(resource, body):
        by_target[reference[3]].append(reference)
    errors: dict[str, list[str]] = {}
    for target, references in by_target.items():
        names = [container[key] for container, key, _path, _target in references]
        row_by_reference = rows_by_reference(target, names, reader, edition)
        for container, key, path, _target in references:
            row = row_by_reference.get(full_reference(target, container[key], edition))
            if row is None:
                name = printable("/".join(part for part in container[key] if part))
                errors[path] = [_("There is no “%(name)s” among %(kind)s.") % {"name": name, "kind": target}]
            container[key] = row
    if errors:
        raise InvalidBodyError(errors)


def referenced_row(
    resource: Resource, column: str, body: Body, reader: Reader, edition: str
) -> models.Model | None:
    """Return the row that a column of a body references, before `resolve_references`; `None` if unknown."""
    for container, key, _path, target in references_in(resource, body):
        if container is body and key == column:
            found = rows_by_reference(target, [container[key]], reader, edition)
            return found.get(full_reference(target, container[key], edition))
    return None


def full_reference(target: str, name: tuple[str, str], edition: str) -> tuple[str, str]:
    """Return edition and id of a reference; the edition is empty for rows of the whole site."""
    return (name[0] or edition if RESOURCES[target].edition else "", name[1])


def rows_by_reference(
    target: str, names: list[tuple[str, str]], reader: Reader, edition: str
) -> dict[tuple[str, str], models.Model]:
    """Return the referenced rows that the reader may see, by full reference. One query."""
    resource = RESOURCES[target]
    references = {full_reference(target, name, edition) for name in names}
    rows = reader.rows(resource.model).filter(**{f"{resource.key}__in": [key for _slug, key in references]})
    if resource.edition:
        rows = rows.filter(edition__slug__in={slug for slug, _key in references}).select_related("edition")
    row_by_reference = {
        (row.edition.slug if resource.edition else "", getattr(row, resource.key)): row for row in rows
    }
    return {name: row for name, row in row_by_reference.items() if name in references}
