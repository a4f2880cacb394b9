"""The columns of when a row was created and last changed, and declarations of what else moves the latter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeIs

from django.apps import apps
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from content.row_values import recorded_fields

if TYPE_CHECKING:
    from content.models import Content

# The columns of an edition with the times at which fields of it were set that other rows show.
LICENSE, CLOCK = "license_set_at", "clock_set_at"


@dataclass(frozen=True, slots=True, eq=False)
class Follow:
    """Rows whose changes count as changes of the rows that `paths`, such as "authorships__person", lead from.

    If `fields` is not empty, only changes of these count; that a row comes or goes always does. `where` are
    lookups, from the followed rows, of those that count. Of `published` ones, only public ones count. No
    other row may be shown before it is public: otherwise a date would reveal the change of a draft.
    """

    paths: tuple[str, ...]
    fields: tuple[str, ...] = ()
    where: Mapping[str, object] = field(default_factory=dict)
    published: bool = False


def follow(path: str, *fields: str, **options: Any) -> Follow:
    return Follow((path,), fields, **options)


def in_edition(path: str, *gates: str, also: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the lookups of the times of an edition that count: `gates` that open, their setting, `also`."""
    times = [name for gate in gates for name in (gate, set_at(gate))]
    return tuple(f"{path}{LOOKUP_SEP}{name}" for name in (*times, *also))


def set_at(gate: str) -> str:
    """Return the column of an edition with the time at which a gate was set."""
    return f"{gate}_set_at"


class Dated(models.Model):
    """A row with the times at which it was created and last changed. No form and no history has them."""

    # The rows whose changes count as changes of this one. Higher packages use `register()`.
    changes_with: ClassVar[tuple[Follow, ...]] = ()
    # The fields whose changes do not count, because nothing public shows them.
    unshown: ClassVar[tuple[str, ...]] = ()
    # The lookups of further times that count, once they have come: gates of the edition, for instance.
    opens: ClassVar[tuple[str, ...]] = ()
    # The names of the two columns.
    changed_column: ClassVar[str] = "changed_at"
    # Further columns, each with the time at which one of its fields changed.
    part_times: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    @classmethod
    def shown_by(cls) -> Iterable[tuple[type[Any], str, str]]:
        """Return the models whose public rows show this one: model, its path to it, and to the edition.

        If a gate of the edition opens, the row has changed.
        """
        return ()

    @classmethod
    def date_columns(cls) -> tuple[str, ...]:
        return ("created_at", cls.changed_column, *cls.part_times)


def is_dated(model: type[models.Model]) -> TypeIs[type[Dated]]:
    return issubclass(model, Dated)


@cache
def stamped_fields(model: Any) -> dict[str, frozenset[str]]:
    """Return the columns of times with the fields whose changes they tell."""
    shown = recorded_fields(model).keys() - {*model.unshown}
    parts = {column: frozenset(names) for column, names in model.part_times.items()}
    return {model.changed_column: frozenset(shown), **parts}


@dataclass(frozen=True, slots=True, eq=False)
class Follower:
    """A model that follows rows of `source`: `lookups` lead from these to the rows of `model`.

    `link` is the foreign key of the followed rows that the last step uses, if it is theirs; `losing` are
    their fields whose change may end that they are shown.
    """

    model: type[Any]
    source: type[Any]
    lookups: tuple[str, ...]
    rule: Follow
    link: str = ""
    losing: frozenset[str] = frozenset()


_registered: dict[type[models.Model], list[Follow]] = {}


def register(model: type[Dated], rule: Follow) -> None:
    """Let rows of a lower package's model follow rows of a higher one."""
    _registered.setdefault(model, []).append(rule)


@cache
def _followers() -> dict[type[models.Model], list[Follower]]:
    followers: dict[type[models.Model], list[Follower]] = {}
    for model in apps.get_models():
        if is_dated(model):
            for rule in (*model.changes_with, *_registered.get(model, ())):
                follower = _resolve(model, rule)
                followers.setdefault(follower.source, []).append(follower)
    return followers


def _resolve(model: type[Dated], rule: Follow) -> Follower:
    source: Any = model
    link, lookups = "", []
    for path in rule.paths:
        source, steps = model, []
        for name in path.split(LOOKUP_SEP):
            relation: Any = source._meta.get_field(name)
            link = relation.field.name if relation.one_to_many else ""
            steps.append(link or relation.related_query_name())
            source = relation.related_model
        lookups.append(LOOKUP_SEP.join(reversed(steps)))
    having = source.public_when.having if rule.published and source.public_when else ()
    return Follower(model, source, tuple(lookups), rule, link, frozenset({link, *having} - {""}))


def followers_of(model: type[models.Model]) -> list[Follower]:
    """Return who follows rows of this model."""
    return _followers().get(model, [])


@cache
def losing_fields(model: "type[Content]") -> frozenset[str]:
    """Return the fields of a model whose change may end that others show its rows."""
    return frozenset[str]().union(*(follower.losing for follower in followers_of(model)))
