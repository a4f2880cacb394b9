"""Group entries of one name that may be the same person, by shared clues. Makes no queries."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from exchange.imports.file_people import FilePerson, Location
from exchange.imports.name_evidence import NameEvidence, Verdict
from people.duplicates.evidence import PersonCandidate, Reason
from people.models import Person

# Candidates beyond this number are not compared and stay separate people.
MAX_COMPARED = 60


@dataclass(eq=False, slots=True)
class Cluster:
    """A person, existing or new, and the entries of the file that were joined with them."""

    candidate: PersonCandidate
    person: Person
    entries: list[FilePerson] = field(default_factory=list)
    # The papers that list this person as an author in the file.
    papers: set[Location] = field(default_factory=set)
    reasons: list[Reason] = field(default_factory=list)
    # Whether every join was supported by more than the name.
    has_support: bool = True

    @property
    def file_keys(self) -> set[tuple[str, str]]:
        return {key for entry in self.entries for key in entry.file_keys}

    def include(self, other: "Cluster", verdict: Verdict) -> None:
        """Merge another cluster of the same person into this one."""
        self.candidate.include(other.candidate)
        self.entries += other.entries
        self.papers |= other.papers
        self.reasons += [reason for reason in verdict.reasons if reason not in self.reasons]
        self.has_support &= verdict.weight > 0 and other.has_support


class ClusterIndex:
    """Index of the clusters of one name by clue. Of a common name, only those that share one are compared."""

    def __init__(self, evidence: NameEvidence, name: str, clusters: Iterable[Cluster] = ()) -> None:
        self._evidence, self._name = evidence, name
        # The order in which clusters were added.
        self._order: dict[Cluster, int] = {}
        self._by_clue: dict[object, dict[Cluster, None]] = defaultdict(dict)
        for cluster in clusters:
            self.add(cluster)

    def add(self, cluster: Cluster) -> None:
        """Add a cluster, or update its clues."""
        self._order.setdefault(cluster, len(self._order))
        for clue in self._evidence.clues(self._name, cluster.candidate):
            self._by_clue[clue][cluster] = None

    def remove(self, cluster: Cluster) -> None:
        """Remove a cluster that was joined with another."""
        for clue in self._evidence.clues(self._name, cluster.candidate):
            self._by_clue[clue].pop(cluster, None)

    def weigh(
        self, cluster: Cluster, is_possible: Callable[[Cluster], bool], *, or_first: bool = False
    ) -> list[tuple[Verdict, Cluster]]:
        """Compare a cluster with all possible matches; with `or_first`, fall back to the first of them."""
        clues = self._evidence.clues(self._name, cluster.candidate)
        similar = {other for clue in clues for other in self._by_clue.get(clue, ())} - {cluster}
        ordered = sorted(similar, key=self._order.__getitem__)
        others = [*islice(filter(is_possible, ordered), MAX_COMPARED)]
        if or_first and not others:
            others = [
                *islice((other for other in self._order if other is not cluster and is_possible(other)), 1)
            ]
        return [
            (self._evidence.verdict(self._name, cluster.candidate, other.candidate), other)
            for other in others
        ]
