"""Tests of synthetic programs: reproducible, and similar to large conferences."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.generate import generate, load
from bench.synthetic.program import synthetic
from conference.models import Edition
from exchange.files import Context, Source
from exchange.formats import program_json
from exchange.models import ImportRun
from exchange.records import Program, stated
from papers.models import Paper
from people.models import Person
from schedule import clashes

SMALL, FIRST_YEAR = 40, 2030


def program(number: int = SMALL, seed: int = 1, year: int = FIRST_YEAR) -> Program:
    return synthetic(seed, number, year, FIRST_YEAR)


def session_sizes(synthetic_program: Program, kind: str) -> Counter[Any]:
    return Counter(
        presentation.session for presentation in synthetic_program.presentations if presentation.kind == kind
    )


def test_same_arguments_make_the_same_program() -> None:
    assert program() == program()
    assert program().papers != program(seed=2).papers


def test_written_program_reads_back() -> None:
    original = program()
    assert original.edition is not None
    context = Context(str(FIRST_YEAR), FIRST_YEAR, str(original.edition.timezone))
    (file,) = program_json.write(original, context)
    source = Source(file.name, b"".join(file.chunks))
    assert program_json.read([source], Context(str(FIRST_YEAR), FIRST_YEAR, "UTC")) == original


def test_small_program_has_one_room_for_talks() -> None:
    small = program()
    assert [row.slug for row in small.rooms] == [
        "main-hall",
        "hall-a",
        "exhibition-hall",
        "foyer",
        "entrance",
        "online",
    ]
    published = sum(row.status == "published" for row in small.papers)
    assert sum(session_sizes(small, "poster").values()) == published


def test_large_program_has_twelve_halls_and_at_most_800_boards_in_a_session() -> None:
    large = program(6000)
    assert sum(room.slug.startswith("hall-") for room in large.rooms) == 12
    posters = session_sizes(large, "poster")
    assert len(posters) == 8
    assert 700 < max(posters.values()) <= 800
    assert set(session_sizes(large, "oral").values()) == {6}


def test_no_author_is_listed_twice() -> None:
    for paper in program(300).papers:
        uids = [author.person.uid for author in stated(paper.authors, ())]
        assert sorted(uids) == sorted(set(uids))


def test_some_people_return_and_some_are_new() -> None:
    before, after = (
        {person.ref.uid for person in program(300, year=year).people} for year in (FIRST_YEAR, FIRST_YEAR + 1)
    )
    assert before & after
    assert after - before


def test_names_have_many_scripts() -> None:
    native_names = "".join(stated(person.native_name, "") for person in program(300).people)
    for letter in "王민र藤вعכ":
        assert letter in native_names


@pytest.mark.django_db
def test_files_are_written_and_imported_once(tmp_path: Path) -> None:
    paths = generate(SMALL, editions=2, last_year=FIRST_YEAR + 1, into=tmp_path)
    assert sorted(tmp_path.iterdir()) == paths == [tmp_path / "2030.json", tmp_path / "2031.json"]
    for path in paths:
        load(path)
    assert list(Edition.objects.published().values_list("slug", flat=True)) == ["2031", "2030"]
    assert Paper.objects.filter(edition__slug="2031").count() == SMALL
    assert ImportRun.objects.count() == 2
    for path in generate(SMALL, editions=2, last_year=FIRST_YEAR + 1, into=tmp_path):
        load(path)
    assert ImportRun.objects.count() == 2


@pytest.mark.django_db
def test_only_people_clash(tmp_path: Path) -> None:
    """Rooms, boards and times of a synthetic timetable never clash; only random people do."""
    (path,) = generate(300, last_year=FIRST_YEAR, into=tmp_path)
    load(path)
    kinds = {str(clash.kind) for clash in clashes.find_clashes(Edition.objects.get(slug=str(FIRST_YEAR))).all}
    assert kinds <= {"person", "poster_and_talk"}
    assert Person.objects.exclude(native_name="").exists()


@pytest.mark.parametrize(
    "numbers",
    [{"papers": 0}, {"papers": 600, "editions": 0}, {"papers": 100_001}, {"papers": 600, "last_year": 2200}],
)
def test_invalid_numbers_are_rejected(numbers: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Ask for 1 to 100,000 papers, and for years from 1901 to 2100"):
        generate(**numbers, into=tmp_path)
    assert list(tmp_path.iterdir()) == []
