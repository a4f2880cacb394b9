"""Tests of the demo against facts about MLSys 2021 to 2023: all are present, no sentence is copied."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.demo.programs import YEARS, Json, author_names, by_key, program, span

SHARED = Path(__file__).parents[3] / "shared"
FACTS_FILE = SHARED / "data" / "mlsys" / "mlsys-facts.json"
FACTS: list[Json] = json.loads(FACTS_FILE.read_text(encoding="utf-8")) if FACTS_FILE.exists() else []
PAGES = sorted((SHARED / "reference" / "pages").glob("*.txt"))
NGRAM_WORDS = 8
# Names that are wrong on the old pages and correct in the demo.
CORRECTED_NAMES = {"Costa Paolo": "Paolo Costa", "Simone Campanoni Campanoni": "Simone Campanoni"}
# The proceedings have "Yu Wang", and the conference's own page has the full name.
FULL_NAMES = {("Yu Wang", 2021): "Yu (Emma) Wang"}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FACTS or not PAGES, reason="the reference data is not next to the checkout"),
]
every_fact = pytest.mark.parametrize(
    "fact", FACTS, ids=[f"{fact['year']}-{number}" for number, fact in enumerate(FACTS)]
)


def paper_of(fact: Json) -> Json:
    matches = [
        paper
        for paper in program(fact["year"])["papers"]
        if paper["title"].casefold() == fact["title"].casefold()
    ]
    assert len(matches) == 1
    return dict(matches[0])


def first_presentation(fact: Json) -> Json:
    """Return the first presentation of the fact's paper, which is in the fact's session."""
    uid = paper_of(fact)["uid"]
    return next(dict(row) for row in program(fact["year"])["presentations"] if row["paper"] == uid)


def session_of(fact: Json) -> Json:
    return by_key(fact["year"], "sessions")[first_presentation(fact)["session"]]


def test_fact_count() -> None:
    assert len(FACTS) == 28


@every_fact
def test_authors_are_in_order_as_printed(fact: Json) -> None:
    expected = [FULL_NAMES.get((name, fact["year"]), name) for name in fact["authors"]]
    assert author_names(paper_of(fact)) == expected


@every_fact
def test_award_is_granted(fact: Json) -> None:
    uid = paper_of(fact)["uid"]
    awards = program(fact["year"])["awards"]
    granted = [award["name"] for award in awards for grant in award["grants"] if grant["paper"] == uid]
    assert granted == ([fact["award"]] if fact["award"] else [])


@every_fact
def test_board_matches_the_fact(fact: Json) -> None:
    assert first_presentation(fact).get("board") == fact["board"]


@every_fact
def test_session_matches_the_fact_or_is_omitted(fact: Json) -> None:
    if "session" in fact["unverified"]:
        assert "session" not in first_presentation(fact)
        return
    session = session_of(fact)
    moderators = [role["person"]["name"] for role in session.get("roles", []) if role["role"] == "moderator"]
    assert session["title"] == fact["session"]
    assert datetime.fromisoformat(session["start"]).date().isoformat() == fact["date"]
    assert moderators == fact["moderators"]
    if fact["session_id"]:
        assert session["uid"] == str(fact["session_id"])


@every_fact
def test_room_matches_the_fact(fact: Json) -> None:
    presentation = first_presentation(fact)
    row = session_of(fact) if "session" in presentation else presentation
    rooms = by_key(fact["year"], "rooms")
    assert (rooms[row["room"]]["name"] if "room" in row else None) == fact["room"]


@every_fact
def test_time_matches_the_fact_or_is_omitted(fact: Json) -> None:
    if "time" in fact["unverified"] or not fact["time"]:
        assert "start" not in first_presentation(fact)
        return
    zone = ZoneInfo(program(fact["year"])["edition"]["timezone"])
    start, end = (time.astimezone(zone) for time in span(first_presentation(fact), session_of(fact)))
    text = f"{start:%H:%M}-{end:%H:%M} {end:%Z}" if "-" in fact["time"] else f"{start:%H:%M %Z}"
    assert text == fact["time"]


@every_fact
def test_presentation_uid_starts_with_the_old_number(fact: Json) -> None:
    number = fact["url"].rpartition("/")[2] if fact["url"] else f"{paper_of(fact)['uid']}-"
    assert first_presentation(fact)["uid"].startswith(number)


def listed_on(page: Path, separator: str) -> dict[str, list[str]]:
    """Return the authors of each title on a page, where a line of names follows each title."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line]
    titles = {paper["title"] for year in YEARS for paper in program(year)["papers"]}
    lines_by_title = {title: names for title, names in pairwise(lines) if title in titles}
    return {
        title: list(dict.fromkeys(CORRECTED_NAMES.get(name, name) for name in names.split(separator)))
        for title, names in lines_by_title.items()
    }


@pytest.mark.parametrize(
    ("start", "separator", "year", "papers"),
    [pytest.param("001", ", ", 2021, 16, id="day"), pytest.param("003", " · ", 2022, 4, id="session")],
)
def test_authors_match_the_reference_page(start: str, separator: str, year: int, papers: int) -> None:
    page = next(page for page in PAGES if page.name.startswith(start))
    authors_by_title = {paper["title"]: author_names(paper) for paper in program(year)["papers"]}

    listed = listed_on(page, separator)

    assert len(listed) == papers
    assert listed == {title: authors_by_title[title] for title in listed}


def ngrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[start : start + NGRAM_WORDS]) for start in range(len(words) - NGRAM_WORDS + 1)}


def prose(year: int) -> Iterator[str]:
    """Yield the prose of a program: descriptions, biographies, pages, announcements, abstracts."""
    content = program(year)
    yield from (content["conference"]["description"], content["edition"]["description"])
    for kind in ("people", "pages", "announcements", "papers", "awards", "sessions"):
        for row in content[kind]:
            yield from (row[field] for field in ("biography", "body", "text", "abstract") if field in row)


@pytest.mark.parametrize("year", YEARS)
def test_no_eight_consecutive_words_are_copied(year: int) -> None:
    pages = set().union(*(ngrams(page.read_text(encoding="utf-8")) for page in PAGES))
    copied = [" ".join(ngram) for text in prose(year) for ngram in sorted(ngrams(text) & pages)]
    assert copied == []
