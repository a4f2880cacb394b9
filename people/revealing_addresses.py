"""Addresses that would tell a hidden name of a person: they answer as if nobody had ever had them."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from django.apps import apps
from django.db.models import Q

import markup
from content.array_lookup import AnyOf
from content.fields import new_uid
from content.publicity.tombstones import Tombstone

if TYPE_CHECKING:
    from people.models import Person

NO_WORD = re.compile(r"[^a-z0-9]+")


def words(text: str) -> set[str]:
    """Return the words of a name, uid or slug, without accents and case."""
    return {word for word in NO_WORD.split(markup.fold(text).lower()) if len(word) > 1}


def reveals(address: str, hidden: Iterable[str], shown: Iterable[str]) -> bool:
    """Return whether a part of an address has a word of a hidden name that no shown name has."""
    secret = set().union(*map(words, hidden)) - set().union(*map(words, shown))
    return bool(words(address) & secret)


def revealing_keys(addresses: Mapping[int, str]) -> set[int]:
    """Return the keys of people whose addresses tell a hidden name, their own or that of whom they became.

    At most two queries. `addresses`: parts of addresses by the key of the person.
    """
    if not addresses:
        return set()
    people = apps.get_model("people", "Person")._base_manager
    rows = people.filter(Q(AnyOf("pk", addresses)) | Q(AnyOf("merged_people", addresses))).distinct()
    names: dict[int, tuple[str, int | None]] = {
        key: (name, merged_into) for key, name, merged_into in rows.values_list("pk", "name", "merged_into")
    }
    hidden: dict[int, list[str]] = {}
    shown: dict[int, list[str]] = {key: [name] for key, (name, _merged_into) in names.items()}
    others = apps.get_model("people", "PersonName")._base_manager.filter(AnyOf("person_id", names))
    for key, name, is_hidden in others.values_list("person", "name", "hidden"):
        (hidden if is_hidden else shown).setdefault(key, []).append(name)
    for key, spellings in hidden.items():
        kept = {name.casefold() for name in spellings}
        shown[key] = [name for name in shown[key] if name.casefold() not in kept]
    return {
        key
        for key, address in addresses.items()
        for person in (key, names.get(key, ("", None))[1] or key)
        if reveals(address, hidden.get(person, ()), shown.get(person, ()))
    }


def forget_addresses(person: "Person") -> None:
    """Change the person's address if it tells a hidden name, and forget such ones of merged people."""
    people = type(person)._base_manager.filter(Q(pk=person.pk) | Q(merged_into=person))
    addresses = dict(people.values_list("pk", "uid"))
    revealing = revealing_keys(addresses)
    if person.pk in revealing:
        person.uid = new_uid()
        person.save(update_fields=["uid"])
    uids = {addresses[key] for key in revealing}
    if uids:
        Tombstone.objects.filter(model=type(person)._meta.label_lower, uid__in=uids).delete()
