"""Copies of an edition to a new one. Each app registers the parts that it can copy; copies are drafts.

The user selects the parts in the admin (`conference.admin.new_edition`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from django.db.models import Model, QuerySet
from django.db.models.fields.files import FieldFile

from content import revision
from content.fields import UidField
from content.history import ChangeSet, Origin
from content.history.makers import made_by, makers_of
from content.history.recording import recording
from content.models import Content, Status

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    from conference.models import Edition
    from content.actor import User


@dataclass(slots=True)
class EditionCopy:
    """A copy in progress; `copies` maps models and primary keys of original rows to their copies."""

    source: Edition
    target: Edition
    user: User
    copies: dict[type[Model], dict[int, Any]] = field(default_factory=dict)

    @property
    def days(self) -> timedelta:
        """Return the difference between the first days of the editions."""
        return self.target.start_date - self.source.start_date

    def shift(self, moment: datetime) -> datetime:
        """Return a moment moved by `days`, at the same local time."""
        local = moment.astimezone(self.source.zone).replace(tzinfo=None) + self.days
        return local.replace(tzinfo=self.target.zone)

    def copy_rows(
        self, rows: Iterable[Content], changes: Callable[[Any], dict[str, object]] = lambda row: {}
    ) -> None:
        """Copy rows in order, with `changes`; foreign keys to rows copied before lead to the copies.

        A copy is recorded as made by whoever made the row: people whom it names stay that account's choice.
        """
        originals = [*rows]
        makers = makers_of(originals)
        for row in originals:
            model = type(row)
            copy = model(**values_of(row) | self.copied_relations(row) | changes(row))
            with made_by(makers.get(row.pk)):
                copy.save()
            self.copies.setdefault(model, {})[row.pk] = copy

    def copied_relations(self, row: Content) -> dict[str, object]:
        """Return the foreign keys of a row's copy to the new edition and to copied rows."""
        relations: dict[str, object] = {}
        for model_field in row._meta.concrete_fields:
            key = getattr(row, model_field.attname)
            if model_field.is_relation and key is not None:
                copy = self.copies.get(model_field.related_model, {}).get(key)  # type: ignore[arg-type]
                relations |= {model_field.attname: copy.pk} if copy else {}
        return relations | {"edition_id": self.target.pk}


def values_of(row: Content) -> dict[str, object]:
    """Return the values for a copy of a row, without keys and derived fields, and with the status draft."""
    excluded = {*row.derived_fields, "position"}
    values = {
        model_field.attname: getattr(row, model_field.attname)
        for model_field in row._meta.concrete_fields
        if not model_field.primary_key
        and not isinstance(model_field, UidField)
        and model_field.name not in excluded
    }
    return values | ({"status": Status.DRAFT} if "status" in values else {})


@dataclass(frozen=True, slots=True, eq=False)
class EditionPart:
    """A part that a new edition can copy from an earlier one.

    `rows` are counted; the user needs permission to view all rows of `model`. `copy` writes to the new
    edition. A part without `copy` belongs to the conference, so the new edition has it anyway.
    """

    name: str
    label: StrPromise | str
    model: type[Model]
    rows: Callable[[Edition], QuerySet[Any]] | None = None
    copy: Callable[[EditionCopy], None] | None = None
    # Whether it is selected by default.
    is_usual: bool = True
    # Sort position; parts with foreign keys to other parts come after these.
    place: int = 50

    def count(self, edition: Edition) -> int | None:
        return self.rows(edition).count() if self.rows else None


EDITION_PARTS: list[EditionPart] = []


def parts() -> list[EditionPart]:
    return sorted(EDITION_PARTS, key=attrgetter("place"))


def copy_fields(names: Iterable[str]) -> Callable[[EditionCopy], None]:
    """Return a `copy` function for these fields of the edition itself."""

    def copy(copying: EditionCopy) -> None:
        for name in names:
            value = getattr(copying.source, name)
            # Share the stored file, which is not deleted while a row refers to it.
            setattr(copying.target, name, value.name if isinstance(value, FieldFile) else value)
        copying.target.save()

    return copy


def new_edition(
    source: Edition, target: Edition, selected_parts: Iterable[EditionPart], user: User, detail: str
) -> ChangeSet:
    """Save a new edition with these parts of an earlier one, in one change set. Nothing of it is public."""
    with recording(Origin.ACTION, user, detail) as log, revision.lock():
        target.public_from = target.papers_public_from = target.schedule_public_from = None
        target.save()
        copying = EditionCopy(source, target, user)
        for part in sorted(selected_parts, key=attrgetter("place")):
            if part.copy:
                part.copy(copying)
        log.write()
        change_set: ChangeSet = log.change_set  # type: ignore[assignment] # written just now
        return change_set
