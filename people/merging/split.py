"""Splitting a person: moving some rows to a new person, in one change set that can be reverted."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from django.utils.translation import gettext

from content import revision
from content.history import ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.models import Content
from content.row_values import content_model, is_recorded
from people.merging.merge import mark_distinct, move_rows, referenced_key
from people.models import Person
from people.querysets import follow_merges

if TYPE_CHECKING:
    from content.actor import User

# The foreign key of the rows to the person.
PERSON_FIELD = "person"

type RowKeys = Mapping[type[Content], Iterable[int]]


def split(person: Person, name: str, rows: RowKeys, user: "User" = None) -> Person:
    """Create a person, and move these rows of another one to it, such as authorships and names."""
    detail = gettext("split from %(person)s") % {"person": person}
    with recording(Origin.FORM, user, detail) as log, revision.lock():
        new_person = Person(name=name)
        new_person.full_clean()
        new_person.save()
        log.set_reference(new_person)
        _move_person_rows(rows, person, new_person)
        mark_distinct([person, new_person])
        log.write()
    return new_person


def _move_person_rows(rows: RowKeys, person: Person, target: Person) -> None:
    """Move those of the rows that reference a person to another person."""
    for model, keys in rows.items():
        person_rows = model._default_manager.filter(pk__in=keys, **{PERSON_FIELD: person})
        move_rows(person_rows, PERSON_FIELD, target, dropped=[])


def split_change_sets() -> QuerySet[ChangeSet]:
    """Return the change sets by which people were split."""
    return ChangeSet.objects.filter(origin=Origin.FORM, reference__startswith=f"{Person._meta.label_lower}:")


@dataclass(frozen=True, slots=True)
class Split:
    """The current state of a split: both people, `None` if deleted, and the rows that were moved."""

    person: Person | None
    new: Person | None
    rows: Mapping[type[Content], list[int]]
    # The names of rows that a revert would not delete.
    kept: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to revert."""
        return self.new is None or self.person is None or self.new.merged_into_id is not None


def inspect_split(change_set: ChangeSet) -> Split:
    """Return the current state of a split."""
    key = referenced_key(change_set)
    rows: dict[type[Content], list[int]] = defaultdict(list)
    former_keys: set[int] = set()
    for change in change_set.rows.filter(kind=RowChange.Kind.CHANGED).order_by("pk"):
        before, after = change.values.get(PERSON_FIELD, (None, None))
        if after == key:
            rows[content_model(change.model)].append(change.object_id)
            former_keys.add(before)
    person = follow_merges(Person.objects.filter(pk__in=former_keys).first())
    new_person = Person.objects.filter(pk=key).first()
    later_changes = RowChange.objects.filter(change_set__gt=change_set.pk)
    edits = later_changes.filter(model=Person._meta.label_lower, object_id=key)
    kept = [str(new_person)] if new_person and (edits.exists() or _has_other_rows(new_person, rows)) else []
    return Split(person, new_person, rows, kept)


def _has_other_rows(person: Person, rows: Mapping[type[Content], list[int]]) -> bool:
    """Return whether other rows reference a person."""
    for relation in Person._meta.related_objects:
        model = relation.related_model
        referencing_rows = model._base_manager.filter(**{relation.field.name: person})
        if referencing_rows.exclude(pk__in=rows.get(model, []) if is_recorded(model) else []).exists():
            return True
    return False


def revert_split(change_set: ChangeSet, user: "User" = None) -> Split:
    """Move back the rows that the new person still has. Delete the person if unedited and without rows."""
    with recording(Origin.UNDO, user, change_set.detail), revision.lock():
        state = inspect_split(change_set)
        if state.person and state.new and not state.is_empty:
            _move_person_rows(state.rows, state.new, state.person)
            if not state.kept:
                state.new.delete()
    return state
