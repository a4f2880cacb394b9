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
# Evidence against a match, and what disproves it once another entry was joined.
DISPROVED_BY = {"no_coauthor": "coauthors", "elsewhere": "affiliation", "other_topics": "same_topic"}


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
        self.reasons = combine_reasons([*self.reasons, *verdict.reasons])
        self.has_support &= verdict.weight > 0 and other.has_support


def combine_reasons(reasons: Iterable[Reason]) -> list[Reason]:
    """Return the reasons of several joins once each: without those disproved, with the largest counts."""
    combined: list[Reason] = []
    for reason in reasons:
        code, values = reason
        same = next((other for other in combined if other[0] == code and "count" in values), None)
        if same is None:
            combined += [] if reason in combined else [reason]
        elif values["count"] > same[1]["count"]:
            combined[combined.index(same)] = reason
    codes = {code for code, _ in combined}
    return [reason for reason in combined if DISPROVED_BY.get(reason[0]) not in codes]


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
