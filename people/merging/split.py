"""One person who is two: what belongs to the other goes to a new person, as one act, and back again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.utils.translation import gettext

from content import revision
from content.history import ChangeSet, Origin, RowChange
from content.recording import recording
from people.merging.merge import distinguish
from people.merging.relations import Moved, move
from people.models import Person, PersonDistinction, PersonPair
from people.querysets import last_of_chain

# What was found or noted of the two goes with the new one.
OF_PAIRS = (PersonPair, PersonDistinction)


def split(person: Person, name: str, rows: Mapping[type[Any], Iterable[int]], user: Any = None) -> Person:
    """Make a new person and give it these rows of another: authorships, roles, names and so on."""
    detail = gettext("split from %(person)s") % {"person": person}
    with recording(Origin.FORM, user, detail) as log, revision.lock():
        new = Person(name=name)
        new.full_clean()
        new.save()
        log.refer_to(new)
        for relation in Person._meta.related_objects:
            keys = list(rows.get(relation.related_model, ()))
            if keys and relation.field.name == "person":
                mine = relation.related_model._default_manager.filter(pk__in=keys, person=person)
                move(mine, "person", new, Moved())
        distinguish([person, new])
        log.write()
    return new


def acts() -> Any:
    """Return the acts by which people were split."""
    return ChangeSet.objects.filter(origin=Origin.FORM, reference__startswith=f"{Person._meta.label_lower}:")


@dataclass(frozen=True, slots=True)
class Split:
    """What such an act left behind: the two, and which rows went; who is not here any more is `None`."""

    person: Any
    new: Any
    rows: dict[Any, list[int]]
    # What stays though the act is taken back, for people to read.
    kept: list[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to take back."""
        return self.new is None or self.person is None or self.new.merged_into_id is not None


def moved_by(act: ChangeSet) -> Split:
    """Return what an act of splitting left behind, as it is now."""
    key = int(act.reference.rpartition(":")[2])
    rows: dict[Any, list[int]] = {}
    former: set[int] = set()
    for change in act.rows.filter(kind=RowChange.Kind.CHANGED).order_by("pk"):
        before, after = change.values.get("person", (None, None))
        if after == key:
            rows.setdefault(apps.get_model(change.model), []).append(change.object_id)
            former.add(before)
    person = last_of_chain(Person.objects.filter(pk__in=former).first())
    new = Person.objects.filter(pk=key).first()
    edits = RowChange.objects.filter(model=Person._meta.label_lower, object_id=key, change_set__gt=act.pk)
    kept = [str(new)] if new and (edits.exists() or _has_more(new, rows)) else []
    return Split(person, new, rows, kept)


def _has_more(person: Person, rows: Mapping[Any, list[int]]) -> bool:
    """Return whether other rows reference a person."""
    for relation in Person._meta.related_objects:
        model: Any = relation.related_model
        if model not in OF_PAIRS:
            others = model._base_manager.filter(**{relation.field.name: person})
            if others.exclude(pk__in=rows.get(model, ())).exists():
                return True
    return False


def take_back(act: ChangeSet, user: Any = None) -> Split:
    """Give back what went and still is the new one's; who has nothing then, and was not edited, goes."""
    with recording(Origin.UNDO, user, act.detail), revision.lock():
        found = moved_by(act)
        if not found.is_empty:
            for model, keys in found.rows.items():
                theirs = model._default_manager.filter(pk__in=keys, person=found.new)
                move(theirs, "person", found.person, Moved())
            if not found.kept:
                found.new.delete()
    return found
