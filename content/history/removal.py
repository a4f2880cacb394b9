"""Which new rows of a change set can be removed when it is reverted, and which of them stay.

A row stays if it was changed since, or if a row that stays needs it: the institutions of an author, the
session of a talk. A part stays with the row that was changed, and is removed with one that is removed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import batched

from django.db.models import CASCADE, ForeignKey

from content.history import RowChange
from content.history.recording import is_container
from content.models import Content
from content.row_values import BATCH_ROWS, content_model, is_recorded, owner_fields, related_model

type RowKeys = dict[type[Content], set[int]]
# Rows whose relation will have another target, by model and field: they need no present target.
type FreedRows = Mapping[tuple[type[Content], str], Collection[int]]


class Removal:
    """The new rows to remove, and those to keep, of one change set."""

    def __init__(
        self, created: Iterable[RowChange], changed: Collection[str], freed: FreedRows, *, imported: bool
    ) -> None:
        """Sort the created rows. `changed`: the names of rows that were changed since.

        An imported edition always stays, since it may contain more than the import created.
        """
        self.freed = freed
        self.to_remove: RowKeys = defaultdict(set)
        self.changed: RowKeys = defaultdict(set)
        # The changed ones, and what rows that stay need.
        self.to_keep: RowKeys = defaultdict(set)
        for change in created:
            model = content_model(change.model)
            if (imported and is_container(change.model)) or change.name in changed:
                self.changed[model].add(change.object_id)
                self.to_keep[model].add(change.object_id)
            else:
                self.to_remove[model].add(change.object_id)
        while needed := {model: keys for model in self.to_remove if (keys := self._needed_keys(model))}:
            for model, keys in needed.items():
                self.to_remove[model] -= keys
                self.to_keep[model] |= keys
        for related, keys in self._loose_parts().items():
            self.to_remove[related] |= keys

    def _needed_keys(self, model: type[Content]) -> set[int]:
        """Return the rows to remove to which a row that stays refers."""
        needed: set[int] = set()
        for relation in model._meta.related_objects:
            related = relation.related_model
            if is_recorded(related):
                rows = self._referring_rows(model, related, relation.field.name)
                needed |= {
                    target for target, key, owners in rows if not self._is_removed(related, key, owners)
                }
        return needed

    def _loose_parts(self) -> RowKeys:
        """Return the parts of rows to remove that the database would keep without their owner.

        They are new: if they had been added or moved there later, their owner would count as changed.
        """
        parts: RowKeys = defaultdict(set)
        for model in list(self.to_remove):
            for relation in model._meta.related_objects:
                related, name = relation.related_model, relation.field.name
                if (
                    is_recorded(related)
                    and name in owner_fields(related)[:1]
                    and not _cascades(related, name)
                ):
                    rows = self._referring_rows(model, related, name)
                    parts[related] |= {
                        key for _, key, owners in rows if self._is_removed(related, key, owners)
                    }
        return parts

    def _referring_rows(
        self, model: type[Content], related: type[Content], name: str
    ) -> Iterator[tuple[int, int, list[int | None]]]:
        """Yield (row to remove, row that refers to it, owners of the latter), without freed rows."""
        columns = [name, "pk", *(f"{owner}_id" for owner in owner_fields(related))]
        freed_keys = self.freed.get((related, name), ())
        for batch in batched(self.to_remove[model], BATCH_ROWS, strict=False):
            rows = related._base_manager.filter(**{f"{name}__in": batch}).order_by().values_list(*columns)
            yield from ((target, key, owners) for target, key, *owners in rows if key not in freed_keys)

    def _is_removed(self, model: type[Content], key: int, owners: list[int | None]) -> bool:
        """Return whether a row is removed: by itself, or as a part of a row that is."""
        if key in self.to_remove.get(model, ()):
            return True
        cascading: list[tuple[type[Content], int]] = []
        others: list[tuple[type[Content], int]] = []
        for name, owner in zip(owner_fields(model), owners, strict=True):
            target = related_model(model, name)
            if owner is not None and is_recorded(target):
                (cascading if _cascades(model, name) else others).append((target, owner))
        if _contains(self.changed, [*cascading, *others]):
            return False
        if _contains(self.to_remove, cascading):
            return True
        return _contains(self.to_remove, others) and not _contains(self.to_keep, cascading)


def _contains(keys: RowKeys, rows: Iterable[tuple[type[Content], int]]) -> bool:
    return any(key in keys.get(model, ()) for model, key in rows)


def _cascades(model: type[Content], name: str) -> bool:
    """Return whether the database deletes a row with the target of this foreign key."""
    field = model._meta.get_field(name)
    return isinstance(field, ForeignKey) and field.remote_field.on_delete is CASCADE
