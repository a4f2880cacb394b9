"""Match the references to people in a file with each other and with the people in the database.

People are matched by uid, then identifier, then ORCID. A bare name is matched with the person that the same
record names, or named when last imported. Otherwise it is matched with a person of the same conference if the
evidence allows it (`name_evidence`). Matches by name and doubts are reported. Nothing is written.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from conference.models import Edition
from content.array_lookup import AnyOf
from content.fields import new_uid, validate_uid
from exchange.imports.clusters import Cluster, ClusterIndex
from exchange.imports.emails import people_by_email
from exchange.imports.file_people import FilePeople, FilePerson, Location, are_told_apart, canonical_id
from exchange.imports.kinds import PERSON_FIELDS
from exchange.imports.name_evidence import MIN_DIFFERENCE, NameEvidence, Namesakes, Verdict, conferences_of
from exchange.imports.rows import report_concealed
from exchange.problems import Findings
from exchange.records import UNSTATED, PersonRef, Program, is_stated
from people import names
from people.duplicates.reasons import reason_texts
from people.models import Person, PersonIdentifier, PersonName
from people.printed_names import HiddenNames
from people.querysets import resolve_links


@dataclass(frozen=True, slots=True)
class KeptApart:
    """A new person of the file, and an existing or new person who may be the same."""

    person: Person
    other: Person
    verdict: Verdict


class MatchedPeople:
    """All people of a program, each with an existing or a new row."""

    def __init__(
        self,
        program: Program,
        edition: Edition,
        findings: Findings,
        concealed: Collection[int],
        hidden_papers: Collection[int],
        protected: Collection[int] = (),
    ) -> None:
        self.edition, self.findings = edition, findings
        self.file = FilePeople(program, findings)
        self.rows: dict[FilePerson, Person] = {}
        self.by_uid: dict[str, Person] = {}
        # The papers and talks that list a person in the file, by `id()` of the person.
        self._papers: dict[int, set[Location]] = defaultdict(set)
        self._by_location: dict[tuple[FilePerson, Location], Person] = {}
        self._concealed, self._hidden_papers = frozenset(concealed), frozenset(hidden_papers)
        # Existing people that a key of the file refers to. Other entries with a key cannot match them.
        self._claimed = set(concealed)
        self._owners: dict[tuple[str, str], int] = {}
        self._merged = _merged_people()
        self.successors = {uid: person.uid for uid, person in self._merged.values()}
        self.merged_keys = {uid: key for key, (uid, _) in self._merged.items()}
        self._hidden = HiddenNames(PersonName.objects.filter(hidden=True).values_list("person_id", "name"))
        self._match_by_keys()
        addressed = [entry for entry in self.file.all() if entry.email and not entry.is_keyed]
        skipped = self._claimed.union(protected)
        for entry, person in people_by_email(addressed, skipped, self._follow_merge).items():
            self._assign(entry, person)
        self.kept_apart: list[KeptApart] = []
        self._match_by_names(program)

    def find(self, ref: PersonRef, location: Location | None = None, number: int = 1) -> Person:
        """Return the person of a reference; `number`: which of this bare name in the list (file_people)."""
        entry = self.file.entry(ref, location, number)
        person_there = self._by_location.get((entry, location)) if location else None
        return person_there or self.rows[entry]

    def printed_name(self, person: Person, name: str) -> str:
        """Return the printed name, or the display name if the printed one is hidden."""
        name = names.normalize(name)
        return person.name if self.is_hidden(person, name) else name

    def is_hidden(self, person: Person, name: str) -> bool:
        return self._hidden.contains(person.pk, name)

    def is_id_free(self, pair: tuple[str, str], person: Person) -> bool:
        return self._owners.get(pair) in (None, person.pk)

    # By keys

    def _match_by_keys(self) -> None:
        by_uid = self._people_by("uid", [entry.uid for entry in self.file.keyed if entry.uid])
        orcids = {("orcid", entry.orcid) for entry in self.file.keyed if entry.orcid}
        by_id = self._people_by_id({pair for entry in self.file.keyed for pair in entry.ids} | orcids)
        by_orcid = self._people_by("orcid", [entry.orcid for entry in self.file.keyed if entry.orcid])
        for entry in self.file.keyed:
            owners = [
                by_uid.get(entry.uid),
                *map(by_id.get, sorted(entry.ids)),
                by_orcid.get(entry.orcid),
                # A merged person may have a second ORCID among the identifiers.
                by_id.get(("orcid", entry.orcid)),
            ]
            people = list(dict.fromkeys(self._follow_merge(owner) for owner in owners if owner))
            if any(person.pk in self._concealed for person in people):
                self._assign(entry, people[0])
                report_concealed(entry.where, "", entry.name, self.findings)
                continue
            if people:
                self._assign(entry, people[0])
                self._note_doubtful_id(entry, people[0], by_uid)
            if len(people) > 1:
                labels = " and ".join(f"{person.name} ({person.uid})" for person in people)
                message = gettext("The ids of %(name)s belong to %(listed)s here; the first is taken.")
                self._note_doubt(entry, message, listed=labels)

    def _note_doubtful_id(self, entry: FilePerson, person: Person, by_uid: dict[str, Person]) -> None:
        """Note a match by id of people with different uids and names: the id may be a mistake."""
        has_other_name = names.fold(entry.name) != names.fold(person.name)
        if entry.uid and entry.uid not in by_uid and has_other_name:
            label = f"{person.name} ({person.uid})"
            message = gettext(
                "%(name)s (%(uid)s) is taken for %(known)s because of an id that both have. "
                "Correct the id if they are two."
            )
            self._note_doubt(entry, message, uid=entry.uid, known=label)

    def _people_by(self, column: str, values: list[str]) -> dict[str, Person]:
        rows = Person.objects.filter(AnyOf(column, values)).defer(*Person.derived_fields)
        return {getattr(row, column): row for row in rows}

    def _people_by_id(self, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], Person]:
        owners = self._owners
        identifiers = PersonIdentifier.objects.filter(AnyOf("value", {value for _, value in pairs}))
        for scheme, value, owner in identifiers.values_list("scheme", "value", "person_id"):
            pair = canonical_id((scheme, value))
            if pair in pairs:
                owners.setdefault(pair, owner)
        rows = Person.objects.filter(AnyOf("pk", set(owners.values()))).defer(*Person.derived_fields)
        people = {person.pk: person for person in rows}
        return {pair: people[owner] for pair, owner in owners.items()}

    def _follow_merge(self, person: Person) -> Person:
        if person.pk in self._merged:
            person = self._merged[person.pk][1]
        return self.by_uid.get(person.uid, person)

    def _assign(self, entry: FilePerson, person: Person) -> None:
        self.rows[entry] = row = self.by_uid.setdefault(person.uid, person)
        self._papers[id(row)] |= entry.papers
        if entry.is_keyed and person.pk:
            self._claimed.add(person.pk)

    # By names

    def _match_by_names(self, program: Program) -> None:
        unmatched = [entry for entry in self.file.all() if entry not in self.rows]
        unmatched_names = {entry.name for entry in unmatched}
        self._namesakes = Namesakes(unmatched_names, self._concealed, self._follow_merge)
        derived_uids = {uid for entry in unmatched for uid in _derived_uids(entry)}
        rows = Person.objects.filter(AnyOf("uid", derived_uids))
        self._uids_in_use = set(rows.values_list("uid", flat=True))
        self._match_by_location(unmatched)
        by_name: dict[str, list[FilePerson]] = defaultdict(list)
        for entry in unmatched:
            if entry not in self.rows:
                by_name[entry.name].append(entry)
        keyed = {name: [entry for entry in by_name[name] if entry.is_keyed] for name in by_name}
        bare = {name: [entry for entry in by_name[name] if not entry.is_keyed] for name in by_name}
        rivals: dict[str, list[FilePerson]] = defaultdict(list)
        for entry in self.file.keyed:
            for name in entry.names & unmatched_names:
                rivals[name].append(entry)
        doubtful_names = {
            name
            for name, entries in by_name.items()
            if self._namesakes.named(name) or len(entries + rivals[name]) > 1
        }
        person_keys = {person.pk for name in doubtful_names for person in self._namesakes.named(name)}
        person_keys |= {
            self.rows[entry].pk for name in doubtful_names for entry in rivals[name] if entry in self.rows
        }
        # New people have no key.
        person_keys.discard(None)
        self._series = conferences_of(person_keys)
        self._evidence = NameEvidence(
            program if doubtful_names else Program(), self.edition, person_keys, self._hidden_papers
        )
        for name, entries in keyed.items():
            self._match_keyed(name, entries)
        owners = {id(self.rows[entry]): entry for entry in self.file.keyed}
        for name, entries in bare.items():
            if entries:
                self._match_bare(name, entries, rivals[name], owners)

    def _match_by_location(self, unmatched: list[FilePerson]) -> None:
        """Match names with the people of the same record of this edition, now or when last imported."""
        locations = {location for entry in unmatched for location in entry.locations}
        last_imported = self._namesakes.last_imported(self.edition, locations)
        current = self._namesakes.by_location(self.edition)
        claimed_keys: dict[Location, set[int]] = defaultdict(set)
        for entry, person in self.rows.items():
            for location in entry.record_locations:
                claimed_keys[location].add(person.pk)
        self._match_by_record(unmatched)
        namesakes = self._match_namesakes_in_lists()
        keyed: dict[tuple[str, Location], list[FilePerson]] = defaultdict(list)
        for entry in unmatched:
            for location in entry.locations if entry.is_keyed else ():
                keyed[entry.name, location].append(entry)
        for entry in sorted(unmatched, key=lambda entry: not entry.is_keyed):
            matches = self._match_locations(entry, last_imported, claimed_keys, keyed)
            matches |= self._match_locations(entry, current, claimed_keys, keyed)
            matches = {place: row for place, row in matches.items() if (entry.name, place) not in namesakes}
            if matches and entry not in self.rows:
                counts = Counter(person.pk for person in matches.values())
                self._assign(entry, max(matches.values(), key=lambda person: (counts[person.pk], -person.pk)))
            for location, person in matches.items():
                row = self.by_uid.setdefault(person.uid, person)
                self._by_location[entry, location] = row
                if location in entry.papers:
                    self._papers[id(row)].add(location)
                if entry.is_keyed and location in entry.record_locations:
                    claimed_keys[location].add(person.pk)

    def _match_namesakes_in_lists(self) -> Collection[tuple[str, Location]]:
        """Match people of one name in one list by their order in it. Return these names and records."""
        namesakes = self.file.namesakes()
        listed = self._namesakes.in_lists(self.edition, namesakes)
        for (name, location), entries in namesakes.items():
            for entry, person in zip(entries, listed[name, location], strict=False):
                self._assign(entry, person)
                self._by_location[entry, location] = self.rows[entry]
        return namesakes.keys()

    def _match_by_record(self, unmatched: list[FilePerson]) -> None:
        """Match bare names that have a record with the only namesake imported from such a record."""
        pairs = [(entry, entry.record) for entry in unmatched if entry.record and not entry.is_keyed]
        namesakes = {entry: self._namesakes.named(entry.name) for entry, _ in pairs}
        fields = self._namesakes.imported_fields(
            self.edition, {person.pk for people in namesakes.values() for person in people}
        )
        for entry, record in pairs:
            stated_fields = {name for name in PERSON_FIELDS if is_stated(getattr(record, name, UNSTATED))}
            matches = [
                person
                for person in namesakes[entry]
                if person.pk in fields
                and stated_fields <= fields[person.pk]
                and person.pk not in self._claimed
            ]
            if len(matches) == 1:
                self._assign(entry, matches[0])

    def _match_locations(
        self,
        entry: FilePerson,
        people: dict[tuple[str, Location], dict[int, Person]],
        claimed_keys: dict[Location, set[int]],
        keyed: dict[tuple[str, Location], list[FilePerson]],
    ) -> dict[Location, Person]:
        """Return the matching person for each record of an entry. Ambiguous records are left out."""
        matches: dict[Location, Person] = {}
        for location in entry.locations:
            # With two keyed entries of this name, either one may be the person.
            rivals = keyed[entry.name, location] if entry.is_keyed else ()
            candidates = [
                person
                for key, person in people.get((entry.name, location), {}).items()
                if key not in claimed_keys[location]
                and not (entry.is_keyed and key in self._claimed)
                and not self._namesakes.contradicts(entry, person)
                and all(rival is entry or self._namesakes.contradicts(rival, person) for rival in rivals)
            ]
            if len(candidates) == 1:
                matches[location] = candidates[0]
        return matches

    def _match_keyed(self, name: str, entries: list[FilePerson]) -> None:
        """Match entries with unknown keys with existing people of the name, each with another person."""
        namesakes = self._namesakes.named(name)
        unclaimed = [
            person for person in namesakes if person.pk not in self._claimed and self._is_in_series(person)
        ]
        index = ClusterIndex(self._evidence, name, self._known_clusters(unclaimed))
        clusters = self._new_clusters(name, entries)
        likely_pairs = [
            (verdict, cluster, other)
            for cluster in clusters
            for verdict, other in index.weigh(cluster, self._match_filter(cluster))
            if verdict.is_one
        ]
        # Clusters that were joined no longer compete with the remaining pairs.
        joined_clusters = set[Cluster]()
        while winners := _clear_winners(likely_pairs):
            for verdict, cluster, other in winners:
                joined_clusters |= {cluster, other}
                other.include(cluster, verdict)
                self._assign(cluster.entries[0], other.person)
                self._note_joined(other)
            likely_pairs = [pair for pair in likely_pairs if joined_clusters.isdisjoint(pair[1:])]
        separate_clusters = [cluster for cluster in clusters if cluster not in joined_clusters]
        index = ClusterIndex(
            self._evidence, name, self._known_clusters(namesakes) if separate_clusters else ()
        )
        for cluster in separate_clusters:
            self._create_person(cluster.entries[0], cluster.person)
            self._suggest_duplicate(cluster, index)
        if separate_clusters and (namesakes or len(entries) > 1):
            self._note_kept_apart(separate_clusters[0].entries[0], namesakes, len(entries))

    def _match_filter(self, cluster: Cluster) -> Callable[[Cluster], bool]:
        """Return a test for possible matches: no paper or talk lists both, and no key contradicts."""
        contradicts = self._namesakes.contradicts
        return lambda other: (
            cluster.papers.isdisjoint(other.papers)
            and not are_told_apart(cluster.file_keys, other.file_keys)
            and not any(contradicts(entry, other.person) for entry in cluster.entries)
        )

    def _match_bare(
        self, name: str, entries: list[FilePerson], rivals: list[FilePerson], owners: dict[int, FilePerson]
    ) -> None:
        """Match bare names with existing people, with keyed entries of the file, and with each other."""
        namesakes = self._namesakes.named(name)
        people = [*filter(self._is_in_series, namesakes), *(self.rows[entry] for entry in rivals)]
        clusters = self._known_clusters(people)
        for cluster in clusters:
            if id(cluster.person) in owners:
                cluster.candidate.include(self._evidence.of_entry(owners[id(cluster.person)]))
        new_clusters = self._group(name, entries, clusters)
        for cluster in clusters:
            for entry in cluster.entries:
                self._assign(entry, cluster.person)
            if cluster.entries:
                self._note_joined(cluster)
        clusters_elsewhere = self._known_clusters(
            [person for person in namesakes if not self._is_in_series(person)]
        )
        index = ClusterIndex(self._evidence, name, [*clusters_elsewhere, *clusters, *new_clusters])
        for cluster in new_clusters:
            self._create_person(cluster.entries[0], cluster.person)
            for entry in cluster.entries:
                self._assign(entry, cluster.person)
            if not cluster.has_support:
                self._note_joined(cluster, is_new=True)
            self._suggest_duplicate(cluster, index)
        if new_clusters and len(clusters_elsewhere) + len(clusters) + len(new_clusters) > 1:
            count_in_file = sum(
                bool(cluster.entries) or id(cluster.person) in owners
                for cluster in [*clusters, *new_clusters]
            )
            self._note_kept_apart(new_clusters[0].entries[0], namesakes, count_in_file)

    def _known_clusters(self, people: Iterable[Person]) -> list[Cluster]:
        unique = {id(person): person for person in map(self._follow_merge, people)}
        return [
            Cluster(self._evidence.of_person(person), person, papers={*self._papers.get(key, ())})
            for key, person in unique.items()
        ]

    def _new_clusters(self, name: str, entries: list[FilePerson]) -> list[Cluster]:
        return [
            Cluster(self._evidence.of_entry(entry), Person(name=name), [entry], entry.papers)
            for entry in entries
        ]

    def _group(self, name: str, entries: list[FilePerson], known_clusters: list[Cluster]) -> list[Cluster]:
        """Join entries to known people or to each other. Return the clusters of new people."""
        index = ClusterIndex(self._evidence, name, known_clusters)
        entry_clusters = sorted(
            self._new_clusters(name, entries), key=lambda cluster: -len(cluster.candidate.coauthors)
        )
        new_clusters: dict[Cluster, None] = {}
        for cluster in entry_clusters:
            if not self._join_likeliest(cluster, index):
                index.add(cluster)
                new_clusters[cluster] = None
        # Try again, since joined clusters have more evidence.
        for cluster in list(new_clusters):
            if self._join_likeliest(cluster, index):
                index.remove(cluster)
                del new_clusters[cluster]
        return list(new_clusters)

    def _is_in_series(self, person: Person) -> bool:
        """Return whether a person appears in this conference, or in none."""
        series = self._series.get(person.pk)
        return not series or self.edition.conference_id in series

    def _join_likeliest(self, cluster: Cluster, index: ClusterIndex) -> Cluster | None:
        """Join a cluster to its likeliest match. Return None if there is no clear one."""
        likely_pairs = [pair for pair in index.weigh(cluster, self._match_filter(cluster)) if pair[0].is_one]
        likely_pairs.sort(key=lambda pair: -pair[0].weight)
        if not likely_pairs or (
            len(likely_pairs) > 1 and likely_pairs[0][0].weight - likely_pairs[1][0].weight < MIN_DIFFERENCE
        ):
            return None
        verdict, target = likely_pairs[0]
        target.include(cluster, verdict)
        index.add(target)
        return target

    def _suggest_duplicate(self, cluster: Cluster, index: ClusterIndex) -> None:
        """Add a new person and the likeliest match to the likely duplicates."""
        comparisons = index.weigh(cluster, self._match_filter(cluster), or_first=True)
        if comparisons:
            verdict, other = max(comparisons, key=lambda pair: pair[0].probability)
            self.kept_apart.append(KeptApart(cluster.person, other.person, verdict))

    def _note_joined(self, cluster: Cluster, *, is_new: bool = False) -> None:
        if not is_new:
            message = gettext("%(name)s was joined with %(person)s (%(uid)s) by name.%(why)s")
        else:
            message = gettext("%(name)s appears in %(count)d places in the file, joined by name.%(why)s")
        why = "".join(
            f" {reason.text}" for reason in reason_texts(cluster.reasons, self._evidence.coauthor_names)
        )
        values = {"person": cluster.person.name, "uid": cluster.person.uid, "count": len(cluster.entries)}
        self._note("joined", cluster.entries[0], message, why=why, **values)

    def _note_kept_apart(self, entry: FilePerson, namesakes: list[Person], count: int) -> None:
        labels = [f"{person.name} ({person.uid})" for person in namesakes]
        parts = [
            f"{count} people of this file" if count > 1 else "",
            f"{', '.join(labels)} here" if labels else "",
        ]
        others = " and ".join(filter(None, parts))
        message = gettext(
            "%(name)s is also the name of %(others)s. They are kept apart; merge them if they are one."
        )
        self._note_doubt(entry, message, others=others)

    # New people

    def _create_person(self, entry: FilePerson, person: Person) -> None:
        person.uid = self._choose_uid(entry)
        person.given, person.family = entry.parts
        self.by_uid[person.uid] = person
        self._assign(entry, person)
        for sentence in names.suspicions(entry.name):
            message = gettext("Check the name “%(name)s”. %(why)s")
            self._note("name", entry, message.replace("%(why)s", sentence.replace("%", "%%")))

    def _choose_uid(self, entry: FilePerson) -> str:
        """Return the first free uid: that of the source, one derived from its ids, or a random one."""
        for uid in filter(None, [entry.uid, *_derived_uids(entry)]):
            if uid not in self.by_uid and uid not in self._uids_in_use:
                return uid
        return new_uid()

    def _note_doubt(self, entry: FilePerson, message: str, /, **values: object) -> None:
        self._note("doubt", entry, message, **values)

    def _note(self, kind: str, entry: FilePerson, message: str, /, **values: object) -> None:
        self.findings.note(kind, entry.where, message, name=entry.name, **values)


def _clear_winners(
    likely_pairs: list[tuple[Verdict, Cluster, Cluster]],
) -> list[tuple[Verdict, Cluster, Cluster]]:
    """Return the pairs that are clearly likelier than all other pairs with either cluster."""
    weights: dict[Cluster, list[float]] = defaultdict(list)
    for verdict, *clusters in likely_pairs:
        for cluster in clusters:
            weights[cluster].append(verdict.weight)
    for cluster_weights in weights.values():
        cluster_weights.sort(reverse=True)

    def is_clear_winner(weight: float, ranking: list[float]) -> bool:
        return weight == ranking[0] and (len(ranking) == 1 or weight - ranking[1] >= MIN_DIFFERENCE)

    return [
        pair
        for pair in likely_pairs
        if all(is_clear_winner(pair[0].weight, weights[cluster]) for cluster in pair[1:])
    ]


def _derived_uids(entry: FilePerson) -> list[str]:
    return [uid for uid in map("-".join, sorted(entry.ids)) if _is_uid(uid)]


def _is_uid(text: str) -> bool:
    try:
        validate_uid(text)
    except ValidationError:
        return False
    return True


def _merged_people() -> dict[int, tuple[str, Person]]:
    """Return the merged people: key -> (own uid, the person they were merged into)."""
    rows = Person.objects.filter(merged_into__isnull=False).select_related("merged_into")
    uids = {row.pk: row.uid for row in rows}
    targets = {row.pk: row.merged_into for row in rows if row.merged_into}
    survivors = {person.pk: person for person in targets.values()}
    links = {key: person.pk for key, person in targets.items()}
    return {key: (uids[key], survivors[survivor_key]) for key, survivor_key in resolve_links(links).items()}
