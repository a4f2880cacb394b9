"""Evidence on whether two people of one name, in a file or in the database, are the same person.

It is weighed as in the list of likely duplicates (`people.duplicates`): by institutions, co-authors, topics,
years, and the frequency of the name. Nothing is written.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import log
from typing import Any

from django.db.models import Manager, QuerySet

from conference.models import Edition
from content.array_lookup import AnyOf
from exchange.imports.file_people import PEOPLE_LISTS, FilePerson, Location
from exchange.imports.kinds import AUTHORS, EDITION, PAPER, PERSON, PRESENTATION, SPEAKERS
from exchange.imports.rows import parts_by_owner
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
    conferences: dict[int, set[int]] = defaultdict(set)
    for model, name in appearance_relations(Person):
        rows = model._base_manager.filter(AnyOf(name, people)).order_by()
        conference_lookup = f"{model.edition_lookup}__conference"
        for person, conference in rows.values_list(name, conference_lookup).distinct():
            conferences[person].add(conference)
    return conferences


class Namesakes:
    """Existing people with some names, including other spellings, except `concealed` ones."""

    def __init__(
        self,
        requested_names: Collection[str],
        concealed: Collection[int],
        follow_merge: Callable[[Person], Person],
    ) -> None:
        self._requested_names = frozenset(requested_names)
        self._concealed, self._follow_merge = concealed, follow_merge
        self._by_name: dict[str, dict[int, Person]] = defaultdict(dict)
        self._names: dict[int, set[str]] = defaultdict(set)
        self._ids: dict[int, set[tuple[str, str]]] = defaultdict(set)
        for person in Person.objects.filter(AnyOf("name", requested_names)).defer(*Person.derived_fields):
            self._add(person.name, person)
        for spelling in PersonName.objects.filter(AnyOf("name", requested_names)).select_related("person"):
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
        people: dict[tuple[str, Location], dict[int, Person]] = defaultdict(dict)
        if edition._state.adding:
            return people
        printed_locations: dict[int, list[tuple[str, Location]]] = defaultdict(list)
        for kind, listing in PEOPLE_LISTS:
            manager = listing.model._default_manager
            rows: QuerySet[Any] = manager.filter(**{listing.model.edition_lookup: edition})
            key_lookup = f"{listing.owner}__{kind.key}"
            for record_key, person in rows.filter(AnyOf("person", self._names)).values_list(
                key_lookup, "person"
            ):
                for name in self._names[person]:
                    people[name, (kind.name, record_key)][person] = self._by_name[name][person]
            if listing.has_printed_name:
                named_rows = rows.filter(AnyOf("name", self._requested_names))
                for record_key, person, name in named_rows.values_list(key_lookup, "person", "name"):
                    printed_locations[person].append((name, (kind.name, record_key)))
        printed_people = Person.objects.filter(AnyOf("pk", printed_locations.keys() - self._concealed))
        for row in printed_people.defer(*Person.derived_fields):
            for named_location in printed_locations[row.pk]:
                people[named_location][row.pk] = self._follow_merge(row)
        return people

    def last_imported(
        self, edition: Edition, locations: Collection[Location]
    ) -> dict[tuple[str, Location], dict[int, Person]]:
        """Return the people whom these records named when last imported, even if they changed since."""
        references: dict[str, list[tuple[str, Location]]] = defaultdict(list)
        kinds = {name for name, _ in locations} if edition.pk else set()
        uids = {person.uid for people in self._by_name.values() for person in people.values()}
        for kind, listing in PEOPLE_LISTS:
            if kind.name not in kinds:
                continue
            provenances = Provenance.objects.filter(kind=kind.name, edition=edition).order_by()
            last_lists = dict(provenances.values_list("object_id", f"values__{listing.name}"))
            # The value of an undecided conflict was not taken, but is the latest value of a file.
            conflicts = Conflict.objects.filter(provenance__in=provenances, field=listing.name).undecided()
            last_lists |= dict(conflicts.order_by().values_list("provenance__object_id", "theirs"))
            rows = kind.model._default_manager.filter(
                **{"pk": edition.pk} if kind is EDITION else {"edition": edition}
            )
            for row_key, key in rows.order_by().values_list("pk", kind.key):
                for part in (last_lists.get(row_key) or ()) if (kind.name, key) in locations else ():
                    uid, name = part["person"], part.get("name", "")
                    if uid in uids or not name or name in self._requested_names:
                        references[uid].append((name, (kind.name, key)))
        return self._people_of_references(references)

    def in_lists(
        self, edition: Edition, places: Collection[tuple[str, Location]]
    ) -> dict[tuple[str, Location], list[Person]]:
        """Return the people of these names in the lists of these records, in their order when last imported.

        Of a person who was merged since, the one that remains is listed again; also at the end, since lists
        imported after the merge have it once.
        """
        uids: dict[tuple[str, Location], list[str]] = defaultdict(list)
        for kind, listing in ((PAPER, AUTHORS), (PRESENTATION, SPEAKERS)):
            keys = {key for _, (kind_name, key) in places if kind_name == kind.name}
            if not keys or edition._state.adding:
                continue
            manager: Manager[Any] = kind.model._default_manager
            owners = manager.filter(AnyOf(kind.key, keys), edition=edition)
            key_by_owner: dict[int, str] = dict(owners.order_by().values_list("pk", kind.key))
            provenances = Provenance.objects.filter(AnyOf("object_id", key_by_owner), kind=kind.name)
            imported: dict[int, Any] = dict(
                provenances.order_by().values_list("object_id", f"values__{listing.name}")
            )
            rows = listing.model._default_manager.filter(AnyOf(f"{listing.owner}_id", key_by_owner))
            current = parts_by_owner(listing, rows, edition, field_names=("person", "name"))
            for owner, key in key_by_owner.items():
                for part in imported.get(owner) or current.get(owner) or ():
                    uids[part["name"], (kind.name, key)].append(part["person"])
        rows = Person.objects.filter(AnyOf("uid", {uid for place in places for uid in uids[place]}))
        people = {row.uid: self._follow_merge(row) for row in rows.defer(*Person.derived_fields)}
        listed = {place: [people[uid] for uid in uids[place] if uid in people] for place in places}
        merged = Person.objects.filter(AnyOf("name", {name for name, _ in places}), merged_into__isnull=False)
        for row in merged.defer(*Person.derived_fields):
            remaining = self._follow_merge(row)
            for place in (place for place in places if place[0] == row.name):
                listed[place] += [remaining] if remaining in listed[place] else []
        return {
            place: [person for person in listed[place] if person.pk not in self._concealed]
            for place in places
        }

    def imported_fields(self, edition: Edition, people: Collection[int]) -> dict[int, set[str]]:
        """Return the fields of these people that were last imported with this edition."""
        if not edition.pk:
            return {}
        rows = Provenance.objects.filter(AnyOf("object_id", people), kind=PERSON.name, run__edition=edition)
        return {key: set(values) for key, values in rows.order_by().values_list("object_id", "values")}

    def _people_of_references(
        self, references: dict[str, list[tuple[str, Location]]]
    ) -> dict[tuple[str, Location], dict[int, Person]]:
        """Return the people of these uids by the requested names that they have or had when imported."""
        people: dict[tuple[str, Location], dict[int, Person]] = defaultdict(dict)
        queryset = Person.objects.filter(AnyOf("uid", filter(None, references))).defer(*Person.derived_fields)
        rows = {row.pk: row for row in queryset}
        provenances = Provenance.objects.filter(AnyOf("object_id", rows), kind=PERSON.name).order_by()
        imported_names: dict[int, str] = dict(provenances.values_list("object_id", "values__name"))
        for key, row in rows.items():
            person = self._follow_merge(row)
            spellings = self._names.get(person.pk, set()) | {imported_names.get(key, "")}
            for name, location in references[row.uid] if person.pk not in self._concealed else ():
                for spelling in (spellings | {name}) & self._requested_names:
                    people[spelling, location][person.pk] = person
        return people


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
        self._statistics: dict[str, tuple[SpellingMatch | None, float]] = {}
        affiliation_counts: Counter[str] = Counter()
        spellings = dict.fromkeys(names.normalize(record.ref.name) for record in program.people)
        for paper in program.papers:
            author_names = [author.person.name for author in stated(paper.authors, ())]
            spellings |= dict.fromkeys(map(names.normalize, author_names))
            self._topics[paper.uid] = stated(paper.topic, "") or ""
            self._teams[paper.uid] = frozenset(
                map(self._number, author_names if len(author_names) <= MAX_AUTHORS else ())
            )
            for author in stated(paper.authors, ()):
                affiliation_counts.update({names.fold(affiliation) for affiliation in author.affiliations})
        self._frequencies = Frequencies(spellings, at_least=ASSUMED_OTHERS)
        total = max(affiliation_counts.total(), ASSUMED_OTHERS)
        self._shares = {affiliation: uses / total for affiliation, uses in affiliation_counts.items()}
        self._candidates = self._people(people, hidden_papers)

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(names.fold(name), len(self._numbers) + 1)
        self.coauthor_names.setdefault(number, name)
        return number

    def _people(self, keys: Collection[int], hidden_papers: Collection[int]) -> dict[int, PersonCandidate]:
        candidates, self._affiliation_spellings = person_candidates(keys, hidden_papers)
        teams: dict[int, set[int]] = defaultdict(set)
        papers = sorted({paper for candidate in candidates for paper in candidate.papers})
        authorships = Authorship.objects.filter(AnyOf("paper_id", papers)).order_by()
        for paper, name in authorships.values_list("paper", "name").iterator():
            teams[paper].add(self._number(name))
        for candidate in candidates:
            own_numbers = {self._number(name) for name in candidate.names}
            coauthor_teams = (teams[paper] for paper in candidate.papers if len(teams[paper]) <= MAX_AUTHORS)
            candidate.coauthors = set().union(*coauthor_teams) - own_numbers
            # A common paper is not used as evidence: its authors are matched by location.
            candidate.papers = {}
        return {candidate.key: candidate for candidate in candidates}

    def of_person(self, person: Person) -> PersonCandidate:
        """Return the evidence on a person of the database."""
        return self._candidates.get(person.pk) or PersonCandidate(person.pk or 0, (person.name,))

    def of_entry(self, entry: FilePerson) -> PersonCandidate:
        """Return the evidence on a person of the file."""
        papers = [key for kind, key in entry.locations if kind == PAPER.name and key in self._teams]
        coauthors = set[int]().union(*(self._teams[key] for key in papers))
        for affiliation in entry.affiliations:
            self._affiliation_spellings.setdefault(names.fold(affiliation), affiliation)
        return PersonCandidate(
            0,
            (entry.name,),
            affiliations=set(map(names.fold, entry.affiliations)),
            coauthors=coauthors - {self._number(entry.name)},
            topics={self._topics[key] for key in papers if self._topics[key]},
            years={self._year} if papers and self._year else set(),
        )

    def verdict(self, name: str, candidate: PersonCandidate, other: PersonCandidate) -> Verdict:
        """Return whether two people of this name are the same, and why."""
        match = self._name_statistics(name)[0]
        if match is None:
            # The name has no letters, such as "-". All its bearers in a conference are taken for the same.
            return Verdict(0, 100, ())
        weighed = weigh_evidence(candidate, other, match, self._shares)
        weights = [weight for weight, _ in weighed]
        reasons = tuple(self._with_printed_affiliation(reason) for _, reason in weighed)
        return Verdict(sum(weights), self._probability(name, weights), reasons)

    def clues(self, name: str, candidate: PersonCandidate) -> list[object]:
        """Return the clues of which a likely match of this name must share at least one."""
        if self._probability(name, []) >= MIN_PROBABILITY:
            return [name]
        is_topic_enough = self._probability(name, [SAME_TOPIC_WEIGHT]) >= MIN_PROBABILITY
        topics = [("topic", topic) for topic in candidate.topics] if is_topic_enough else []
        return [*candidate.coauthors, *candidate.affiliations, *topics]

    def _probability(self, name: str, weights: list[float]) -> int:
        match, expected = self._name_statistics(name)
        return probability(match, expected, weights, KNOWN_SHARE) if match else 100

    def _name_statistics(self, name: str) -> tuple[SpellingMatch | None, float]:
        """Return the match of a name with itself, and the expected number of namesakes."""
        if name not in self._statistics:
            match = compare_names(name, name)
            self._statistics[name] = match, self._frequencies.namesakes(match) if match else 0.0
        return self._statistics[name]

    def _with_printed_affiliation(self, reason: Reason) -> Reason:
        """Return a reason with the affiliation as written."""
        code, values = reason
        affiliation = values.get("place", "")
        if not affiliation:
            return reason
        return code, {"place": self._affiliation_spellings.get(affiliation, affiliation)}
