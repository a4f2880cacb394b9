"""When the rows of a model are public, and which other rows decide it.

Only `published()` decides what is public. A model's `public_when` names the columns and rows that it reads,
so that a change of one of them is known to be able to publish rows, or to take them back.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import ForeignKey, ForeignObjectRel, Model
from django.db.models.constants import LOOKUP_SEP

from content.editions import get_edition_model
from content.preview_context import GATES
from content.row_values import is_recorded

if TYPE_CHECKING:
    from content.models import Content

# The gates that open an edition's pages, its papers, its timetable.
SITE, PAPERS, SCHEDULE = GATES[:1], (GATES[0], GATES[1]), (GATES[0], GATES[2])

# The relations that `show_through()` adds to those of a model's own rule.
_shown_by: "dict[type[Model], list[str]]" = {}


@dataclass(frozen=True, slots=True)
class PublicWhen:
    """The rule for when rows of a model are public: they have the values `having`, and the gates are open.

    `within`: foreign keys whose targets, if set, must be public too. A row without an edition of its own
    belongs to the target's. `since`: the field with the time from which a row is public. `shown_by`:
    relations of which one row, at least, must be public.
    """

    gates: tuple[str, ...] = ()
    having: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    since: str = ""
    shown_by: tuple[str, ...] = ()

    @property
    def columns(self) -> set[str]:
        return {*self.having, *self.within, *filter(None, [self.since])}


def show_through(model: type[Model], relation: str) -> None:
    """Let rows of a model be public with the rows of this relation, whose app is above its own."""
    _shown_by.setdefault(model, []).append(relation)


@cache
def identified_models() -> "tuple[type[Content], ...]":
    """Return the models whose rows have an address, those that others are within first."""
    models = [model for model in apps.get_models() if is_recorded(model) and model.identity]
    return tuple(sorted(models, key=lambda model: (_depth(model), model._meta.label)))


def _depth(model: "type[Content]") -> int:
    rule = model.public_when
    targets = [_target(model, name) for name in rule.within] if rule else []
    return 1 + max((_depth(target) for target in targets if target is not model), default=0)


def _target(model: type[Model], name: str) -> "type[Content]":
    target: Any = model._meta.get_field(name).related_model
    return target  # type: ignore[no-any-return]


def is_shown_by_others(model: type[Model]) -> bool:
    """Return whether rows of a model are public with others, of which one is enough."""
    rule: PublicWhen | None = getattr(model, "public_when", None)
    return model in _shown_by or bool(rule and rule.shown_by)


def is_within_several(model: type[Model]) -> bool:
    """Return whether rows of a model are public with several others, of which all have to be public."""
    rule: PublicWhen | None = getattr(model, "public_when", None)
    return bool(rule and len(rule.within) > 1)


@cache
def deciding_paths(model: "type[Content]") -> "dict[str, type[Content]]":
    """Return the lookups from a row to the rows that decide whether it is public, with their models."""
    rule = model.public_when
    if rule is None:
        return {}
    paths: dict[str, type[Content]] = {}
    for relation in (*rule.shown_by, *_shown_by.get(model, ())):
        target: type[Content] = model
        steps: list[str] = []
        for step in relation.split(LOOKUP_SEP):
            target, steps = _target(target, step), [*steps, step]
            paths[LOOKUP_SEP.join(steps)] = target
        paths |= _edition_path(model, target, relation) | _containers(model, target, relation, (target,))
    return paths | _containers(model, model, "", (model,))


def _edition_path(model: "type[Content]", target: "type[Content]", lookup: str) -> "dict[str, type[Content]]":
    """Return the lookup of the edition whose gates decide on the target, unless those of the row do."""
    gates = [{*owner.public_when.gates} if owner.public_when else set() for owner in (model, target)]
    if not target.edition_lookup or (model.edition_lookup and gates[1] <= gates[0]):
        return {}
    return {LOOKUP_SEP.join((lookup, target.edition_lookup)): get_edition_model()}


def _containers(
    root: "type[Content]", model: "type[Content]", prefix: str, path: "tuple[type[Content], ...]"
) -> "dict[str, type[Content]]":
    """Return the lookups from `root` of the rows that rows of a model are within, at any level."""
    paths: dict[str, type[Content]] = {}
    for name in model.public_when.within if model.public_when else ():
        target = _target(model, name)
        lookup = LOOKUP_SEP.join(filter(None, (prefix, name)))
        paths |= {lookup: target, **_edition_path(root, target, lookup)}
        if target not in path:
            paths |= _containers(root, target, lookup, (*path, target))
    return paths


@cache
def affected_by(model: type[Model]) -> "tuple[tuple[type[Content], str], ...]":
    """Return the models whose rows a row of this model can publish or take back, with the lookup from them.

    The lookup of its own model is empty.
    """
    affected = [(model, "")] if model in identified_models() else []
    affected += [
        (owner, path)
        for owner in identified_models()
        for path, target in deciding_paths(owner).items()
        if target is model
    ]
    return tuple(affected)


@cache
def shown_rows(model: type[Model]) -> "dict[str, type[Content]]":
    """Return the foreign keys of a model whose targets are public with its rows, with their models."""
    fields = {}
    for owner, path in affected_by(model):
        if path and LOOKUP_SEP not in path:
            relation: Any = owner._meta.get_field(path)
            if isinstance(relation, ForeignObjectRel) and isinstance(relation.remote_field, ForeignKey):
                fields[relation.remote_field.attname] = owner
    return fields


@cache
def deciding_fields(model: type[Model]) -> frozenset[str]:
    """Return the fields of a model whose changes can publish rows, or take them back."""
    if not affected_by(model):
        return frozenset()
    return frozenset(_deciding_fields(model))


def _deciding_fields(model: Any) -> Iterator[str]:
    names = {field.name: field for field in model._meta.concrete_fields}
    if model.public_when:
        yield from model.public_when.columns
    yield from {model.identity, "edition", "merged_into"} & names.keys()
    if model is get_edition_model():
        yield from GATES
    if "on_release" in names and "status" not in names:
        yield "on_release"
    attributes = shown_rows(model)
    yield from (name for name, column in names.items() if column.attname in attributes)


def is_hidden_by_itself(row: "Content") -> bool:
    """Return whether a row has a value, such as the status of a draft, that keeps it from being public."""
    rule = row.public_when
    having = rule.having if rule else {}
    return any(getattr(row, name) not in values for name, values in having.items())
