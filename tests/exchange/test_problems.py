"""Tests of the sections of an import's notes."""

from exchange.problems import Findings, Where, note_sections


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
