"""Whose data it is: a person of the program with all who were merged into it, or an account."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db.models import JSONField, Q, QuerySet

from operations.privacy.inventory import TELLING
from people.invitations import Invitation
from people.models import Person
from people.querysets import appearances, last_of_chain

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass
class DataSubject:
    """A person of the program: the rows that are this person, and every word that is known to name them."""

    people: list[Person]
    words: set[str] = field(default_factory=set)

    @property
    def keys(self) -> set[int]:
        return {person.pk for person in self.people}

    @property
    def uids(self) -> set[str]:
        return {person.uid for person in self.people}


def find_person(asked: str) -> DataSubject | None:
    """Return the person with this identifier or e-mail address."""
    found = Person.objects.filter(uid=asked).first()
    if found is None and "@" in asked:
        found = Person.objects.filter(email__iexact=asked).first()
    if found is None:
        return None
    found = last_of_chain(found)
    people, new = [found], [found]
    while new:
        new = [*Person.objects.filter(merged_into__in=new).exclude(pk__in=[one.pk for one in people])]
        people += new
    return DataSubject(people, words_of(people))


def words_of(people: list[Person]) -> set[str]:
    """Return the names, as stored and as printed, addresses and identifiers of these people."""
    words: set[str] = set()
    for person in people:
        words |= {person.name, person.native_name, person.email, person.orcid, person.homepage, person.uid}
        words |= {*person.names.values_list("name", flat=True)}
        words |= {*person.identifiers.values_list("value", flat=True)}
        for model, _name in appearances(Person):
            rows = model._default_manager.filter(person=person)
            if any(column.name == "name" for column in rows.model._meta.concrete_fields):
                words |= {*rows.values_list("name", flat=True)}
    return words - {""}


def invitations(email: str, more: Q | None = None) -> QuerySet[Invitation]:
    """Return the invitations that were sent to an address, and those that `more` describes."""
    sent = Q(email__iexact=email) if email else Q(pk__in=())
    return Invitation._base_manager.filter(sent | more if more else sent)


def find_account(name: str) -> "User | None":
    """Return the account of this name or e-mail address; `None` if there is none."""
    users = get_user_model()._default_manager
    return users.filter(username=name).first() or users.filter(email__iexact=name).exclude(email="").first()


# Shorter words name many things.
MIN_WORD_CHARS = 5


def mentions(words: Iterable[str]) -> Iterator[str]:
    """Yield the columns of all rows that contain one of these words."""
    wanted = sorted(word for word in words if len(word) >= MIN_WORD_CHARS)
    for model in apps.get_models():
        if not wanted or model._meta.app_label in {"search", "sessions", "contenttypes"}:
            continue
        for column in model._meta.concrete_fields:
            if not isinstance(column, TELLING) or column.name.endswith("_html"):
                continue
            match = Q()
            for word in wanted:
                # JSON may hold what is no ASCII in another way: the text of the value is looked at below.
                match |= Q(**{f"{column.name}__icontains": word})
            rows = (
                model._base_manager.all()
                if isinstance(column, JSONField)
                else model._base_manager.filter(match)
            )
            for key, value in rows.order_by("pk").values_list("pk", column.name):
                if any(word.lower() in str(value).lower() for word in wanted):
                    yield f"{model._meta.label} {key}: {column.name}"
