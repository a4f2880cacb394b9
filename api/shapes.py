"""How a resource is declared: its fields with the columns they are made of, its relations, its address.

One declaration gives the answers (`building`), their documentation (`serializers`) and the names that
`?fields=` and `?expand=` know. What the resources are: `resources`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

if TYPE_CHECKING:
    from datetime import datetime

VERSION = "v1"

# What `values()` returns of a row.
type Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an answer: the columns it needs, how it is made of them, how it is documented."""

    columns: tuple[str, ...]
    make: Callable[[Row], Any]
    schema: serializers.Field[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class One:
    """A row that this one points at: a reference, or with `?expand=` the whole resource.

    `path` leads to it; `key` and `edition` are the columns with its identity, where they are not plain.
    """

    target: str
    path: str
    help: Any
    key: str = ""
    edition: str = ""

    @property
    def resource(self) -> "Resource":
        return RESOURCES[self.target]

    def key_column(self) -> str:
        return self.key or f"{self.path}__{self.resource.key}"

    def edition_column(self) -> str:
        """The column with the slug of its edition; empty for what belongs to the whole site."""
        target = self.resource
        return self.edition or (f"{self.path}__{target.edition}" if target.edition else "")

    def columns(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.path, self.key_column(), self.edition_column())))


@dataclass(frozen=True, slots=True)
class Many:
    """Rows that point at this one through `owner`.

    Of a shape that has no address they are part of the answer; resources come with `?expand=` only.
    """

    shape: "Shape | str"
    owner: str
    help: Any
    order: tuple[str, ...] = ("pk",)

    @property
    def resolved(self) -> "Shape":
        return RESOURCES[self.shape] if isinstance(self.shape, str) else self.shape

    @property
    def is_part(self) -> bool:
        """Whether it is always there."""
        return not isinstance(self.shape, str)


def as_they_are(rows: QuerySet[Any], at: "datetime | None") -> Any:
    return rows


@dataclass(frozen=True, eq=False)
class Shape:
    """What is told of a row. `prepare` adds the annotations that its fields need, as of a moment."""

    title: str
    model: type[Model]
    fields: Mapping[str, Field]
    ones: Mapping[str, One] = field(default_factory=dict)
    manys: Mapping[str, Many] = field(default_factory=dict)
    prepare: Callable[[Any, Any], Any] = as_they_are

    @property
    def all_fields(self) -> Mapping[str, Field]:
        return self.fields

    @property
    def relations(self) -> Mapping[str, One | Many]:
        return {**self.ones, **self.manys}

    @property
    def names(self) -> list[str]:
        """Every name that `?fields=` knows."""
        return [*self.all_fields, *self.relations]

    @property
    def usual(self) -> list[str]:
        """What stands in an answer unless something else is asked for."""
        parts = [name for name, many in self.manys.items() if many.is_part]
        return [*self.all_fields, *self.ones, *parts]


@dataclass(frozen=True, eq=False, kw_only=True)
class Resource(Shape):
    """A shape with an address of its own.

    `key` is the column of its `id`, `edition` that of its edition's slug (empty: it belongs to the whole
    site), `page` the fields of which the address of its page is made, `lists` the lists that it narrows
    with the name of their parameter.
    """

    name: str
    key: str
    help: Any
    edition: str = ""
    edition_optional: bool = False
    page: Field
    lists: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Any] = field(default_factory=dict)
    # The kind of document in the search index that is found by `?q=`; empty: it cannot be searched.
    kind: str = ""

    def __post_init__(self) -> None:
        RESOURCES[self.name] = self
        object.__setattr__(self, "_fields", {**identity(self), **self.fields})

    @property
    def all_fields(self) -> Mapping[str, Field]:
        known: Mapping[str, Field] = vars(self)["_fields"]
        return known

    def url(self, edition: str | None, key: object) -> str:
        """Return the address of one of it."""
        middle = f"{edition}/" if edition else ""
        return f"{settings.SITE_URL}/api/{VERSION}/{self.name}/{middle}{key}/"


RESOURCES: dict[str, Resource] = {}


def identity(resource: Resource) -> dict[str, Field]:
    """Return the fields that every resource begins with."""
    key, edition = resource.key, resource.edition
    columns = (key, edition) if edition else (key,)

    def url(row: Row) -> str:
        return resource.url(row[edition] if edition else None, row[key])

    def links(row: Row) -> dict[str, str]:
        own = f"{row[edition]}/{row[key]}" if edition else row[key]
        return {name: f"{list_url(name)}?{parameter}={own}" for name, parameter in resource.lists.items()}

    found = {
        "id": Field((key,), lambda row: str(row[key]), serializers.CharField(help_text=ID_HELP)),
        "url": Field(columns, url, serializers.URLField(help_text=_("The address of this very thing."))),
        "page": resource.page,
    }
    if resource.lists:
        schema = serializers.DictField(
            child=serializers.URLField(), help_text=_("Lists of what belongs to it.")
        )
        found["links"] = Field(columns, links, schema)
    return found


ID_HELP = _("Fixed for life; unique in its edition, or in the site for what belongs to no edition.")


def list_url(name: str) -> str:
    """Return the address of the list of a resource."""
    return f"{settings.SITE_URL}/api/{VERSION}/{name}/"
