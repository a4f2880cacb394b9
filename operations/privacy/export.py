"""Everything that is stored about one person, for that person, as one JSON document."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db.models import Model, Q

from accounts.sessions import AccountSession
from content.history import RowChange
from content.row_values import plain
from exchange.models import Provenance
from operations.privacy.subjects import DataSubject, invitations

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def row(one: Model) -> dict[str, object]:
    """Return the columns of a row by name; of a password or a secret only that there is one."""
    found: dict[str, object] = {}
    for column in one._meta.concrete_fields:
        value = getattr(one, column.attname)
        hidden = column.name in {"password", "digest", "token_digest", "session_key", "session_data"}
        found[column.name] = "(stored, not shown)" if hidden and value else plain(value)
    return found


def related(one: Model) -> dict[str, list[object]]:
    """Return all rows that point at this one, by model, each with what it is called."""
    found: dict[str, list[object]] = {}
    for relation in one._meta.related_objects:
        if relation.many_to_many:
            continue
        rows: Iterable[Model] = relation.related_model._base_manager.filter(**{relation.field.name: one})
        for other in rows:
            said = {**row(other), "about": str(other), "in": place(other)}
            found.setdefault(relation.related_model._meta.label, []).append(said)
    return found


def place(other: object) -> str:
    """Return what a row belongs to: the paper of an authorship."""
    names = ("paper", "session", "presentation", "award", "edition")
    return next((str(getattr(other, name)) for name in names if getattr(other, name, None)), "")


def of_person(subject: DataSubject) -> dict[str, object]:
    """Return all that is stored about a person of the program."""
    return {
        "person": [row(person) for person in subject.people],
        "stands in": [related(person) for person in subject.people],
        "history": [history(change) for key in sorted(subject.keys) for change in changes_of(key)],
        "last imported": [
            memory.values for memory in Provenance.objects.filter(kind="person", object_id__in=subject.keys)
        ],
    }


def changes_of(key: int) -> Iterable[RowChange]:
    from people.models import Person

    return RowChange.objects.about(Person, key).select_related("change_set").order_by("pk")


def history(change: RowChange) -> dict[str, object]:
    return {"at": change.change_set.at, "what": change.kind, "of": change.name, "values": change.values}


def of_account(user: "User") -> dict[str, object]:
    """Return all that is stored about an account, with what it did."""
    groups = [str(group) for group in user.groups.all()]
    # These have no foreign key to the account.
    invited = invitations(user.email, Q(created_by=user))
    sessions = AccountSession.objects.filter(user_id=user.pk)
    return {
        "account": row(user),
        "groups": groups,
        "did": related(user),
        "invitations": [row(one) for one in invited.order_by("pk")],
        "signed in": [row(one) for one in sessions.order_by("since")],
    }
