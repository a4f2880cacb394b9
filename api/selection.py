"""What an asker wants of an answer: `?fields=` and `?expand=`, read against what a resource has."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from api.errors import BadValue
from api.shapes import One, Shape

MAX_DEPTH = 3
MAX_SELECTED_FIELDS = 40


@dataclass(slots=True)
class Wanted:
    """The names wanted at one level, all where none is named, and what is expanded below it."""

    fields: set[str] = field(default_factory=set)
    below: dict[str, "Wanted"] = field(default_factory=dict)
    expanded: set[str] = field(default_factory=set)

    def names(self, shape: Shape) -> list[str]:
        """Return the names to answer with, in the order in which they are declared."""
        usual = self.fields or {*shape.usual, *self.expanded}
        always = {"id"} & shape.all_fields.keys()
        return [name for name in shape.names if name in usual or name in always]

    def of(self, name: str) -> "Wanted":
        """Return what is wanted of a relation."""
        return self.below.setdefault(name, Wanted())


def read(shape: Shape, fields: str, expand: str) -> Wanted:
    """Return what the two parameters ask for; raise `BadValue` that says what they know."""
    wanted = Wanted()
    for path in listed(expand, "expand"):
        _take(wanted, shape, path, "expand")
    for path in listed(fields, "fields"):
        _take(wanted, shape, path, "fields")
    return wanted


def listed(value: str, parameter: str) -> list[str]:
    """Return the names that stand between commas."""
    names = [name for name in (part.strip() for part in value.split(",")) if name]
    if len(names) > MAX_SELECTED_FIELDS:
        raise BadValue(parameter, value, _("Name at most %(number)d.") % {"number": MAX_SELECTED_FIELDS})
    return names


def _take(wanted: Wanted, shape: Shape, path: str, parameter: str) -> None:
    steps = path.split(".")
    if len(steps) > MAX_DEPTH:
        raise BadValue(parameter, path, _("It goes at most %(number)d levels deep.") % {"number": MAX_DEPTH})
    for place, step in enumerate(steps):
        is_last = place == len(steps) - 1
        known: Iterable[str] = shape.names if parameter == "fields" and is_last else shape.relations
        if step not in known:
            raise BadValue(parameter, path, allowed=sorted(known))
        if parameter == "fields":
            wanted.fields.add(step)
        if parameter == "expand" or step not in shape.usual or not is_last:
            wanted.expanded.add(step)
        if step in shape.relations:
            relation = shape.relations[step]
            shape = relation.resource if isinstance(relation, One) else relation.resolved
            wanted = wanted.of(step)
