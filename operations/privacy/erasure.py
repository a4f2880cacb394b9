"""Erasing a person or an account: papers and positions of authors remain, under an anonymous name.

Values in the history, in the provenance of imports and in copies of texts are emptied, too. So reverting
to an earlier state does not restore them.
"""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Model, Q, QuerySet

from accounts.models import Membership
from accounts.sessions import AccountSession
from api.models import Token
from content.fields import new_uid
from content.history import ERASURE, ChangeSet, Origin, RowChange
from content.history.recording import recording
from content.publicity.tombstones import Tombstone
from exchange.models import Conflict, Provenance
from operations.indexing.update import refresh
from operations.privacy.inventory import all_personal_fields
from operations.privacy.subjects import MIN_WORD_CHARS, DataSubject, invitations
from papers.models import Authorship
from people.invitations import Invitation, PersonAccount
from people.models import Person, PersonIdentifier, PersonName
from people.pairs import LikelyNamesake, PersonPair
from people.querysets import appearance_relations
from people.revealing_addresses import words
from schedule.models import ProgramInvitation, ReleasePlan, Unavailability, UnreleasedChange

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ANONYMOUS_NAME = "Anonymous"
PERSON = "people.person"
# Columns that are listed as personal but do not identify the person.
KEPT_FIELDS = frozenset(("role", "citation", "citation_html"))


def erased_fields(label: str) -> set[str]:
    """Return the columns to empty in rows of a model, such as "papers.authorship"."""
    fields_by_label = {name.lower(): fields for name, fields in all_personal_fields().items()}
    return {*fields_by_label.get(label, ())} - KEPT_FIELDS


def blank(model: type[Model], name: str) -> object:
    column: Any = model._meta.get_field(name)
    return column.get_default() if column.has_default() else ""


def erase_person(subject: DataSubject) -> None:
    with transaction.atomic():
        appearances = appearance_rows(subject.keys)
        with recording(Origin.COMMAND, detail=ERASURE):
            photos = [str(person.photo.name) for person in subject.people if person.photo]
            for person in subject.people:
                anonymize(person)
        erase_tombstones(subject)
        erase_history(subject.keys, appearances)
        erase_admin_log(Person, subject.keys)
        for model, keys in {**appearances, **name_rows(subject.keys)}.items():
            erase_admin_log(model, keys)
        erase_log_messages(subject.words - subject.uids)
        erase_unreleased(subject.keys)
        erase_provenance(subject)
    for photo in photos:
        default_storage.delete(photo)
    refresh()


def erase_tombstones(subject: DataSubject) -> None:
    """Empty the titles of what is gone, which may contain the name, and drop addresses that tell it.

    An address that these people had tells it by any word of their names, that of others by a whole name.
    """
    Tombstone.objects.exclude(title="").update(title="")
    names = [words(name) for name in subject.words - subject.uids if words(name)]
    own_words, uids = set().union(*names), subject.uids | former_uids(subject.keys)
    revealing = []
    for row in Tombstone.objects.filter(model=PERSON):
        address = words(f"{row.uid} {row.moved_to}")
        is_own = not uids.isdisjoint((row.uid, row.moved_to))
        if address & own_words if is_own else any(name <= address for name in names):
            revealing.append(row.pk)
    Tombstone.objects.filter(pk__in=revealing).delete()


def former_uids(people: set[int]) -> set[str]:
    """Return the identifiers that these people had before, as the history tells."""
    changes = RowChange.objects.filter(model=PERSON, object_id__in=people, kind=RowChange.Kind.CHANGED)
    return {
        uid for values in changes.values_list("values", flat=True) for uid in values.get("uid", ()) if uid
    }


def appearance_rows(people: set[int]) -> dict[type[Model], set[int]]:
    """Return the keys of the rows that refer to these people, by model, including deleted rows."""
    keys_by_model: dict[type[Model], set[int]] = {}
    for model, _name in appearance_relations(Person):
        keys_by_model[model] = {*model._base_manager.filter(person__in=people).values_list("pk", flat=True)}
        deletions = RowChange.objects.filter(model=model._meta.label_lower, kind=RowChange.Kind.DELETED)
        for key, values in deletions.values_list("object_id", "values"):
            if values.get("person") in people:
                keys_by_model[model].add(key)
    return keys_by_model


def name_rows(people: set[int]) -> dict[type[Model], set[int]]:
    """Return the keys of the names and identifiers of these people, which were deleted, by model."""
    owners = [f"{PERSON}:{key}" for key in people]
    keys_by_model: dict[type[Model], set[int]] = {}
    for model in (PersonName, PersonIdentifier):
        changes = RowChange.objects.filter(model=model._meta.label_lower, owner__in=owners)
        keys_by_model[model] = {*changes.values_list("object_id", flat=True)}
    return keys_by_model


def anonymize(person: Person) -> None:
    """Empty the person's row and the printed names of other rows; delete other names and identifiers."""
    person.names.all().delete()
    person.identifiers.all().delete()
    for model, _name in appearance_relations(Person):
        rows = model._default_manager.filter(person=person)
        names = erased_fields(model._meta.label_lower)
        values = {name: ANONYMOUS_NAME if name == "name" else blank(model, name) for name in names}
        if values:
            rows.all().update(**values)
        if model is Authorship:
            for authorship in rows.all():
                authorship.institutions.clear()
    PersonAccount._base_manager.filter(person=person).delete()
    delete_invitations(person.email, Q(person=person))
    program_invitations = ProgramInvitation._base_manager.filter(person=person)
    if person.email:
        program_invitations |= ProgramInvitation._base_manager.filter(email__iexact=person.email)
    program_invitations.delete()
    Unavailability._base_manager.filter(person=person).delete()
    # Delete suspected duplicates and namesakes.
    PersonPair.objects.filter(Q(first=person) | Q(second=person)).delete()
    LikelyNamesake.objects.filter(person=person).delete()
    for name in {*Person.personal_fields} - {"uid", *Person.derived_fields}:
        setattr(person, name, blank(Person, name))
    person.name = ANONYMOUS_NAME
    person.save()
    # Change the uid, because the provenance of imports refers to the old one.
    Person.objects.filter(pk=person.pk).update(uid=new_uid())


def delete_invitations(email: str, condition: Q | None = None) -> None:
    """Delete the invitations to an address, and those that match `condition`."""
    rows = invitations(email, condition)
    erase_admin_log(Invitation, rows.values_list("pk", flat=True))
    rows.delete()


def erase_history(people: set[int], appearances: dict[type[Model], set[int]]) -> None:
    names = [f"{PERSON}:{key}" for key in people]
    own_changes = Q(model=PERSON, object_id__in=people)
    parts = Q(owner__in=names) | Q(other__in=names) | Q(moved_to__in=names)
    of_appearances = Q()
    for model, keys in appearances.items():
        of_appearances |= Q(model=model._meta.label_lower, object_id__in=keys)
    for change in RowChange.objects.filter(own_changes | parts | of_appearances).order_by("pk"):
        change.values, change.label = blank_change(change), ""
        change.save(update_fields=["values", "label"])


def erase_admin_log(model: type[Model], keys: Iterable[int]) -> None:
    """Empty the names of these rows, and the messages about them, in the log of the admin."""
    content_type = ContentType.objects.get_for_model(model)
    entries = LogEntry.objects.filter(content_type=content_type, object_id__in=[str(key) for key in keys])
    entries.update(object_repr=ANONYMOUS_NAME, change_message="")


def erase_log_messages(words: Iterable[str]) -> None:
    """Empty the messages in the log of the admin that contain one of these words, as the names of authors."""
    for word in words:
        if len(word) >= MIN_WORD_CHARS:
            # Messages are JSON with escapes.
            entries = LogEntry.objects.filter(change_message__contains=json.dumps(word)[1:-1])
            entries.update(change_message="")


def erase_unreleased(people: set[int]) -> None:
    """Empty the personal values of these people in unreleased changes, and in the history of these."""
    changes = UnreleasedChange.objects.filter(Q(role__person__in=people) | Q(speaker__person__in=people))
    for change in changes.select_for_update(of=("self",)):
        erased = erased_fields(type(change.row)._meta.label_lower)
        change.values = {name: value for name, value in change.values.items() if name not in erased}
        change.began = {name: value for name, value in change.began.items() if name not in erased}
        change.save(update_fields=["values", "began"])
        owner = f"{type(change.row)._meta.label_lower}:{change.target_key}"
        RowChange.objects.filter(model=UnreleasedChange._meta.label_lower, owner=owner).update(values={})


def blank_change(change: RowChange) -> dict[str, object]:
    """Return the values of a change with personal values removed or emptied."""
    erased = erased_fields(change.model)
    if change.kind == RowChange.Kind.CHANGED:
        return {name: pair for name, pair in change.values.items() if name not in erased}
    empty = {name: ANONYMOUS_NAME if name == "name" else "" for name in erased}
    lists: dict[str, object] = {name: [] for name in erased if isinstance(change.values.get(name), list)}
    return {name: {**empty, **lists}.get(name, value) for name, value in change.values.items()}


def erase_provenance(subject: DataSubject) -> None:
    """Empty the provenance of the person, and the person's entries in that of papers and sessions."""
    own_provenance = Provenance.objects.filter(kind="person", object_id__in=subject.keys)
    changes = RowChange.objects.filter(model=Provenance._meta.label_lower)
    changes.filter(object_id__in=[*own_provenance.values_list("pk", flat=True)]).delete()
    own_provenance.delete()
    for rows, columns in (
        (Provenance.objects.all(), ("values",)),
        (changes, ("values",)),
        (Conflict.objects.all(), ("base", "ours", "theirs")),
    ):
        clear_people(rows.order_by("pk"), columns, subject.uids)


def clear_people(rows: QuerySet[Model], columns: Iterable[str], uids: set[str]) -> None:
    """Empty the entries of these people in JSON columns of the rows."""
    for row in rows.iterator(500):
        old = {column: getattr(row, column) for column in columns}
        new = {column: without_people(value, uids) for column, value in old.items()}
        if new != old:
            type(row)._default_manager.filter(pk=row.pk).update(**new)


def without_people(value: object, uids: set[str]) -> object:
    """Return a stored JSON value with the entries of these people emptied."""
    if isinstance(value, list):
        return [without_people(part, uids) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("person") in uids:
        return {"person": ""} | {
            name: [] if isinstance(part, list) else part if isinstance(part, bool) else ""
            for name, part in value.items()
            if name not in {"role", "person"}
        }
    return {name: without_people(part, uids) for name, part in value.items()}


def erase_account(user: "User") -> None:
    """Close an account and erase its names; its changes remain in the history, under another user name."""
    old, new = user.get_username(), f"former-{user.pk}"
    with transaction.atomic():
        erase_admin_log(type(user), [user.pk])
        erase_admin_log(Membership, Membership._base_manager.filter(user=user).values_list("pk", flat=True))
        # Roles that ended earlier.
        ended = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Membership))
        ended.filter(object_repr__startswith=f"{old} (").update(object_repr=new, change_message="")
        for model in (Token, Membership, PersonAccount):
            model._base_manager.filter(user=user).delete()
        AccountSession._base_manager.filter(user_id=user.pk).delete()
        delete_invitations(user.email)
        user.groups.clear()
        user.user_permissions.clear()
        user.username, user.first_name, user.last_name, user.email = new, "", "", ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.set_unusable_password()
        user.save()
        ChangeSet.objects.filter(user=user).update(user_name=new)
        ChangeSet.objects.filter(user_name=old).update(user_name=new)
        UnreleasedChange.objects.filter(Q(by=user) | Q(by_name=old)).update(by_name=new)
        for name in ReleasePlan.personal_fields:
            ReleasePlan.objects.filter(**{name: old}).update(**{name: new})
        RowChange.objects.filter(made_by_name=old).update(made_by_name=new)
