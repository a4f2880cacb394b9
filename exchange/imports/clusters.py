"""Group entries of one name that may be one person, by shared clues. No query."""

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
    # The papers of which they are an author in the file.
    papers: set[Location] = field(default_factory=set)
    reasons: list[Reason] = field(default_factory=list)
    # Whether more than the name spoke for each of them.
    has_support: bool = True

    def include(self, other: "Cluster", verdict: Verdict) -> None:
        """Add another one who is the same."""
        self.candidate.include(other.candidate)
        self.entries += other.entries
        self.papers |= other.papers
        self.reasons += [reason for reason in verdict.reasons if reason not in self.reasons]
        self.has_support &= verdict.weight > 0 and other.has_support


class ClusterIndex:
    """The clusters of one name by their clues: of a common name, only those that share one are compared."""

    def __init__(self, evidence: NameEvidence, name: str, clusters: Iterable[Cluster] = ()) -> None:
        self._evidence, self._name = evidence, name
        # The order in which clusters were added.
        self._places: dict[Cluster, int] = {}
        self._by_clue: dict[object, dict[Cluster, None]] = defaultdict(dict)
        for cluster in clusters:
            self.add(cluster)

    def add(self, cluster: Cluster) -> None:
        """Add a cluster, or what is known of it by now."""
        self._places.setdefault(cluster, len(self._places))
        for clue in self._evidence.clues(self._name, cluster.candidate):
            self._by_clue[clue][cluster] = None

    def remove(self, cluster: Cluster) -> None:
        """Leave out a cluster that was joined with another."""
        for clue in self._evidence.clues(self._name, cluster.candidate):
            self._by_clue[clue].pop(cluster, None)

    def weigh(
        self, cluster: Cluster, is_possible: Callable[[Cluster], bool], *, or_first: bool = False
    ) -> list[tuple[Verdict, Cluster]]:
        """Weigh a cluster with all that it can be; if `or_first` and there is none, with the first here."""
        clues = self._evidence.clues(self._name, cluster.candidate)
        similar = {other for clue in clues for other in self._by_clue.get(clue, ())} - {cluster}
        ordered = sorted(similar, key=self._places.__getitem__)
        others = [*islice(filter(is_possible, ordered), MAX_COMPARED)]
        if or_first and not others:
            others = [*islice((one for one in self._places if one is not cluster and is_possible(one)), 1)]
        return [(self._evidence.verdict(self._name, cluster.candidate, one.candidate), one) for one in others]
