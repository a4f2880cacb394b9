"""Evidence on whether two people of one name, in a file or in the database, are the same person.

It is weighed as in the list of likely duplicates (`people.duplicates`): by institutions, co-authors, topics,
years, and the frequency of the name. Nothing is written.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import log
from typing import Any

from django.db.models import QuerySet

from conference.models import Edition
from content.array_lookup import AnyOf
from exchange.imports.file_people import PEOPLE_LISTS, FilePerson, Location
from exchange.imports.kinds import EDITION, PAPER, PERSON
from exchange.imports.rows import in_batches
from exchange.models import Conflict, Provenance
from exchange.records import Program, stated
from papers.models import Authorship
from people import names
from people.duplicates.evidence import SAME_TOPIC_WEIGHT, PersonCandidate, Reason, probability, weigh_evidence
from people.duplicates.finder import ASSUMED_OTHERS, MAX_AUTHORS, Frequencies
from people.duplicates.spelling import SpellingMatch, compare_names
from people.duplicates.storage import person_candidates
from people.models import Person, PersonIdentifier, PersonName
from people.querysets import appearance_relations

# The prior: the assumed share of a file's people who are in the database under their name.
KNOWN_SHARE = 0.5
# The minimum probability, in percent, for taking two people for the same.
MIN_PROBABILITY = 50
# The minimum difference in weight between the two likeliest matches. With less, the name is ambiguous.
MIN_DIFFERENCE = log(3)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of comparing two people of one name: weight, probability in percent, and reasons."""

    weight: float
    probability: int
    reasons: tuple[Reason, ...]

    @property
    def is_one(self) -> bool:
        """Return whether they are probably the same. A common name needs other evidence."""
        return self.probability >= MIN_PROBABILITY


def conferences_of(people: Collection[int]) -> dict[int, set[int]]:
    """Return the primary keys of the conferences in which each of these people appears."""
    found: dict[int, set[int]] = defaultdict(set)
    for rows, name in appearance_relations(Person):
        of_them = rows._base_manager.filter(AnyOf(name, people)).order_by()
        series = f"{rows.edition_lookup}__conference"
        for person, conference in of_them.values_list(name, series).distinct():
            found[person].add(conference)
    return found


class Namesakes:
    """Existing people with some names, including other spellings, except `concealed` ones."""

    def __init__(
        self, wanted: Collection[str], concealed: Collection[int], follow_merge: Callable[[Person], Person]
    ) -> None:
        self._wanted, self._concealed, self._follow_merge = frozenset(wanted), concealed, follow_merge
        self._by_name: dict[str, dict[int, Person]] = defaultdict(dict)
        self._names: dict[int, set[str]] = defaultdict(set)
        self._ids: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for person in Person.objects.filter(AnyOf("name", wanted)).defer(*Person.derived_fields):
            self._add(person.name, person)
        for spelling in PersonName.objects.filter(AnyOf("name", wanted)).select_related("person"):
            self._add(spelling.name, spelling.person)
        ids = PersonIdentifier.objects.filter(AnyOf("person_id", self._names))
        for key, scheme, value in ids.values_list("person_id", "scheme", "value"):
            self._ids[key].add((scheme, value))

    def _add(self, name: str, person: Person) -> None:
        person = self._follow_merge(person)
        if person.pk not in self._concealed:
            self._by_name[name][person.pk] = person
            self._names[person.pk].add(name)

    def named(self, name: str) -> list[Person]:
        return list(self._by_name.get(name, {}).values())

    def contradicts(self, entry: FilePerson, person: Person) -> bool:
        """Return whether their keys show that they are different people."""
        if entry.uid and entry.uid != person.uid:
            return True
        if entry.orcid and person.orcid and entry.orcid != person.orcid:
            return True
        schemes = {scheme for scheme, _ in entry.ids}
        return any(
            scheme in schemes and (scheme, value) not in entry.ids for scheme, value in self._ids[person.pk]
        )

    def by_location(self, edition: Edition) -> dict[tuple[str, Location], dict[int, Person]]:
        """Return the people whom the edition's records name: (name, (kind, key)) -> people by primary key."""
        found: dict[tuple[str, Location], dict[int, Person]] = defaultdict(dict)
        if edition._state.adding:
            return found
        printed: dict[int, list[tuple[str, Location]]] = defaultdict(list)
        for kind, listing in PEOPLE_LISTS:
            manager = listing.model._default_manager
            rows: QuerySet[Any] = manager.filter(**{listing.model.edition_lookup: edition})
            key = f"{listing.owner}__{kind.key}"
            for place, person in rows.filter(AnyOf("person", self._names)).values_list(key, "person"):
                for name in self._names[person]:
                    found[name, (kind.name, place)][person] = self._by_name[name][person]
            if listing.has_printed_name:
                spelled = rows.filter(AnyOf("name", self._wanted))
                for place, person, name in spelled.values_list(key, "person", "name"):
                    printed[person].append((name, (kind.name, place)))
        others = Person.objects.filter(AnyOf("pk", printed.keys() - self._concealed))
        for row in others.defer(*Person.derived_fields):
            for spot in printed[row.pk]:
                found[spot][row.pk] = self._follow_merge(row)
        return found

    def last_imported(
        self, edition: Edition, wanted: Collection[Location]
    ) -> dict[tuple[str, Location], dict[int, Person]]:
        """Return the people whom these records named when last imported, even if they changed since."""
        parts: dict[str, list[tuple[str, Location]]] = defaultdict(list)
        kinds = {name for name, _ in wanted} if edition.pk else set()
        uids = {person.uid for found in self._by_name.values() for person in found.values()}
        for kind, listing in PEOPLE_LISTS:
            if kind.name not in kinds:
                continue
            memories = Provenance.objects.filter(kind=kind.name, edition=edition).order_by()
            said = dict(memories.values_list("object_id", f"values__{listing.name}"))
            # The value of an undecided conflict was not taken, but is the latest value of a file.
            conflicts = Conflict.objects.filter(provenance__in=memories, field=listing.name).undecided()
            said |= dict(conflicts.order_by().values_list("provenance__object_id", "theirs"))
            rows = kind.model._default_manager.filter(
                **{"pk": edition.pk} if kind is EDITION else {"edition": edition}
            )
            for row, key in rows.order_by().values_list("pk", kind.key):
                for part in (said.get(row) or ()) if (kind.name, key) in wanted else ():
                    uid, name = part["person"], part.get("name", "")
                    if uid in uids or not name or name in self._wanted:
                        parts[uid].append((name, (kind.name, key)))
        return self._meant(parts)

    def imported_fields(self, edition: Edition, people: Collection[int]) -> dict[int, set[str]]:
        """Return the fields of these people that were last imported with this edition."""
        if not edition.pk:
            return {}
        mine = Provenance.objects.filter(AnyOf("object_id", people), kind=PERSON.name, run__edition=edition)
        return {key: set(values) for key, values in mine.order_by().values_list("object_id", "values")}

    def _meant(
        self, parts: dict[str, list[tuple[str, Location]]]
    ) -> dict[tuple[str, Location], dict[int, Person]]:
        """Return the people of these uids by the requested names that they have or had when imported."""
        found: dict[tuple[str, Location], dict[int, Person]] = defaultdict(dict)
        named = Person.objects.filter(AnyOf("uid", filter(None, parts))).defer(*Person.derived_fields)
        rows = {row.pk: row for row in named}
        came_as = Provenance.objects.filter(AnyOf("object_id", rows), kind=PERSON.name).order_by()
        names_then: dict[int, str] = dict(came_as.values_list("object_id", "values__name"))
        for key, row in rows.items():
            person = self._follow_merge(row)
            spelled = self._names.get(person.pk, set()) | {names_then.get(key, "")}
            for name, location in parts[row.uid] if person.pk not in self._concealed else ():
                for one in (spelled | {name}) & self._wanted:
                    found[one, location][person.pk] = person
        return found


class NameEvidence:
    """Evidence from a program and the database on some people, without `hidden_papers`."""

    def __init__(
        self, program: Program, edition: Edition, people: Collection[int], hidden_papers: Collection[int]
    ) -> None:
        year = stated(program.edition.year, 0) if program.edition else 0
        self._year = edition.year or year
        # Co-authors are numbered by name, in the file and the database, and shown in their first spelling.
        self._numbers: dict[str, int] = {}
        self.coauthor_names: dict[int, str] = {}
        self._topics: dict[str, str] = {}
        self._teams: dict[str, frozenset[int]] = {}
        self._by_name: dict[str, tuple[SpellingMatch | None, float]] = {}
        places: Counter[str] = Counter()
        spellings = dict.fromkeys(names.normalize(one.ref.name) for one in program.people)
        for paper in program.papers:
            team = [author.person.name for author in stated(paper.authors, ())]
            spellings |= dict.fromkeys(map(names.normalize, team))
            self._topics[paper.uid] = stated(paper.topic, "") or ""
            self._teams[paper.uid] = frozenset(map(self._number, team if len(team) <= MAX_AUTHORS else ()))
            for author in stated(paper.authors, ()):
                places.update({names.fold(place) for place in author.affiliations})
        self._frequencies = Frequencies(spellings, at_least=ASSUMED_OTHERS)
        count = max(places.total(), ASSUMED_OTHERS)
        self._shares = {place: number / count for place, number in places.items()}
        self._here = self._people(people, hidden_papers)

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(names.fold(name), len(self._numbers) + 1)
        self.coauthor_names.setdefault(number, name)
        return number

    def _people(self, keys: Collection[int], hidden_papers: Collection[int]) -> dict[int, PersonCandidate]:
        candidates, self._written = person_candidates(keys, hidden_papers)
        teams: dict[int, set[int]] = defaultdict(set)
        papers = sorted({paper for one in candidates for paper in one.papers})
        for batch in in_batches(papers):
            printed = Authorship.objects.filter(paper__in=batch).order_by()
            for paper, name in printed.values_list("paper", "name").iterator():
                teams[paper].add(self._number(name))
        for one in candidates:
            own = {self._number(name) for name in one.names}
            together = (teams[paper] for paper in one.papers if len(teams[paper]) <= MAX_AUTHORS)
            one.coauthors = set().union(*together) - own
            # A common paper is not used as evidence: its authors are matched by location.
            one.papers = {}
        return {one.key: one for one in candidates}

    def of_person(self, person: Person) -> PersonCandidate:
        """Return the evidence on a person of the database."""
        return self._here.get(person.pk) or PersonCandidate(person.pk or 0, (person.name,))

    def of_entry(self, entry: FilePerson) -> PersonCandidate:
        """Return the evidence on a person of the file."""
        papers = [key for kind, key in entry.locations if kind == PAPER.name and key in self._teams]
        team = set[int]().union(*(self._teams[key] for key in papers))
        for place in entry.affiliations:
            self._written.setdefault(names.fold(place), place)
        return PersonCandidate(
            0,
            (entry.name,),
            affiliations=set(map(names.fold, entry.affiliations)),
            coauthors=team - {self._number(entry.name)},
            topics={self._topics[key] for key in papers if self._topics[key]},
            years={self._year} if papers and self._year else set(),
        )

    def verdict(self, name: str, one: PersonCandidate, other: PersonCandidate) -> Verdict:
        """Return whether two people of this name are the same, and why."""
        match = self._measured(name)[0]
        if match is None:
            # The name has no letters, such as "-". All its bearers in a conference are taken for the same.
            return Verdict(0, 100, ())
        weighed = weigh_evidence(one, other, match, self._shares)
        weights = [weight for weight, _ in weighed]
        reasons = tuple(self._readable(reason) for _, reason in weighed)
        return Verdict(sum(weights), self._probability(name, weights), reasons)

    def clues(self, name: str, one: PersonCandidate) -> list[object]:
        """Return the clues of which a likely match of this name must share at least one."""
        if self._probability(name, []) >= MIN_PROBABILITY:
            return [name]
        is_topic_enough = self._probability(name, [SAME_TOPIC_WEIGHT]) >= MIN_PROBABILITY
        topics = [("topic", topic) for topic in one.topics] if is_topic_enough else []
        return [*one.coauthors, *one.affiliations, *topics]

    def _probability(self, name: str, weights: list[float]) -> int:
        match, expected = self._measured(name)
        return probability(match, expected, weights, KNOWN_SHARE) if match else 100

    def _measured(self, name: str) -> tuple[SpellingMatch | None, float]:
        """Return the match of a name with itself, and the expected number of namesakes."""
        if name not in self._by_name:
            match = compare_names(name, name)
            self._by_name[name] = match, self._frequencies.namesakes(match) if match else 0.0
        return self._by_name[name]

    def _readable(self, reason: Reason) -> Reason:
        """Return a reason with the affiliation as written."""
        code, values = reason
        place = values.get("place", "")
        return (code, {"place": self._written.get(place, place)}) if place else reason
