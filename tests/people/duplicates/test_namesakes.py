"""Tests of finding namesakes by disjoint co-authors and affiliations, without a database."""

from people.duplicates.evidence import PersonCandidate
from people.duplicates.namesakes import find_mixed_people


def people_of(
    name: str, affiliations: dict[int, str], teams: dict[int, str], **fields: object
) -> list[PersonCandidate]:
    """Return a person of this name with these papers, and a co-author for each letter of the teams."""
    papers = {
        paper: frozenset([affiliation] if affiliation else []) for paper, affiliation in affiliations.items()
    }
    candidates = [PersonCandidate(1, (name,), papers=papers, **fields)]  # type: ignore[arg-type]
    for number, letter in enumerate(sorted({*"".join(teams.values())}), 2):
        own_papers = {paper: frozenset[str]() for paper, team in teams.items() if letter in team}
        candidates.append(PersonCandidate(number, (f"Ada {letter * 4}",), papers=own_papers))
    return candidates


TEAMS = {1: "abc", 2: "ad", 3: "xyz", 4: "xw"}


def test_common_name_with_disjoint_co_authors_and_places_is_reported() -> None:
    places = {1: "eth", 2: "eth", 3: "mit", 4: "mit"}
    (mixed,) = find_mixed_people(people_of("Lei Wang", places, TEAMS))

    assert (mixed.key, mixed.papers, mixed.score > 90) == (1, (3, 4), True)


def test_shared_co_author_rare_name_and_orcid_are_evidence_for_one_person() -> None:
    places = {1: "eth", 2: "eth", 3: "mit", 4: "mit"}
    overlapping_teams = {**TEAMS, 3: "xyza"}

    assert find_mixed_people(people_of("Lei Wang", places, overlapping_teams)) == []
    assert find_mixed_people(people_of("Paolo Costantini", places, TEAMS)) == []
    (with_id,) = find_mixed_people(people_of("Lei Wang", places, TEAMS, orcid="0000-0002-1825-0097"))
    (without,) = find_mixed_people(people_of("Lei Wang", places, TEAMS))
    assert with_id.score < without.score


def test_papers_without_evidence_are_not_reported() -> None:
    assert find_mixed_people(people_of("Lei Wang", {1: "", 2: "", 3: "mit"}, {})) == []


def test_two_identifiers_of_one_scheme_are_evidence_for_two_people() -> None:
    places = {1: "eth", 2: "eth", 3: "mit", 4: "mit"}

    def score(*ids: tuple[str, str]) -> int:
        (mixed,) = find_mixed_people(people_of("Lei Wang", places, TEAMS, ids=frozenset(ids)))
        return mixed.score

    assert score(("dblp", "1"), ("dblp", "2")) > score(("dblp", "1")) == score(("dblp", "1"), ("s2", "2"))
