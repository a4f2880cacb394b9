"""Tests of finding namesakes by disjoint co-authors and affiliations, without a database."""

from people.duplicates.evidence import PersonCandidate
from people.duplicates.namesakes import find_mixed_people


def people(name: str, places: dict[int, str], teams: dict[int, str], **more: object) -> list[PersonCandidate]:
    """Return a person of this name with these papers, and a co-author for each letter of the teams."""
    papers = {paper: frozenset([place] if place else []) for paper, place in places.items()}
    found = [PersonCandidate(1, (name,), papers=papers, **more)]  # type: ignore[arg-type]
    for number, letter in enumerate(sorted({*"".join(teams.values())}), 2):
        theirs = {paper: frozenset[str]() for paper, team in teams.items() if letter in team}
        found.append(PersonCandidate(number, (f"Ada {letter * 4}",), papers=theirs))
    return found


TEAMS = {1: "abc", 2: "ad", 3: "xyz", 4: "xw"}


def test_common_name_with_two_circles_of_co_authors_and_places_may_be_two() -> None:
    places = {1: "eth", 2: "eth", 3: "mit", 4: "mit"}
    (mixed,) = find_mixed_people(people("Lei Wang", places, TEAMS))

    assert (mixed.key, mixed.papers, mixed.score > 90) == (1, (3, 4), True)


def test_person_who_moved_with_a_co_author_or_has_a_rare_name_or_an_id_is_less_likely_two() -> None:
    places = {1: "eth", 2: "eth", 3: "mit", 4: "mit"}
    bridge = {**TEAMS, 3: "xyza"}

    assert find_mixed_people(people("Lei Wang", places, bridge)) == []
    assert find_mixed_people(people("Paolo Costantini", places, TEAMS)) == []
    (with_id,) = find_mixed_people(people("Lei Wang", places, TEAMS, orcid="0000-0002-1825-0097"))
    (without,) = find_mixed_people(people("Lei Wang", places, TEAMS))
    assert with_id.score < without.score


def test_papers_of_which_nothing_is_known_say_nothing() -> None:
    assert find_mixed_people(people("Lei Wang", {1: "", 2: "", 3: "mit"}, {})) == []
