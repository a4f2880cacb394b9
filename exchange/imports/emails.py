"""E-mail addresses of files: they tell who is who, and are stored for the chairs alone."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from django.db.models.functions import Lower
from django.utils.translation import gettext

from content.array_lookup import AnyOf
from exchange.imports.file_people import FilePerson, initial_and_family
from exchange.problems import Findings, Where
from people.models import Person


def people_by_email(
    entries: Sequence[FilePerson], skipped: Collection[int], follow_merge: Callable[[Person], Person]
) -> dict[FilePerson, Person]:
    """Return the only person here with the e-mail address and the name of each of these people, if any.

    The addresses of `skipped` people are private to the account, or they are somebody else in the file.
    """
    keys = {entry: (entry.email.casefold(), *initial_and_family(entry.name)) for entry in entries}
    counts = Counter(keys.values())
    people: dict[tuple[str, ...], dict[str, Person]] = defaultdict(dict)
    rows: Any = Person.objects.annotate(address=Lower("email")).defer(*Person.derived_fields)
    for row in rows.filter(AnyOf("address", {key[0] for key in counts})) if counts else ():
        person = follow_merge(row)
        if {row.pk, person.pk}.isdisjoint(skipped):
            people[row.address, *initial_and_family(row.name)][person.uid] = person
    return {
        entry: next(iter(people[key].values()))
        for entry, key in keys.items()
        if counts[key] == 1 and len(people.get(key, ())) == 1
    }


def missing_emails(
    rows: Mapping[FilePerson, Person], protected: Collection[int], findings: Findings
) -> dict[int, str]:
    """Give new people the e-mail addresses of the file. Return those of people who have none, by primary key.

    An address that a person has is kept, as chairs may have corrected it.
    """
    people: dict[str, tuple[Person, str]] = {}
    for entry, person in rows.items():
        if entry.email:
            people.setdefault(person.uid, (person, entry.email))
    new_people = [(person, email) for person, email in people.values() if person._state.adding]
    for person, email in new_people:
        person.email = email
    addresses = {person.pk: email for person, email in people.values() if not person._state.adding}
    without_email = Person.objects.filter(AnyOf("pk", list(addresses)), email="").exclude(pk__in=protected)
    missing = {key: addresses[key] for key in without_email.values_list("pk", flat=True)} if addresses else {}
    if new_people or missing:
        message = gettext("E-mail addresses of %(count)s people are taken. Only chairs see them.")
        findings.note("warning", Where(), message, count=len(new_people) + len(missing))
    return missing
