"""Classes that declare a resource: fields with their columns and JSON Schema, relations, and address.

A declaration defines responses (`reader`), their OpenAPI schema (`schema`), the names for `?fields=` and
`?expand=`, and request bodies (`writing`). The resources are in `resources`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import models
from django.db.models import QuerySet
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy as _

import markup
from content.fields import LinesField
from content.models import Content
from people.querysets import with_shown_names
from schedule.session_kinds import MAX_SLUG_CHARS, HasKind

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable
    from django_filters import FilterSet
    from django_stubs_ext import StrPromise

type Text = str | StrPromise
# A row as `values()` returns it.
type Row = dict[str, Any]
# Rows of any model.
type Rows = QuerySet[Any, Any]
type JsonSchema = Mapping[str, object]

VERSION = "v1"
API_ROOT = f"{settings.SITE_URL}/api/{VERSION}/"
STRING: JsonSchema = {"type": "string"}
URL: JsonSchema = {"type": "string", "format": "uri"}
STRINGS: JsonSchema = {"type": "array", "items": STRING}

# Cached, because the same titles and abstracts occur in many responses.
plain = lru_cache(maxsize=4096)(markup.plain)
slug = lru_cache(maxsize=16384)(markup.slug)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a response: the columns that it needs, the function of its value, help text and schema."""

    columns: tuple[str, ...]
    make: Callable[[Row], object]
    help: Text
    schema: JsonSchema = field(default_factory=lambda: STRING)


@dataclass(frozen=True, slots=True)
class ToOne:
    """A relation to one row; `key` and `edition` are lookups of its id and edition if not below `path`."""

    target: str
    path: str
    help: Text
    key: str = ""
    edition: str = ""

    @property
    def resource(self) -> "Resource":
        return RESOURCES[self.target]

    def key_column(self) -> str:
        return self.key or f"{self.path}__{self.resource.key}"

    def edition_column(self) -> str:
        """Return the lookup of the slug of its edition; empty for rows of the whole site."""
        target = self.resource
        return self.edition or (f"{self.path}__{target.edition}" if target.edition else "")

    def columns(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.path, self.key_column(), self.edition_column())))


@dataclass(frozen=True, slots=True)
class ToMany:
    """A reverse relation, with `owner` as the lookup: parts of the response, or resources for `?expand=`."""

    shape: "Shape | str"
    owner: str
    help: Text
    order: tuple[str, ...] = ("pk",)

    @property
    def resource(self) -> "Shape":
        return RESOURCES[self.shape] if isinstance(self.shape, str) else self.shape

    @property
    def is_part(self) -> bool:
        """Return whether the rows are always in the response."""
        return not isinstance(self.shape, str)


@dataclass(frozen=True, eq=False)
class Shape:
    """The fields of a row that are shown and written.

    `prepare` adds the annotations that the fields need, as of a moment. `writable` lists columns; if there
    are any, the references in `to_one` and the parts in `to_many` can be written too.
    `part_key`: the columns that identify a part within its owner.
    """

    title: str
    model: type[Content]
    fields: Mapping[str, Field]
    to_one: Mapping[str, ToOne] = field(default_factory=dict)
    to_many: Mapping[str, ToMany] = field(default_factory=dict)
    prepare: Callable[[Rows, datetime], Rows] = lambda rows, at: rows
    writable: tuple[str, ...] = ()
    part_key: tuple[str, ...] = ()

    @property
    def relations(self) -> Mapping[str, ToOne | ToMany]:
        return {**self.to_one, **self.to_many}

    @property
    def names(self) -> list[str]:
        """Return all names that `?fields=` accepts."""
        return [*self.fields, *self.relations]

    @property
    def default_names(self) -> list[str]:
        """Return the names in a response without `?fields=`."""
        parts = [name for name, relation in self.to_many.items() if relation.is_part]
        return [*self.fields, *self.to_one, *parts]

    @property
    def references(self) -> dict[str, str]:
        """Return the name of the resource of each writable reference, by column."""
        return {name: relation.target for name, relation in self.to_one.items() if name != "edition"}

    @property
    def lists_of_references(self) -> dict[str, str]:
        """Return the name of the resource of each writable list of references, by column."""
        return {
            name: relation.shape for name, relation in self.to_many.items() if isinstance(relation.shape, str)
        }

    @property
    def parts(self) -> dict[str, ToMany]:
        """Return the relations whose rows are written with this one, as a list."""
        return {
            name: relation
            for name, relation in self.to_many.items()
            if relation.is_part and relation.resource.writable
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Resource(Shape):
    """A shape with an address of its own. Its title is the name of the model.

    `key` is the column of its `id`. `edition` is the lookup of its edition's slug, empty for rows of the
    whole site. `page` is the field of its page's URL. `lists` maps resources to their filters by this one.
    """

    title: str = field(init=False)
    name: str
    key: str
    help: Text
    edition: str = ""
    edition_optional: bool = False
    page: Field
    lists: Mapping[str, str] = field(default_factory=dict)
    orders: "Mapping[str, Combinable]" = field(default_factory=dict)
    filters: "type[FilterSet] | None" = None
    # The kind of document in the search index for `?q=`; empty if there is no search.
    kind: str = ""
    # Names of writable columns in the API, where they differ.
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        RESOURCES[self.name] = self
        object.__setattr__(self, "title", self.model.__name__)
        object.__setattr__(self, "fields", {**identity_fields(self), **self.fields})

    def url(self, edition: str | None, key: object) -> str:
        middle = f"{edition}/" if edition else ""
        return f"{API_ROOT}{self.name}/{middle}{key}/"

    @property
    def has_edition(self) -> bool:
        """Return whether the model has a foreign key to the edition."""
        return self.edition == "edition__slug"


RESOURCES: dict[str, Resource] = {}


def identity_fields(resource: Resource) -> dict[str, Field]:
    """Return the first fields, which all resources have."""
    key, edition = resource.key, resource.edition
    model: Any = resource.model
    changed = (model.changed_column, *model.opens)
    columns = (key, edition) if edition else (key,)

    def url(row: Row) -> str:
        return resource.url(row[edition] if edition else None, row[key])

    def links(row: Row) -> dict[str, str]:
        reference = f"{row[edition]}/{row[key]}" if edition else row[key]
        return {
            name: f"{list_url(name)}?{parameter}={reference}" for name, parameter in resource.lists.items()
        }

    fields = {
        "id": Field((key,), lambda row: str(row[key]), ID_HELP),
        "url": Field(columns, url, _("The address of this row in the API."), URL),
        "page": resource.page,
    }
    fields |= {
        "created_at": Field(("created_at",), lambda row: to_utc_iso(row["created_at"]), CREATED_HELP, MOMENT),
        "changed_at": Field(changed, lambda row: to_utc_iso(row[LATEST]), CHANGED_HELP, MOMENT),
    }
    if resource.lists:
        schema = {"type": "object", "additionalProperties": URL}
        fields["links"] = Field(columns, links, _("Lists of what belongs to it."), schema)
    return fields


def to_utc_iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


# The key in a row of when it last changed or became public, if this field is requested.
LATEST = "latest"
CHANGED_AT = "changed_at"
MOMENT: JsonSchema = {"type": "string", "format": "date-time"}
CREATED_HELP = _("When it was created or imported.")
CHANGED_HELP = _("When it last changed or became public; used by changed_since.")
ID_HELP = _("Never changes; unique in its edition, or in the site if it belongs to no edition.")


def list_url(name: str) -> str:
    return f"{API_ROOT}{name}/"


# Kinds of fields


def column_field(name: str, help: Text, schema: JsonSchema = STRING) -> Field:
    """Return the field of a column whose value is used unchanged."""
    return Field((name,), itemgetter(name), help, schema)


# Help texts of columns by name, for all models.
HELP: Mapping[str, Text] = {
    "status": _("The status. Only staff see drafts and withdrawn rows."),
    "position": _("Place in the order, from 1."),
}


def column_fields(model: type[Content], *names: str, **helps: Text) -> dict[str, Field]:
    """Return fields with the types, choices and help texts of the model; `helps` replaces the help texts."""
    fields: dict[str, Field] = {}
    for name in names:
        fields |= _column_fields(model, model._meta.get_field(name), helps.get(name) or HELP.get(name) or "")
    return fields


def _column_fields(model: type[Content], column: Any, help: Text) -> dict[str, Field]:
    name: str = column.name
    label = format_lazy("{}.", capfirst(column.verbose_name))
    if f"{name}_html" in model.derived_fields:
        return text_fields(name, help or label)
    help = help or (format_lazy("{} {}", label, column.help_text) if column.help_text else label)
    match column:
        case models.FileField():
            return {name: Field((name,), lambda row: file_url(row[name]), help)}
        case models.DateField():
            schema = nullable("string", column.null, format="date")
            return {name: Field((name,), lambda row: row[name] and row[name].isoformat(), help, schema)}
        case LinesField():
            return {name: column_field(name, help, STRINGS)}
        case models.BooleanField():
            return {name: column_field(name, help, {"type": "boolean"})}
        case models.IntegerField():
            return {name: column_field(name, help, nullable("integer", column.null))}
    values = [value for value, _label in column.choices or ()]
    return {name: column_field(name, help, {"type": "string", "enum": values} if values else STRING)}


def nullable(kind: str, is_null: bool, **more: str) -> JsonSchema:
    return {"type": [kind, "null"] if is_null else kind, **more}


def kind_schema(model: type[HasKind]) -> JsonSchema:
    """Return the schema of a kind: a built-in one, or the slug of one that the conference added."""
    built_in = {"type": "string", "enum": [*model.Kind.values]}
    return {"anyOf": [built_in, {"type": "string", "maxLength": MAX_SLUG_CHARS}]}


def kind_fields(model: type[HasKind], help: Text) -> dict[str, Field]:
    """Return the fields of the kind of a session or presentation, with name and base of an added kind."""
    counts_as = {"type": "string", "enum": [*model.Kind.values]}
    return {
        "kind": column_field("kind", help, kind_schema(model)),
        "kind_name": column_field("kind_name", _("What the conference calls a kind of its own; else empty.")),
        "counts_as": column_field("counts_as", _("The built-in kind that it counts as."), counts_as),
    }


def text_fields(name: str, help: Text) -> dict[str, Field]:
    """Return the three fields of a text: Markdown, HTML, and plain text."""
    return {
        name: column_field(name, format_lazy("{} {}", help, _("Markdown with TeX."))),
        f"{name}_html": column_field(f"{name}_html", _("As safe HTML.")),
        f"{name}_plain": Field((name,), lambda row: plain(row[name]), _("Without markup.")),
    }


def moment_field(name: str, zone: str, help: Text, *, empty: bool = False) -> Field:
    """Return the field of a moment as ISO 8601, with the UTC offset of the zone in the column `zone`."""
    schema = nullable("string", empty, format="date-time")
    return Field((name, zone), lambda row: to_local_iso(row[name], row[zone]), help, schema)


def timezone_field(name: str) -> Field:
    return column_field(name, _("The IANA name of the zone that times are given in."))


def page_field(columns: tuple[str, ...], path: Callable[[Row], str]) -> Field:
    """Return the field of the URL of a page; `path` returns its path from the columns."""
    return Field(columns, lambda row: f"{settings.SITE_URL}{path(row)}", _("The page on the site."), URL)


def to_local_iso(moment: datetime | None, zone: str) -> str | None:
    """Return a moment in a zone as ISO 8601, such as 2021-04-06T08:00:00-07:00."""
    return moment.astimezone(ZoneInfo(zone)).isoformat() if moment else None


def with_names(rows: Rows, at: datetime) -> Rows:
    """Annotate rows with `shown_name`: the name as printed, unless that is hidden."""
    return with_shown_names(rows)


def file_url(name: str) -> str:
    return f"{settings.SITE_URL}{default_storage.url(name)}" if name else ""
