"""Tests of finding likely duplicates without a database: differences of names, other evidence."""

from typing import Any

import pytest

from people.duplicates.evidence import PersonCandidate, ReasonValues
from people.duplicates.finder import find_duplicate_people
from people.duplicates.reasons import reason_text
from people.duplicates.spelling import compare_names


@pytest.mark.parametrize(
    ("one", "other", "kind"),
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
def test_spellings_of_one_name(one: str, other: str, kind: str) -> None:
    found = [compare_names(one, other), compare_names(other, one)]

    assert [like and like.kind for like in found] == [kind, kind]


@pytest.mark.parametrize(
    ("one", "other"),
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
def test_names_of_two_people(one: str, other: str) -> None:
    assert (compare_names(one, other), compare_names(other, one)) == (None, None)


def person(
    key: int, *names: str, papers: dict[int, set[str]] | None = None, **more: object
) -> PersonCandidate:
    places = {place for found in (papers or {}).values() for place in found}
    printed = {paper: frozenset(found) for paper, found in (papers or {}).items()}
    return PersonCandidate(key, names, papers=printed, affiliations=places, **more)  # type: ignore[arg-type]


def distinct_word(number: int) -> str:
    return "".join(chr(97 + number // place % 26) for place in (676, 26, 1))


def find_pairs(
    *people: PersonCandidate, distinct: frozenset[frozenset[int]] = frozenset()
) -> list[tuple[int, int]]:
    return [(one.first, one.second) for one in find_duplicate_people(people, distinct)]


def test_rare_names_suffice_and_common_ones_need_more() -> None:
    others = [person(100 + n, f"Ada{distinct_word(n)} Lov{distinct_word(n)}") for n in range(3_000)]
    rare = [person(1, "Paolo Costantini"), person(2, "COSTANTINI Paolo")]
    common = [person(3, "Wei Wang"), person(4, "Wang Wei")]

    assert find_pairs(*rare, *common, *others) == [(1, 2)]
    # Among so few people, even a common name is evidence of a duplicate.
    assert find_pairs(*common) == [(3, 4)]


def test_a_common_name_with_the_same_people_around_it_is_one_person() -> None:
    others = [person(9, "Zed", papers={1: set(), 2: set()}), person(8, "Abe", papers={1: set(), 2: set()})]
    two = [person(1, "Wei Wang", papers={1: {"basel"}}), person(2, "Wang, Wei", papers={2: {"basel"}})]
    (found,) = find_duplicate_people([*two, *others])

    assert (found.first, found.second, found.signs) == (1, 2, ("name_order", "coauthors", "affiliation"))
    assert found.reasons[1][1] == {"count": 2, "people": [8, 9]}


def test_topics_and_years_are_weighed() -> None:
    def signs(**there: Any) -> tuple[tuple[str, ...], int]:
        here = person(1, "Paolo Costa", topics={"graphs"}, years={2021})
        (found,) = find_duplicate_people([here, person(2, "Costa Paolo", **there)], min_score=0)
        return found.signs[1:], found.score

    same, other = signs(topics={"graphs"}, years={2019}), signs(topics={"robots"}, years={1999})

    assert (same[0], other[0]) == (("same_topic",), ("other_topics", "long_ago"))
    assert same[1] > signs()[1] > other[1]


def test_a_pair_that_an_import_kept_apart_is_found_however_unlikely() -> None:
    two = [person(1, "Wei Wang", topics={"graphs"}), person(2, "Wei Wang", topics={"robots"})]
    others = [person(100 + n, f"Ada{distinct_word(n)} Lov{distinct_word(n)}") for n in range(3_000)]

    assert find_pairs(*two, *others) == []
    (found,) = find_duplicate_people([*two, *others], kept_apart={(1, 2)})
    assert found.signs == ("kept_apart", "name_same", "other_topics")


def test_different_orcids_and_a_chairs_word_say_that_they_are_two() -> None:
    two = [person(1, "Paolo Costa", orcid="a"), person(2, "Costa Paolo", orcid="b")]
    other = person(3, "PAOLO COSTA")

    assert find_pairs(*two) == []
    assert find_pairs(*two, other, distinct=frozenset({frozenset((2, 3))})) == [(1, 3)]


def test_twice_on_a_paper_by_spelling_but_not_by_initials_or_on_two_papers() -> None:
    there = {1: {"milan"}}
    twice = [person(1, "Paolo Costa", papers=there), person(2, "Costa Paolo", papers=there)]
    initials = [person(3, "Y. Wang", papers={2: set()}), person(4, "Yan Wang", papers={2: set()})]
    often = {3: set[str](), 4: set[str]()}
    writing = [person(5, "Ana Duarte", papers=often), person(6, "Ana M. Duarte", papers=often)]

    assert find_pairs(*twice, *writing) == [(1, 2)]
    assert find_pairs(*initials) == []


def test_another_spelling_and_an_address_are_evidence() -> None:
    married = [person(1, "Ana Duarte", "Ana Ruiz"), person(2, "Ana Ruiz")]
    mailed = [
        person(3, "Wei Wang", contacts=frozenset({"w@example.org"})),
        person(4, "W. Wang", contacts=frozenset({"w@example.org"})),
    ]

    assert find_pairs(*married) == [(1, 2)]
    assert find_pairs(*mailed) == [(3, 4)]


def test_evidence_against_is_reported_too() -> None:
    ids = [frozenset({("dblp", "1")}), frozenset({("dblp", "2")})]
    two = [person(n, "Paolo Costantini", ids=one, papers={n: {f"place{n}"}}) for n, one in enumerate(ids)]
    (found,) = find_duplicate_people(two, min_score=1)

    assert found.signs == ("name_same", "elsewhere", "other_ids")
    assert (
        found.score
        < find_duplicate_people([person(1, "Paolo Costantini"), person(2, "Paolo Costantini")])[0].score
    )


def test_many_of_one_name_are_compared_only_with_other_evidence() -> None:
    crowd = [person(key, "Wei Wang", papers={key: {f"place {key}"}}) for key in range(400)]
    one = person(500, "Wei Wang", papers={500: {"basel"}}, contacts=frozenset({"w@example.org"}))
    other = person(501, "Wang Wei", papers={501: {"basel"}}, contacts=frozenset({"w@example.org"}))

    assert find_pairs(*crowd, one, other) == [(500, 501)]


@pytest.mark.parametrize(
    ("code", "values", "words"),
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
def test_reason_is_a_sentence(code: str, values: ReasonValues, words: str) -> None:
    assert reason_text(code, values, {8: "Abe", 9: "Zed"}) == words
