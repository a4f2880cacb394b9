"""Properties of all readers: each row of a file is a row of the program, or is named with its place.

Rows have few titles, people and times, so that they repeat and collide.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from conference.models import Edition
from exchange.files import Context, Source
from exchange.formats import readable
from exchange.imports.load import load
from exchange.problems import Problem, ProgramError, Where
from exchange.records import Program, Record
from tests.factories import make_edition

CONTEXT = Context("2021", 2021, "UTC")
WORDS = ("Tides", "Waves", "Coffee break")
NAMES = ("Ann Bee", "Cy Dorn")


@dataclass(frozen=True)
class Line:
    """One row of a file, in any format."""

    key: str
    title: str
    people: tuple[str, ...]
    hour: int | None
    session: str
    word: str

    @property
    def start(self) -> str:
        return "" if self.hour is None else f"2021-04-06 {self.hour:02}:00"

    @property
    def end(self) -> str:
        return "" if self.hour is None else f"2021-04-06 {self.hour + 1:02}:00"


OWN_KEY = "own"


def with_keys(lines: list[Line]) -> list[Line]:
    """Give most lines a key of their own."""
    return [
        replace(line, key=str(index + 1)) if line.key == OWN_KEY else line for index, line in enumerate(lines)
    ]


LINES = st.lists(
    st.builds(
        Line,
        key=st.sampled_from([OWN_KEY] * 6 + ["", "1"]),
        title=st.sampled_from([*WORDS, *WORDS, ""]),
        people=st.lists(st.sampled_from(NAMES), max_size=3).map(tuple),
        hour=st.sampled_from([None, 9, 9, 10]),
        session=st.sampled_from(["", "", "Posters", "Orals"]),
        word=st.sampled_from(["accept", "accept", "reject", "break", "keynote"]),
    ),
    min_size=1,
    max_size=5,
).map(with_keys)


def table(headings: str, rows: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(headings.split(","))
    writer.writerows(rows)
    return text.getvalue().encode()


def workbook(headings: str, rows: Iterable[Iterable[str]], title: str = "sheet") -> bytes:
    book = Workbook()
    sheet: Any = book.active
    sheet.title = title
    for row in [headings.split(","), *rows]:
        sheet.append(list(row))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def spreadsheet_rows(lines: list[Line]) -> list[list[str]]:
    return [
        [
            line.key,
            line.title,
            "; ".join(line.people),
            line.word,
            line.word,
            line.session,
            line.start,
            line.end,
        ]
        for line in lines
    ]


SPREADSHEET_HEADINGS = "id,title,authors,decision,kind,session,start,end"


def spreadsheet(lines: list[Line]) -> dict[str, bytes]:
    return {"list.csv": table(SPREADSHEET_HEADINGS, spreadsheet_rows(lines))}


def sessions_of_a_spreadsheet(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.title, line.word, line.start, line.end, line.session] for line in lines]
    return {"list.csv": table("session,session kind,start,end,room", rows)}


def spreadsheet_of_authors(lines: list[Line]) -> dict[str, bytes]:
    papers = [[key, f"Paper {key}", "reject" if key == "2" else "accept"] for key in "123456"]
    rows = [[line.key, (*line.people, "Eve")[0], "Fox", line.session] for line in lines]
    return {
        "papers.csv": table("id,title,decision", papers),
        "list.csv": table("paper id,first name,last name,affiliation", rows),
    }


def spreadsheet_workbook(lines: list[Line]) -> dict[str, bytes]:
    return {"list.xlsx": workbook(SPREADSHEET_HEADINGS, spreadsheet_rows(lines))}


def hotcrp(lines: list[Line]) -> dict[str, bytes]:
    papers = [
        {
            "pid": index,
            "title": line.title,
            "authors": [{"first": name.split()[0], "last": name.split()[1]} for name in line.people],
            "decision": line.word,
        }
        for index, line in enumerate(lines, 1)
    ]
    return {"list.json": json.dumps(papers).encode()}


def own_tables(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.key, line.title, "published", "; ".join(line.people)] for line in lines]
    return {"papers.csv": table("uid,title,status,keywords", rows)}


def own_workbook(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.key, line.title, "published"] for line in lines]
    return {"list.xlsx": workbook("uid,title,status", rows, "papers")}


def program_json(lines: list[Line]) -> dict[str, bytes]:
    rows = [{"uid": line.key, "title": line.title, "status": "published"} for line in lines]
    document = {"format": "plenary-program", "version": 1, "edition": {"slug": "2021"}, "papers": rows}
    return {"program.json": json.dumps(document).encode()}


def bibtex(lines: list[Line]) -> dict[str, bytes]:
    entry_types = {"reject": "proceedings", "break": "misc"}
    entries = [
        f"@{entry_types.get(line.word, 'inproceedings')}{{k{line.key}, title={{{line.title}}}, "
        f"author={{{' and '.join(line.people) or 'Eve Fox'}}}}}\n"
        for line in lines
    ]
    return {"list.bib": "".join(entries).encode()}


def openreview(lines: list[Line]) -> dict[str, bytes]:
    venues = {"reject": "Rejected_Submission", "accept": "Conference"}
    notes = [
        {
            "id": line.key or f"key{index}",
            "forum": line.key or f"key{index}",
            "ddate": 1 if line.word == "break" else None,
            "content": {
                "title": {"value": line.title},
                "authors": {"value": list(line.people)},
                "venueid": {"value": f"X.org/2021/{venues.get(line.word, '')}"},
            },
        }
        for index, line in enumerate(lines)
    ]
    return {"notes.json": json.dumps(notes).encode()}


def orals_posters(lines: list[Line]) -> dict[str, bytes]:
    rows = [
        {
            "id": int(line.key or "4") + 10 * index,
            "uid": line.key,
            "name": line.title,
            "eventtype": "Oral" if line.word == "keynote" else "Poster",
            "authors": [{"fullname": name} for name in line.people],
            "session": line.session,
            "starttime": line.start and f"{line.start}:00+00:00",
            "endtime": line.end and f"{line.end}:00+00:00",
            "visible": line.word != "reject",
        }
        for index, line in enumerate(lines)
    ]
    page = {"count": len(rows), "next": None, "previous": None, "results": rows}
    return {"list.json": json.dumps(page).encode()}


def frab_events(lines: list[Line]) -> list[dict[str, Any]]:
    return [
        {
            "id": int(line.key or "0") or None,
            "code": f"C{index}",
            "title": f"{line.title or 'Talk'} {index}",
            "date": f"2021-04-06T{line.hour or 12:02}:00:00+00:00",
            "duration": "00:30",
            "type": line.word,
            "track": line.session,
            "state": "rejected" if line.word == "reject" else "",
            "persons": [{"name": name} for name in line.people],
            "links": [{"url": "http://" if line.hour else "https://x.test/", "title": "Slides"}],
        }
        for index, line in enumerate(lines)
    ]


def frab_json(lines: list[Line]) -> dict[str, bytes]:
    days = [{"date": "2021-04-06", "rooms": {"Hall": frab_events(lines)}}]
    schedule = {"schedule": {"conference": {"acronym": "c", "title": "C", "days": days}}}
    return {"schedule.json": json.dumps(schedule).encode()}


def frab_xml(lines: list[Line]) -> dict[str, bytes]:
    events = [
        f'<event id="{event["id"] or ""}" code="{event["code"]}"><date>{event["date"]}</date>'
        f"<title>{escape(event['title'])}</title><duration>00:30</duration><type>{event['type']}</type>"
        f"<track>{event['track']}</track><state>{event['state']}</state><persons>"
        + "".join(f"<person>{person['name']}</person>" for person in event["persons"])
        + "</persons><links>"
        + "".join(f"<link href={quoteattr(link['url'])}>Slides</link>" for link in event["links"])
        + "</links></event>"
        for event in frab_events(lines)
    ]
    return {
        "schedule.xml": (
            '<schedule><conference><acronym>c</acronym><title>C</title></conference><day date="2021-04-06">'
            f'<room name="Hall">{"".join(events)}</room></day></schedule>'
        ).encode()
    }


MINICONF_PAPERS = table("UID,title,authors", [["p1", "Tides", "Ann Bee"]])


def miniconf_papers(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.key, line.title, "|".join(line.people), line.session] for line in lines]
    return {"papers.csv": table("UID,title,authors,session", rows)}


def miniconf_talks(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.key, line.title, ", ".join(line.people)] for line in lines]
    return {"papers.csv": MINICONF_PAPERS, "w1_papers.csv": table("UID,title,speakers", rows)}


def miniconf_events(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.key, line.title, ", ".join(line.people), line.start, line.end] for line in lines]
    return {"papers.csv": MINICONF_PAPERS, "events.csv": table("uid,title,speaker,start_time,end_time", rows)}


def miniconf_chairs(lines: list[Line]) -> dict[str, bytes]:
    rows = [[line.session, ", ".join(line.people)] for line in lines]
    calendar = [{"title": "Orals", "start": "2021-04-06T09:00:00Z", "end": "2021-04-06T10:00:00Z"}]
    return {
        "papers.csv": MINICONF_PAPERS,
        "main_calendar.json": json.dumps(calendar).encode(),
        "chairs.csv": table("UID,chair", rows),
    }


def miniconf_calendar(lines: list[Line]) -> dict[str, bytes]:
    rows = [
        {
            "UID": line.key,
            "title": line.title,
            "start": f"2021-04-06T{line.hour or 12:02}:00:00Z",
            "end": f"2021-04-06T{line.hour or 12:02}:30:00Z",
            "room": line.session,
            "chair": line.people[0] if line.people else "",
        }
        for line in lines
    ]
    return {"papers.csv": MINICONF_PAPERS, "main_calendar.json": json.dumps(rows).encode()}


def miniconf_schedules(lines: list[Line]) -> dict[str, bytes]:
    rows = [
        {
            "id": line.key,
            "title": line.title,
            "speakers": ", ".join(line.people),
            "date": "2021-04-06",
            "startTime": "" if line.hour is None else f"{line.hour}:00",
            "endTime": "",
        }
        for line in lines
    ]
    return {"papers.csv": MINICONF_PAPERS, "workshop_schedules.json": json.dumps({"W1": rows}).encode()}


type Render = Callable[[list[Line]], dict[str, bytes]]
# By format: how it is written, the file with the lines, and the pattern of the number of a line in its place.
FILES: dict[str, tuple[str, Render, str, str, int]] = {
    "spreadsheet": ("spreadsheet", spreadsheet, "list.csv", r"row (\d+)", 2),
    "spreadsheet of sessions": ("spreadsheet", sessions_of_a_spreadsheet, "list.csv", r"row (\d+)", 2),
    "spreadsheet of authors": ("spreadsheet", spreadsheet_of_authors, "list.csv", r"row (\d+)", 2),
    "spreadsheet workbook": ("spreadsheet", spreadsheet_workbook, "list.xlsx", r"row (\d+)", 2),
    "HotCRP": ("spreadsheet", hotcrp, "list.json: papers.csv", r"row (\d+)", 2),
    "tables": ("tables", own_tables, "papers.csv", r"row (\d+)", 2),
    "xlsx": ("xlsx", own_workbook, "list.xlsx", r"row (\d+)", 2),
    "program_json": ("program_json", program_json, "program.json", r"papers\[(\d+)\]", 0),
    "bibtex": ("bibtex", bibtex, "list.bib", r"line (\d+)", 1),
    "openreview": ("openreview", openreview, "notes.json", r"notes\[(\d+)\]", 0),
    "orals_posters": ("orals_posters", orals_posters, "list.json", r"results\[(\d+)\]", 0),
    "frab_json": ("frab_json", frab_json, "schedule.json", r"rooms\.Hall\[(\d+)\]", 0),
    "frab_xml": ("frab_xml", frab_xml, "schedule.xml", r"rooms\.Hall\[(\d+)\]", 0),
    "miniconf papers": ("miniconf", miniconf_papers, "papers.csv", r"row (\d+)", 2),
    "miniconf talks": ("miniconf", miniconf_talks, "w1_papers.csv", r"row (\d+)", 2),
    "miniconf events": ("miniconf", miniconf_events, "events.csv", r"row (\d+)", 2),
    "miniconf chairs": ("miniconf", miniconf_chairs, "chairs.csv", r"row (\d+)", 2),
    "miniconf calendar": ("miniconf", miniconf_calendar, "main_calendar.json", r"\[(\d+)\]", 0),
    "miniconf schedules": ("miniconf", miniconf_schedules, "workshop_schedules.json", r"W1\[(\d+)\]", 0),
}


def test_all_readers_are_tested() -> None:
    assert {name for name, *_ in FILES.values()} == set(readable())


def places(value: object) -> Iterator[Where]:
    """Yield the places of a record and of the records in it."""
    if isinstance(value, Record):
        yield value.where
    if is_dataclass(value):
        for field in fields(value):
            yield from places(getattr(value, field.name))
    elif isinstance(value, tuple):
        for item in value:
            yield from places(item)


def numbers(wheres: Iterable[Where], file: str, pattern: str) -> set[int]:
    matches = (re.search(pattern, where.place) for where in wheres if where.file.startswith(file))
    return {int(match[1]) for match in matches if match}


def read(name: str, files: dict[str, bytes]) -> Program | tuple[Problem, ...]:
    reader = readable()[name].read
    assert reader
    try:
        return reader([Source(file, content) for file, content in files.items()], CONTEXT)
    except ProgramError as error:
        return error.problems


@pytest.mark.parametrize("sample", FILES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(lines=LINES)
def test_trap_39_each_row_is_a_record_or_named(sample: str, lines: list[Line]) -> None:
    name, render, file, pattern, first = FILES[sample]
    files = render(lines)
    result = read(name, files)
    if not isinstance(result, Program):
        assert result
        assert all(problem.message for problem in result)
        return
    wheres = [*places(result), *(note.where for note in result.notes)]
    rows = set(range(first, first + len(lines))) - blank_rows(files, file)

    assert rows <= numbers(wheres, file, pattern)


def blank_rows(files: dict[str, bytes], file: str) -> set[int]:
    """Return the numbers of the rows of a table that have no cell."""
    rows = csv.reader(io.StringIO(files[file].decode())) if file in files and file.endswith(".csv") else ()
    return {number for number, row in enumerate(rows, 1) if not any(row)}


@pytest.fixture(scope="module")
def shared_edition(made_once: Callable[[Callable[[], Any]], Any]) -> Edition:
    edition: Edition = made_once(lambda: make_edition(timezone="UTC"))
    return edition


@pytest.mark.django_db
@pytest.mark.parametrize("sample", FILES)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(lines=LINES)
def test_each_record_is_a_row_of_the_plan_or_named(
    shared_edition: Edition, sample: str, lines: list[Line]
) -> None:
    name, render, *_ = FILES[sample]
    program = read(name, render(lines))
    assume(isinstance(program, Program))
    assert isinstance(program, Program)
    try:
        report = load(program, shared_edition.slug, dry_run=True)
    except ProgramError:
        # The file is refused, with reasons.
        return

    plans = [*report.plan.steps.values(), *report.plan.idle.values()]
    planned = {str(row.where) for rows in plans for row in rows} | {str(note.where) for note in report.notes}
    records = [*program.papers, *program.sessions, *program.presentations, *program.awards]
    assert {str(record.where) for record in records} <= planned
