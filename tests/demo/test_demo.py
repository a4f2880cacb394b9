"""Tests of the demo's files: complete, consistent, with the expected counts. They use no database."""

from collections import Counter
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from exchange.files import Context, Source
from exchange.formats import program_json
from tests.demo.programs import DEMO, LISTS, YEARS, Json, by_key, pages_in, person_references, program, span

COUNTS = {
    2021: (0, 101, 3, 0, 2, 6, 1, 17, 1, 6, 22),
    2022: (0, 65, 3, 0, 1, 6, 1, 9, 1, 2, 10),
    2023: (0, 168, 3, 0, 2, 5, 2, 17, 0, 6, 17),
}
AWARDED = {
    2021: ["cortex", "data-movement", "panama", "tt-rec", "tiramisu-cost-model"],
    2022: ["pathways", "ml-exray", "quadralib", "robe", "gpu-semiring"],
    2023: [],
}
every_year = pytest.mark.parametrize("year", YEARS)


@every_year
def test_file_is_read_without_notes(year: int) -> None:
    path = DEMO / f"mlsys-{year}.json"
    context = Context(str(year), year, program(year)["edition"]["timezone"])

    result = program_json.read([Source(path.name, path.read_bytes())], context)

    assert result.notes == ()
    assert [paper.uid for paper in result.papers] == list(by_key(year, "papers"))


@every_year
def test_file_contains_no_unicode_escapes(year: int) -> None:
    assert "\\u" not in (DEMO / f"mlsys-{year}.json").read_text(encoding="utf-8")


@every_year
def test_record_counts(year: int) -> None:
    assert tuple(len(program(year)[kind]) for kind in LISTS) == COUNTS[year]


@every_year
def test_readme_names_the_counts(year: int) -> None:
    content = program(year)
    counts = [len(content[kind]) for kind in ("papers", "people", "sessions", "presentations")]
    row = " | ".join(map(str, (year, *counts)))
    assert f"| {row} |" in (DEMO / "README.md").read_text(encoding="utf-8")


@every_year
def test_presentations_count_by_kind(year: int) -> None:
    expected = {2021: {"oral": 17, "poster": 5}, 2022: {"oral": 9, "poster": 1}, 2023: {"poster": 17}}
    assert Counter(row["kind"] for row in program(year)["presentations"]) == expected[year]


@every_year
@pytest.mark.parametrize("kind", LISTS)
def test_keys_are_unique(year: int, kind: str) -> None:
    assert len(by_key(year, kind)) == len(program(year)[kind])


def test_conference_is_the_same_in_every_file() -> None:
    assert program(2021)["conference"] == program(2022)["conference"] == program(2023)["conference"]


def test_accent_colors_differ() -> None:
    assert len({program(year)["edition"]["accent"] for year in YEARS}) == len(YEARS)


def test_person_is_the_same_in_every_file() -> None:
    rows: dict[str, list[Json]] = {}
    for year in YEARS:
        for uid, person in by_key(year, "people").items():
            rows.setdefault(uid, []).append(person)

    assert [uid for uid, records in rows.items() if any(row != records[0] for row in records)] == []
    assert Counter(len(records) for records in rows.values()) == {1: 303, 2: 14, 3: 1}


@every_year
def test_people_are_those_in_the_program(year: int) -> None:
    assert set(by_key(year, "people")) == {reference["uid"] for reference in person_references(year)}


@every_year
def test_printed_name_is_one_of_the_persons_names(year: int) -> None:
    people = by_key(year, "people")
    unknown_names = []
    for reference in person_references(year):
        person = people[reference["uid"]]
        names = [person["name"], *person.get("other_names", [])]
        if reference["name"].casefold() not in [name.casefold() for name in names]:
            unknown_names.append(reference)
    assert unknown_names == []


def test_namesakes_are_two_people() -> None:
    authorships = {
        (paper["uid"], author["person"]["uid"])
        for year in YEARS
        for paper in program(year)["papers"]
        for author in paper["authors"]
        if author["person"]["name"] in {"Yu Wang", "Yu (Emma) Wang"}
    }
    assert authorships == {
        ("mlsys2021-tpu-concurrency", "p-yu-emma-wang"),
        ("mlsys2023-hypergef", "p-yu-wang"),
        ("mlsys2023-pcengine", "p-yu-wang"),
    }


@every_year
def test_papers_list_no_author_twice(year: int) -> None:
    for paper in program(year)["papers"]:
        uids = [author["person"]["uid"] for author in paper["authors"]]
        assert len(uids) == len(set(uids)), paper["uid"]


@every_year
def test_papers_have_an_abstract_a_topic_and_a_presentation(year: int) -> None:
    papers = program(year)["papers"]
    assert [paper["uid"] for paper in papers if len(paper["abstract"]) < 200] == []
    assert {paper["topic"] for paper in papers} == set(by_key(year, "topics"))
    assert {row["paper"] for row in program(year)["presentations"]} == set(by_key(year, "papers"))


@every_year
def test_referenced_rooms_sessions_and_pages_exist(year: int) -> None:
    rows = program(year)["sessions"] + program(year)["presentations"]
    assert {row["room"] for row in rows if "room" in row} <= set(by_key(year, "rooms"))
    assert {row["session"] for row in program(year)["presentations"] if "session" in row} <= set(
        by_key(year, "sessions")
    )
    assert set(pages_in(program(year)["edition"]["menu"])) == set(by_key(year, "pages"))


@every_year
@pytest.mark.parametrize("kind", ["topics", "rooms", "awards"])
def test_positions_count_from_one(year: int, kind: str) -> None:
    rows = program(year)[kind]
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))


@every_year
def test_positions_in_a_session_count_from_one(year: int) -> None:
    for uid in by_key(year, "sessions"):
        positions = [row["position"] for row in program(year)["presentations"] if row.get("session") == uid]
        assert positions == list(range(1, len(positions) + 1)), uid
    assert [row for row in program(year)["presentations"] if ("session" in row) != ("position" in row)] == []


@every_year
def test_awards_go_to_each_paper_once_in_order(year: int) -> None:
    granted = [grant["paper"] for award in program(year)["awards"] for grant in award["grants"]]
    assert granted == [f"mlsys{year}-{short}" for short in AWARDED[year]]


@every_year
def test_sessions_do_not_overlap_and_are_on_one_day(year: int) -> None:
    edition = program(year)["edition"]
    spans = [span(session) for session in program(year)["sessions"]]
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    days = {start.date().isoformat() for start, _ in spans}
    assert days == {{2021: "2021-04-06", 2022: "2022-08-29", 2023: "2023-06-07"}[year]}
    assert edition["start_date"] <= min(days) <= edition["end_date"]


@every_year
def test_utc_offsets_match_the_zone(year: int) -> None:
    zone = ZoneInfo(program(year)["edition"]["timezone"])
    rows = [row for kind in ("sessions", "presentations") for row in program(year)[kind] if "start" in row]
    for start, end in map(span, rows):
        assert start.utcoffset() == start.astimezone(zone).utcoffset()
        assert end.utcoffset() == end.astimezone(zone).utcoffset()


@every_year
def test_talks_do_not_overlap_within_their_session(year: int) -> None:
    for uid, session in by_key(year, "sessions").items():
        talks = [
            row for row in program(year)["presentations"] if row.get("session") == uid and "start" in row
        ]
        spans = [span(talk) for talk in talks]
        assert all(span(session)[0] <= start < end for start, end in spans)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_only_talks_of_outstanding_papers_end_after_their_session() -> None:
    late = []
    for year in YEARS:
        for row in program(year)["presentations"]:
            session = by_key(year, "sessions").get(row.get("session"))
            if session and span(row, session)[1] > span(session)[1]:
                late.append(row["uid"])
    assert late == ["mlsys2022-quadralib-oral", "2133"]
