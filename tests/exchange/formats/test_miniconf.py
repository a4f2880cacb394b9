"""Tests of Mini-Conf site data: small samples of its files, a real conference, and hostile YAML."""

import csv
import io
import json
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from exchange.files import Context, Source
from exchange.formats import miniconf
from exchange.reading.values import slug
from exchange.records import UNSTATED, CommitteeRecord, MaterialRecord, PersonRef, Program, Stated, stated
from tests.exchange.outputs import reported_problems

DATA = Path(__file__).parents[4] / "shared" / "data"
EMNLP_2020 = DATA / "miniconf-emnlp2020"
ICLR_2020 = DATA / "miniconf-iclr2020"

PAPERS = """UID,title,authors,abstract,keywords,sessions,track,pdf_url
B.1,On  n bodies,Mia Zed|Ann Abe,Done.,chaos|stars,P1,Mechanics,https://example.org/1.pdf
B.2,No,Bo Li,,,,Mechanics,https://example.org/anthology/2
"""
SESSIONS = """
P1:
  name: Poster Session 1
  start_time: 2020-04-27 09:00:00
  end_time: 2020-04-27 11:00:00+02:00
  papers: [B.2, B.9]
"""
PLENARIES = """
- UID: keynote
  title: 'Keynote: Yes'
  presenter: Mia Zed
  institution: NTNU
  bio: Mia *works*.
  abstract: About it.
  sessions:
  - {name: live, start_time: 2020-04-28T07:00:00Z, end_time: 2020-04-28T08:00:00Z}
- {UID: S9, title: Later, speaker: Bo Li}
"""
CALENDAR = """
- {title: <b>Coffee</b><br>Break, start: 2020-04-28 10:00:00+02:00, end: 2020-04-28 10:30:00+02:00, view: day}
- {title: Coffee, start: 2020-04-28 10:00:00+02:00, end: 2020-04-28 10:30:00+02:00, view: week}
- {title: K, start: 2020-04-28 09:00:00+02:00, end: 2020-04-28 10:00:00+02:00, link: plenary_keynote.html}
"""
CONFIG = "{name: MiniConf 2020, tagline: All of it., site_title: X}"
COMMITTEE = "committee: [{role: Chair, name: Ann Abe, aff: Tokyo Tech}]"
FILES = {
    "papers.csv": PAPERS,
    "poster_schedule.yml": SESSIONS,
    "plenary_sessions.yml": PLENARIES,
    "main_calendar.yml": CALENDAR,
    "config.yml": CONFIG,
    "committee.yml": COMMITTEE,
}


def read(files: dict[str, str], zone: str = "Europe/Oslo") -> Program:
    sources = [Source(name, text.encode()) for name, text in files.items()]
    return miniconf.read(sources, Context("2020", 2020, zone))


def presentation_rows(program: Program) -> list[tuple[object, ...]]:
    return [(row.uid, row.kind, row.paper, row.title, row.session) for row in program.presentations]


def biographies(program: Program) -> list[tuple[object, object]]:
    return [(person.ref.name, person.biography) for person in program.people]


def person_names(records: Stated[tuple[Any, ...]]) -> list[str]:
    """Return the names of authors, of speakers, or of roles."""
    return [record.person.name for record in stated(records, ())]


def moment(day: int, hour: int) -> datetime:
    return datetime(2020, 4, day, hour, tzinfo=UTC)


def test_papers_have_authors_topic_and_links() -> None:
    first, second = read(FILES).papers

    assert (first.uid, first.title, first.abstract, first.topic) == (
        "B.1",
        "On n bodies",
        "Done.",
        "mechanics",
    )
    assert person_names(first.authors) == ["Mia Zed", "Ann Abe"]
    assert (first.keywords, first.status) == (("chaos", "stars"), "published")
    assert first.materials == (MaterialRecord(kind="pdf", url="https://example.org/1.pdf"),)
    assert second.materials == (
        MaterialRecord(kind="other", url="https://example.org/anthology/2", label="Paper"),
    )
    assert second.title == "No"


def test_sessions_are_read_from_papers_plenaries_and_calendar() -> None:
    program = read(FILES)

    assert [(session.uid, session.kind, session.title, session.start) for session in program.sessions] == [
        ("P1", "poster", "Poster Session 1", moment(27, 7)),
        ("keynote", "invited_talk", "Keynote: Yes", moment(28, 7)),
        ("coffee-break-2020-04-28-1000", "break", "Coffee Break", moment(28, 8)),
    ]
    assert presentation_rows(program) == [
        ("P1.B.2", "poster", "B.2", UNSTATED, "P1"),
        ("P1.B.1", "poster", "B.1", UNSTATED, "P1"),
        ("S9", "talk", UNSTATED, "Later", UNSTATED),
    ]


def test_plenary_speakers_have_roles_and_biographies() -> None:
    program = read(FILES)

    (role,) = stated(program.sessions[1].roles, ())
    assert (role.person, role.role, role.affiliation) == (PersonRef(name="Mia Zed"), "speaker", "NTNU")
    assert biographies(program) == [("Mia Zed", "Mia *works*.")]
    assert person_names(program.presentations[2].speakers) == ["Bo Li"]


def test_committee_and_name_of_the_edition_are_read() -> None:
    edition = read(FILES).edition

    assert edition
    assert (edition.slug, edition.name, edition.description) == ("2020", "MiniConf 2020", "All of it.")
    assert edition.committee == (
        CommitteeRecord(person=PersonRef(name="Ann Abe"), role="Chair", affiliation="Tokyo Tech"),
    )


def test_single_value_is_a_list_of_one() -> None:
    files = {**FILES, "poster_schedule.yml": SESSIONS.replace("[B.2, B.9]", "B.2")}

    assert read(files).presentations == read(FILES).presentations


def test_assumed_zone_and_unknown_papers_are_noted() -> None:
    assert [(note.where.file, note.message) for note in read(FILES).notes] == [
        ("poster_schedule.yml", "The paper B.9 was left out of the session: no table holds it."),
        ("poster_schedule.yml", "1 times name no zone; they were taken as times in Europe/Oslo."),
    ]


SPEAKERS = """UID,title,institution,speaker,abstract,bio
1,Minds,MIT,Prof. Ann Abe,About it.,She *thinks*.
2,Hands,,Bo Li,,
"""
WORKSHOPS = "UID,title,authors,abstract\na,Minds at work,Mia Zed|Bo Li,About work.\n"
JSON_CALENDAR: list[dict[str, str | None]] = [
    {
        "title": "Live Q&A: Ann Abe",
        "start": "2020-04-27T14:00:00+00:00",
        "link": "https://x.test/speaker_1.html",
    },
    {"title": "Posters 1", "start": "2020-04-27T09:00:00+00:00", "link": "papers.html?session=Mon+1&x=y"},
    {"title": "Town", "start": "2020-04-27T08:00:00+00:00", "link": None},
]
SAMPLE_YEAR = {
    "papers.csv": "UID,title,authors,sessions\np,On n bodies,Mia Zed,Mon 1|Tue 1\n",
    "speakers.csv": SPEAKERS,
    "workshops.csv": WORKSHOPS,
    "main_calendar.json": json.dumps([{**one, "end": "2020-04-27T15:00:00Z"} for one in JSON_CALENDAR]),
    "papers_projection.json": '[{"id": "p", "pos": [1.5, 2]}]',
    "config.yml": "{name: X, tagline: All <br> of it.}",
}


def test_json_calendar_schedules_talks_and_papers() -> None:
    program = read(SAMPLE_YEAR)
    published = [session for session in program.sessions if session.status == "published"]

    assert [paper.uid for paper in program.papers] == ["p"]
    assert [(session.title, session.kind, session.start) for session in published] == [
        ("Live Q&A: Ann Abe", "invited_talk", moment(27, 14)),
        ("Posters 1", "poster", moment(27, 9)),
        ("Town", "other", moment(27, 8)),
    ]
    qa_uid, posters_uid = published[0].uid, published[1].uid
    assert presentation_rows(program) == [
        ("1", "talk", UNSTATED, "Minds", qa_uid),
        ("2", "talk", UNSTATED, "Hands", UNSTATED),
        (f"{posters_uid}.p", "poster", "p", UNSTATED, posters_uid),
    ]
    assert person_names(published[0].roles) == ["Ann Abe"]
    assert biographies(program) == [("Ann Abe", "She *thinks*.")]
    assert program.edition
    assert program.edition.description == "All of it."


def test_talk_of_a_calendar_may_be_followed_by_questions() -> None:
    talk, questions = (
        {"title": title, "start": f"2020-04-27T{hour}:00:00Z", "link": "speaker_1.html"}
        for title, hour in (("Minds", 13), ("Live Q&A: Ann Abe", 14))
    )
    program = read({"speakers.csv": SPEAKERS, "main_calendar.json": json.dumps([talk, questions])})

    assert [(session.title, session.start) for session in program.sessions] == [
        ("Live Q&A: Ann Abe", moment(27, 14)),
        ("Minds", moment(27, 13)),
    ]
    assert [person_names(session.roles) for session in program.sessions] == [["Ann Abe"], ["Ann Abe"]]
    assert [row.title for row in program.presentations] == ["Hands"]


def test_workshop_without_times_is_a_draft_session() -> None:
    (draft,) = [session for session in read(SAMPLE_YEAR).sessions if session.status == "draft"]

    assert (draft.uid, draft.kind, draft.title, draft.abstract) == (
        "a",
        "workshop",
        "Minds at work",
        "About work.",
    )
    assert (draft.start, draft.end) == (moment(27, 8), moment(27, 8))
    assert [(role.person.name, role.role) for role in stated(draft.roles, ())] == [
        ("Mia Zed", "organizer"),
        ("Bo Li", "organizer"),
    ]


def test_each_file_left_out_has_a_note_with_the_reason() -> None:
    files = {
        **SAMPLE_YEAR,
        "README.md": "Hi",
        "faq.yml": "FAQ: []",
        "odd.json": '{"a": 1}',
        "x.csv": "a,b\n1,2\n",
    }

    assert [(note.where.file, note.message) for note in read(files).notes if "eft out" in note.message] == [
        ("", "Left out because they aren’t tables, YAML or JSON: README.md."),
        (
            "papers_projection.json",
            "Left out. It holds the map of papers and the papers alike, which are computed here.",
        ),
        ("faq.yml", "Left out. It holds texts and sponsors of the site: enter them in the admin."),
        ("x.csv", "x.csv was left out with 1 row: it is not a known Mini-Conf file."),
        ("odd.json", "odd.json was left out with 1 row: it is not a known Mini-Conf file."),
    ]
    notes = [note.message for note in read(SAMPLE_YEAR).notes]
    assert "No file has the session “Tue 1” that papers name; they are not scheduled: p." in notes


def test_folder_of_mostly_unknown_files_is_refused() -> None:
    unknown_files = {f"odd{n}.json": "{}" for n in range(6)}

    (message,) = reported_problems(read, {**SAMPLE_YEAR, **unknown_files})
    assert message.startswith("Most of the files would be left out: odd0.json, odd1.json")


def test_same_key_in_two_files_makes_two_uids() -> None:
    tutorials = "UID,title,organizers\n1,How to think,Bo Li\n"

    assert {session.uid for session in read({**SAMPLE_YEAR, "tutorials.csv": tutorials}).sessions} >= {
        "a",
        "tutorials.1",
    }


def test_workshop_talks_are_in_the_workshop_session() -> None:
    files = {
        "workshops.yml": "- {UID: W3, title: Work, start: 2020-04-27T09:00:00Z, end: 2020-04-27T17:00:00Z}",
        "w3_papers.csv": "UID,title,speakers,presentation_id\nW3.1,Tools,Bo Li|Mia Zed,9\n",
    }
    (talk,) = read(files).presentations

    assert (talk.uid, talk.kind, talk.title, talk.session) == ("W3.1", "talk", "Tools", "W3")
    assert person_names(talk.speakers) == ["Bo Li", "Mia Zed"]


ACL_2020 = {
    "main_papers.csv": "UID,title,authors,abstract,keywords,track,paper_type,pdf_url\n"
    "main.1,On n bodies,Mia Zed,Done.,,Mechanics,Long,\nmain.2,Two,Bo Li,,,SRW,Short,\n",
    "main_paper_sessions.yml": "1A:\n  date: 2020-07-06_05:00:00\n  papers: &first\n  - main.1\n  - main.2\n"
    "2A:\n  date: 2020-07-06_08:00:00\n  papers: *first\n",
    "plenary_sessions.yml": "- {UID: k, title: 'Keynote: Yes', date: 'Mon, July 6', presenter: Ann Abe}",
    "tutorials.yml": "- {UID: T1, title: Tools, organizers: Bo Li|Mia Zed, session1_time: (06:00 GMT)}",
    "overall_calendar.yml": """
- {title: Keynote 1, type: Plenary Sessions, start: 2020-07-06T13:00:00Z, end: 2020-07-06T14:00:00Z,
   link: plenary_session_k.html}
- {title: T1 Tools, start: 2020-07-05T06:00:00Z, end: 2020-07-05T09:00:00Z, link: tutorial_T1.html}
- {title: T1 Tools, start: 2020-07-05T18:00:00Z, end: 2020-07-05T21:00:00Z, link: tutorial_T1.html}
- {title: Closing, type: Plenary Sessions, start: 2020-07-08T20:00:00Z, end: 2020-07-08T21:00:00Z}
""",
    "main_paper_zoom_links.csv": "UID,session_name,starttime,zoom_join_link\nmain.1,1A,2020-07-06T05:00:00Z,https://z.test/\n",
    "paper_recs.json": '{"main.1": ["main.2"]}',
    "config.yml": "{name: ACL 2020, tagline: x}",
}


def test_files_of_acl_2020_are_read() -> None:
    program = read(ACL_2020, "America/Los_Angeles")
    times = [
        (session.uid, session.kind, session.title, f"{session.start:%d %H:%M}")
        for session in program.sessions
    ]

    assert times == [
        ("1A", "oral", "Session 1A", "06 05:00"),
        ("2A", "oral", "Session 2A", "06 08:00"),
        ("closing-2020-07-08-2000", "other", "Closing", "08 20:00"),
        ("k", "invited_talk", "Keynote: Yes", "06 13:00"),
        ("T1", "tutorial", "Tools", "05 06:00"),
        ("T1.2", "tutorial", "Tools", "05 18:00"),
    ]
    assert program.sessions[0].end == datetime(2020, 7, 6, 6, tzinfo=UTC)
    assert [presentation.uid for presentation in program.presentations] == [
        "1A.main.1",
        "1A.main.2",
        "2A.main.1",
        "2A.main.2",
    ]
    assert [note.message for note in program.notes if note.kind == "doubt"] == [
        "2 sessions have no end; they were taken to last an hour."
    ]


def test_social_has_name_and_organizers() -> None:
    social = """
- name: Chaos in AI
  UID: A1
  description: Join us.
  organizers: {members: [Bo Li, Mia Zed]}
  sessions: [{name: '', start_time: 2021-02-09 06:00:00-08:00, end_time: 2021-02-09 13:00:00-08:00}]
"""
    (session,) = read({"socials.yml": social}).sessions

    assert (session.uid, session.kind, session.title, session.abstract) == (
        "A1",
        "social",
        "Chaos in AI",
        "Join us.",
    )
    assert person_names(session.roles) == ["Bo Li", "Mia Zed"]


def test_day_and_hour_of_one_digit_are_read() -> None:
    text = "S: {start: 2021-2-8 9:00:00+00:00, end: 2021-2-8 13:00:00+00:00, cluster_name: Ethics}"
    (session,) = read({"s.yml": text}).sessions

    assert (session.title, session.start) == ("Ethics", datetime(2021, 2, 8, 9, tzinfo=UTC))


SESSION_TIMES = {"start_time": "2023-12-08T11:00:00+08:00", "end_time": "2023-12-08T12:30:00+08:00"}


def block(name: str, session_type: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": session_type, **SESSION_TIMES, **fields}


def read_conference(**fields: Any) -> Program:
    """Return a block of posters of one track, a plenary, a workshop and a break, as in `conference.json`."""
    no_time = {"start_time": None, "end_time": None}
    posters = {
        "id": "p-1-(x)",
        "session": "Posters 1",
        "track": "Mechanics",
        "type": "Poster",
        "room": "Foyer ",
        "paper_ids": ["1"],
        "chairs": ["Cy Lee"],
        **SESSION_TIMES,
    }
    paper = {
        "id": "1",
        "title": "On *n* bodies",
        "authors": ["Mia Zed", "Bo Li"],
        "track": "Mechanics",
        "abstract": "Done.",
        "tldr": "Done...",
        "event_ids": ["p-1-(x)"],
        "program": "Main",
        "keywords": ["chaos"],
        "category": "Main-Poster",
        "anthology_url": "https://a.test/1",
        "paper_pdf": "https://a.test/1.pdf",
    }
    plenary = {
        "id": "k",
        "title": "Plenary: Minds",
        "presenter": "Ann Abe",
        "institution": "MIT",
        "bio": "She *thinks*.",
    }
    board = {"id": "b", "presenter": "The Board", "bio": "TBD", "abstract": "TBD", **no_time}
    workshop = {
        "id": "W",
        "description": "About work.",
        "room": "Hall",
        "workshop_site_url": "https://w.test/",
        "committee": [{"full_name": "Bo Li; Ann Abe"}, {"full_name": "TBD"}],
        **no_time,
    }
    content = {
        "events": {"p-1-(x)": posters},
        "papers": {"1": paper, "2": {"id": "2", "title": "Two", "authors": []}},
        "plenaries": {"k": plenary, "b": board},
        "workshops": {"W": workshop},
        "tutorials": {},
        "sessions": {
            "Posters 1": block("Posters 1", "Paper Sessions", events={"p-1-(x)": posters}, id="posters-1"),
            "k": block("Plenary: Minds", "Plenary Sessions", plenary_events={"k": {"id": "k"}}),
            "b": block("Plenary: Business Meeting", "Plenary Sessions", plenary_events={"b": {}}),
            "W": block("W1: Work", "Workshops", workshop_events={"W": {**workshop, "room": ""}}),
            "Lunch 1": block("Lunch Break", "Breaks", events={}),
            "Birds 1": block("Chaos", "Socials", events={"id": {"room": "Bar", "paper_ids": []}}),
            "Late": {"name": "Late", "start_time": None},
        },
        **fields,
    }
    return read({"conference.json": json.dumps(content)})


def test_conference_json_is_read_completely() -> None:
    program = read_conference()

    assert [(session.uid, session.kind, session.title, session.room) for session in program.sessions] == [
        ("posters-1", "poster", "Posters 1", "foyer"),
        ("p-1-x", "poster", "Posters 1: Mechanics", "foyer"),
        ("k", "invited_talk", "Plenary: Minds", None),
        ("b", "town_hall", "Plenary: Business Meeting", None),
        ("W", "workshop", "W1: Work", "hall"),
        ("lunch-1", "meal", "Lunch Break", None),
        ("birds-1", "social", "Birds 1: Chaos", "bar"),
    ]
    assert [session.parent or None for session in program.sessions[:3]] == [None, "posters-1", None]
    assert [
        [(role.person.name, role.role) for role in stated(session.roles, ())]
        for session in program.sessions[1:5]
    ] == [
        [("Cy Lee", "chair")],
        [("Ann Abe", "speaker")],
        [],
        [("Bo Li", "organizer"), ("Ann Abe", "organizer")],
    ]
    assert (program.sessions[3].abstract, program.sessions[4].abstract) == (
        "",
        "About work.\n\n<https://w.test/>",
    )
    assert biographies(program) == [("Ann Abe", "She *thinks*.")]
    assert presentation_rows(program) == [("p-1-x.1", "poster", "1", UNSTATED, "p-1-x")]
    assert [room.name for room in program.rooms] == ["Foyer", "Hall", "Bar"]
    assert [note.message for note in program.notes] == ["The session “Late” was left out: it has no time."]


def test_papers_of_conference_json_are_read() -> None:
    first, second = read_conference().papers

    assert (first.title, first.abstract, first.lay_summary) == ("On \\*n\\* bodies", "Done.", UNSTATED)
    assert (first.topic, first.track, first.decision, first.keywords) == (
        "mechanics",
        "Main",
        "Main-Poster",
        ("chaos",),
    )
    assert [(material.kind, material.url) for material in stated(first.materials, ())] == [
        ("pdf", "https://a.test/1.pdf"),
        ("other", "https://a.test/1"),
    ]
    assert (second.abstract, second.materials) == (UNSTATED, UNSTATED)


def test_two_papers_of_one_id_in_conference_json_are_reported() -> None:
    papers = {"1": {"id": "1", "title": "One"}, "x": {"id": "1", "title": "Two"}}

    assert reported_problems(read_conference, papers=papers) == [
        'conference.json, papers.x, uid: Another paper has "1" too: papers.1.'
    ]


def test_paper_twice_in_conference_json_and_committee_in_two_files_are_read_once() -> None:
    paper = {"id": "1", "title": "One"}

    assert [paper.uid for paper in read_conference(papers={"1": paper, "x": paper}).papers] == ["1"]
    assert read({"a.yml": COMMITTEE, "b.yml": COMMITTEE}).edition == read({"a.yml": COMMITTEE}).edition


def test_conference_json_is_recognized() -> None:
    content = b'{"events": {"e": {"paper_ids": ["1"]}}, "papers": {}, "sessions": {}}'

    assert miniconf.recognizes([Source("conference.json", content)])
    assert not miniconf.recognizes([Source("conference.json", b'{"events": {}}')])


def test_wrong_types_in_conference_json_are_ignored_and_large_json_refused() -> None:
    papers = {
        "x": {"id": 5, "title": "T", "authors": "A B", "event_ids": "p", "keywords": {"a": 1}},
        "y": [1],
        "z": None,
    }

    assert [(paper.uid, paper.title) for paper in read_conference(papers=papers).papers] == [("5", "T")]
    assert read_conference(sessions={}, events=[1], plenaries="x", workshops=None).sessions == ()
    assert reported_problems(read, {"a.json": " " * 100_000_001}) == [
        "a.json: The file is larger than 100 MB. Is this a conference program?"
    ]
    assert reported_problems(read, {"a.json": "[" * 60 + "]" * 60}) == [
        "a.json: Lists and objects are nested too deeply here for a conference program."
    ]


@pytest.mark.shared
def test_real_conference_json_is_read_completely() -> None:
    content = (DATA / "miniconf-emnlp2023" / "conference.json").read_bytes()
    program = miniconf.read([Source("conference.json", content)], Context("2023", 2023, "Asia/Singapore"))
    conference = json.loads(content)
    papers, blocks = conference["papers"].values(), conference["sessions"].values()
    appearances = {
        (key, event["id"]) for event in conference["events"].values() for key in event["paper_ids"]
    }
    types = Counter(block["type"] for block in blocks)

    assert [paper.uid for paper in program.papers] == [paper["id"] for paper in papers]
    assert sum(len(stated(paper.authors, ())) for paper in program.papers) == sum(
        len(paper["authors"]) for paper in papers
    )
    assert {topic.slug for topic in program.topics} == {slug(paper["track"]) for paper in papers}
    assert len([session for session in program.sessions if not session.parent]) == len(blocks) == 94
    assert (
        len([session for session in program.sessions if session.parent])
        == len({event for _, event in appearances})
        == 359
    )
    assert len(program.presentations) == len(appearances) == 1827
    kinds = Counter(session.kind for session in program.sessions)
    assert (kinds["workshop"], kinds["tutorial"], kinds["social"]) == (
        types["Workshops"],
        types["Tutorials"],
        types["Socials"],
    )
    assert (
        len(program.people)
        == sum(plenary["bio"] != "TBD" for plenary in conference["plenaries"].values())
        == 3
    )


@pytest.mark.shared
def test_real_sample_year_is_read_completely() -> None:
    program = miniconf.read(
        [Source(path.name, path.read_bytes()) for path in sorted(ICLR_2020.iterdir())],
        Context("2020", 2020, "UTC"),
    )
    tables = {path.stem: [*csv.DictReader(path.open(newline=""))] for path in ICLR_2020.glob("*.csv")}
    calendar = json.loads((ICLR_2020 / "main_calendar.json").read_text())
    published = [session for session in program.sessions if session.status == "published"]

    assert [paper.uid for paper in program.papers] == [row["UID"] for row in tables["papers"]]
    assert sum(len(stated(paper.authors, ())) for paper in program.papers) == sum(
        len(row["authors"].split("|")) for row in tables["papers"]
    )
    assert sorted(str(session.title) for session in published) == sorted(row["title"] for row in calendar)
    assert [session.title for session in program.sessions[len(published) :]] == [
        row["title"] for row in tables["workshops"]
    ]
    slot_count = sum(len(row["sessions"].split("|")) for row in tables["papers"] if row["sessions"])
    assert len(program.presentations) == slot_count + len(tables["speakers"]) == 4
    assert len(program.people) == len(tables["speakers"])


def test_zone_of_the_config_is_used() -> None:
    program = read({**FILES, "config.yml": "{tagline: x, timezone: Asia/Tokyo}"})
    assert program.sessions[0].start == moment(27, 0)


def test_zip_with_a_folder_is_read_like_its_files() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(f"sitedata/{name}", text)
        archive.writestr("sitedata/logo.png", b"\x89PNG")
    program = miniconf.read([Source("site.zip", packed.getvalue())], Context("2020", 2020, "Europe/Oslo"))

    assert program == read(FILES)


def test_files_of_one_name_in_two_folders_are_both_read() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key in ("P1", "P2"):
            archive.writestr(f"{key}/schedule.yml", SESSIONS.replace("P1", key))
    program = miniconf.read([Source("site.zip", packed.getvalue())], Context("2020", 2020, "Europe/Oslo"))

    assert [session.uid for session in program.sessions] == ["P1", "P2"]


def test_zip_made_on_macos_is_recognized_and_read_without_notes() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("sitedata/poster_schedule.yml", SESSIONS)
        archive.writestr("__MACOSX/sitedata/._poster_schedule.yml", b"\0")
    sources = [Source("site.zip", packed.getvalue())]
    program = miniconf.read(sources, Context("2020", 2020, "Europe/Oslo"))

    assert miniconf.recognizes(sources)
    assert program.notes == read({"poster_schedule.yml": SESSIONS}).notes


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.yml": "a: &x [*x]"}, "a.yml: Line 1 repeats a part that is not there, or itself (*x)."),
        ({"a.yml": "[" * 99}, "a.yml: Lists and objects are nested too deeply on line 1."),
        ({"a.yml": "a: 'x"}, "a.yml: Line 1 is not YAML: found unexpected end of stream."),
        (
            {"x.csv": "a,b\n1,2\n"},
            "x.csv: There is no Mini-Conf file to read. Add papers.csv, or the YAML files next to it.",
        ),
        (
            {"p.yml": "P1: {start_time: noon, end_time: 2020-04-28 10:00:00Z}"},
            'p.yml, P1, start_time: "noon" is not a time. Write it as 2026-07-08 10:00.',
        ),
        ({"papers.csv": "UID,title,authors\n1,,A B\n"}, "papers.csv, row 2, title: The title is missing."),
        (
            {"papers.csv": "UID,title,authors\n1,A,A\n1,B,A\n"},
            'papers.csv, row 3, uid: Another paper has "1" too: row 2.',
        ),
        (
            {"a.yml": COMMITTEE, "b.yml": "committee: [{name: Bo Li}]"},
            "b.yml, committee: Another file has a committee too: a.yml. Put both into one file.",
        ),
        (
            {"speakers.csv": "UID,title,speaker\n1,Minds,Ann Abe\n1,Hands,Bo Li\n"},
            'speakers.csv, row 3, uid: Another presentation has "1" too: row 2.',
        ),
    ],
)
def test_unreadable_file_is_reported(files: dict[str, str], message: str) -> None:
    assert reported_problems(read, files) == [message]


def test_yaml_tags_create_no_objects() -> None:
    program = read({**FILES, "config.yml": "{tagline: !!python/object/apply:os.getcwd [], name: !!int x}"})
    assert program.edition
    assert program.edition.name == "x"


@pytest.mark.shared
def test_real_conference_has_known_counts() -> None:
    sources = [Source(path.name, path.read_bytes()) for path in sorted(EMNLP_2020.iterdir())]
    program = miniconf.read(sources, Context("2020", 2020, "UTC"))

    assert len(program.papers) == 781
    assert sum(len(stated(paper.authors, ())) for paper in program.papers) == 3414
    assert Counter(paper.track for paper in program.papers) == {
        "Long": 601,
        "Short": 150,
        "TACL": 25,
        "CL": 5,
    }
    assert len(program.topics) == 20
    assert (len(program.sessions), len(program.presentations)) == (115 + 8 + 5, 810 - 29)
    assert Counter(session.kind for session in program.sessions)["invited_talk"] == 3
    assert [person.ref.name for person in program.people] == [
        "Claire Cardie",
        "Rich Caruana",
        "Janet Pierrehumbert",
    ]
    first_session = program.sessions[0]
    assert (first_session.uid, first_session.start) == ("z1A", datetime(2020, 11, 16, 16, tzinfo=UTC))
