"""Tests of two authors of one name on one paper: both are kept, asked about, and matched by their order."""

from typing import Any

import pytest

from conference.models import Edition
from exchange.files import Source
from exchange.formats import spreadsheet
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.records import PersonRef, SpeakerRecord
from papers.models import Authorship
from people.merging import merge as merging
from people.models import Person
from schedule.models import Speaker
from tests.exchange.outputs import printed_authors
from tests.exchange.programs import author, paper, program, talk
from tests.factories import add_author, make_paper, make_person

pytestmark = pytest.mark.django_db

AUTHORS = paper("p1", *map(author, ("Ann Bee", "Cy Dorn", "Cy Dorn", "Eve Fox")))
QUESTION = (
    "Cy Dorn is listed twice in authors, as two people of one name. "
    "If they are one person, delete one in the file, or merge them here."
)


def author_people() -> list[int]:
    return list(Authorship.objects.order_by("position").values_list("person", flat=True))


def questions(report: Report) -> list[str]:
    return [note.message for note in report.notes if "listed twice" in note.message]


def test_trap_44_two_authors_of_one_name_are_two_people(edition: Edition) -> None:
    text = b"uid,title,authors,decision\n1,Tides in Video,Ann Bee; Cy Dorn; Cy Dorn; Eve Fox,accept\n"
    records = spreadsheet.read([Source("papers.csv", text)], reading_context(edition))
    report = load(records, edition.slug)

    assert [name for _, name in printed_authors("1")] == ["Ann Bee", "Cy Dorn", "Cy Dorn", "Eve Fox"]
    assert len(set(author_people())) == 4
    assert questions(report) == [QUESTION]


def test_second_import_matches_them_by_order(edition: Edition) -> None:
    load(program(AUTHORS), "2021")
    people = author_people()

    assert load(program(AUTHORS), "2021").run is None
    assert author_people() == people


def test_authors_of_one_name_that_were_merged_stay_one(edition: Edition) -> None:
    load(program(AUTHORS), "2021")
    first, second = Person.objects.filter(name="Cy Dorn").order_by("pk")
    merging.merge(first, [second])
    reports = [load(program(AUTHORS), "2021") for _ in range(2)]

    assert [name for _, name in printed_authors()] == ["Ann Bee", "Cy Dorn", "Eve Fox"]
    assert [(report.total["new"], report.total["changed"], report.conflicts) for report in reports] == [
        (0, 0, ())
    ] * 2


def test_second_author_of_a_name_is_not_the_one_who_is_there(edition: Edition) -> None:
    known = make_person("Cy Dorn")
    add_author(make_paper(edition, uid="p1", title="On p1"), known)

    report = load(program(paper("p1", author("Cy Dorn"), author("Cy Dorn"))), "2021")

    (conflict,) = [conflict for conflict in report.conflicts if conflict.field == "authors"]
    theirs: Any = conflict.theirs
    first, second = (part["person"] for part in theirs)
    assert first == known.uid
    assert second != known.uid


def test_two_speakers_of_one_name_are_two_people(edition: Edition) -> None:
    speakers = tuple(SpeakerRecord(person=PersonRef(name="Cy Dorn")) for _ in range(2))
    records = program(presentations=(talk("t1", kind="talk", title="T", speakers=speakers),))
    load(records, "2021")

    assert Speaker.objects.count() == 2
    assert load(records, "2021").run is None


def test_speaker_of_a_paper_listed_twice_is_one(edition: Edition) -> None:
    speakers = tuple(SpeakerRecord(person=PersonRef(name="Eve Fox")) for _ in range(2))
    report = load(program(AUTHORS, presentations=(talk("t1", paper="p1", speakers=speakers),)), "2021")

    assert list(Speaker.objects.values_list("person__name", flat=True)) == ["Eve Fox"]
    assert "Eve Fox is listed twice in speakers; taken once, at the first place." in questions(report)
