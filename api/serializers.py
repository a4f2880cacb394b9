"""The declared shapes as serializers of Django REST framework, from which the schema is written."""

import copy
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from api.shapes import Many, One, Resource, Shape


class ReferenceSerializer(serializers.Serializer[Any]):
    """Something else, by its identity."""

    id = serializers.CharField()
    url = serializers.URLField()


class ErrorSerializer(serializers.Serializer[Any]):
    """Why there is no other answer."""

    detail = serializers.CharField(help_text=_("What is wrong, in a sentence."))
    parameter = serializers.CharField(help_text=_("The parameter that is wrong."), required=False)
    allowed = serializers.ListField(
        child=serializers.CharField(), help_text=_("The values or parameters that are known."), required=False
    )


class RelatedField(serializers.Field[Any, Any, Any, Any]):
    """A reference, or what it points at where that is expanded."""

    def __init__(self, one: One, **kwargs: Any) -> None:
        self.one = one
        super().__init__(**kwargs)


class ExpandedField(serializers.Field[Any, Any, Any, Any]):
    """A list of resources that is there when it is expanded."""

    def __init__(self, many: Many, **kwargs: Any) -> None:
        self.many = many
        super().__init__(**kwargs)


MADE: dict[Shape, type[serializers.Serializer[Any]]] = {}


def serializer_of(shape: Shape) -> type[serializers.Serializer[Any]]:
    """Return the serializer that describes a shape, one class for each."""
    if shape not in MADE:
        MADE[shape] = _made(shape)
    return MADE[shape]


def _made(shape: Shape) -> type[serializers.Serializer[Any]]:
    """Only `id` is always there, as `?fields=` can leave out the others."""
    fields: dict[str, Any] = {}
    for name, field in shape.all_fields.items():
        described: Any = copy.deepcopy(field.schema)
        # A serializer copies its fields once more, by the arguments that they were made with.
        described._kwargs["required"] = name == "id"
        fields[name] = described
    for name, one in shape.ones.items():
        fields[name] = RelatedField(one, help_text=one.help, required=False, allow_null=True)
    for name, many in shape.manys.items():
        if many.is_part:
            part = serializer_of(many.resolved)
            fields[name] = part(many=True, help_text=many.help, required=False)
        else:
            words = format_lazy("{} {}", many.help, format_lazy(_("With expand={name}."), name=name))
            fields[name] = ExpandedField(many, help_text=words, required=False)
    told = shape.help if isinstance(shape, Resource) else shape.title
    return type(f"{shape.title}Serializer", (serializers.Serializer,), {**fields, "__doc__": told})
