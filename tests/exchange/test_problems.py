"""Tests of the sections of an import's notes."""

import pytest

from exchange.problems import PROBLEMS_COUNTED, PROBLEMS_SHOWN, Findings, ProgramError, Where, note_sections
from tests.pseudolocale import pseudolocale


def last_message(problem_count: int) -> str:
    """Return the last message of a file with this number of problems."""

    def find_problems() -> None:
        findings = Findings()
        for number in range(problem_count):
            findings.problem(Where("p.csv", str(number)), "title", "The title is missing.")
        findings.raise_problems()

    with pytest.raises(ProgramError) as error:
        find_problems()
    return error.value.problems[-1].message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (1, "There is 1 more problem."),
        (2, "There are 2 more problems."),
        (PROBLEMS_COUNTED, "There are at least 10000 more problems."),
    ],
)
def test_problems_beyond_fifty_are_counted(more: int, message: str) -> None:
    assert last_message(PROBLEMS_SHOWN + more) == message


def test_sentence_about_very_many_problems_is_translated_as_a_whole() -> None:
    with pseudolocale(["There is at least %(count)d more problem."]):
        message = last_message(PROBLEMS_SHOWN + PROBLEMS_COUNTED)

    assert message == "⟦There are at least 10000 more problems.⟧"


def test_notes_are_sorted_by_importance_grouped_and_counted() -> None:
    findings = Findings()
    for number in range(515):
        findings.note("name", Where("p.csv", str(number)), "%(name)s is a single word.", name=f"N{number}")
    findings.note("joined", Where(), "%(name)s was joined.", name="Ada")
    findings.note("doubt", Where(), "%(name)s was seen.", name="Bo")
    findings.note("doubt", Where(), "%(name)s was seen.", name="Cy")
    findings.note("doubt", Where(), "Is this all?")
    findings.note("warning", Where(), "The room was left out.")

    sections = [
        (section.title, section.count, [(group[0].message, len(group)) for group in section.groups])
        for section in note_sections(findings.notes)
    ]

    assert sections == [
        ("Imported with changes", 1, [("The room was left out.", 1)]),
        ("To check", 3, [("Is this all?", 1), ("Bo was seen.", 2)]),
        ("Joined by name", 1, [("Ada was joined.", 1)]),
        ("Unusual names", 515, [("N0 is a single word.", 515)]),
    ]
