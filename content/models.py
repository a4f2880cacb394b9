"""Base models: text derived on save, revision and history, order, publication."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any, ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from content import deletion, revision
from content.changed import stamping
from content.history import ChangeSet, RowChange, ShownChange, changed_rows, recording
from content.invalidation import Invalidation
from content.ordering import close_gaps, is_ordered, lock_owners_to_save
from content.publicity.rules import PublicWhen
from content.publicity.tombstones import Tombstone
from content.revision import SiteRevision
from content.row_values import (
    Values,
    date_columns,
    owner_fields,
    read_values,
    recorded_fields,
    related_model,
    to_json_value,
    values_in_memory,
)
from content.unreleased.worker_report import WorkerReport

__all__ = [
    "ChangeSet",
    "Content",
    "Invalidation",
    "RowChange",
    "SiteRevision",
    "Status",
    "Tombstone",
    "WorkerReport",
    "ends_before_start",
]

# Embeddings, overrides and isolates: they reorder the text that follows, and programs do not need them.
DIRECTION_MARKS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")


class Status(models.TextChoices):
    """Whether a row is a draft or published."""

    DRAFT = "draft", _("Draft")
    PUBLISHED = "published", _("Published")


class Content(models.Model):
    """A row of the program. Saving derives text, advances its edition's revision and records history."""

    # The lookup of the row's edition, such as "paper__edition"; empty for rows of the whole site.
    edition_lookup: ClassVar[str] = "edition"
    # The lookup of a second edition that shows the row; empty for most models.
    other_edition_lookup: ClassVar[str] = ""
    # Whether all content belongs to rows of this model.
    is_container: ClassVar[bool] = False
    # Whether pages may show the row, so that a change of it advances the revision.
    advances_revision: ClassVar[bool] = True
    # Fields that `derive()` computes from others.
    derived_fields: ClassVar[tuple[str, ...]] = ()
    # The fields that `derive()` reads: a write to them must call it.
    derived_from: ClassVar[tuple[str, ...]] = ()
    # Counters and revisions, which the history does not record.
    unrecorded_fields: ClassVar[tuple[str, ...]] = ()
    # The foreign keys to the rows whose forms and history show this row, the nearest first. They are
    # needed if `edition_lookup` does not begin with them.
    part_of: ClassVar[tuple[str, ...]] = ()
    # Whether the history stores the first values of rows, which can change after they are gone.
    keeps_first_values: ClassVar[bool] = False
    # The relations that `__str__()` reads; `None`: all foreign keys.
    label_relations: ClassVar[tuple[str, ...] | None] = None
    # Fields that affect only the text shown, not whether or where the row is shown.
    descriptive_fields: ClassVar[tuple[str, ...]] = ()
    # The rule for when rows are public; `None` if none of them has anything to do with it.
    public_when: "ClassVar[PublicWhen | None]" = None
    # The field that identifies a row in its address; empty if rows have none.
    identity: ClassVar[str] = ""
    # Whether rows are people, of whose names no tombstone keeps anything.
    has_personal_address: ClassVar[bool] = False
    # The relations, other than foreign keys, that `clean()` reads: prefetched for many rows.
    rule_relations: ClassVar[tuple[str, ...]] = ()

    class Meta:
        abstract = True

    def save(
        self,
        *,
        force_insert: bool | tuple[models.base.ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        if update_fields is not None:
            update_fields = {*update_fields, *self.derived_fields}
        self.derive()
        with recording.single_change_set() as log:
            if isinstance(self, Ordered):
                self.take_position(update_fields)
            before = self._stored_values(update_fields)
            tied_editions = self._tied_editions(before)
            changed = self._changed_fields(before) if before else set[str]()
            if before is None:
                log.watch.before_creation([self])
                stamping.stamp_new(log, self)
            else:
                log.watch.before_change(self, before, changed)
                stamping.stamp_losing(log, type(self), [self.pk], changed)
                columns = stamping.stamp_row(log, self, before, changed)
                update_fields = None if update_fields is None else {*update_fields, *columns}
            super().save(
                force_insert=force_insert, force_update=force_update, using=using, update_fields=update_fields
            )
            edition = self.get_edition_key()
            editions, tags = {edition, *tied_editions}, None
            if before is None:
                log.record_created(self)
                log.watch.after_creation([self])
            else:
                after = values_in_memory(
                    self, [name for name in before if name in recorded_fields(type(self))]
                )
                log.record_changed(type(self), self.pk, before, after, edition)
                changed_rows.add_columns(self._meta.label_lower, self._changed_derived_fields(before))
                self._close_gap(before)
                if changed <= {*self.descriptive_fields}:
                    tags = self.cache_tags(changed) or None
                elif (owner := self.edition_lookup.partition("__")[0]) in changed:
                    # Dependent rows move with it, perhaps from another edition.
                    editions.add(self._edition_of_owner(owner, before))
            if self.advances_revision:
                revision.advance(editions, tags)

    def _changed_fields(self, before: Values) -> set[str]:
        """Return the recorded fields that differ from the stored values."""
        names = before.keys() & recorded_fields(type(self)).keys()
        after = values_in_memory(self, names)
        return {name for name in names if before[name] != after[name]}

    def _changed_derived_fields(self, before: Values) -> set[str]:
        names = before.keys() & {*self.derived_fields}
        return {name for name in names if before[name] != to_json_value(getattr(self, name))}

    def _tied_editions(self, before: Values | None) -> set[int]:
        """Return the editions that the row connected with its own before the change."""
        if before is None or type(self) not in revision.tying_models():
            return set()
        old_edition = self._edition_of_owner(self.edition_lookup.partition("__")[0], before)
        return revision.editions_tied_to([type(self)], [old_edition, self.get_edition_key()])

    def _edition_of_owner(self, owner: str, before: Values) -> int | None:
        """Return the edition of the row's owner before the change."""
        key = before.get(owner)
        if not isinstance(key, int):
            return None
        if self.edition_lookup == owner:
            return key
        return recording.editions_by_row(related_model(type(self), owner), [key]).get(key)

    @classmethod
    def secret_addresses(cls, uids: Mapping[int, str]) -> set[int]:
        """Return the keys of rows whose uids must not be told when they are gone."""
        return set()

    def cache_tags(self, changed: Collection[str]) -> set[str]:
        """Return the tags, such as "paper:17", of the responses that show these descriptive fields."""
        return set()

    def _stored_values(self, update_fields: Iterable[str] | None) -> Values | None:
        """Lock the row, and return the stored values of the fields to be written; `None` for a new row."""
        if self.pk is None:
            return None
        fields = recorded_fields(type(self))
        names = fields.keys() if update_fields is None else fields.keys() & {*update_fields}
        selected = {*names, *owner_fields(type(self)), *self.derived_fields} - self.get_deferred_fields()
        if update_fields is None:
            selected.update(date_columns(type(self)))
        # This weaker lock still allows new foreign keys to the row.
        rows = type(self)._base_manager.filter(pk=self.pk).select_for_update(no_key=True)
        return next(iter(read_values(rows, sorted(selected)).values()), None)

    def _close_gap(self, before: Values) -> None:
        if is_ordered(model := type(self)):
            old_owner = before.get(model.siblings_of)
            if isinstance(old_owner, int) and old_owner != getattr(self, f"{model.siblings_of}_id"):
                close_gaps({model: [old_owner]})

    def delete(self, using: str | None = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        with recording.single_change_set() as log:
            return deletion.delete(
                [self], self, log, [self.get_edition_key()], using=using, keep_parents=keep_parents
            )

    @classmethod
    def shown_changes(cls, change: RowChange) -> list[ShownChange]:
        """Return the fields that the history shows of a recorded change."""
        pairs = change.values if change.kind == RowChange.Kind.CHANGED else {}
        return [ShownChange(change.model, name, pair) for name, pair in pairs.items()]

    def derive(self) -> None:
        """Compute the derived fields, such as rendered text and sort keys."""

    def get_edition_key(self) -> int | None:
        """Return the key of the edition whose pages show this row; `None` for rows of the whole site."""
        if not self.edition_lookup:
            return None
        *steps, last = self.edition_lookup.split("__")
        owner: models.Model = self
        for step in steps:
            owner = getattr(owner, step)
        key: int | None = getattr(owner, f"{last}_id")
        return key

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Remove characters that change the text direction of the page, then validate each field."""
        for field in self._meta.concrete_fields:
            if field.name not in (exclude or ()):
                value = getattr(self, field.attname)
                if value and (cleaned := strip_direction_marks(value)) != value:
                    setattr(self, field.attname, cleaned)
        super().clean_fields(exclude=exclude)

    def clean_in_memory(self) -> None:
        """Validate without a query, for imports. Raise `ValidationError` like `full_clean`."""
        relations = {field.name for field in self._meta.concrete_fields if field.is_relation}
        self.clean_fields(exclude=relations)
        self.clean()


class Ordered(models.Model):
    """A row with a position among its siblings, counted from 1. A new row goes to the end."""

    # The foreign key to the owner of the siblings.
    siblings_of: ClassVar[str] = "edition"

    position = models.PositiveIntegerField(
        pgettext_lazy("place in a list", "order"), default=0, help_text=_("0 puts it at the end.")
    )

    class Meta:
        abstract = True

    def take_position(self, update_fields: Collection[str] | None) -> None:
        """Lock the owner before the row is written, and put a row without a position at the end."""
        written = {"position", self.siblings_of}
        if self.position and update_fields is not None and written.isdisjoint(update_fields):
            return
        lock_owners_to_save(self)
        if not self.position:
            self.position = self.next_position()

    def next_position(self) -> int:
        """Return the position at the end of its siblings."""
        return max(self.siblings().positions().values(), default=0) + 1

    def siblings(self) -> Any:
        """Return all rows that share this row's order, itself included when saved."""
        owner = self._meta.get_field(self.siblings_of).attname  # type: ignore[union-attr]
        return type(self)._default_manager.filter(**{owner: getattr(self, owner)})


def strip_direction_marks(value: object) -> object:
    """Return a text, or the texts of a list, without marks that change the text direction."""
    if isinstance(value, str):
        return value if value.isascii() else DIRECTION_MARKS.sub("", value)
    return [strip_direction_marks(text) for text in value] if isinstance(value, list) else value


def ends_before_start(start: date | None, end: date | None) -> bool:
    """Return whether a span ends before it starts; `False` if one of the two is missing."""
    return start is not None and end is not None and end < start
