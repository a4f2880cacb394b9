"""How it is declared what of a resource may be written; which resources: `resources`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model

from api.shapes import Resource


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Rows that are written with their owner, as a list in order.

    `key` are the columns that tell the rows of one owner apart: by them a row of the list is known again.
    `references` and `many` lead from a name to the resource it points at; a name is a column too.
    """

    model: type[Model]
    owner: str
    fields: tuple[str, ...]
    key: tuple[str, ...]
    references: Mapping[str, str] = field(default_factory=dict)
    many: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ordered(self) -> bool:
        return hasattr(self.model, "siblings_of")


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What may be written of a resource: its columns, what they are called, and what hangs on it."""

    resource: Resource
    fields: tuple[str, ...]
    # Other names of columns, as the answers have them.
    called: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)

    @property
    def model(self) -> Any:
        return self.resource.model

    @property
    def key(self) -> str:
        """The column of its id; empty where the id is the number of the row."""
        return "" if self.resource.key == "pk" else self.resource.key

    @property
    def has_edition(self) -> bool:
        """Whether it names its edition itself."""
        return self.resource.edition == "edition__slug"

    @property
    def names(self) -> dict[str, str]:
        """The names in the API by column."""
        own = {column: self.called.get(column, column) for column in (*self.fields, *self.references)}
        return {**own, **({self.key: "id"} if self.key else {}), "edition": "edition"}
