"""People of one name: which of them a figure of a file may be, and where they stand in an edition."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from django.utils.translation import gettext

from conference.models import Edition
from exchange.imports.references import Figure, Spot
from exchange.imports.rows import in_batches
from papers.models import Authorship, AwardGrant
from people import names
from people.models import CommitteeRole, Person, PersonIdentifier, PersonName
from schedule.models import SessionRole, Speaker

NAMES_SHOWN = 3
SPOTS = (
    ("paper", Authorship, "paper__uid", "paper__edition"),
    ("award", AwardGrant, "award__uid", "award__edition"),
    ("session", SessionRole, "session__uid", "session__edition"),
    ("presentation", Speaker, "presentation__uid", "presentation__edition"),
    ("edition", CommitteeRole, "edition__slug", "edition"),
)


def standing(people: Iterable[int], edition: Edition) -> set[tuple[Spot, int]]:
    """Return where in the edition these people stand: ((kind, key), person)."""
    found: set[tuple[Spot, int]] = set()
    if edition._state.adding:
        return found
    for batch in in_batches(sorted(people)):
        for kind, model, key, owner in SPOTS:
            rows = model._default_manager.filter(person__in=batch, **{owner: edition})
            found |= {((kind, uid), person) for uid, person in rows.values_list(key, "person_id")}
    return found


class Namesakes:
    """The people known here by the names of figures that no key has found."""

    def __init__(
        self, figures: list[Figure], claimed: set[int], followed: Callable[[Person], Person]
    ) -> None:
        self._claimed = claimed
        self._by_name: dict[str, dict[int, Person]] = defaultdict(dict)
        wanted = {figure.name for figure in figures}
        for batch in in_batches(sorted(wanted)):
            for person in Person.objects.filter(name__in=batch).defer(*Person.derived_fields):
                self._add(person.name, followed(person))
            spellings = PersonName.objects.filter(name__in=batch).select_related("person")
            for spelling in spellings:
                self._add(spelling.name, followed(spelling.person))
        keys = {key for people in self._by_name.values() for key in people}
        self._ids = _identifiers(keys)
        self._affiliations = _affiliations(keys)

    def all(self, figure: Figure) -> list[Person]:
        """Everybody here of that name whom no key of the file has claimed."""
        people = self._by_name.get(figure.name, {})
        return [person for key, person in people.items() if key not in self._claimed]

    def fitting(self, figure: Figure) -> list[Person]:
        """Those among them whom nothing known tells apart from the figure."""
        return [person for person in self.all(figure) if not self._contradicts(figure, person)]

    def doubt(self, figure: Figure, person: Person) -> str:
        """Say so when the affiliations known on both sides have nothing in common."""
        here, there = self._affiliations[person.pk], figure.affiliations
        if not (here and there) or {names.fold(one) for one in here} & {names.fold(one) for one in there}:
            return ""
        ours, theirs = (
            "; ".join(sorted(known)[:NAMES_SHOWN]) + ("; …" if len(known) > NAMES_SHOWN else "")
            for known in (here, there)
        )
        return gettext(
            "%(name)s (%(theirs)s) is taken for %(person)s (%(uid)s; %(ours)s) by the name alone. "
            "Give an id or ORCID in the file if they are two."
        ) % {"name": figure.name, "theirs": theirs, "person": person.name, "uid": person.uid, "ours": ours}

    def _add(self, name: str, person: Person) -> None:
        self._by_name[name][person.pk] = person

    def _contradicts(self, figure: Figure, person: Person) -> bool:
        if figure.uid and figure.uid != person.uid:
            return True
        if figure.orcid and person.orcid and figure.orcid != person.orcid:
            return True
        schemes = {scheme for scheme, _ in figure.ids}
        return any(
            scheme in schemes and (scheme, value) not in figure.ids for scheme, value in self._ids[person.pk]
        )


def _identifiers(people: Iterable[int]) -> dict[int, set[tuple[str, str]]]:
    found: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for batch in in_batches(sorted(people)):
        rows = PersonIdentifier.objects.filter(person__in=batch)
        for person, scheme, value in rows.values_list("person_id", "scheme", "value"):
            found[person].add((scheme, value))
    return found


def _affiliations(people: Iterable[int]) -> dict[int, set[str]]:
    """Return where people are known to be, now or as printed on any paper."""
    found: dict[int, set[str]] = defaultdict(set)
    for batch in in_batches(sorted(people)):
        for person, affiliation in Person.objects.filter(pk__in=batch).values_list("pk", "affiliation"):
            found[person].update(filter(None, [affiliation]))
        rows = Authorship.objects.filter(person__in=batch)
        for person, affiliations in rows.values_list("person_id", "affiliations"):
            found[person].update(affiliations)
    return found
