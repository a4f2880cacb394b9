"""Tests of format detection from samples and real files; none is detected if several match."""

from pathlib import Path

import pytest

from exchange.files import Source
from exchange.formats import readable
from exchange.jobs.upload_form import detect_formats
from exchange.reading.archives import pack_zip
from tests.exchange.samples import sample_files

pytestmark = pytest.mark.anywhere

# Real files next to the repository, with their formats.
REAL = {
    "orals-posters/icml-2026-orals-posters.json orals-posters/icml-2026-abstracts.json": "orals_posters",
    "miniconf-emnlp2020/main_papers.csv miniconf-emnlp2020/plenary_sessions.yml": "miniconf",
    "miniconf-iclr2020/papers.csv miniconf-iclr2020/main_calendar.json": "miniconf",
    "miniconf-emnlp2023/conference.json": "miniconf",
    "frab/frab-camp2019.json": "frab_json",
    "frab/hub-schedule2.json": "frab_json",
}


def detected_name(*sources: Source) -> str:
    """Return the name of the only format that recognizes the files, or an empty text."""
    matches = detect_formats(sources)
    return matches[0].name if len(matches) == 1 else ""


@pytest.mark.parametrize("name", sorted(readable()))
def test_sample_of_every_format_is_detected(name: str) -> None:
    assert detected_name(*sample_files(name)) == name


@pytest.mark.shared
@pytest.mark.parametrize("names", REAL)
def test_real_files_are_detected(shared: Path, names: str) -> None:
    files = [shared / "data" / name for name in names.split()]

    assert detected_name(*(Source(file.name, file.read_bytes()) for file in files)) == REAL[names]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("papers.csv", "Paper ID,Paper Title\n1,A\n", "spreadsheet"),
        ("papers.csv", "uid,title\n1,A\n", "tables"),
        ("list.csv", "color,size\nred,1\n", "spreadsheet"),
        ("a.json", '{"format": "other", "notes": 1, "schedule": 2}', ""),
        ("a.json", '{"a": {"schedule": 1}}', ""),
        ("a.txt", "Dear all", ""),
    ],
)
def test_format_is_detected_from_columns_and_keys(name: str, text: str, expected: str) -> None:
    assert detected_name(Source(name, text.encode())) == expected


def test_spreadsheet_is_detected_with_a_mapping_file() -> None:
    table = Source("x.csv", b"Nummer,Titel,Authors\n1,A,B\n")

    assert detected_name(table, Source("map.toml", b'title = "Titel"')) == "spreadsheet"


@pytest.mark.parametrize(("member", "expected"), [("papers.csv", "tables"), ("papers.xlsx", "")])
def test_zip_format_is_detected_from_its_text_files(member: str, expected: str) -> None:
    assert detected_name(Source("program.zip", pack_zip([(member, b"uid,title")]))) == expected
