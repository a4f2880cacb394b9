"""Tests of the demo against facts about MLSys 2021 to 2023: all are present, no sentence is copied."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.demo.programs import YEARS, Json, keyed, printed, program, span

SHARED = Path(__file__).parents[3] / "shared"
FACTS_FILE = SHARED / "data" / "mlsys" / "mlsys-facts.json"
FACTS: list[Json] = json.loads(FACTS_FILE.read_text(encoding="utf-8")) if FACTS_FILE.exists() else []
PAGES = sorted((SHARED / "reference" / "pages").glob("*.txt"))
NGRAM = 8
# Names that are wrong on the old pages and correct in the demo.
REPAIRED = {"Costa Paolo": "Paolo Costa", "Simone Campanoni Campanoni": "Simone Campanoni"}
# The proceedings have "Yu Wang", and the conference's own page has the full name.
IN_FULL = {("Yu Wang", 2021): "Yu (Emma) Wang"}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FACTS or not PAGES, reason="the reference data is not beside the checkout"),
]
every_fact = pytest.mark.parametrize(
    "fact", FACTS, ids=[f"{fact['year']}-{number}" for number, fact in enumerate(FACTS)]
)


def paper_of(fact: Json) -> Json:
    titled = [
        paper
        for paper in program(fact["year"])["papers"]
        if paper["title"].casefold() == fact["title"].casefold()
    ]
    assert len(titled) == 1
    return dict(titled[0])


def appearance_of(fact: Json) -> Json:
    """Return the first presentation of the fact's paper, which is in the fact's session."""
    uid = paper_of(fact)["uid"]
    return next(dict(row) for row in program(fact["year"])["presentations"] if row["paper"] == uid)


def session_of(fact: Json) -> Json:
    return keyed(fact["year"], "sessions")[appearance_of(fact)["session"]]


def test_number_of_facts() -> None:
    assert len(FACTS) == 28


@every_fact
def test_authors_are_in_order_as_printed(fact: Json) -> None:
    known = [IN_FULL.get((name, fact["year"]), name) for name in fact["authors"]]
    assert printed(paper_of(fact)) == known


@every_fact
def test_award_is_granted(fact: Json) -> None:
    uid = paper_of(fact)["uid"]
    awards = program(fact["year"])["awards"]
    granted = [award["name"] for award in awards for grant in award["grants"] if grant["paper"] == uid]
    assert granted == ([fact["award"]] if fact["award"] else [])


@every_fact
def test_board_is_known_or_left_out(fact: Json) -> None:
    assert appearance_of(fact).get("board") == fact["board"]


@every_fact
def test_session_is_the_one_known_or_left_out(fact: Json) -> None:
    if "session" in fact["unverified"]:
        assert "session" not in appearance_of(fact)
        return
    session = session_of(fact)
    moderators = [role["person"]["name"] for role in session.get("roles", []) if role["role"] == "moderator"]
    assert session["title"] == fact["session"]
    assert datetime.fromisoformat(session["start"]).date().isoformat() == fact["date"]
    assert moderators == fact["moderators"]
    if fact["session_id"]:
        assert session["uid"] == str(fact["session_id"])


@every_fact
def test_room_is_known_or_left_out(fact: Json) -> None:
    appearance = appearance_of(fact)
    place = session_of(fact) if "session" in appearance else appearance
    rooms = keyed(fact["year"], "rooms")
    assert (rooms[place["room"]]["name"] if "room" in place else None) == fact["room"]


@every_fact
def test_time_is_that_of_the_fact(fact: Json) -> None:
    if "time" in fact["unverified"] or not fact["time"]:
        assert "start" not in appearance_of(fact)
        return
    zone = ZoneInfo(program(fact["year"])["edition"]["timezone"])
    start, end = (time.astimezone(zone) for time in span(appearance_of(fact), session_of(fact)))
    shown = f"{start:%H:%M}-{end:%H:%M} {end:%Z}" if "-" in fact["time"] else f"{start:%H:%M %Z}"
    assert shown == fact["time"]


@every_fact
def test_old_number_is_the_uid(fact: Json) -> None:
    number = fact["url"].rpartition("/")[2] if fact["url"] else f"{paper_of(fact)['uid']}-"
    assert appearance_of(fact)["uid"].startswith(number)


def listed_on(page: Path, separator: str) -> dict[str, list[str]]:
    """Return the authors of each title on a page, where a line of names follows each title."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line]
    titles = {paper["title"] for year in YEARS for paper in program(year)["papers"]}
    found = {title: names for title, names in pairwise(lines) if title in titles}
    return {
        title: list(dict.fromkeys(REPAIRED.get(name, name) for name in names.split(separator)))
        for title, names in found.items()
    }


@pytest.mark.parametrize(
    ("start", "separator", "year", "papers"),
    [pytest.param("001", ", ", 2021, 16, id="day"), pytest.param("003", " · ", 2022, 4, id="session")],
)
def test_papers_of_a_page_have_its_authors(start: str, separator: str, year: int, papers: int) -> None:
    page = next(page for page in PAGES if page.name.startswith(start))
    ours = {paper["title"]: printed(paper) for paper in program(year)["papers"]}

    listed = listed_on(page, separator)

    assert len(listed) == papers
    assert listed == {title: ours[title] for title in listed}


def ngrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[start : start + NGRAM]) for start in range(len(words) - NGRAM + 1)}


def prose(year: int) -> Iterator[str]:
    """Yield the prose of a program: descriptions, biographies, pages, announcements, abstracts."""
    content = program(year)
    yield from (content["conference"]["description"], content["edition"]["description"])
    for kind in ("people", "pages", "announcements", "papers", "awards", "sessions"):
        for row in content[kind]:
            yield from (row[field] for field in ("biography", "body", "text", "abstract") if field in row)


@pytest.mark.parametrize("year", YEARS)
def test_no_eight_words_in_a_row_are_taken_over(year: int) -> None:
    pages = set().union(*(ngrams(page.read_text(encoding="utf-8")) for page in PAGES))
    taken = [" ".join(found) for text in prose(year) for found in sorted(ngrams(text) & pages)]
    assert taken == []
