"""Tests of folders of Mini-Conf sites: files that speak of the same sessions, and later layouts."""

import csv
import io
import json
import zipfile
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from exchange.files import Context, Source
from exchange.formats import miniconf
from exchange.reading.values import slug
from exchange.records import UNSTATED, Program, SessionRecord, stated
from tests.exchange.outputs import reported_problems

ACL_2020 = Path(__file__).parents[4] / "shared" / "data" / "miniconf-acl2020"
DAYS = (date(2020, 7, 5), date(2020, 7, 10))


def read(files: dict[str, str], zone: str = "UTC") -> Program:
    sources = [Source(name, text.encode()) for name, text in files.items()]
    return miniconf.read(sources, Context("2020", 2020, zone, days=DAYS))


def notes(program: Program) -> list[str]:
    return [": ".join(filter(None, (str(note.where), note.message))) for note in program.notes]


def roles(session: SessionRecord) -> list[tuple[str, str]]:
    return [(role.role, role.person.name) for role in stated(session.roles, ())]


def hour(session: SessionRecord) -> str:
    start = stated(session.start, datetime.max.replace(tzinfo=UTC))
    return f"{start.astimezone(UTC):%d %H:%M}"


TWO_TRACKS = {
    "main_papers.csv": "UID,title,authors\nmain.1,On n bodies,Mia Zed\n",
    "srw_papers.csv": "UID,title,authors\nsrw.1,Two,Bo Li\n",
    "main_paper_sessions.yml": "1A: {date: 2020-07-06_05:00:00, papers: [main.1]}",
    "srw_paper_sessions.yml": "1A: {date: 2020-07-06_05:00:00, papers: [srw.1]}",
}


def test_trap_44_two_files_speak_of_one_session() -> None:
    program = read(TWO_TRACKS)

    assert [(session.uid, hour(session)) for session in program.sessions] == [("1A", "06 05:00")]
    assert [(row.uid, row.session) for row in program.presentations] == [
        ("1A.main.1", "1A"),
        ("1A.srw.1", "1A"),
    ]


def test_session_of_the_same_key_at_another_time_is_another() -> None:
    files = {**TWO_TRACKS, "srw_paper_sessions.yml": "1A: {date: 2020-07-07_05:00:00, papers: [srw.1]}"}
    program = read(files)

    assert [(session.uid, hour(session)) for session in program.sessions] == [
        ("1A", "06 05:00"),
        ("srw_paper_sessions.1A", "07 05:00"),
    ]
    assert [row.session for row in program.presentations] == ["1A", "srw_paper_sessions.1A"]


WORKSHOPS = """
- {UID: W1, title: Words, start: 2020-07-09T09:00:00Z, end: 2020-07-09T17:00:00Z}
- {UID: W2, title: Waves, start: 2020-07-10T09:00:00Z, end: 2020-07-10T17:00:00Z}
"""
TALKS = {
    "workshops.yml": WORKSHOPS,
    "w1_papers.csv": "UID,title,speakers\n1,Letters,Bo Li\n2,Signs,Ann Abe\n",
    "w2_papers.csv": "UID,title,speakers\n1,Tides,Mia Zed\n",
}


def talks(program: Program) -> list[tuple[object, ...]]:
    return [
        (
            row.uid,
            row.title,
            row.session,
            "" if row.start in (UNSTATED, None) else f"{row.start:%d %H:%M}",
            "" if row.end in (UNSTATED, None) else f"{row.end:%H:%M}",
            [speaker.person.name for speaker in stated(row.speakers, ())],
        )
        for row in program.presentations
    ]


def test_trap_44_talks_of_two_workshops_are_numbered_from_one() -> None:
    assert talks(read(TALKS)) == [
        ("w1.1", "Letters", "W1", "", "", ["Bo Li"]),
        ("w1.2", "Signs", "W1", "", "", ["Ann Abe"]),
        ("w2.1", "Tides", "W2", "", "", ["Mia Zed"]),
    ]


def test_schedules_of_workshops_give_times_and_add_what_is_no_paper() -> None:
    def row(title: str, start: str, end: str, day: str = "Jul 9", **fields: Any) -> dict[str, Any]:
        return {"title": title, "date": day, "startTime": start, "endTime": end, **fields}

    schedule = {
        "W1": [
            row("Opening", "9:00 AM", "9:10 AM", id="", speakers="Cy Lee and Eve Fox"),
            row("Letters", "9:10 AM", "9:30 AM", id=1, speakers="Bo Li"),
            row("Letters", "13:30 PM", "13:40 PM", id=1, speakers="Bo Li"),
            row("", "", ""),
        ],
        "W2": [row("Tides", "23:30", "0:10", day="10 Jul", id=1), row("Lunch", "", "", day="")],
    }
    program = read({**TALKS, "workshop_schedules.json": json.dumps(schedule)})

    assert talks(program) == [
        ("w1.1", "Letters", "W1", "09 09:10", "09:30", ["Bo Li"]),
        ("w1.2", "Signs", "W1", "", "", ["Ann Abe"]),
        ("w2.1", "Tides", "W2", "10 23:30", "00:10", ["Mia Zed"]),
        ("w1.opening", "Opening", "W1", "09 09:00", "09:10", ["Cy Lee", "Eve Fox"]),
        ("w1.letters", "Letters", "W1", "09 13:30", "13:40", ["Bo Li"]),
        ("w2.lunch", "Lunch", "W2", "", "", []),
    ]
    assert notes(program) == [
        "workshop_schedules.json, W1[3]: Left out: the row has no title.",
        "workshop_schedules.json: 8 times name no zone; they were taken as times in UTC.",
    ]


def calendar(**rows: dict[str, Any]) -> str:
    day = "2020-07-06T"
    return json.dumps(
        [
            {"UID": key, **row, "start": f"{day}{row['start']}Z", "end": f"{day}{row['end']}Z"}
            for key, row in rows.items()
        ]
    )


FORK = {
    "papers.csv": "UID,title,authors,session\na1,Tides,Mia Zed,posters+demos\na2,Waves,Bo Li,orals\n",
    "speakers.yml": "speakers:\n- {UID: 1, title: TBD, name: Ann Abe, bio: She thinks., session: Keynote}\n",
    "main_calendar.json": calendar(
        **{
            "orals": {
                "title": "Oral Session 1: Water",
                "start": "09:00",
                "end": "10:00",
                "room": "Sun I",
                "chair": "Cy Lee",
            },
            "coffee1": {"title": "Coffee break", "start": "10:00", "end": "10:30", "room": "Foyer"},
            "coffee2": {"title": "Coffee break", "start": "15:00", "end": "15:30", "room": "Foyer"},
            "keynote": {
                "title": "Keynote",
                "start": "11:00",
                "end": "12:00",
                "room": "Sun I",
                "chair": "TBA",
            },
            "posters+demos": {
                "title": "Posters + demos",
                "start": "13:00",
                "end": "14:00",
                "location": "/p.html",
            },
            "north": {"title": "Workshop", "start": "16:00", "end": "18:00", "room": "North"},
            "south": {"title": "Workshop", "start": "16:00", "end": "18:00", "room": "South"},
        }
    ),
}


def test_calendar_of_a_later_fork_names_sessions_rooms_and_chairs() -> None:
    program = read(FORK)

    assert [
        (session.uid, session.title, session.room or None, roles(session)) for session in program.sessions
    ] == [
        ("orals", "Oral Session 1: Water", "sun-i", [("chair", "Cy Lee")]),
        ("coffee1", "Coffee break", "foyer", []),
        ("coffee2", "Coffee break", "foyer", []),
        ("posters-demos", "Posters + demos", None, []),
        ("north", "Workshop", "north", []),
        ("south", "Workshop", "south", []),
        ("1", "Ann Abe", "sun-i", [("speaker", "Ann Abe")]),
    ]
    assert [(row.paper, row.session, row.kind) for row in program.presentations] == [
        ("a1", "posters-demos", "poster"),
        ("a2", "orals", "oral"),
    ]
    assert [room.name for room in program.rooms] == ["Sun I", "Foyer", "North", "South"]
    assert notes(program) == []


def test_sessions_of_a_list_take_times_from_the_calendar_and_keep_room_and_chair() -> None:
    files = {
        "papers.csv": "UID,title,authors,session_code,session_name\np1,Tides,Mia Zed,S1,Water\n",
        "sessions.yml": "- {UID: S1, title: Water, chair: Cy Lee, location: 'Dome: Hall', date: Mon 9-10}",
        "main_calendar.json": json.dumps(
            [
                {
                    "title": "Session 1: Water",
                    "start": "2020-07-06T09:00:00Z",
                    "end": "2020-07-06T10:00:00Z",
                    "link": "session_S1.html",
                    "location": "session_S1.html",
                    "uid": "S1",
                }
            ]
        ),
    }
    (session,) = read(files).sessions

    assert (session.uid, session.title, session.room, roles(session)) == (
        "S1",
        "Water",
        "dome-hall",
        [("chair", "Cy Lee")],
    )
    assert [row.session for row in read(files).presentations] == ["S1"]


CHAIRS = {
    "papers.csv": "UID,title,authors,session\np1,Tides,Mia Zed,Session 1A\n",
    "main_calendar.json": json.dumps(
        [
            {
                "title": "Session 1A",
                "start": "2020-07-06T09:00:00Z",
                "end": "2020-07-06T10:00:00Z",
                "link": "papers.html?session=Session+1A",
            }
        ]
    ),
    "chairs.csv": "UID,chair\nSession 1A,Cy Lee and Eve Fox\nSession 9Z,Gil Hay\n",
}


def test_table_of_chairs_is_read_and_an_unknown_session_named() -> None:
    program = read(CHAIRS)

    assert [roles(session) for session in program.sessions] == [[("chair", "Cy Lee"), ("chair", "Eve Fox")]]
    assert notes(program) == [
        "chairs.csv, row 3: No file has the session “Session 9Z”, so its chairs were left out: Gil Hay."
    ]


def test_events_have_date_beside_time_and_may_end_after_midnight() -> None:
    program = read(
        {
            "events.csv": "uid,title,day,start_date,start_time,end_time,category,organiser\n"
            "1,Registration,1,2020-07-06,8:00,9:00,Registration,\n"
            "2,Chips,1,2020-07-06,9:00,12:30,Tutorials,Bo Li and Ann Abe\n"
            ",Party,1,2020-07-06,9:00 PM,1:00 AM,Social,\n"
        },
        "Asia/Seoul",
    )

    assert [(session.uid, session.kind, hour(session)) for session in program.sessions] == [
        ("1", "registration", "05 23:00"),
        ("2", "tutorial", "06 00:00"),
        ("party", "social", "06 12:00"),
    ]
    assert program.sessions[2].end == datetime(2020, 7, 6, 16, tzinfo=UTC)
    assert roles(program.sessions[1]) == [("organizer", "Bo Li"), ("organizer", "Ann Abe")]


def test_speakers_of_two_folders_are_numbered_from_one() -> None:
    speakers = "UID,title,speaker\n1,{title},{name}\n"
    files = {
        "sitedata/speakers.csv": speakers.format(title="Minds", name="Ann Abe"),
        "sitedata/w1/speakers.csv": speakers.format(title="Hands", name="Bo Li"),
        "sitedata/papers.csv": "UID,title,authors\np1,Tides,Mia Zed\n",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    program = miniconf.read([Source("site.zip", packed.getvalue())], Context("2020", 2020, "UTC"))

    assert [(row.uid, row.title) for row in program.presentations] == [
        ("1", "Minds"),
        ("speakers.1", "Hands"),
    ]
    assert program == read(files)


def test_trap_39_each_file_that_is_not_read_is_named_with_its_rows() -> None:
    hosts = "UID,Hosts: Room 1\n1A,Cy Lee\n1B,Eve Fox\n"
    program = read({**CHAIRS, "coffee_hosts.csv": hosts, "zoom.csv": "a\n1\n"})

    assert [note for note in notes(program) if "known Mini-Conf" in note] == [
        "coffee_hosts.csv: coffee_hosts.csv was left out with 2 rows: it is not a known Mini-Conf file.",
        "zoom.csv: zoom.csv was left out with 1 row: it is not a known Mini-Conf file.",
    ]


def test_all_files_of_a_refused_folder_are_named() -> None:
    files = {f"odd{number:02}.csv": "a\n1\n" for number in range(17)}
    (message,) = reported_problems(read, {**CHAIRS, **files})

    assert [name in message for name in files] == [True] * 17


@pytest.mark.shared
def test_folder_of_acl_2020_is_read_as_it_is() -> None:
    files = sorted(ACL_2020.iterdir())
    sources = [Source(path.name, path.read_bytes()) for path in files]
    program = miniconf.read(sources, Context("2020", 2020, "America/Los_Angeles", days=DAYS))
    tables = {path.stem: [*csv.DictReader(path.open(newline=""))] for path in ACL_2020.glob("*.csv")}
    paper_tables = {name: rows for name, rows in tables.items() if not name.startswith("w")}
    talk_rows = [(name, row) for name, rows in tables.items() if name.startswith("w") for row in rows]
    schedule = json.loads((ACL_2020 / "workshop_schedules.json").read_bytes())
    schedule_rows = [row for rows in schedule.values() for row in rows]

    assert len(program.papers) == sum(map(len, paper_tables.values())) == 907
    keys = Counter(session.uid for session in program.sessions)
    assert max(keys.values()) == 1
    appearances = [row for row in program.presentations if row.paper]
    lists = [yaml.safe_load(path.read_text()) for path in ACL_2020.glob("*_paper_sessions.yml")]
    pairs = {(key, paper) for sessions in lists for key, row in sessions.items() for paper in row["papers"]}
    assert {(row.session, row.paper) for row in appearances} == pairs
    assert len(appearances) == len(pairs) == 1812
    talks_of_program = [row for row in program.presentations if not row.paper]
    titles = {slug(str(row.title), 1000) for row in talks_of_program}
    assert {slug(row["title"], 1000) for _, row in talk_rows} <= titles
    scheduled = [row for row in schedule_rows if row["title"].strip()]
    assert {slug(row["title"], 1000) for row in scheduled} <= titles
    assert len(scheduled) < len(talks_of_program) < len(scheduled) + len(talk_rows)
    left_out = [note for note in program.notes if note.message == "Left out: the row has no title."]
    assert len(left_out) == sum(not row["title"].strip() for row in schedule_rows) == 4


def test_talk_repeated_a_thousand_times_has_keys() -> None:
    rows = [{"title": "Tides", "date": "Jul 9", "startTime": "9:00 AM"} for _ in range(1_002)]
    program = read({**TALKS, "workshop_schedules.json": json.dumps({"W9": rows})})

    assert len({row.uid for row in program.presentations}) == 1_002 + 3


def test_own_key_of_a_row_of_the_calendar_is_surer_than_its_link() -> None:
    """The result does not depend on the order of a set."""
    keys = [f"K{number}" for number in range(12)]
    sessions = [f"- {{UID: {key}, title: '{key}', start: '2020-07-06T09:00:00Z'}}" for key in keys]
    calendar = [
        {
            "UID": key,
            "title": key,
            "start": "2020-07-06T09:00:00Z",
            "end": "2020-07-06T10:00:00Z",
            "link": f"session_{keys[index - 1]}.html",
            "room": f"Room {key}",
        }
        for index, key in enumerate(keys)
    ]
    files = {
        "papers.csv": "UID,title,authors\np1,Tides,Mia Zed\n",
        "events.yml": "\n".join(sessions),
        "main_calendar.json": json.dumps(calendar),
    }

    assert {session.uid: session.room for session in read(files).sessions} == {
        key: slug(f"Room {key}") for key in keys
    }


def test_chairs_of_an_event_without_a_time_are_read() -> None:
    files = {
        **CHAIRS,
        "workshops.yml": "- {UID: W1, title: Water workshop, organizers: Bo Li}",
        "chairs.csv": "UID,chair\nW1,Cy Lee\n",
    }
    program = read(files)

    assert [roles(session) for session in program.sessions if session.uid == "W1"] == [
        [("organizer", "Bo Li"), ("chair", "Cy Lee")]
    ]


def test_papers_without_a_session_are_named_in_short() -> None:
    rows = "".join(f"p{number},Talk {number},Mia Zed,Nowhere\n" for number in range(200))
    program = read({**CHAIRS, "papers.csv": f"UID,title,authors,session\n{rows}"})

    assert notes(program)[0] == (
        "No file has the session “Nowhere” that papers name; they are not scheduled: "
        "p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 190 more."
    )
