"""One field of a row as a file says it: what stands there now, and the file's value through the row's rules.

For many rows at once there is `exchange.imports`; this is what a chair decides about a single one.
"""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils.translation import gettext

from conference.models import Edition
from content import revision
from content.models import Content
from content.recording import together
from exchange.imports.kinds import KINDS, PERSON, Kind, Listing, Values
from exchange.imports.rows import PartRow, build_parts, field_value, parts_by_owner
from exchange.imports.writing import write_parts
from papers.models import Paper
from people import names
from people.models import Person, PersonName
from people.printed_names import HiddenNames
from people.querysets import last_of_chain


class CannotTakeError(Exception):
    """Why a value of a file cannot be written, in sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


def current(kind: Kind, row: Any, name: str, edition: Edition) -> Any:
    """Return what stands in a field now, as a file would say it. At most two queries."""
    listing = kind.listing(name)
    if listing:
        parts = listing.model._default_manager.filter(**{listing.owner: row})
        return parts_by_owner(listing, parts, edition).get(row.pk, [])
    if kind is PERSON and name == "other_names":
        return sorted(row.names.filter(hidden=False).values_list("name", flat=True))
    return field_value(row, kind, name)


class Finder:
    """Where the keys in a file's value lead to, found among what is here; what was merged is what stayed."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self._known: dict[tuple[str, str], Any] = {}

    def learn_people(self, uids: Iterable[str]) -> None:
        """Read people at once."""
        rows = Person.objects.filter(uid__in=[uid for uid in uids if uid]).select_related("merged_into")
        self._known |= {("person", row.uid): row for row in rows}

    def person(self, uid: str) -> Any:
        return self.row("person", uid)

    def paper(self, edition: str, uid: str) -> Any:
        if not edition:
            return self.row("paper", uid)
        found = Paper.objects.filter(uid=uid, edition__slug=edition).first()
        return found or self._missing("paper", uid)

    def row(self, kind: str, key: str) -> Any:
        if (kind, key) not in self._known:
            model = KINDS[kind].model
            own = {"edition": self.edition} if KINDS[kind].is_in_edition else {}
            rows = model._default_manager.filter(**{KINDS[kind].key: key}, **own)
            self._known[kind, key] = rows.first() or self._missing(kind, key)
        return last_of_chain(self._known[kind, key])

    def _missing(self, kind: str, key: str) -> Any:
        said = gettext("There is no %(kind)s “%(key)s” here any more. Import the file again.")
        raise CannotTakeError([said % {"kind": KINDS[kind].model._meta.verbose_name, "key": key}])


def take(kind: Kind, row: Any, values: Values, edition: Edition) -> None:
    """Write these values into a row and its lists, all or none. Raises `CannotTakeError` with the reasons."""
    finder = Finder(edition)
    try:
        with together(), revision.lock():
            _take_fields(kind, row, values, finder)
            for name, value in values.items():
                listing = kind.listing(name)
                if listing:
                    _take_list(listing, row, value, finder)
                elif kind is PERSON and name == "other_names":
                    _take_names(row, value)
    except ValidationError as error:
        raise CannotTakeError(list(error.messages)) from error
    except IntegrityError as error:
        said = gettext("The database refuses it: something else here has the same place or identifier.")
        raise CannotTakeError([said]) from error


def _take_fields(kind: Kind, row: Any, values: Values, finder: Finder) -> None:
    wanted = {name: value for name, value in values.items() if name in (*kind.plain, *kind.references)}
    was_split = kind is PERSON and (row.given, row.family) == _split(row)
    for name, value in wanted.items():
        if name in kind.references:
            setattr(row, name, finder.row(kind.references[name], value) if value else None)
        else:
            setattr(row, name, row._meta.get_field(name).to_python(value))
    if was_split and "name" in wanted and "family" not in wanted:
        row.given, row.family = _split(row)
    if wanted:
        row.full_clean()
        row.save()


def _split(person: Any) -> tuple[str, str]:
    parts = names.split(person.name)
    return parts.given, parts.family


def _take_list(listing: Listing, row: Content, value: list[Values], finder: Finder) -> None:
    if "person" in listing.columns:
        finder.learn_people(part["person"] for part in value)
        value = _without_hidden(value, finder)
    parts = build_parts(listing, row, value, finder)
    for part in parts:
        _judge(part)
    write_parts(listing, {row.pk: parts})
    revision.advance([row.stamped_edition()])


def _without_hidden(value: list[Values], finder: Finder) -> list[Values]:
    """Return the parts with the display name in place of a name that is hidden by now."""
    uids = [part["person"] for part in value]
    rows = PersonName.objects.filter(hidden=True, person__uid__in=uids)
    hidden = HiddenNames(rows.values_list("person__uid", "name"))
    return [
        {**part, "name": finder.person(part["person"]).name}
        if hidden.hold(part["person"], part.get("name", ""))
        else part
        for part in value
    ]


def _judge(part: PartRow) -> None:
    """Hold a part to its rules; the database counts places, and whether somebody stands twice."""
    relations = {field.name for field in part.row._meta.concrete_fields if field.is_relation}
    part.row.clean_fields(exclude=relations)
    part.row.clean()


def _take_names(person: Person, value: list[str]) -> None:
    here = set(current(PERSON, person, "other_names", None))  # type: ignore[arg-type]  # people have no edition
    PersonName.objects.filter(person=person, hidden=False, name__in=here - {*value}).delete()
    for name in value:
        if name not in here:
            spelling = PersonName(person=person, name=name)
            spelling.full_clean()
            spelling.save()
