"""Request bodies: serializers check types, names and what is required; references become rows.

The rules of the models are checked when rows are written.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.db import models
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from api.errors import InvalidBodyError, shown
from api.reader import Reader
from api.shapes import RESOURCES, VERSION
from api.writing.writable import WritablePart, WritableResource
from content.fields import LinesField
from schedule.session_kinds import KindField

# A body as its serializer read it.
type Body = dict[str, Any]
type BodyField = serializers.Field[Any, Any, Any, Any]
type Column = models.Field[object, object]

# What holds an uploaded file.
FILES = frozenset({"file", "logo", "photo"})
YEARS = range(1900, 2201)
MAX_ROWS = 2000


class StrictSerializer(serializers.Serializer[Any]):
    """A body whose every name is known."""

    def to_internal_value(self, data: object) -> Any:
        if isinstance(data, dict):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                said = _("This cannot be written here. What can: %(names)s.") % {"names": known}
                raise serializers.ValidationError({
                    shown(str(name)): [_("Files are uploaded in the admin.")] * (name in FILES) + [said]
                    for name in unknown
                })  # fmt: skip
        return super().to_internal_value(data)


class AwareDateTimeField(serializers.DateTimeField):
    """A moment that says which one it is: with an offset."""

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            said = _("A time needs an offset, such as 2027-05-04T09:00:00-07:00, or Z for UTC.")
            raise serializers.ValidationError(said)
        if value.year not in YEARS:
            raise serializers.ValidationError(_("The year must be between 1900 and 2200."))
        return super().enforce_timezone(value)


class ReferenceField(serializers.Field[Any, Any, Any, Any]):
    """Something else: `<edition>/<id>` or its id, or an object with its `url` or `id` as answers have it.

    What comes out is the pair of edition (or nothing) and id.
    """

    default_error_messages = {
        "form": gettext_lazy("Write <edition>/<id>, or the id alone, or an object with the “url” or “id”.")
    }

    def __init__(self, target: str, **kwargs: Any) -> None:
        self.target = target
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> tuple[str, str]:
        named = data.get("url", data.get("id")) if isinstance(data, dict) else data
        if isinstance(named, int) and not isinstance(named, bool):
            named = str(named)
        if not isinstance(named, str) or not named.isprintable() or not 0 < len(named) <= 500:
            self.fail("form")
        _start, found, own = urlsplit(named).path.partition(f"/api/{VERSION}/{self.target}/")
        edition, _slash, key = (own if found else named).strip("/").rpartition("/")
        if not key or "/" in edition:
            self.fail("form")
        return edition, key


def column_of(model: type[models.Model], name: str) -> Column:
    return next(field for field in model._meta.fields if field.name == name)


def serializer_field(column: Column) -> BodyField:
    """Return how a column is read: its type, whether it may be left out, empty, or null."""
    told: dict[str, Any] = {
        "help_text": column.help_text or column.verbose_name,
        "required": False,
    }
    if column.choices and not isinstance(column, KindField):
        told["error_messages"] = {
            "invalid_choice": _("It knows: %(names)s.") % {"names": ", ".join(dict(column.choices))}
        }
        known = [(value, str(label)) for value, label in column.choices]
        return serializers.ChoiceField(choices=known, **told)
    if isinstance(column, models.DateTimeField):
        return AwareDateTimeField(allow_null=column.null, **told)
    if isinstance(column, models.BooleanField):
        return serializers.BooleanField(**told)
    if isinstance(column, models.IntegerField):
        return serializers.IntegerField(min_value=0, max_value=2**31 - 1, allow_null=column.null, **told)
    if isinstance(column, LinesField):
        return serializers.ListField(child=serializers.CharField(max_length=500), max_length=MAX_ROWS, **told)
    return serializers.CharField(allow_blank=column.blank, max_length=column.max_length, **told)


def is_required(column: Column) -> bool:
    """Whether a new row cannot do without it."""
    return not (column.blank or column.has_default() or column.null)


def serializer_fields(
    model: type[models.Model], columns: tuple[str, ...], called: Mapping[str, str] | None = None
) -> dict[str, BodyField]:
    found = {}
    for name in columns:
        column = column_of(model, name)
        one = serializer_field(column)
        # A serializer copies its fields by the arguments that they were made with.
        one.required = vars(one)["_kwargs"]["required"] = is_required(column)
        found[(called or {}).get(name, name)] = one
    return found


def reference_field(model: type[models.Model], column: str, target: str) -> ReferenceField:
    field = column_of(model, column)
    told = RESOURCES[target].title
    words = gettext_lazy("{kind}: its id, with its edition in front where that is another one.")
    help = format_lazy(words, kind=told)
    return ReferenceField(target, required=not field.null, allow_null=field.null, help_text=help)


@cache
def part_serializer(name: str, part: WritablePart) -> type[StrictSerializer]:
    """Return the serializer of one row of a part."""
    fields: dict[str, BodyField] = {
        column: reference_field(part.model, column, target) for column, target in part.references.items()
    }
    fields |= serializer_fields(part.model, part.fields)
    for column, target in part.many.items():
        child = ReferenceField(target)
        fields[column] = serializers.ListField(child=child, max_length=MAX_ROWS, required=False)
    told = f"One of “{name}”. What is left out stays as it is."
    title = f"{part.model.__name__}Body"
    return type(title, (StrictSerializer,), {**fields, "__doc__": told})


@cache
def body_serializer(written: WritableResource) -> type[StrictSerializer]:
    """Return the serializer of what is written of a resource."""
    fields: dict[str, BodyField] = {}
    model = written.model
    if written.key:
        column = column_of(model, written.key)
        fields["id"] = serializers.CharField(
            max_length=column.max_length,
            required=not column.has_default(),
            help_text=gettext_lazy("Fixed for life: only what is new can choose it."),
        )
    if written.has_edition:
        optional = written.resource.edition_optional
        fields["edition"] = ReferenceField(
            "editions",
            required=not optional,
            allow_null=optional,
            help_text=gettext_lazy("The edition; fixed for life."),
        )
    for name, target in written.references.items():
        fields[name] = reference_field(model, name, target)
    fields |= serializer_fields(model, written.fields, written.called)
    for name, part in written.parts.items():
        inner = part_serializer(name, part)
        fields[name] = inner(  # type: ignore[call-arg] # of many: becomes a ListSerializer
            many=True, required=False, max_length=MAX_ROWS, help_text=gettext_lazy("All of them, in order.")
        )
    title = f"{written.resource.title}Body"
    return type(title, (StrictSerializer,), {**fields, "__doc__": f"What can be written: {title[:-4]}."})


# A reference in a body: its container, its key or index there, its path, the resource it refers to.
type ReferencePlace = tuple[Any, Any, str, str]


def references_in(written: WritableResource, body: Body) -> Iterator[ReferencePlace]:
    """Walk the names of other things in a body that was read."""
    yield from _references_in(body, written.references, "")
    for name, part in written.parts.items():
        for index, row in enumerate(body.get(name, ())):
            yield from _references_in_part(part, row, f"{name}.{index}.")


def _references_in_part(part: WritablePart, row: Body, path: str) -> Iterator[ReferencePlace]:
    yield from _references_in(row, part.references, path)
    for column, target in part.many.items():
        for index in range(len(row.get(column, ()))):
            yield row[column], index, f"{path}{column}.{index}", target


def _references_in(row: Body, references: Mapping[str, str], path: str) -> Iterator[ReferencePlace]:
    for column, target in references.items():
        if row.get(column) is not None:
            yield row, column, f"{path}{column}", target


def resolve_references(written: WritableResource, body: Body, reader: Reader, edition: str) -> None:
    """Put rows that the reader may see in place of names; an id alone is one of this edition."""
    asked: dict[str, list[ReferencePlace]] = defaultdict(list)
    for place in references_in(written, body):
        asked[place[3]].append(place)
    errors: dict[str, list[str]] = {}
    for target, found in asked.items():
        known = rows_by_reference(
            target, [holder[spot] for holder, spot, _path, _target in found], reader, edition
        )
        for holder, spot, path, _target in found:
            row = known.get(full_reference(target, holder[spot], edition))
            if row is None:
                name = shown("/".join(part for part in holder[spot] if part))
                errors[path] = [_("There is no “%(name)s” among %(kind)s.") % {"name": name, "kind": target}]
            holder[spot] = row
    if errors:
        raise InvalidBodyError(errors)


def full_reference(target: str, name: tuple[str, str], edition: str) -> tuple[str, str]:
    """Return edition and id; things of the whole site have no edition."""
    return (name[0] or edition if RESOURCES[target].edition else "", name[1])


def rows_by_reference(
    target: str, names: list[tuple[str, str]], reader: Reader, edition: str
) -> dict[tuple[str, str], object]:
    """Return the rows with these names that the reader may see. One query."""
    resource = RESOURCES[target]
    wanted = {full_reference(target, name, edition) for name in names}
    rows = reader.rows(resource.model).filter(**{f"{resource.key}__in": [key for _slug, key in wanted]})
    if resource.edition:
        rows = rows.filter(edition__slug__in={slug for slug, _key in wanted}).select_related("edition")
    found = {(row.edition.slug if resource.edition else "", getattr(row, resource.key)): row for row in rows}
    return {name: row for name, row in found.items() if name in wanted}
