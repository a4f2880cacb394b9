"""Tests of finding likely duplicates without a database: differences of names, other evidence."""

from typing import Any

import pytest

from people.duplicates.evidence import PersonCandidate, ReasonValues
from people.duplicates.finder import find_duplicate_people
from people.duplicates.reasons import reason_text
from people.duplicates.spelling import compare_names


@pytest.mark.parametrize(
    ("name", "other_name", "kind"),
    [
        ("Paolo Costa", "Paolo Costa", "same"),
        ("Paolo Costa", "PAOLO costa", "case"),
        ("José Núñez", "Jose Nunez", "accents"),
        ("Jürgen Müller", "Juergen Mueller", "accents"),
        ("Costa Paolo", "Paolo Costa", "order"),
        ("Costa, Paolo", "Paolo Costa", "order"),
        ("Maria Garcia Lopez", "Garcia Lopez Maria", "order"),
        ("Paolo Costa", "Paolo Costa Costa", "doubled"),
        ("Yu Wang NameError", "Yu Wang", "placeholder"),
        ("Xiao-Ming Wang", "Xiaoming Wang", "joined"),
        ("PaoloCosta", "Paolo Costa", "joined"),
        ("李明", "Liming", "accents"),
        ("John A. Smith", "John Smith", "middle"),
        ("Yu (Emma) Wang", "Yu Wang", "called"),
        ("Ana García", "Ana García Márquez", "extra"),
        ("J. Smith", "John Smith", "initials"),
        ("J. R. Smith", "John Ronald Smith", "initials"),
        ("Chris Okafor", "Christopher Okafor", "short"),
        ("Anna Kowalski", "Anna Kowlaski", "typo"),
    ],
)
def test_spelling_variants_of_a_name_are_matched(name: str, other_name: str, kind: str) -> None:
    matches = [compare_names(name, other_name), compare_names(other_name, name)]

    assert [match and match.kind for match in matches] == [kind, kind]


@pytest.mark.parametrize(
    ("name", "other_name"),
    [
        ("John A. Smith", "John B. Smith"),
        ("Wei Li", "Wei Lu"),
        ("Soo-Hee Kim", "Hee-Soo Kim"),
        ("Ana García", "Ana Márquez"),
        ("J. Smith", "Paul Smith"),
        ("Wei Wang 0001", "Wei Wang 0002"),
        ("Ana García López", "Ana Ruiz García"),
        ("Smith", "John"),
    ],
)
def test_names_of_different_people_are_not_matched(name: str, other_name: str) -> None:
    assert (compare_names(name, other_name), compare_names(other_name, name)) == (None, None)


def person(
    key: int, *names: str, papers: dict[int, set[str]] | None = None, **fields: object
) -> PersonCandidate:
    """Return a candidate with these names, and with papers that print these affiliations."""
    papers = papers or {}
    affiliations = set().union(*papers.values())
    printed = {paper: frozenset(lines) for paper, lines in papers.items()}
    return PersonCandidate(key, names, papers=printed, affiliations=affiliations, **fields)  # type: ignore[arg-type]


def distinct_word(number: int) -> str:
    return "".join(chr(97 + number // divisor % 26) for divisor in (676, 26, 1))


def find_pairs(
    *people: PersonCandidate, distinct: frozenset[frozenset[int]] = frozenset()
) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in find_duplicate_people(people, distinct)]


def test_rare_name_is_enough_and_common_name_needs_more_evidence() -> None:
    crowd = [person(100 + n, f"Ada{distinct_word(n)} Lov{distinct_word(n)}") for n in range(3_000)]
    rare = [person(1, "Paolo Costantini"), person(2, "COSTANTINI Paolo")]
    common = [person(3, "Wei Wang"), person(4, "Wang Wei")]

    assert find_pairs(*rare, *common, *crowd) == [(1, 2)]
    # Among so few people, even a common name is evidence of a duplicate.
    assert find_pairs(*common) == [(3, 4)]


def test_common_name_with_common_co_authors_is_a_duplicate() -> None:
    co_authors = [
        person(9, "Zed", papers={1: set(), 2: set()}),
        person(8, "Abe", papers={1: set(), 2: set()}),
    ]
    candidates = [person(1, "Wei Wang", papers={1: {"basel"}}), person(2, "Wang, Wei", papers={2: {"basel"}})]
    (pair,) = find_duplicate_people([*candidates, *co_authors])

    assert (pair.first, pair.second, pair.signs) == (1, 2, ("name_order", "coauthors", "affiliation"))
    assert pair.reasons[1][1] == {"count": 2, "people": [8, 9]}


def test_topics_and_years_change_the_score() -> None:
    def signs(**fields: Any) -> tuple[tuple[str, ...], int]:
        first = person(1, "Paolo Costa", topics={"graphs"}, years={2021})
        (pair,) = find_duplicate_people([first, person(2, "Costa Paolo", **fields)], min_score=0)
        return pair.signs[1:], pair.score

    same, other = signs(topics={"graphs"}, years={2019}), signs(topics={"robots"}, years={1999})

    assert (same[0], other[0]) == (("same_topic",), ("other_topics", "long_ago"))
    assert same[1] > signs()[1] > other[1]


def test_pair_kept_apart_by_an_import_is_found_with_any_score() -> None:
    candidates = [person(1, "Wei Wang", topics={"graphs"}), person(2, "Wei Wang", topics={"robots"})]
    crowd = [person(100 + n, f"Ada{distinct_word(n)} Lov{distinct_word(n)}") for n in range(3_000)]

    assert find_pairs(*candidates, *crowd) == []
    (pair,) = find_duplicate_people([*candidates, *crowd], kept_apart={(1, 2)})
    assert pair.signs == ("kept_apart", "name_same", "other_topics")


def test_different_orcids_and_recorded_distinctions_exclude_a_pair() -> None:
    candidates = [person(1, "Paolo Costa", orcid="a"), person(2, "Costa Paolo", orcid="b")]
    other = person(3, "PAOLO COSTA")

    assert find_pairs(*candidates) == []
    assert find_pairs(*candidates, other, distinct=frozenset({frozenset((2, 3))})) == [(1, 3)]


def test_author_listed_twice_is_found_by_spelling_on_one_paper_only() -> None:
    papers = {1: {"milan"}}
    twice = [person(1, "Paolo Costa", papers=papers), person(2, "Costa Paolo", papers=papers)]
    initials = [person(3, "Y. Wang", papers={2: set()}), person(4, "Yan Wang", papers={2: set()})]
    both_papers = {3: set[str](), 4: set[str]()}
    co_authors = [person(5, "Ana Duarte", papers=both_papers), person(6, "Ana M. Duarte", papers=both_papers)]

    assert find_pairs(*twice, *co_authors) == [(1, 2)]
    assert find_pairs(*initials) == []


def test_other_name_and_common_email_are_evidence() -> None:
    renamed = [person(1, "Ana Duarte", "Ana Ruiz"), person(2, "Ana Ruiz")]
    mailed = [
        person(3, "Wei Wang", contacts=frozenset({"w@example.org"})),
        person(4, "W. Wang", contacts=frozenset({"w@example.org"})),
    ]

    assert find_pairs(*renamed) == [(1, 2)]
    assert find_pairs(*mailed) == [(3, 4)]


def test_evidence_against_a_pair_is_reported_and_lowers_the_score() -> None:
    ids = [frozenset({("dblp", "1")}), frozenset({("dblp", "2")})]
    candidates = [
        person(n, "Paolo Costantini", ids=identifiers, papers={n: {f"place{n}"}})
        for n, identifiers in enumerate(ids)
    ]
    (pair,) = find_duplicate_people(candidates, min_score=1)

    assert pair.signs == ("name_same", "elsewhere", "other_ids")
    assert (
        pair.score
        < find_duplicate_people([person(1, "Paolo Costantini"), person(2, "Paolo Costantini")])[0].score
    )


def test_crowd_of_one_name_is_compared_only_by_other_evidence() -> None:
    crowd = [person(key, "Wei Wang", papers={key: {f"place {key}"}}) for key in range(400)]
    first = person(500, "Wei Wang", papers={500: {"basel"}}, contacts=frozenset({"w@example.org"}))
    second = person(501, "Wang Wei", papers={501: {"basel"}}, contacts=frozenset({"w@example.org"}))

    assert find_pairs(*crowd, first, second) == [(500, 501)]


@pytest.mark.parametrize(
    ("code", "values", "text"),
    [
        ("affiliation", {"place": "MIT"}, "Both are of MIT."),
        (
            "other_ids",
            {"schemes": ["dblp", "x"]},
            "They have different dblp, x identifiers, which is evidence against it.",
        ),
        ("together", {"count": 1}, "Both are authors of the same paper, which is evidence against it."),
        ("together", {"count": 2}, "Both are authors of the same 2 papers, which is evidence against it."),
        ("shared_people", {"count": 1}, "1 person is of both."),
        ("coauthors", {"count": 2, "people": [8, 9]}, "2 co-authors in common: Abe, Zed."),
        ("coauthors", {"count": 3, "people": [8, 7]}, "3 co-authors in common: Abe …"),
    ],
)
def test_reason_text(code: str, values: ReasonValues, text: str) -> None:
    assert reason_text(code, values, {8: "Abe", 9: "Zed"}) == text
