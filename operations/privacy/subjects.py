"""Data subjects, which are people of the program or accounts, and the export of their data."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db.models import JSONField, Model, Q, QuerySet

from accounts.sessions import AccountSession
from content.history import RowChange
from content.row_values import to_json_value
from exchange.models import Provenance
from operations.privacy.inventory import TEXT_COLUMNS
from people.invitations import Invitation
from people.models import Person
from people.querysets import appearance_relations, follow_merges
from schedule.models import UnreleasedChange

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass
class DataSubject:
    """A person of the program: their rows, with merged ones, and all words that identify them."""

    people: list[Person]
    words: set[str] = field(default_factory=set)

    @property
    def keys(self) -> set[int]:
        return {person.pk for person in self.people}

    @property
    def uids(self) -> set[str]:
        return {person.uid for person in self.people}


def find_person(identifier: str) -> DataSubject | None:
    person = Person.objects.filter(uid=identifier).first()
    if person is None and "@" in identifier:
        person = Person.objects.filter(email__iexact=identifier).first()
    if person is None:
        return None
    person = follow_merges(person)
    people, merged = [person], [person]
    while merged:
        merged = [*Person.objects.filter(merged_into__in=merged).exclude(pk__in=[row.pk for row in people])]
        people += merged
    return DataSubject(people, identifying_words(people))


def identifying_words(people: list[Person]) -> set[str]:
    """Return the names, as stored and as printed, addresses and identifiers of these people."""
    words: set[str] = set()
    for person in people:
        words |= {person.name, person.native_name, person.email, person.orcid, person.homepage, person.uid}
        words |= {*person.names.values_list("name", flat=True)}
        words |= {*person.identifiers.values_list("value", flat=True)}
        for model, _name in appearance_relations(Person):
            rows = model._default_manager.filter(person=person)
            if any(column.name == "name" for column in rows.model._meta.concrete_fields):
                words |= {*rows.values_list("name", flat=True)}
    return words - {""}


def invitations(email: str, condition: Q | None = None) -> QuerySet[Invitation]:
    """Return the invitations that were sent to an address, and those that match `condition`."""
    to_address = Q(email__iexact=email) if email else Q(pk__in=())
    return Invitation._base_manager.filter(to_address | condition if condition else to_address)


def find_account(name: str) -> "User | None":
    users = get_user_model()._default_manager
    return users.filter(username=name).first() or users.filter(email__iexact=name).exclude(email="").first()


def add_arguments(parser: ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--person", help="identifier or e-mail address of a person of the program")
    group.add_argument("--account", help="user name or e-mail address of an account")


def find_subject(person: str | None, account: str | None) -> "DataSubject | User":
    """Return the person or the account that an argument names; raise `CommandError` if there is none."""
    subject = find_person(person) if person else find_account(account or "")
    if subject is None:
        raise CommandError(f"There is nobody called “{person or account}” here.")
    return subject


# Shorter words would match many unrelated texts.
MIN_WORD_CHARS = 5


def find_mentions(words: Iterable[str]) -> Iterator[str]:
    """Yield a line for each column of a row that contains one of these words."""
    search_words = sorted(word for word in words if len(word) >= MIN_WORD_CHARS)
    for model in apps.get_models():
        if not search_words or model._meta.app_label in {"search", "sessions", "contenttypes"}:
            continue
        for column in model._meta.concrete_fields:
            if not isinstance(column, TEXT_COLUMNS) or column.name.endswith("_html"):
                continue
            match = Q()
            for word in search_words:
                # JSON may be stored with escapes, so all its values are fetched and compared below.
                match |= Q(**{f"{column.name}__icontains": word})
            rows = (
                model._base_manager.all()
                if isinstance(column, JSONField)
                else model._base_manager.filter(match)
            )
            for key, value in rows.order_by("pk").values_list("pk", column.name):
                if any(word.lower() in str(value).lower() for word in search_words):
                    yield f"{model._meta.label} {key}: {column.name}"


# The export


def row_values(row: Model) -> dict[str, object]:
    """Return the columns of a row by name, with passwords and secrets masked."""
    values: dict[str, object] = {}
    for column in row._meta.concrete_fields:
        value = getattr(row, column.attname)
        hidden = column.name in {"password", "digest", "token_digest", "session_key", "session_data"}
        values[column.name] = "(stored, not shown)" if hidden and value else to_json_value(value)
    return values


def related_rows(row: Model) -> dict[str, list[object]]:
    """Return all rows with a foreign key to this one, by model, with their labels."""
    rows_by_model: dict[str, list[object]] = {}
    for relation in row._meta.related_objects:
        if relation.many_to_many:
            continue
        rows: Iterable[Model] = relation.related_model._base_manager.filter(**{relation.field.name: row})
        for related in rows:
            values = {**row_values(related), "about": str(related), "in": owner_label(related)}
            rows_by_model.setdefault(relation.related_model._meta.label, []).append(values)
    return rows_by_model


def owner_label(row: object) -> str:
    """Return the label of the row that this one belongs to, such as the paper of an authorship."""
    names = ("paper", "session", "presentation", "award", "edition")
    return next((str(getattr(row, name)) for name in names if getattr(row, name, None)), "")


def export_person(subject: DataSubject) -> dict[str, object]:
    return {
        "person": [row_values(person) for person in subject.people],
        "stands in": [related_rows(person) for person in subject.people],
        "history": [
            {"at": change.change_set.at, "what": change.kind, "of": change.name, "values": change.values}
            for key in sorted(subject.keys)
            for change in RowChange.objects.about(Person, key).select_related("change_set").order_by("pk")
        ],
        "not released yet": [
            change.values
            for change in UnreleasedChange.objects.filter(
                Q(role__person__in=subject.keys) | Q(speaker__person__in=subject.keys)
            )
        ],
        "last imported": [
            provenance.values
            for provenance in Provenance.objects.filter(kind="person", object_id__in=subject.keys)
        ],
    }


def export_account(user: "User") -> dict[str, object]:
    """Return all data about an account, with its changes."""
    groups = [str(group) for group in user.groups.all()]
    # Invitations and sessions have no foreign key to the account.
    sent_invitations = invitations(user.email, Q(created_by=user))
    sessions = AccountSession.objects.filter(user_id=user.pk)
    return {
        "account": row_values(user),
        "groups": groups,
        "did": related_rows(user),
        "invitations": [row_values(row) for row in sent_invitations.order_by("pk")],
        "signed in": [row_values(row) for row in sessions.order_by("since")],
    }
