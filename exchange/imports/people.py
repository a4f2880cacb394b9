"""Matching people: whom the references of a file mean among the people known here. Doubts are listed.

By uid, then identifier, then ORCID, then exact name where that is safe. Nothing is written here.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conference.models import Edition
from content.fields import new_uid, validate_uid
from exchange.imports.namesakes import Namesakes, standing
from exchange.imports.references import Cast, Figure, Spot
from exchange.imports.rows import in_batches
from exchange.imports.validation import report_concealed
from exchange.reading.findings import Findings
from exchange.records import PersonRef, Program
from people import names
from people.merged_rows import final_rows
from people.models import Person, PersonIdentifier, PersonName


class People:
    """Every person of one program, each as the row that stands for it: an existing one, or a new one."""

    def __init__(
        self, program: Program, edition: Edition, findings: Findings, concealed: Collection[int] = ()
    ) -> None:
        self.edition, self.findings = edition, findings
        self.cast = Cast(program, findings)
        self.rows: dict[Figure, Person] = {}
        self.by_uid: dict[str, Person] = {}
        self._on_spot: dict[tuple[Figure, Spot], Person] = {}
        self._concealed = frozenset(concealed)
        # Those here whom a key of the file means: no bare name can mean them for somebody else.
        self._claimed = set(concealed)
        self._owners: dict[tuple[str, str], int] = {}
        self._merged = _merged_people()
        self.successors = {uid: person.uid for uid, person in self._merged.values()}
        self.merged_keys = {uid: key for key, (uid, _) in self._merged.items()}
        hidden = PersonName.objects.filter(hidden=True).values_list("person_id", "name")
        self._hidden = {(person, name.casefold()) for person, name in hidden}
        self._find_by_keys()
        self._find_by_names()

    def find(self, ref: PersonRef, spot: Spot) -> Person:
        """Return the row of the person whom a reference means at this spot."""
        figure = self.cast.figure(ref)
        return self._on_spot.get((figure, spot)) or self.rows[figure]

    def printed(self, person: Person, name: str) -> str:
        """Return the name as printed; the display name where that one must appear nowhere."""
        name = names.normal(name)
        return person.name if self.is_hidden(person, name) else name

    def is_hidden(self, person: Person, name: str) -> bool:
        return (person.pk, name.casefold()) in self._hidden

    def is_free(self, pair: tuple[str, str], person: Person) -> bool:
        """Whether an identifier belongs to nobody else here."""
        return self._owners.get(pair) in (None, person.pk)

    # By keys

    def _find_by_keys(self) -> None:
        by_uid = self._people("uid", [figure.uid for figure in self.cast.keyed if figure.uid])
        orcids = {("orcid", figure.orcid) for figure in self.cast.keyed if figure.orcid}
        by_id = self._people_by_id({pair for figure in self.cast.keyed for pair in figure.ids} | orcids)
        by_orcid = self._people("orcid", [figure.orcid for figure in self.cast.keyed if figure.orcid])
        for figure in self.cast.keyed:
            owners = [by_uid.get(figure.uid), *map(by_id.get, sorted(figure.ids)), by_orcid.get(figure.orcid)]
            # The second ORCID of somebody who had two before a merge.
            owners.append(by_id.get(("orcid", figure.orcid)))
            found = list(dict.fromkeys(self._followed(owner) for owner in owners if owner))
            if any(person.pk in self._concealed for person in found):
                self._settle(figure, found[0])
                report_concealed(figure.where, "", figure.name, self.findings)
                continue
            if found:
                self._settle(figure, found[0])
                self._doubt_stranger(figure, found[0], by_uid)
            if len(found) > 1:
                listed = " and ".join(f"{person.name} ({person.uid})" for person in found)
                self._doubt(
                    figure,
                    gettext("The ids of %(name)s belong to %(listed)s here; the first is taken.")
                    % {"name": figure.name, "listed": listed},
                )

    def _doubt_stranger(self, figure: Figure, person: Person, by_uid: dict[str, Person]) -> None:
        """Say so where an id makes one of two who differ in uid and name: the id may be a slip."""
        differs = names.fold(figure.name) != names.fold(person.name)
        if figure.uid and figure.uid not in by_uid and differs:
            known = f"{person.name} ({person.uid})"
            message = gettext(
                "%(name)s (%(uid)s) is taken for %(known)s because of an id that both have."
            ) % {"name": figure.name, "uid": figure.uid, "known": known}
            self._doubt(figure, gettext("%(message)s Correct the id if they are two.") % {"message": message})

    def _people(self, column: str, values: list[str]) -> dict[str, Person]:
        found: dict[str, Person] = {}
        for batch in in_batches(values):
            rows = Person.objects.filter(**{f"{column}__in": batch}).defer(*Person.derived_fields)
            found |= {getattr(row, column): row for row in rows}
        return found

    def _people_by_id(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], Person]:
        owners = self._owners
        for batch in in_batches(sorted({value for _, value in pairs})):
            rows = PersonIdentifier.objects.filter(value__in=batch)
            for scheme, value, owner in rows.values_list("scheme", "value", "person_id"):
                if (scheme, value) in pairs:
                    owners[scheme, value] = owner
        people: dict[int, Person] = {}
        for keys in in_batches(sorted(set(owners.values()))):
            people |= Person.objects.defer(*Person.derived_fields).in_bulk(keys)
        return {pair: people[owner] for pair, owner in owners.items()}

    def _followed(self, person: Person) -> Person:
        if person.pk in self._merged:
            person = self._merged[person.pk][1]
        return self.by_uid.get(person.uid, person)

    def _settle(self, figure: Figure, person: Person) -> None:
        self.rows[figure] = self.by_uid.setdefault(person.uid, person)
        if figure.is_keyed and person.pk:
            self._claimed.add(person.pk)

    # By names

    def _find_by_names(self) -> None:
        open_figures = [figure for figure in self.cast.all() if figure not in self.rows]
        namesakes = Namesakes(open_figures, self._claimed, self._followed)
        self._foreign = self._made_uids_in_use(open_figures)
        rivals: dict[str, list[Figure]] = defaultdict(list)
        for figure in self.cast.keyed:
            for name in figure.names:
                rivals[name].append(figure)
        keyed_first = sorted(open_figures, key=lambda figure: not figure.is_keyed)
        unsafe = [one for one in keyed_first if not self._match_safely(one, rivals, namesakes)]
        self._match_where_they_stand(unsafe, rivals, namesakes)

    def _match_safely(self, figure: Figure, rivals: dict[str, list[Figure]], namesakes: Namesakes) -> bool:
        """Match a figure to the only person of its name, make it new if there is none; else leave it."""
        fits = namesakes.fitting(figure)
        others = [other for other in rivals[figure.name] if other is not figure]
        if not namesakes.all(figure) and not others:
            self._make(figure)
        elif len(fits) == 1 and not others:
            self._settle(figure, fits[0])
            if doubt := namesakes.doubt(figure, fits[0]):
                self._doubt(figure, doubt)
        elif self._is_only_rival(figure, others, namesakes):
            self._settle(figure, self.rows[others[0]])
        else:
            return False
        return True

    def _is_only_rival(self, figure: Figure, others: list[Figure], namesakes: Namesakes) -> bool:
        """Whether a bare name can mean nobody but one settled person of the file."""
        alone = len(others) == 1 and not namesakes.all(figure)
        return alone and not figure.is_keyed and others[0] in self.rows

    def _match_where_they_stand(
        self, figures: list[Figure], rivals: dict[str, list[Figure]], namesakes: Namesakes
    ) -> None:
        """Several people have the name: take whoever stands on the same paper already, else keep apart."""
        candidates = {person.pk for figure in figures for person in namesakes.fitting(figure)}
        known = standing(candidates, self.edition)
        told: set[str] = set()
        for figure in figures:
            fits = namesakes.fitting(figure)
            spots = {spot: [person for person in fits if (spot, person.pk) in known] for spot in figure.spots}
            if figure.is_keyed:
                here = {person.pk: person for found in spots.values() for person in found}
                if len(here) == 1 and not self._claimed & here.keys():
                    self._settle(figure, *here.values())
                    continue
            elif self._match_safely(figure, rivals, namesakes) or self._take_by_spot(figure, spots):
                continue
            self._make(figure)
            if figure.name not in told:
                told.add(figure.name)
                self._keep_apart(figure, rivals, namesakes)

    def _take_by_spot(self, figure: Figure, spots: dict[Spot, list[Person]]) -> bool:
        """Take the one who stands there, spot by spot; tell whether every spot was settled so."""
        for spot, found in spots.items():
            if len(found) == 1:
                self._on_spot[figure, spot] = self.by_uid.setdefault(found[0].uid, found[0])
        return bool(spots) and all((figure, spot) in self._on_spot for spot in spots)

    def _keep_apart(self, figure: Figure, rivals: dict[str, list[Figure]], namesakes: Namesakes) -> None:
        here = [f"{person.name} ({person.uid})" for person in namesakes.all(figure)]
        count = len(rivals[figure.name])
        parts = [
            f"{count} people of this file" if count > 1 else "",
            f"{', '.join(here)} here" if here else "",
        ]
        told = " and ".join(filter(None, parts)) or "another person of this file"
        message = gettext(
            "%(name)s is also the name of %(told)s. They are kept apart; merge them if they are one."
        ) % {"name": figure.name, "told": told}
        self._doubt(figure, message)

    # New ones

    def _make(self, figure: Figure) -> None:
        uid = self._fresh_uid(figure)
        person = Person(uid=uid, name=figure.name)
        self.rows[figure] = self.by_uid[uid] = person
        for sentence in names.suspicions(figure.name):
            said = gettext("The name “%(name)s” should be looked at. %(why)s")
            self._doubt(figure, said % {"name": figure.name, "why": sentence})

    def _fresh_uid(self, figure: Figure) -> str:
        """Return the uid of the source; one made of its first id, the same everywhere; else a new one."""
        for uid in filter(None, [figure.uid, *_made_uids(figure)]):
            if uid not in self.by_uid and uid not in self._foreign:
                return uid
        return new_uid()

    def _made_uids_in_use(self, figures: list[Figure]) -> set[str]:
        made = sorted({uid for figure in figures for uid in _made_uids(figure)})
        in_use: set[str] = set()
        for batch in in_batches(made):
            in_use.update(Person.objects.filter(uid__in=batch).values_list("uid", flat=True))
        return in_use

    def _doubt(self, figure: Figure, message: str) -> None:
        self.findings.note("doubt", figure.where, message)


def _made_uids(figure: Figure) -> list[str]:
    return [uid for uid in map("-".join, sorted(figure.ids)) if _is_uid(uid)]


def _is_uid(text: str) -> bool:
    try:
        validate_uid(text)
    except ValidationError:
        return False
    return True


def _merged_people() -> dict[int, tuple[str, Person]]:
    """Return those who were merged into others: key -> own uid, and the other person."""
    rows: Any = Person.objects.filter(merged_into__isnull=False).select_related("merged_into")
    found, others = {row.pk: row for row in rows}, {row.merged_into_id: row.merged_into for row in rows}
    links = {key: row.merged_into_id for key, row in found.items()}
    return {key: (found[key].uid, others[there]) for key, there in final_rows(links).items()}
