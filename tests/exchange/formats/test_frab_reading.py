"""Tests of the reader of frab and pretalx schedules: events, refused files, round trips."""

import copy
import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markup
from exchange.files import Context, Source
from exchange.formats import frab_json, frab_xml
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
from tests.exchange.formats.test_frab import CONTEXT, SHARED, talks, text
from tests.exchange.outputs import reported_problems
from tests.exchange.programs import complete_program
from tests.exchange.strategies import programs

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


def source(**fields: Any) -> Source:
    day = {"index": 1, "date": "2019-08-21", "day_start": "2019-08-21T09:00:00+02:00"}
    conference = {"acronym": "camp", "days": [{**day, "rooms": {"Curie": [{**EVENT, **fields}]}}]}
    schedule = {"version": "1", "base_url": "https://camp.test/x/", "conference": conference}
    return Source("schedule.json", json.dumps({"schedule": schedule}).encode())


def read(**fields: Any) -> Program:
    return frab_json.read([source(**fields)], CAMP)


def problems(fmt: Any, content: bytes) -> list[str]:
    return reported_problems(fmt.read, [Source("file", content)], CAMP)


def again(made: Program, fmt: Any) -> Program:
    found: Program = fmt.read([Source("file", text(made, fmt).encode())], CONTEXT)
    return found


def test_event_becomes_a_session_with_its_speakers() -> None:
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
def test_titles_go_in_and_out_letter_by_letter(title: str, fmt: Any) -> None:
    made = read(title=title, track="Health")

    titles = [*(one.title for one in made.sessions), *(one.title for one in made.papers)]
    assert [markup.plain(stated(one, "")) for one in titles] == [title, title]
    (event,) = json.loads(text(made, frab_json))["schedule"]["conference"]["days"][0]["rooms"]["Curie"]
    assert event["title"] == title
    assert again(made, fmt).papers == again(made, frab_json).papers


def test_event_with_a_track_holds_a_paper() -> None:
    found = read(track="Chaos", attachments=[{"url": "https://a.test/s.PDF", "title": "My slides"}])
    (paper,), (shown,), (session,) = found.papers, found.presentations, found.sessions

    assert (paper.uid, paper.topic, found.topics[0].name) == (session.uid, "chaos", "Chaos")
    assert paper.authors == (AuthorRecord(person=PersonRef(name="Mia Zed", ids=(("camp.test", "9"),))),)
    assert [(one.kind, one.url, one.label) for one in stated(paper.materials, ())] == [
        ("pdf", "https://a.test/s.PDF", "My slides")
    ]
    assert (shown.session, shown.paper, shown.kind) == (session.uid, paper.uid, "talk")
    assert (session.roles, session.abstract) == ((), "")


def test_pretalx_names_people_by_code_and_says_when_it_ends() -> None:
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
REF = PersonRef(name="Mia Zed", ids=(("camp.test", "ABC123"),))


def test_biography_and_homepage_of_a_person_are_taken_once() -> None:
    again = {**PERSON, "biography": "", "links": []}
    rooms: dict[str, Any] = {"A": [{**EVENT, "persons": [PERSON, PERSON]}]}
    silent = {"code": "X", "name": "Bo Li", "biography": None}
    late = {**EVENT, "id": 8, "guid": None, "persons": [again, silent]}
    rooms["B"] = [late]
    conference = {"days": [{"date": "2019-08-21", "rooms": rooms}], "url": "https://camp.test/"}
    file = Source("f", json.dumps({"schedule": {"conference": conference}}).encode())

    assert frab_json.read([file], CAMP).people == (
        PersonRecord(ref=REF, biography="She\nbuilds.", homepage="https://zed.test/"),
    )


def test_biography_goes_out_again() -> None:
    known = PersonRecord(
        ref=PersonRef(name="M. Zed", uid="mia"), biography="A.\n\n*B*", homepage="https://z.test/"
    )
    (found,) = again(replace(talks(), people=(known,)), frab_json).people

    assert (found.ref.name, found.biography, found.homepage) == ("Mia Zed", "A.\n\n*B*", "https://z.test/")


def test_answers_that_are_public_are_taken_and_others_counted() -> None:
    answers: list[dict[str, Any]] = [
        {"question": "Which level?", "answer": "Beginner"},
        {"question": {"question": {"de": "Stufe", "en": "Level"}, "is_public": True}, "answer": "2"},
        {"question": {"question": {"en": "Fee"}, "is_public": False}, "answer": "None"},
        {"question": 12, "answer": "Yes", "options": []},
        {"question": "Empty", "answer": ""},
    ]
    asked = [{"question": {"question": "Motto", "is_public": True}, "answer": "Go"}]
    private = [{"question": "Diet", "answer": "Vegan"}]
    found = read(answers=answers, persons=[{**PERSON, "answers": [*asked, *private]}])

    assert stated(found.sessions[0].abstract, "").split("\n\n")[2:] == ["Which level? Beginner", "Level: 2"]
    assert stated(found.people[0].biography, "") == "She\nbuilds.\n\nMotto: Go"
    assert [note.message for note in found.notes if note.kind == "warning"] == [
        "3 answers were left out: the file does not say what was asked, or that they are public."
    ]


@pytest.mark.parametrize(
    ("word", "counts_as", "shown"),
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
def test_type_is_a_kind_of_its_own_and_goes_out_as_it_came(word: str, counts_as: str, shown: str) -> None:
    found = read(type=word, track="Chaos")
    (kind,) = found.session_kinds

    assert (kind.name, kind.counts_as, found.sessions[0].kind) == (word, counts_as, kind.slug)
    assert found.presentations[0].kind == shown
    for fmt in (frab_json, frab_xml):
        assert again(found, fmt).session_kinds == (kind,)
    assert found.notes[-1].message.endswith(f"what they count as: {word} ({counts_as}).")


@pytest.mark.parametrize("word", ["Workshop", "invited talk", "TOWN_HALL", ""])
def test_type_that_is_a_kind_here_adds_none(word: str) -> None:
    found = read(type=word)

    assert found.session_kinds == ()
    assert found.sessions[0].kind == (word.lower().replace(" ", "_") or "other")


@pytest.mark.parametrize(
    ("ours", "start", "hour"),
    [(0, "01:30", 6), (4, "04:30", 6), (6, "04:30", None), (4, "01:30", None), (None, "04:30", None)],
)
def test_day_of_the_file_is_taken_where_it_matters(ours: int | None, start: str, hour: int | None) -> None:
    times = {"date": f"2019-08-22T{start}:00+02:00"}
    day = {
        "date": "2019-08-21",
        "day_start": "2019-08-21T06:00:00+02:00",
        "rooms": {"A": [{**EVENT, **times}]},
    }
    file = Source("f", json.dumps({"schedule": {"conference": {"days": [day]}}}).encode())
    found = frab_json.read([file], replace(CAMP, day_start_hour=ours))
    said = [note.message for note in found.notes if note.kind == "warning"]

    assert found.edition == (EditionRecord(slug="2019", day_start_hour=hour) if hour else None)
    begins = f"Days of the file begin at 06:00, those of the edition at 0{ours}:00."
    assert said == ([f"{begins} Events that this puts on another day: 1."] if hour else [])


@pytest.mark.parametrize("tag", ["de", "pt-BR", "de-formal", ""])
def test_language_of_an_event_is_kept(tag: str) -> None:
    found = read(language=tag)

    assert found.sessions[0].language == tag
    assert again(found, frab_json).sessions[0].language == again(found, frab_xml).sessions[0].language == tag


def test_what_is_no_language_is_left_out_with_a_note() -> None:
    found = read(language="de, en")

    assert found.sessions[0].language == ""
    assert "The language “de, en” is left out" in found.notes[0].message


def test_more_types_than_a_conference_has_are_no_kinds() -> None:
    events = [{**EVENT, "id": n, "guid": None, "type": f"Talk {n}"} for n in range(1, 30)]
    days = [{"date": "2019-08-21", "rooms": {"A": events}}]
    file = Source("f", json.dumps({"schedule": {"conference": {"days": days}}}).encode())
    found = frab_json.read([file], CAMP)

    assert len(found.session_kinds) == 20
    assert [one.kind for one in found.sessions[20:]] == ["oral"] * 9


ODD = [5, "no", ["a"], [{}], {"a": 1}]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "path",
    [
        ("do_not_record",),
        ("persons", 0, "guid"),
        ("answers", 0, "is_public"),
        ("answers", 0, "question", "is_public"),
    ],
)
def test_odd_flag_or_guid_of_a_person_leaves_the_event_as_it_is(path: list[str | int], odd: object) -> None:
    answers = [{"question": {"question": "Why?"}, "answer": "So."}]
    event: Any = copy.deepcopy({**EVENT, "answers": answers})
    part = event
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = odd

    (session,) = read(**event).sessions
    assert session.abstract == f"First.\n\nSecond.{'' if 'is_public' in path else '\n\nWhy? So.'}"


@pytest.mark.parametrize(("odd", "said"), [(5, "a number"), (["a"], "a list"), ({}, "an object")])
def test_guid_that_is_no_text_is_reported(odd: object, said: str) -> None:
    place = "conference.days[0].rooms.Curie[0] (On n bodies)"

    found = problems(frab_json, source(guid=odd).content)
    assert found == [f"file, {place}, guid: This must be text, not {said}."]


def test_addresses_of_pictures_are_taken() -> None:
    others = [("X", None), ("Y", {"url": "https://camp.test/y.png"}), ("Z", 5)]
    persons = [{"code": code, "name": code, "avatar": avatar} for code, avatar in others]
    found = read(persons=[{**PERSON, "avatar": "/media/a.jpg"}, *persons])

    assert [(one.person.name, one.url) for one in found.photos] == [
        ("Mia Zed", "https://camp.test/media/a.jpg"),
        ("Y", "https://camp.test/y.png"),
    ]


def test_biography_of_somebody_without_a_uid_goes_out_again() -> None:
    once = again(read(persons=[{**PERSON, "biography": "Hers."}]), frab_json)

    assert [(one.ref.name, one.biography) for one in again(once, frab_json).people] == [("Mia Zed", "Hers.")]


def test_links_within_the_site_are_completed_and_those_to_the_source_left_out() -> None:
    links = [
        {"type": "FEEDBACK", "url": "https://camp.test/feedback/"},
        {"type": "ORIGIN", "url": "https://camp.test/talk/"},
        {"type": "web", "url": "https://mia.test/", "title": "Hers"},
    ]
    found = read(links=links, attachments=[{"url": "/media/a.pdf?1", "type": "SLIDES"}])

    assert [(one.kind, one.url) for one in stated(found.papers[0].materials, ())] == [
        ("project", "https://mia.test/"),
        ("slides", "https://camp.test/media/a.pdf?1"),
    ]


@pytest.mark.shared
def test_real_pretalx_file_is_read_with_its_biographies() -> None:
    content = (SHARED / "pretalx-democon.json").read_bytes()
    found = frab_json.read([Source("p.json", content)], Context("2020", 2020, "UTC"))
    days = json.loads(content)["schedule"]["conference"]["days"]
    events = [event for day in days for room in day["rooms"].values() for event in room]
    people = {one["id"]: one["biography"] for event in events for one in event["persons"]}

    assert len(found.sessions) == len(events) == 36
    assert {one.ref.ids[0][1]: one.biography for one in found.people} == {
        str(key): text.strip() for key, text in people.items()
    }


def test_time_without_offset_is_in_the_zone_and_after_midnight_on_the_next_day() -> None:
    (plain,) = read(date="2019-08-21T11:00:00").sessions
    (late,) = read(date=None, start="00:30").sessions

    assert plain.start == datetime.fromisoformat("2019-08-21T11:00:00+02:00")
    assert late.start == datetime.fromisoformat("2019-08-22T00:30:00+02:00")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id": "7"}, "id"),
        ({"guid": "x"}, "guid"),
        ({"guid": None, "id": None}, "guid"),
        ({"date": "yesterday"}, "date"),
        ({"date": None}, "date"),
        ({"duration": "long"}, "duration"),
        ({"title": ""}, "title"),
        ({"title": 5}, "title"),
        ({"persons": {}}, "persons"),
    ],
)
def test_problem_names_file_place_and_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ProgramError) as error:
        read(**fields)
    first = error.value.problems[0]

    assert first.where.file == "schedule.json"
    assert first.where.place.startswith("conference.days[0].rooms.Curie[0]")
    assert first.field == field


@pytest.mark.parametrize(
    ("content", "said"),
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
def test_hostile_xml_is_refused(content: bytes, said: str) -> None:
    assert said in "".join(problems(frab_xml, content))


def test_file_that_is_too_large_is_not_parsed() -> None:
    assert "larger than 100 MB" in problems(frab_xml, b" " * 100_000_001)[0]


@pytest.mark.shared
def test_real_camp_is_read() -> None:
    found = frab_json.read([Source("c.json", (SHARED / "frab-camp2019.json").read_bytes())], CAMP)

    assert len(found.sessions) == len(found.papers) == len(found.presentations) == 79
    assert len(found.topics) == 7
    assert {session.kind for session in found.sessions} == {"lecture", "performance"}
    assert {(one.slug, one.counts_as) for one in found.session_kinds} == {
        ("lecture", "oral"),
        ("performance", "social"),
    }
    starts = [start for one in found.sessions if (start := stated(one.start, None))]
    assert {start.utcoffset() for start in starts} == {timedelta(hours=2)}


@pytest.mark.shared
def test_invalid_example_is_refused_with_its_places() -> None:
    found = problems(frab_json, (SHARED / "invalid-example.json").read_bytes())
    place = "file, conference.days[0].rooms.Winterchaos[0] (Internal Penetration Testing Basics)"

    assert found[0] == f'{place}, id: This must be a whole number, not "2814".'
    assert any(".persons[0], id" in one and '"dsadf"' in one for one in found)


def test_duration_counts_hours_that_pass_in_a_night_of_25() -> None:
    zone = Context("2012", 2012, "America/Los_Angeles")
    file = source(date="2012-11-03T20:00:00-07:00", duration="24:00").content
    (found,) = frab_json.read([Source("f", file)], zone).sessions
    made = replace(Program(), sessions=(found,))
    (written,) = [json.loads(b"".join(file.chunks)) for file in frab_json.write(made, zone)]

    assert found.end == datetime.fromisoformat("2012-11-04T19:00:00-08:00")
    assert '"duration": "24:00"' in json.dumps(written)


# The newer layout


def newer(*events: dict[str, Any], **more: Any) -> Program:
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
    file = Source("f", json.dumps({"schedule": {**schedule, "events": events, **more}}).encode())
    return frab_json.read([file], replace(CAMP, day_start_hour=0))


NEWER: dict[str, Any] = {
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


def test_event_of_the_newer_layout_finds_room_track_persons_and_day() -> None:
    persons = [{"guid": "g1", "name": "Mia Zed", "biography": {"en": "She builds."}}]
    found = newer(NEWER, persons=persons)
    (session,), (paper,), (shown,) = found.sessions, found.papers, found.presentations

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
    assert [(one.kind, one.url) for one in stated(paper.materials, ())] == [
        ("slides", "https://camp.test/s.pdf")
    ]
    assert (shown.kind, shown.session) == ("spotlight", session.uid)
    assert [(one.slug, one.name, one.counts_as) for one in found.session_kinds] == [
        ("lightning-talk", "Lightning talk", "spotlight")
    ]
    assert [(one.name, one.capacity, one.virtual) for one in found.rooms] == [
        ("Hall", 9, UNSTATED),
        ("Web", UNSTATED, True),
    ]
    assert [one.name for one in found.topics] == ["Art & Beauty"]
    assert found.people == (PersonRecord(ref=PersonRef(name="Mia Zed"), biography="She builds."),)
    assert found.edition == EditionRecord(slug="2019", day_start_hour=6)


def test_states_of_the_newer_layout() -> None:
    states = ["CONFIRMED", "DELAYED", "CANCELED", "DRAFT", "REJECTED", "DELETED"]
    found = newer(*({**NEWER, "guid": None, "code": f"C{n}", "state": one} for n, one in enumerate(states)))

    assert [one.status for one in found.sessions] == ["published", "published", "cancelled", "draft"]
    assert [one.status for one in found.papers] == ["published", "published", "published", "draft"]
    assert "Events left out as rejected, withdrawn or deleted: 2." in [note.message for note in found.notes]


def test_break_of_the_newer_layout_has_no_guid() -> None:
    lunch = {"type": "BREAK", "title": "Lunch", "start": NEWER["start"], "end": NEWER["end"]}
    (session,) = newer(lunch).sessions

    assert (session.uid, session.kind, session.room) == ("lunch-2019-08-22t00-15-00-02-00", "break", None)


@pytest.mark.parametrize("guid", ODD)
def test_participant_with_an_odd_guid_is_known_by_name(guid: object) -> None:
    found = newer({**NEWER, "participants": [{"guid": guid, "name": "Mia Zed"}]})

    assert [one.authors for one in found.papers] == [(AuthorRecord(person=PersonRef(name="Mia Zed")),)]


def test_two_persons_of_one_name_are_pointed_out() -> None:
    other = {**NEWER, "guid": None, "code": "X", "participants": [{"guid": "g9", "name": "Mia Zed"}]}
    said = [note.message for note in newer(NEWER, other).notes]

    assert "Names of more than one person in the file, who are one here: Mia Zed." in said


@pytest.mark.parametrize(
    ("field", "value"), [("start", "soon"), ("end", "late"), ("title", 5), ("abstract", 5), ("guid", "x")]
)
def test_problem_of_the_newer_layout_names_its_place(field: str, value: object) -> None:
    with pytest.raises(ProgramError) as error:
        newer({**NEWER, field: value})
    (first, *_) = error.value.problems

    assert first.where.place.startswith("schedule.events[0]")
    assert first.field == ("date" if field == "start" else field)


@pytest.mark.shared
def test_real_file_of_the_hub_is_read() -> None:
    content = (SHARED / "hub-schedule2.json").read_bytes()
    found = frab_json.read([Source("h.json", content)], Context("38c3", 2024, "Europe/Berlin"))
    schedule = json.loads(content)["schedule"]

    assert len(found.sessions) == len(found.papers) == len(schedule["events"]) == 2
    assert [one.ref.name for one in found.people] == [one["name"] for one in schedule["persons"]]
    assert [one.name for one in found.rooms] == [one["name"] for one in schedule["conference"]["rooms"]]


# Round trips


@pytest.mark.parametrize("fmt", [frab_json, frab_xml])
@pytest.mark.parametrize("made", [complete_program(), talks()], ids=["complete", "talks"])
def test_trap_20_what_was_read_is_written_and_read_the_same(fmt: Any, made: Program) -> None:
    once = again(made, fmt)

    assert again(once, fmt) == once


@settings(max_examples=15, deadline=None)
@given(programs(), st.sampled_from([frab_json, frab_xml]))
def test_any_program_reads_back_and_stays(made: Program, fmt: Any) -> None:
    once = again(made, fmt)

    assert again(once, fmt) == once


NO_DAYS = "This is not a frab or pretalx schedule: it has no days."


@pytest.mark.parametrize(
    ("conference", "said"),
    [
        ({"days": {}}, f"file, schedule, conference.days: {NO_DAYS}"),
        ({"days": [{"rooms": []}]}, "This must be an object of room name -> list of events."),
        ({"days": [{"date": "21.8.", "rooms": {}}]}, "file, conference.days[0], date: "),
        ({"days": [], "time_zone_name": "Mars/Base"}, "time_zone_name: "),
    ],
)
def test_what_is_no_schedule_is_refused(conference: dict[str, Any], said: str) -> None:
    found = problems(frab_json, json.dumps({"schedule": {"conference": conference}}).encode())

    assert len(found) == 1
    assert said in found[0]


def test_one_file_is_read_at_a_time() -> None:
    with pytest.raises(ProgramError, match=r"Give one file of this format, not 2\."):
        frab_json.read([source(), source()], CAMP)


def test_times_of_a_file_are_in_its_own_zone_and_noted() -> None:
    day = {"index": 1, "date": "2019-08-21", "rooms": {"Curie": [{**EVENT, "date": "", "start": "11:00"}]}}
    conference = {"acronym": "camp", "time_zone_name": "Asia/Seoul", "days": [day]}
    found = frab_json.read(
        [Source("file", json.dumps({"schedule": {"conference": conference}}).encode())], CAMP
    )

    assert [str(one.start) for one in found.sessions] == ["2019-08-21 11:00:00+09:00"]
    assert [one.message for one in found.notes if one.kind == "warning"] == [
        "The times of the file are those of Asia/Seoul, the edition has the zone Europe/Berlin."
    ]
