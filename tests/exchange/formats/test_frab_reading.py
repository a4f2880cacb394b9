"""Tests of the reader of frab and pretalx schedules: events, refused files, round trips."""

import copy
import json
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markup
from exchange.files import Context, Source
from exchange.formats import frab_json, frab_xml
from exchange.imports.load import load
from exchange.problems import ProgramError
from exchange.records import (
    UNSTATED,
    AuthorRecord,
    EditionRecord,
    PersonRecord,
    PersonRef,
    Program,
    RoleRecord,
    stated,
)
from people.models import Person
from tests.exchange.formats.test_frab import CONTEXT, SHARED, program_with_talks, written_text
from tests.exchange.outputs import reported_problems
from tests.exchange.programs import complete_program
from tests.exchange.strategies import programs
from tests.factories import make_edition

CAMP = Context("2019", 2019, "Europe/Berlin")
EVENT: dict[str, Any] = {
    "id": 7,
    "guid": "2F1C0F4E-8D0B-5A43-9D0A-0F7C0D1F2A3B",
    "date": "2019-08-21T11:00:00+02:00",
    "duration": "00:45",
    "title": "On n bodies",
    "subtitle": "",
    "type": "lecture",
    "abstract": "First.",
    "description": "Second.",
    "persons": [{"id": 9, "public_name": "Mia Zed"}],
    "links": [],
    "attachments": [],
}


def schedule_source(**fields: Any) -> Source:
    day = {"index": 1, "date": "2019-08-21", "day_start": "2019-08-21T09:00:00+02:00"}
    conference = {"acronym": "camp", "days": [{**day, "rooms": {"Curie": [{**EVENT, **fields}]}}]}
    schedule = {"version": "1", "base_url": "https://camp.test/x/", "conference": conference}
    return Source("schedule.json", json.dumps({"schedule": schedule}).encode())


def read(**fields: Any) -> Program:
    return frab_json.read([schedule_source(**fields)], CAMP)


def problems(fmt: Any, content: bytes) -> list[str]:
    return reported_problems(fmt.read, [Source("file", content)], CAMP)


def write_and_read(program: Program, fmt: Any) -> Program:
    read_program: Program = fmt.read([Source("file", written_text(program, fmt).encode())], CONTEXT)
    return read_program


def test_event_without_track_becomes_a_session_with_speakers() -> None:
    (session,) = read().sessions
    ref = PersonRef(name="Mia Zed", ids=(("camp.test", "9"),))

    assert (session.uid, session.kind, session.room) == (
        "2f1c0f4e-8d0b-5a43-9d0a-0f7c0d1f2a3b",
        "lecture",
        "curie",
    )
    assert (session.start, session.abstract) == (
        datetime.fromisoformat("2019-08-21T11:00:00+02:00"),
        "First.\n\nSecond.",
    )
    assert session.roles == (RoleRecord(person=ref, role="speaker"),)
    assert not read().papers


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
@pytest.mark.parametrize(
    "title", ["trans*Gesundheit / trans* activism", "__init__ and a*b*c", r"C:\temp ``x'' --"]
)
def test_title_round_trips_literally(title: str, fmt: Any) -> None:
    program = read(title=title, track="Health")

    titles = [*(session.title for session in program.sessions), *(paper.title for paper in program.papers)]
    assert [markup.plain(stated(title, "")) for title in titles] == [title, title]
    (event,) = json.loads(written_text(program, frab_json))["schedule"]["conference"]["days"][0]["rooms"][
        "Curie"
    ]
    assert event["title"] == title
    assert write_and_read(program, fmt).papers == write_and_read(program, frab_json).papers


def test_event_with_a_track_becomes_a_paper() -> None:
    program = read(track="Chaos", attachments=[{"url": "https://a.test/s.PDF", "title": "My slides"}])
    (paper,), (presentation,), (session,) = program.papers, program.presentations, program.sessions

    assert (paper.uid, paper.topic, program.topics[0].name) == (session.uid, "chaos", "Chaos")
    assert paper.authors == (AuthorRecord(person=PersonRef(name="Mia Zed", ids=(("camp.test", "9"),))),)
    assert [(material.kind, material.url, material.label) for material in stated(paper.materials, ())] == [
        ("pdf", "https://a.test/s.PDF", "My slides")
    ]
    assert (presentation.session, presentation.paper, presentation.kind) == (session.uid, paper.uid, "talk")
    assert (session.roles, session.abstract) == ((), "")


def test_pretalx_person_code_and_event_end_are_read() -> None:
    persons: list[dict[str, Any]] = [{"code": "ABC123", "name": "Mia Zed", "avatar": None, "answers": []}]
    (session,) = read(persons=persons, duration="", end="2019-08-21T12:15:00+02:00").sessions

    assert session.roles == (
        RoleRecord(person=PersonRef(name="Mia Zed", ids=(("camp.test", "ABC123"),)), role="speaker"),
    )
    assert session.end == datetime.fromisoformat("2019-08-21T12:15:00+02:00")


PERSON: dict[str, Any] = {
    "code": "ABC123",
    "name": "Mia Zed",
    "biography": " She\r\nbuilds. ",
    "links": [{"url": "mailto:mia@zed.test"}, {"url": "https://zed.test/", "service": "MASTODON"}],
}
PERSON_REF = PersonRef(name="Mia Zed", ids=(("camp.test", "ABC123"),))


def test_biography_and_homepage_of_a_person_are_read_once() -> None:
    repeated = {**PERSON, "biography": "", "links": []}
    rooms: dict[str, Any] = {"A": [{**EVENT, "persons": [PERSON, PERSON]}]}
    without_biography = {"code": "X", "name": "Bo Li", "biography": None}
    second_event = {**EVENT, "id": 8, "guid": None, "persons": [repeated, without_biography]}
    rooms["B"] = [second_event]
    conference = {"days": [{"date": "2019-08-21", "rooms": rooms}], "url": "https://camp.test/"}
    file = Source("f", json.dumps({"schedule": {"conference": conference}}).encode())

    assert frab_json.read([file], CAMP).people == (
        PersonRecord(ref=PERSON_REF, biography="She\nbuilds.", homepage="https://zed.test/"),
    )


def test_biography_round_trips() -> None:
    record = PersonRecord(
        ref=PersonRef(name="M. Zed", uid="mia"), biography="A.\n\n*B*", homepage="https://z.test/"
    )
    (person,) = write_and_read(replace(program_with_talks(), people=(record,)), frab_json).people

    assert (person.ref.name, person.biography, person.homepage) == ("Mia Zed", "A.\n\n*B*", "https://z.test/")


def test_public_answers_are_read_and_others_counted() -> None:
    answers: list[dict[str, Any]] = [
        {"question": "Which level?", "answer": "Beginner"},
        {"question": {"question": {"de": "Stufe", "en": "Level"}, "is_public": True}, "answer": "2"},
        {"question": {"question": {"en": "Fee"}, "is_public": False}, "answer": "None"},
        {"question": 12, "answer": "Yes", "options": []},
        {"question": "Empty", "answer": ""},
    ]
    public = [{"question": {"question": "Motto", "is_public": True}, "answer": "Go"}]
    private = [{"question": "Diet", "answer": "Vegan"}]
    program = read(answers=answers, persons=[{**PERSON, "answers": [*public, *private]}])

    assert stated(program.sessions[0].abstract, "").split("\n\n")[2:] == ["Which level? Beginner", "Level: 2"]
    assert stated(program.people[0].biography, "") == "She\nbuilds.\n\nMotto: Go"
    assert [note.message for note in program.notes if note.kind == "warning"] == [
        "3 answers were left out: the file does not say what was asked, or that they are public."
    ]


@pytest.mark.parametrize(
    ("name", "counts_as", "presentation_kind"),
    [
        ("lecture", "oral", "talk"),
        ("Talk", "oral", "talk"),
        ("Talk 30 min + 10 min Q&A", "oral", "talk"),
        ("Lightning Talks (5 minutes)", "spotlight", "spotlight"),
        ("Keynote Talk", "invited_talk", "talk"),
        ("Hands-on", "workshop", "talk"),
        ("Panel discussion (60 min)", "panel", "talk"),
        ("90-minute Workshop", "workshop", "talk"),
        ("djset", "social", "talk"),
        ("Assembly", "other", "talk"),
    ],
)
def test_unknown_event_type_becomes_a_kind_and_round_trips(
    name: str, counts_as: str, presentation_kind: str
) -> None:
    program = read(type=name, track="Chaos")
    (kind,) = program.session_kinds

    assert (kind.name, kind.counts_as, program.sessions[0].kind) == (name, counts_as, kind.slug)
    assert program.presentations[0].kind == presentation_kind
    for fmt in (frab_json, frab_xml):
        assert write_and_read(program, fmt).session_kinds == (kind,)
    assert program.notes[-1].message.endswith(f"what they count as: {name} ({counts_as}).")


@pytest.mark.parametrize("name", ["Workshop", "invited talk", "TOWN_HALL", ""])
def test_event_type_of_a_standard_kind_adds_no_kind(name: str) -> None:
    program = read(type=name)

    assert program.session_kinds == ()
    assert program.sessions[0].kind == (name.lower().replace(" ", "_") or "other")


def source_of_a_day(day_start: str, times: dict[str, str]) -> Source:
    rooms = {"A": [{**EVENT, **times}]}
    conference = {"days": [{"date": "2019-08-21", "day_start": day_start, "rooms": rooms}]}
    return Source("f", json.dumps({"schedule": {"conference": conference}}).encode())


@pytest.mark.parametrize(
    ("edition_hour", "start", "expected_hour"),
    [(0, "01:30", 6), (4, "04:30", 6), (6, "04:30", None), (4, "01:30", None), (None, "04:30", None)],
)
def test_day_start_of_the_file_is_read_if_events_move_to_another_day(
    edition_hour: int | None, start: str, expected_hour: int | None
) -> None:
    file = source_of_a_day("2019-08-21T06:00:00+02:00", {"date": f"2019-08-22T{start}:00+02:00"})
    program = frab_json.read([file], replace(CAMP, day_start_hour=edition_hour))
    warnings = [note.message for note in program.notes if note.kind == "warning"]

    assert program.edition == (
        EditionRecord(slug="2019", day_start_hour=expected_hour) if expected_hour else None
    )
    sentence = f"Days of the file begin at 06:00, those of the edition at 0{edition_hour}:00."
    assert warnings == ([f"{sentence} Events that this puts on another day: 1."] if expected_hour else [])


def test_day_start_without_offset_is_in_the_zone_of_the_file() -> None:
    file = source_of_a_day("2019-08-21T06:00:00", {"date": "2019-08-22T04:30:00+02:00"})

    assert frab_json.read([file], replace(CAMP, day_start_hour=4)).edition == EditionRecord(
        slug="2019", day_start_hour=6
    )


@pytest.mark.parametrize("tag", ["de", "pt-BR", "de-formal", ""])
def test_event_language_round_trips(tag: str) -> None:
    program = read(language=tag)

    assert program.sessions[0].language == tag
    assert (
        write_and_read(program, frab_json).sessions[0].language
        == write_and_read(program, frab_xml).sessions[0].language
        == tag
    )


def test_invalid_language_is_left_out_with_a_note() -> None:
    program = read(language="de, en")

    assert program.sessions[0].language == ""
    assert "The language “de, en” is left out" in program.notes[0].message


def test_at_most_20_event_types_become_kinds() -> None:
    events = [{**EVENT, "id": n, "guid": None, "type": f"Talk {n}"} for n in range(1, 30)]
    days = [{"date": "2019-08-21", "rooms": {"A": events}}]
    file = Source("f", json.dumps({"schedule": {"conference": {"days": days}}}).encode())
    program = frab_json.read([file], CAMP)

    assert len(program.session_kinds) == 20
    assert [session.kind for session in program.sessions[20:]] == ["oral"] * 9


WRONG_TYPES = [5, "no", ["a"], [{}], {"a": 1}]


@pytest.mark.parametrize("value", WRONG_TYPES)
@pytest.mark.parametrize(
    "path",
    [
        ("do_not_record",),
        ("persons", 0, "guid"),
        ("answers", 0, "is_public"),
        ("answers", 0, "question", "is_public"),
    ],
)
def test_wrong_type_of_a_flag_or_person_guid_is_ignored(path: list[str | int], value: object) -> None:
    answers = [{"question": {"question": "Why?"}, "answer": "So."}]
    event: Any = copy.deepcopy({**EVENT, "answers": answers})
    parent = event
    for name in path[:-1]:
        parent = parent[name]
    parent[path[-1]] = value

    (session,) = read(**event).sessions
    assert session.abstract == f"First.\n\nSecond.{'' if 'is_public' in path else '\n\nWhy? So.'}"


@pytest.mark.parametrize(("value", "description"), [(5, "a number"), (["a"], "a list"), ({}, "an object")])
def test_event_guid_that_is_not_text_is_reported(value: object, description: str) -> None:
    location = "conference.days[0].rooms.Curie[0] (On n bodies)"

    messages = problems(frab_json, schedule_source(guid=value).content)
    assert messages == [f"file, {location}, guid: This must be text, not {description}."]


def test_photo_urls_are_read_from_avatars() -> None:
    avatars = [("X", None), ("Y", {"url": "https://camp.test/y.png"}), ("Z", 5)]
    persons = [{"code": code, "name": code, "avatar": avatar} for code, avatar in avatars]
    program = read(persons=[{**PERSON, "avatar": "/media/a.jpg"}, *persons])

    assert [(photo.person.name, photo.url) for photo in program.photos] == [
        ("Mia Zed", "https://camp.test/media/a.jpg"),
        ("Y", "https://camp.test/y.png"),
    ]


def test_biography_of_a_person_without_uid_round_trips() -> None:
    program = write_and_read(read(persons=[{**PERSON, "biography": "Hers."}]), frab_json)

    assert [(person.ref.name, person.biography) for person in write_and_read(program, frab_json).people] == [
        ("Mia Zed", "Hers.")
    ]


def test_relative_links_are_completed_and_source_links_left_out() -> None:
    links = [
        {"type": "FEEDBACK", "url": "https://camp.test/feedback/"},
        {"type": "ORIGIN", "url": "https://camp.test/talk/"},
        {"type": "web", "url": "https://mia.test/", "title": "Hers"},
    ]
    program = read(links=links, attachments=[{"url": "/media/a.pdf?1", "type": "SLIDES"}])

    assert [(material.kind, material.url) for material in stated(program.papers[0].materials, ())] == [
        ("project", "https://mia.test/"),
        ("slides", "https://camp.test/media/a.pdf?1"),
    ]


@pytest.mark.shared
def test_real_pretalx_file_is_read_with_all_biographies() -> None:
    content = (SHARED / "pretalx-democon.json").read_bytes()
    program = frab_json.read([Source("p.json", content)], Context("2020", 2020, "UTC"))
    days = json.loads(content)["schedule"]["conference"]["days"]
    events = [event for day in days for room in day["rooms"].values() for event in room]
    biographies = {person["id"]: person["biography"] for event in events for person in event["persons"]}

    assert len(program.sessions) == len(events) == 36
    assert {person.ref.ids[0][1]: person.biography for person in program.people} == {
        str(key): text.strip() for key, text in biographies.items()
    }


def test_time_without_offset_is_in_the_edition_zone_and_night_on_the_next_day() -> None:
    (morning,) = read(date="2019-08-21T11:00:00").sessions
    (night,) = read(date=None, start="00:30").sessions

    assert morning.start == datetime.fromisoformat("2019-08-21T11:00:00+02:00")
    assert night.start == datetime.fromisoformat("2019-08-22T00:30:00+02:00")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id": "7"}, "id"),
        ({"guid": None, "id": None}, "guid"),
        ({"date": "yesterday"}, "date"),
        ({"date": None}, "date"),
        ({"duration": "long"}, "duration"),
        ({"title": ""}, "title"),
        ({"title": 5}, "title"),
        ({"persons": {}}, "persons"),
    ],
)
def test_problem_has_file_location_and_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ProgramError) as error:
        read(**fields)
    first = error.value.problems[0]

    assert first.where.file == "schedule.json"
    assert first.where.place.startswith("conference.days[0].rooms.Curie[0]")
    assert first.field == field


def test_text_with_elements_in_xml_is_read_completely() -> None:
    content = (
        b'<schedule><conference/><day date="2026-07-08"><room name="Curie"><event id="1">'
        b"<title>On <i>n</i> bodies</title><start>10:00</start><duration>00:30</duration>"
        b"</event></room></day></schedule>"
    )
    (session,) = frab_xml.read([Source("schedule.xml", content)], Context("2026", 2026, "UTC")).sessions

    assert session.title == "On n bodies"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'<!DOCTYPE s [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><schedule>&c;</schedule>', "document type"),
        (b'<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]><schedule>&a;</schedule>', "document type"),
        (b'<!DOCTYPE s SYSTEM "http://127.0.0.1/x.dtd"><schedule/>', "document type"),
        (b"<a>" * 100_000, "nested too deeply"),
        (b"<schedule><day>", "not XML"),
        (b"<rss/>", "doesn’t begin with <schedule>"),
        (b"<schedule>\x00</schedule>", "not XML"),
        (b"", "not XML"),
    ],
)
def test_hostile_xml_is_refused(content: bytes, message: str) -> None:
    assert message in "".join(problems(frab_xml, content))


def test_too_large_file_is_refused() -> None:
    assert "larger than 100 MB" in problems(frab_xml, b" " * 100_000_001)[0]


@pytest.mark.shared
def test_real_camp_file_is_read() -> None:
    program = frab_json.read([Source("c.json", (SHARED / "frab-camp2019.json").read_bytes())], CAMP)

    assert len(program.sessions) == len(program.papers) == len(program.presentations) == 79
    assert len(program.topics) == 7
    assert {session.kind for session in program.sessions} == {"lecture", "performance"}
    assert {(kind.slug, kind.counts_as) for kind in program.session_kinds} == {
        ("lecture", "oral"),
        ("performance", "social"),
    }
    starts = [start for session in program.sessions if (start := stated(session.start, None))]
    assert {start.utcoffset() for start in starts} == {timedelta(hours=2)}


@pytest.mark.shared
def test_invalid_example_is_refused_with_locations() -> None:
    messages = problems(frab_json, (SHARED / "invalid-example.json").read_bytes())
    location = "file, conference.days[0].rooms.Winterchaos[0] (Internal Penetration Testing Basics)"

    assert messages[0] == f'{location}, id: This must be a whole number, not "2814".'
    assert any(".persons[0], id" in message and '"dsadf"' in message for message in messages)


def test_duration_counts_elapsed_hours_when_the_clock_is_set_back() -> None:
    zone = Context("2012", 2012, "America/Los_Angeles")
    file = schedule_source(date="2012-11-03T20:00:00-07:00", duration="24:00").content
    (session,) = frab_json.read([Source("f", file)], zone).sessions
    program = replace(Program(), sessions=(session,))
    (written,) = [json.loads(b"".join(file.chunks)) for file in frab_json.write(program, zone)]

    assert session.end == datetime.fromisoformat("2012-11-04T19:00:00-08:00")
    assert '"duration": "24:00"' in json.dumps(written)


# The newer layout


def read_newer_layout(*events: dict[str, Any], **schedule_fields: Any) -> Program:
    days = [
        {
            "index": 1,
            "date": "2019-08-21",
            "start": "2019-08-21T10:00:00+02:00",
            "end": "2019-08-22T06:00:00+02:00",
        },
        {
            "index": 2,
            "date": "2019-08-22",
            "start": "2019-08-22T06:00:00+02:00",
            "end": "2019-08-22T20:00:00+02:00",
        },
    ]
    conference = {
        "acronym": "camp",
        "days": days,
        "rooms": [
            {"name": "Hall", "guid": "r1", "capacity": 9},
            {"name": "Web", "guid": "r2", "type": "VIRTUAL"},
        ],
        "tracks": [{"name": "Art & Beauty", "slug": "art"}],
    }
    schedule = {"version": "1", "base_url": "https://camp.test/", "conference": conference}
    file = Source("f", json.dumps({"schedule": {**schedule, "events": events, **schedule_fields}}).encode())
    return frab_json.read([file], replace(CAMP, day_start_hour=0))


NEWER_EVENT: dict[str, Any] = {
    "guid": EVENT["guid"],
    "type": "LIGHTNING_TALK",
    "start": "2019-08-22T00:15:00+02:00",
    "end": "2019-08-22T00:45:00+02:00",
    "room": {"guid": "r1"},
    "title": "Speed:",
    "subtitle": "A race",
    "language": "de",
    "track": {"slug": "art"},
    "abstract": {"de": "Erstens.", "en": "First."},
    "description": None,
    "participants": [
        {"guid": "g1", "name": "Mia Zed", "role": "SPEAKER"},
        {"guid": "g2", "name": "Abe Li", "role": "HOST"},
    ],
    "links": [{"type": "ORIGIN", "url": "https://camp.test/talk/"}],
    "attachments": [{"type": "SLIDES", "url": "/s.pdf"}],
}


def test_event_of_the_newer_layout_is_read_completely() -> None:
    persons = [{"guid": "g1", "name": "Mia Zed", "biography": {"en": "She builds."}}]
    program = read_newer_layout(NEWER_EVENT, persons=persons)
    (session,), (paper,), (presentation,) = program.sessions, program.papers, program.presentations

    assert (session.title, session.kind, session.language, session.room) == (
        "Speed: A race",
        "lightning-talk",
        "de",
        "hall",
    )
    assert (str(session.start), str(session.end)) == (
        "2019-08-22 00:15:00+02:00",
        "2019-08-22 00:45:00+02:00",
    )
    assert session.roles == (RoleRecord(person=PersonRef(name="Abe Li"), role="moderator"),)
    assert (paper.abstract, paper.authors) == ("First.", (AuthorRecord(person=PersonRef(name="Mia Zed")),))
    assert [(material.kind, material.url) for material in stated(paper.materials, ())] == [
        ("slides", "https://camp.test/s.pdf")
    ]
    assert (presentation.kind, presentation.session) == ("spotlight", session.uid)
    assert [(kind.slug, kind.name, kind.counts_as) for kind in program.session_kinds] == [
        ("lightning-talk", "Lightning talk", "spotlight")
    ]
    assert [(room.name, room.capacity, room.virtual) for room in program.rooms] == [
        ("Hall", 9, UNSTATED),
        ("Web", UNSTATED, True),
    ]
    assert [topic.name for topic in program.topics] == ["Art & Beauty"]
    assert program.people == (PersonRecord(ref=PersonRef(name="Mia Zed"), biography="She builds."),)
    assert program.edition == EditionRecord(slug="2019", day_start_hour=6)


def test_states_of_the_newer_layout_become_statuses() -> None:
    states = ["CONFIRMED", "DELAYED", "CANCELED", "DRAFT", "REJECTED", "DELETED"]
    program = read_newer_layout(
        *({**NEWER_EVENT, "guid": None, "code": f"C{n}", "state": state} for n, state in enumerate(states))
    )

    assert [session.status for session in program.sessions] == [
        "published",
        "published",
        "cancelled",
        "draft",
    ]
    assert [paper.status for paper in program.papers] == ["published", "published", "published", "draft"]
    assert [note.message for note in program.notes if "left out" in note.message] == [
        "The event was left out because it is rejected.",
        "The event was left out because it is deleted.",
    ]


def test_break_of_the_newer_layout_is_read_without_guid() -> None:
    lunch = {"type": "BREAK", "title": "Lunch", "start": NEWER_EVENT["start"], "end": NEWER_EVENT["end"]}
    (session,) = read_newer_layout(lunch).sessions

    assert (session.uid, session.kind, session.room) == ("lunch-2019-08-22t00-15-00-02-00", "break", None)


@pytest.mark.parametrize("guid", WRONG_TYPES)
def test_participant_with_guid_of_wrong_type_is_identified_by_name(guid: object) -> None:
    program = read_newer_layout({**NEWER_EVENT, "participants": [{"guid": guid, "name": "Mia Zed"}]})

    assert [paper.authors for paper in program.papers] == [(AuthorRecord(person=PersonRef(name="Mia Zed")),)]


@pytest.mark.django_db
def test_persons_with_the_same_name_are_kept_apart_with_one_note() -> None:
    make_edition(slug="2019", timezone="Europe/Berlin")
    second_event = {
        **NEWER_EVENT,
        "guid": None,
        "code": "X",
        "participants": [{"guid": "g9", "name": "Mia Zed"}],
    }
    report = load(read_newer_layout(NEWER_EVENT, second_event), "2019")

    assert Person.objects.filter(name="Mia Zed").count() == 2
    assert [note.message for note in report.notes if "Mia Zed" in note.message] == [
        "Mia Zed is also the name of 2 people of this file. They are kept apart; merge them if they are one."
    ]


@pytest.mark.parametrize(
    ("field", "value"), [("start", "soon"), ("end", "late"), ("title", 5), ("abstract", 5)]
)
def test_problem_of_the_newer_layout_has_its_location(field: str, value: object) -> None:
    with pytest.raises(ProgramError) as error:
        read_newer_layout({**NEWER_EVENT, field: value})
    (first, *_) = error.value.problems

    assert first.where.place.startswith("schedule.events[0]")
    assert first.field == ("date" if field == "start" else field)


@pytest.mark.shared
def test_real_hub_file_is_read() -> None:
    content = (SHARED / "hub-schedule2.json").read_bytes()
    program = frab_json.read([Source("h.json", content)], Context("38c3", 2024, "Europe/Berlin"))
    schedule = json.loads(content)["schedule"]

    assert len(program.sessions) == len(program.papers) == len(schedule["events"]) == 2
    assert [person.ref.name for person in program.people] == [
        person["name"] for person in schedule["persons"]
    ]
    assert [room.name for room in program.rooms] == [room["name"] for room in schedule["conference"]["rooms"]]


# Round trips


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
@pytest.mark.parametrize("sample", [complete_program(), program_with_talks()], ids=["complete", "talks"])
def test_trap_20_sample_program_round_trips(fmt: Any, sample: Program) -> None:
    program = write_and_read(sample, fmt)

    assert write_and_read(program, fmt) == program


@settings(max_examples=15, deadline=None)
@given(programs(), st.sampled_from([frab_json, frab_xml]))
def test_any_program_round_trips(input_program: Program, fmt: Any) -> None:
    program = write_and_read(input_program, fmt)

    assert write_and_read(program, fmt) == program


NO_DAYS = "This is not a frab or pretalx schedule: it has no days."


@pytest.mark.parametrize(
    ("conference", "message"),
    [
        ({"days": {}}, f"file, schedule, conference.days: {NO_DAYS}"),
        ({"days": [{"rooms": []}]}, "This must be an object of room name -> list of events."),
        ({"days": [{"date": "21.8.", "rooms": {}}]}, "file, conference.days[0], date: "),
        ({"days": [], "time_zone_name": "Mars/Base"}, "time_zone_name: "),
    ],
)
def test_file_that_is_not_a_schedule_is_refused(conference: dict[str, Any], message: str) -> None:
    messages = problems(frab_json, json.dumps({"schedule": {"conference": conference}}).encode())

    assert len(messages) == 1
    assert message in messages[0]


def test_two_files_are_refused() -> None:
    with pytest.raises(ProgramError, match=r"Give one file of this format, not 2\."):
        frab_json.read([schedule_source(), schedule_source()], CAMP)


def test_times_are_in_the_zone_of_the_file_with_a_warning() -> None:
    day = {"index": 1, "date": "2019-08-21", "rooms": {"Curie": [{**EVENT, "date": "", "start": "11:00"}]}}
    conference = {"acronym": "camp", "time_zone_name": "Asia/Seoul", "days": [day]}
    program = frab_json.read(
        [Source("file", json.dumps({"schedule": {"conference": conference}}).encode())], CAMP
    )

    assert [str(session.start) for session in program.sessions] == ["2019-08-21 11:00:00+09:00"]
    assert [note.message for note in program.notes if note.kind == "warning"] == [
        "The times of the file are those of Asia/Seoul, the edition has the zone Europe/Berlin."
    ]


# Odd details, of which none refuses the file


def xml_source(events: str, conference: str = "", head: str = "") -> Source:
    text = (
        f"<schedule>{head}<version>1</version><conference><acronym>x</acronym>{conference}</conference>"
        f'<day date="2019-08-21"><room name="Hall">{events}</room></day></schedule>'
    )
    return Source("schedule.xml", text.encode())


def xml_event(number: int, content: str, start: str = "10:30") -> str:
    return (
        f'<event id="{number}"><start>{start}</start><duration>00:30</duration><title>Talk {number}</title>'
        f"<type>lecture</type>{content}</event>"
    )


def read_xml(events: str, **parts: str) -> Program:
    return frab_xml.read([xml_source(events, **parts)], CAMP)


def messages(program: Program) -> list[str]:
    return [note.message for note in program.notes if "kinds of sessions" not in note.message]


@pytest.mark.parametrize(
    ("answer", "abstract", "remarks"),
    [
        ("<answer>x</answer><question>6</question>", "A", 1),
        ("<answer>So.</answer><question>Why?</question>", "A\n\nWhy? So.", 0),
        ("<answer>So.</answer><question>Why?</question><is_public>true</is_public>", "A\n\nWhy? So.", 0),
        ("<answer>So.</answer><question>Why?</question><is_public>False</is_public>", "A", 1),
        ("<answer>So.</answer><question id='6'><question>Why?</question></question>", "A\n\nWhy? So.", 0),
        ("<question>Why?</question>", "A", 0),
    ],
)
def test_trap_45_answers_in_xml_are_read_if_public(answer: str, abstract: str, remarks: int) -> None:
    program = read_xml(xml_event(1, f"<abstract>A</abstract><answers><answer>{answer}</answer></answers>"))

    (session,) = program.sessions
    assert session.abstract == abstract
    assert (
        messages(program)
        == ["1 answers were left out: the file does not say what was asked, or that they are public."]
        * remarks
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address", ["http://", "http://x y", "https://-", "slides.pdf", "//", f"https://x.test/{'a' * 1000}"]
)
def test_trap_45_link_that_is_none_is_left_out_with_its_value(address: str) -> None:
    make_edition(slug="2019", timezone="Europe/Berlin")
    program = read_xml(xml_event(1, f'<links><link href="{address}">Slides</link></links>'))

    assert messages(program) == [
        f"This link was left out, since it is no web address: {address[:120]}{'…' * (len(address) > 120)}"
    ]
    assert load(program, "2019").run is not None


@pytest.mark.django_db
def test_trap_45_addresses_of_people_that_are_none_are_left_out() -> None:
    make_edition(slug="2019", timezone="Europe/Berlin")
    person = {"name": "Mia Zed", "links": [{"url": "http://"}], "avatar": "http://", "biography": "She."}
    program = read(persons=[person])

    assert messages(program) == ["This link was left out, since it is no web address: http://"]
    assert (load(program, "2019").run is not None, program.photos) == (True, ())


@pytest.mark.parametrize("name", ["answers", "links", "attachments"])
@pytest.mark.parametrize("value", ["odd", [["odd"]], {"odd": 1}, 7])
def test_trap_45_detail_of_another_type_is_left_out_with_its_value(name: str, value: Any) -> None:
    program = read(**{name: value})

    assert [session.title for session in program.sessions] == ["On n bodies"]
    assert ["odd" in message or "7" in message for message in messages(program)] == (
        [] if isinstance(value, dict) and name == "answers" else [True]
    )


@pytest.mark.parametrize("guid", ["mXbBcXkS2WvUoVnA1R9t4Z", "AAAA_bbbb-CCCC.dddd", "12ab"])
def test_short_guid_is_the_identifier(guid: str) -> None:
    assert [session.uid for session in read(guid=guid).sessions] == [guid]


def test_trap_45_guid_that_can_be_no_identifier_is_left_out() -> None:
    program = read(guid="{not one}")

    assert [session.uid for session in program.sessions] == ["7"]
    assert messages(program) == ["The guid “{not one}” was left out: it can be no identifier."]


NIGHT = {"00:30": "2019-08-22T00:30:00+02:00", "9:00": "2019-08-21T09:00:00+02:00"}


@pytest.mark.parametrize("start", NIGHT)
def test_days_begin_when_the_conference_says_so(start: str) -> None:
    change = "<day_change>09:00:00</day_change>"
    (session,) = read_xml(xml_event(1, "", start), conference=change).sessions

    assert session.start == datetime.fromisoformat(NIGHT[start])


HTML = {
    "<p>We <strong>need</strong> <a href='https://x.test/?a=1&amp;b'>it</a>.</p>": (
        "We **need** [it](https://x.test/?a=1&b)."
    ),
    "<p>One &amp; two</p><p>1 &lt; 2, $a_1$ and 2 * 3 * 4</p>": (
        "One & two\n\n1 \\< 2, $a_1$ and 2 \\* 3 \\* 4"
    ),
    "<ul><li>a</li><li>b <em>c</em></li></ul><ol><li>d</li><li>e</li></ol>": "- a\n- b *c*\n\n1. d\n2. e",
    "<p>a<br/>b</p><script>x()</script><!-- y -->": "a\\\nb",
    "Plain *Markdown* <br> on <https://x.test>": "Plain *Markdown* \\\n on <https://x.test>",
    "<div><b>a</b><b>b</b><i> </i>c <i>d </i>e</div>": "**ab** c *d* e",
    "<p>Go <a href='javascript:x()'>there</a></p>": "Go there",
}


@pytest.mark.parametrize("html", HTML)
def test_html_becomes_text_with_emphasis_once_and_with_a_note(html: str) -> None:
    person = {"name": "Mia Zed", "biography": html}
    program = read(abstract=html, description="", persons=[person])

    assert [session.abstract for session in program.sessions] == [HTML[html]]
    assert [record.biography for record in program.people] == [HTML[html]]
    assert messages(program) == [
        f"HTML became text with emphasis and links: {field}." for field in ("abstract", "biography")
    ]
    assert read_xml(xml_event(1, f"<abstract>{escape(html)}</abstract>")).sessions[0].abstract == HTML[html]


@pytest.mark.parametrize(
    "text", ["The <p> tag", "`<br>` is a tag", "a < b > c", "<https://x.test>", "<b>", "x</y>"]
)
def test_text_about_tags_is_no_html(text: str) -> None:
    program = read(abstract=text, description="")

    assert ([session.abstract for session in program.sessions], messages(program)) == ([text], [])


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
def test_html_in_texts_of_this_site_is_shown(fmt: Any) -> None:
    program = read(abstract="a", description="")
    (session,) = program.sessions
    shown = replace(program, sessions=(replace(session, abstract="<p>a</p>"),))

    assert write_and_read(shown, fmt).sessions[0].abstract == "<p>a</p>"


@pytest.mark.parametrize(
    "html",
    ["<ul><li>" * 20_000 + "</p>", "<" * 190_000 + "</p>", "<b>" * 60_000 + "</b>", "</p><a href='" * 15_000],
)
def test_hostile_html_is_read_at_once(html: str) -> None:
    start = time.perf_counter()
    read(abstract=html, description="")

    assert time.perf_counter() - start < 8


@pytest.mark.django_db
@pytest.mark.parametrize("attribute", ["guid", "code", "id"])
def test_one_guid_is_one_person_within_a_file(attribute: str) -> None:
    make_edition(slug="2019", timezone="Europe/Berlin")
    key = "7" if attribute == "id" else "5f0c1e7a-1111-4222-8333-0123456789ab"
    person = f'<persons><person {attribute}="{key}">tidewave</person></persons>'
    events = "".join(xml_event(number, f"<track>x</track>{person}") for number in range(1, 6))
    load(read_xml(events), "2019")

    assert Person.objects.count() == 1
    assert load(read_xml(events), "2019").run is None
