"""Which people and institutions a role reaches: they belong to no edition, and an edition shows them.

Whoever enters the program finds all people but those whom nothing shows beside the drafts of other editions,
so that nobody is entered twice; and changes those whom the own edition shows, and new ones.
"""

from collections.abc import Iterable

from django.apps import apps
from django.db.models import Exists, Model, OuterRef, Q

from accounts.access_scope import NOTHING, OWN, SCOPES, Access
from content.history import RowChange
from people.models import (
    Institution,
    InstitutionDistinction,
    Person,
    PersonDistinction,
    PersonIdentifier,
    PersonName,
)
from people.querysets import appearances, appearing


def shown_nowhere(model: type[Model]) -> Q:
    """Those whom nothing shows yet, not even a draft."""
    some = Q()
    for rows, name in appearances(model):
        some &= ~Q(Exists(rows._base_manager.filter(**{name: OuterRef("pk")})))
    return some


def kept_by_others(model: type[Model], editions: set[int]) -> Q:
    """Those who stand in a draft of another edition; it may be that something else shows them too."""
    some = NOTHING
    for rows, name in appearances(model):
        others = rows._base_manager.exclude(**{f"{rows.edition_lookup}__in": editions})
        drafts = others.exclude(pk__in=rows.objects.published().order_by().values("pk"))
        some |= Q(pk__in=drafts.filter(**{f"{name}__isnull": False}).order_by().values(name))
    return some


def scope(model: type[Model], access: Access, action: str) -> Q:
    """Return the rows with which roles allow this."""
    editions = access.editions(action, model)
    here = appearing(model, editions)
    if action != "view":
        return here | shown_nowhere(model) if editions else NOTHING
    if not access.editions("change", model):
        return here
    public = Q(pk__in=model._default_manager.all().published().order_by().values("pk"))  # type: ignore[attr-defined]
    return here | public | ~kept_by_others(model, editions)


def person_scope(access: Access, action: str) -> Q:
    """People, and with them those who were merged into them."""
    found = scope(Person, access, action)
    if action == "view" and access.chaired("view", Person) and Person in OWN:
        found |= OWN[Person](access.user)
    return with_merged(Person, found)


def institution_scope(access: Access, action: str) -> Q:
    """Institutions, and with them those that were merged into them."""
    return with_merged(Institution, scope(Institution, access, action))


def with_merged(model: type[Model], found: Q) -> Q:
    """Those of the rows that stay, and what was merged into them: it stands nowhere itself."""
    survivors = model._base_manager.filter(found, merged_into__isnull=True)
    return Q(merged_into__isnull=True) & found | Q(merged_into__in=survivors.values("pk"))


def name_scope(access: Access, action: str) -> Q:
    """Other spellings, former names among them: of people whom one may change."""
    if not access.editions(action, PersonName):
        return NOTHING
    return Q(person__in=Person._base_manager.filter(person_scope(access, "change")).values("pk"))


def identifier_scope(access: Access, action: str) -> Q:
    if not access.editions(action, PersonIdentifier):
        return NOTHING
    needed = "view" if action == "view" else "change"
    return Q(person__in=Person._base_manager.filter(person_scope(access, needed)).values("pk"))


def distinction_scope(access: Access, action: str) -> Q:
    """Pairs of people who are not the same: of those whom one may change."""
    changeable = Person._base_manager.filter(person_scope(access, "change")).values("pk")
    return Q(first__in=changeable, second__in=changeable)


def institution_distinction_scope(access: Access, action: str) -> Q:
    changeable = Institution._base_manager.filter(institution_scope(access, "change")).values("pk")
    return Q(first__in=changeable, second__in=changeable)


def names_of(access: Access, keys: set[int]) -> dict[int, str]:
    """Return what these people are called, as far as the account sees them."""
    return dict(access.rows(Person.objects.filter(pk__in=keys)).values_list("pk", "name")) if keys else {}


def reaching_elsewhere(access: Access, acts: Iterable[int]) -> set[int]:
    """Return those of the acts that changed rows of editions in which roles do not allow that. One query."""
    changes = RowChange.objects.filter(change_set__in=acts, edition_key__isnull=False).order_by()
    found = set()
    for act, label, edition in changes.values_list("change_set", "model", "edition_key").distinct():
        model = apps.get_model(label)
        if not access.everywhere("change", model) and edition not in access.editions("change", model):
            found.add(act)
    return found


SCOPES[PersonDistinction] = distinction_scope
SCOPES[InstitutionDistinction] = institution_distinction_scope
SCOPES[Person] = person_scope
SCOPES[Institution] = institution_scope
SCOPES[PersonName] = name_scope
SCOPES[PersonIdentifier] = identifier_scope
