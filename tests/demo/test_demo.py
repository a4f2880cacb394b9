"""Tests of the demo's files: complete, consistent, with the expected counts. They use no database."""

from collections import Counter
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from exchange.files import Context, Source
from exchange.formats import program_json
from tests.demo.programs import DEMO, LISTS, YEARS, Json, keyed, pages_in, person_references, program, span

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
def test_file_is_read_without_a_remark(year: int) -> None:
    path = DEMO / f"mlsys-{year}.json"
    context = Context(str(year), year, program(year)["edition"]["timezone"])

    read = program_json.read([Source(path.name, path.read_bytes())], context)

    assert read.notes == ()
    assert [paper.uid for paper in read.papers] == list(keyed(year, "papers"))


@every_year
def test_file_shows_letters_and_not_their_codes(year: int) -> None:
    assert "\\u" not in (DEMO / f"mlsys-{year}.json").read_text(encoding="utf-8")


@every_year
def test_counts(year: int) -> None:
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
    assert len(keyed(year, kind)) == len(program(year)[kind])


def test_conference_is_the_same_in_every_file() -> None:
    assert program(2021)["conference"] == program(2022)["conference"] == program(2023)["conference"]


def test_accents_differ() -> None:
    assert len({program(year)["edition"]["accent"] for year in YEARS}) == len(YEARS)


def test_person_is_the_same_in_every_file() -> None:
    rows: dict[str, list[Json]] = {}
    for year in YEARS:
        for uid, person in keyed(year, "people").items():
            rows.setdefault(uid, []).append(person)

    assert [uid for uid, found in rows.items() if any(row != found[0] for row in found)] == []
    assert Counter(len(found) for found in rows.values()) == {1: 303, 2: 14, 3: 1}


@every_year
def test_people_are_those_in_the_program(year: int) -> None:
    assert set(keyed(year, "people")) == {reference["uid"] for reference in person_references(year)}


@every_year
def test_printed_name_is_one_of_the_persons_names(year: int) -> None:
    people = keyed(year, "people")
    strangers = []
    for reference in person_references(year):
        person = people[reference["uid"]]
        names = [person["name"], *person.get("other_names", [])]
        if reference["name"].casefold() not in [name.casefold() for name in names]:
            strangers.append(reference)
    assert strangers == []


def test_namesakes_are_two_people() -> None:
    found = {
        (paper["uid"], author["person"]["uid"])
        for year in YEARS
        for paper in program(year)["papers"]
        for author in paper["authors"]
        if author["person"]["name"] in {"Yu Wang", "Yu (Emma) Wang"}
    }
    assert found == {
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
def test_papers_have_text_topic_and_an_appearance(year: int) -> None:
    papers = program(year)["papers"]
    assert [paper["uid"] for paper in papers if len(paper["abstract"]) < 200] == []
    assert {paper["topic"] for paper in papers} == set(keyed(year, "topics"))
    assert {row["paper"] for row in program(year)["presentations"]} == set(keyed(year, "papers"))


@every_year
def test_rooms_sessions_and_pages_pointed_at_exist(year: int) -> None:
    shown = program(year)["sessions"] + program(year)["presentations"]
    assert {row["room"] for row in shown if "room" in row} <= set(keyed(year, "rooms"))
    assert {row["session"] for row in program(year)["presentations"] if "session" in row} <= set(
        keyed(year, "sessions")
    )
    assert set(pages_in(program(year)["edition"]["menu"])) == set(keyed(year, "pages"))


@every_year
@pytest.mark.parametrize("kind", ["topics", "rooms", "awards"])
def test_positions_count_from_one(year: int, kind: str) -> None:
    rows = program(year)[kind]
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))


@every_year
def test_positions_in_a_session_count_from_one(year: int) -> None:
    for uid in keyed(year, "sessions"):
        inside = [row["position"] for row in program(year)["presentations"] if row.get("session") == uid]
        assert inside == list(range(1, len(inside) + 1)), uid
    assert [row for row in program(year)["presentations"] if ("session" in row) != ("position" in row)] == []


@every_year
def test_awards_go_to_each_paper_once_in_order(year: int) -> None:
    granted = [grant["paper"] for award in program(year)["awards"] for grant in award["grants"]]
    assert granted == [f"mlsys{year}-{short}" for short in AWARDED[year]]


@every_year
def test_sessions_follow_in_time_on_one_program_day(year: int) -> None:
    edition = program(year)["edition"]
    spans = [span(session) for session in program(year)["sessions"]]
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    days = {start.date().isoformat() for start, _ in spans}
    assert days == {{2021: "2021-04-06", 2022: "2022-08-29", 2023: "2023-06-07"}[year]}
    assert edition["start_date"] <= min(days) <= edition["end_date"]


@every_year
def test_offsets_are_those_of_the_zone(year: int) -> None:
    zone = ZoneInfo(program(year)["edition"]["timezone"])
    timed = [row for kind in ("sessions", "presentations") for row in program(year)[kind] if "start" in row]
    for start, end in map(span, timed):
        assert start.utcoffset() == start.astimezone(zone).utcoffset()
        assert end.utcoffset() == end.astimezone(zone).utcoffset()


@every_year
def test_talks_follow_each_other_inside_their_session(year: int) -> None:
    for uid, session in keyed(year, "sessions").items():
        talks = [
            row for row in program(year)["presentations"] if row.get("session") == uid and "start" in row
        ]
        spans = [span(talk) for talk in talks]
        assert all(span(session)[0] <= start < end for start, end in spans)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_talks_that_outrun_their_session_are_those_of_the_outstanding_papers() -> None:
    late = []
    for year in YEARS:
        for row in program(year)["presentations"]:
            session = keyed(year, "sessions").get(row.get("session"))
            if session and span(row, session)[1] > span(session)[1]:
                late.append(row["uid"])
    assert late == ["mlsys2022-quadralib-oral", "2133"]
