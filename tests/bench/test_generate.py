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

SMALL, FIRST = 40, 2030


def program(number: int = SMALL, seed: int = 1, year: int = FIRST) -> Program:
    return synthetic(seed, number, year, FIRST)


def sizes(made: Program, kind: str) -> Counter[Any]:
    return Counter(one.session for one in made.presentations if one.kind == kind)


def test_the_same_numbers_make_the_same_program() -> None:
    assert program() == program()
    assert program().papers != program(seed=2).papers


def test_what_is_written_reads_back() -> None:
    made = program()
    (file,) = program_json.write(made, Context(str(FIRST), FIRST, str(made.edition.timezone)))  # type: ignore[union-attr]
    assert (
        program_json.read([Source(file.name, b"".join(file.chunks))], Context(str(FIRST), FIRST, "UTC"))
        == made
    )


def test_a_small_program_has_one_room_for_talks() -> None:
    made = program()
    assert [one.slug for one in made.rooms] == [
        "main-hall",
        "hall-a",
        "exhibition-hall",
        "foyer",
        "entrance",
        "online",
    ]
    shown = sum(one.status == "published" for one in made.papers)
    assert sum(sizes(made, "poster").values()) == shown


def test_a_large_program_has_twelve_halls_and_no_session_over_800_boards() -> None:
    made = program(6000)
    assert sum(one.slug.startswith("hall-") for one in made.rooms) == 12
    posters = sizes(made, "poster")
    assert len(posters) == 8
    assert 700 < max(posters.values()) <= 800
    assert set(sizes(made, "oral").values()) == {6}


def test_no_author_is_listed_twice() -> None:
    for paper in program(300).papers:
        uids = [author.person.uid for author in stated(paper.authors, ())]
        assert sorted(uids) == sorted(set(uids))


def test_most_people_come_back_and_some_are_new() -> None:
    before, after = ({one.ref.uid for one in program(300, year=year).people} for year in (FIRST, FIRST + 1))
    assert before & after
    assert after - before


def test_names_have_many_scripts() -> None:
    natives = "".join(stated(one.native_name, "") for one in program(300).people)
    for letter in "王민र藤вعכ":
        assert letter in natives


@pytest.mark.django_db
def test_files_are_written_and_imported_once(tmp_path: Path) -> None:
    paths = generate(SMALL, editions=2, last_year=FIRST + 1, into=tmp_path)
    assert sorted(tmp_path.iterdir()) == paths == [tmp_path / "2030.json", tmp_path / "2031.json"]
    for path in paths:
        load(path)
    assert list(Edition.objects.published().values_list("slug", flat=True)) == ["2031", "2030"]
    assert Paper.objects.filter(edition__slug="2031").count() == SMALL
    assert ImportRun.objects.count() == 2
    for path in generate(SMALL, editions=2, last_year=FIRST + 1, into=tmp_path):
        load(path)
    assert ImportRun.objects.count() == 2


@pytest.mark.django_db
def test_only_people_clash(tmp_path: Path) -> None:
    """Rooms, boards and times of a synthetic timetable never clash; only random people do."""
    (path,) = generate(300, last_year=FIRST, into=tmp_path)
    load(path)
    kinds = {str(one.kind) for one in clashes.find_clashes(Edition.objects.get(slug=str(FIRST))).all}
    assert kinds <= {"person", "poster_and_talk"}
    assert Person.objects.exclude(native_name="").exists()


@pytest.mark.parametrize(
    "numbers",
    [{"papers": 0}, {"papers": 600, "editions": 0}, {"papers": 100_001}, {"papers": 600, "last_year": 2200}],
)
def test_impossible_numbers_are_refused(numbers: dict[str, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Ask for 1 to 100,000 papers, and for years from 1900 to 2100"):
        generate(**numbers, into=tmp_path)
    assert list(tmp_path.iterdir()) == []
