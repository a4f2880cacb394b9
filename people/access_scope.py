"""Permissions of roles for people and institutions, which belong to no edition, but appear in editions.

Editors see all people except those only in drafts of other editions, so that they do not enter anyone twice.
Users could add rows that reference any person. Changing people and reading their private fields therefore
requires more: see `published_by_others` and `entered_by_team`.
"""

from collections.abc import Iterable, Iterator
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from accounts.access_scope import NO_ROWS, OWN_ROWS, SCOPES, Access
from accounts.models import Membership
from content.editions import get_edition_model
from content.history import RowChange
from content.models import Content
from content.row_values import owner_fields, related_model
from people.models import (
    Institution,
    InstitutionDistinction,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)
from people.querysets import appearing_in_editions, shown_by

if TYPE_CHECKING:
    from django.contrib.auth.models import User

WRITE_ACTIONS = ("add", "change", "delete")


def published_by_others(model: type[Model], access: Access, editions: set[int]) -> Q:
    """Match those referenced by a published row of these editions that the account did not add itself."""

    def added_by_others(row_model: type[Any], field_name: str) -> QuerySet[Content]:
        lookup = {f"{row_model.edition_lookup}__in": editions}
        rows: QuerySet[Content] = row_model.objects.published().filter(**lookup)
        for condition in added_by(access.user, row_model, field_name):
            rows = rows.exclude(condition)
        return rows

    return shown_by(model, added_by_others) if editions else NO_ROWS


def added_by(user: "User", model: type[Model], field_name: str) -> Iterator[Q]:
    """Yield conditions that match rows that the account added, or whose field `field_name` it changed.

    It does not matter who made them public, such as by releasing them or confirming an import.
    """
    own_changes = RowChange.objects.filter(made_by=user.pk).order_by()
    created = own_changes.filter(kind=RowChange.Kind.CREATED)
    changed = own_changes.filter(kind=RowChange.Kind.CHANGED, values__has_key=field_name)
    label = model._meta.label_lower
    yield Q(pk__in=created.filter(model=label).values("object_id"))
    yield Q(pk__in=changed.filter(model=label).values("object_id"))
    # The history does not record rows that were created with their owner, such as authors of a new paper.
    for path, owner in owner_paths(model):
        keys = created.filter(model=owner._meta.label_lower).values("object_id")
        yield Q(**{f"{path}__in": keys, f"{path}__isnull": False})


def owner_paths(model: type[Model], prefix: str = "") -> Iterator[tuple[str, type[Model]]]:
    """Yield the models that own rows of a model, except editions, with the lookup of each."""
    for name in owner_fields(model):
        owner = related_model(model, name)
        if owner is not get_edition_model():
            yield f"{prefix}{name}", owner
            yield from owner_paths(owner, f"{prefix}{name}__")


def entered_by_team(model: type[Model], access: Access, editions: set[int]) -> Q:
    """Match those that the account or a colleague entered, or that were created with rows of these editions.

    Colleagues have a role in one of the editions. Those that they entered are excluded if other editions
    reference them. Those into which others were merged match if the merged ones do, too.
    """
    label = model._meta.label_lower
    created = RowChange.objects.filter(model=label, kind=RowChange.Kind.CREATED).order_by()
    with_rows = RowChange.objects.filter(change_set=OuterRef("change_set"), edition_key__in=editions)
    own_creations = created.filter(Q(made_by=access.user.pk) | Exists(with_rows))
    series = get_edition_model()._base_manager.filter(pk__in=editions).order_by().values("conference")
    members = Membership.objects.filter(Q(edition__in=editions) | Q(conference__in=series))
    team_users = members.order_by().values("user")
    team_creations = created.filter(made_by__in=team_users)
    used_elsewhere = shown_by(
        model, lambda row_model, _field_name: rows_of_other_editions(row_model, editions)
    )
    entered = (
        Q(pk__in=own_creations.values("object_id"))
        | Q(pk__in=team_creations.values("object_id")) & ~used_elsewhere
    )
    if model is not Person:
        return entered
    # A merge gives a person the private fields of others.
    others = model._base_manager.filter(merged_into__isnull=False).exclude(entered).order_by()
    return entered & ~Q(pk__in=others.values("merged_into"))


def rows_of_other_editions(row_model: type[Any], editions: set[int]) -> QuerySet[Content]:
    """Return the rows of all other editions."""
    rows: QuerySet[Content] = row_model._base_manager.exclude(**{f"{row_model.edition_lookup}__in": editions})
    return rows


def in_drafts_elsewhere(model: type[Model], editions: set[int]) -> Q:
    """Match those that a draft of another edition references, even if they are also public."""

    def draft_rows(row_model: type[Any], _field_name: str) -> QuerySet[Content]:
        published = row_model.objects.published().filter(pk=OuterRef("pk"))
        return rows_of_other_editions(row_model, editions).filter(~Exists(published))

    return shown_by(model, draft_rows)


def scope(model: type[Model], access: Access, action: str) -> Q:
    """Match the rows for which the account's roles allow an action."""
    editions = access.editions(action, model)
    if action != "view":
        if not editions:
            return NO_ROWS
        return published_by_others(model, access, editions) | entered_by_team(model, access, editions)
    appearing = appearing_in_editions(model, editions)
    if not access.editions("change", model):
        return appearing
    public = Q(pk__in=model._default_manager.all().published().order_by().values("pk"))  # type: ignore[attr-defined]
    # The database tests these in order. Only few are in drafts, which it finds once for all rows.
    return ~in_drafts_elsewhere(model, editions) | appearing | public


def mergeable_scope(access: Access, action: str, *, model: type[Model]) -> Q:
    """Match the people or institutions for which roles allow an action, and those merged into them."""
    # Some roles are limited to the account's own rows.
    own_conditions = (OWN_ROWS[role][model](access) for role in access.limited_editions(action, model))
    condition = reduce(or_, own_conditions, scope(model, access, action))
    # No edition references merged rows, so use the permissions of the rows they were merged into.
    survivors = model._base_manager.filter(condition, merged_into__isnull=True)
    if action == "view":
        # A list reads its page alone, in its order. Longer conditions take too long to plan.
        merged = Q(Exists(survivors.filter(pk=OuterRef("merged_into"))), merged_into__isnull=False)
        return Q(condition, merged_into__isnull=True) | merged
    return Q(Exists(survivors.filter(pk=Coalesce(OuterRef("merged_into"), OuterRef("pk")))))


def accessible_keys(model: type[Model], access: Access, action: str) -> QuerySet[Model, object]:
    """Return the keys of the people or institutions for which roles allow an action."""
    return model._base_manager.filter(access.scope(model, action)).values("pk")


def part_scope(access: Access, action: str, *, model: type[Model], read: str = "") -> Q:
    """Match rows of people for whom the account may do this. Viewing them requires `read`, if set."""
    if not access.editions(action, model):
        return NO_ROWS
    needed_action = "change" if action in WRITE_ACTIONS else read or action
    return Q(person__in=accessible_keys(Person, access, needed_action))


def distinction_scope(access: Access, action: str, *, model: type[Model]) -> Q:
    """Match pairs of which the account may change both rows."""
    changeable = accessible_keys(model, access, "change")
    return Q(first__in=changeable, second__in=changeable)


def visible_names(access: Access, keys: set[int]) -> dict[int, str]:
    """Return the names of those of these people whom the account may see."""
    return dict(access.rows(Person.objects.filter(pk__in=keys)).values_list("pk", "name")) if keys else {}


def change_sets_beyond_scope(access: Access, keys: Iterable[int]) -> set[int]:
    """Return the keys of change sets with rows of editions that the account may not change. One query."""
    changes = RowChange.objects.filter(change_set__in=keys, edition_key__isnull=False).order_by()
    forbidden_keys = set()
    for key, model_label, edition_key in changes.values_list("change_set", "model", "edition_key").distinct():
        model = apps.get_model(model_label)
        if not access.may_everywhere("change", model) and edition_key not in access.editions("change", model):
            forbidden_keys.add(key)
    return forbidden_keys


def register() -> None:
    SCOPES[Person] = partial(mergeable_scope, model=Person)
    # Other spellings include former names, which are private.
    SCOPES[PersonName] = partial(part_scope, model=PersonName, read="private")
    SCOPES[PersonIdentifier] = partial(part_scope, model=PersonIdentifier)
    SCOPES[PersonDistinction] = partial(distinction_scope, model=Person)
    SCOPES[Institution] = partial(mergeable_scope, model=Institution)
    SCOPES[InstitutionDistinction] = partial(distinction_scope, model=Institution)
