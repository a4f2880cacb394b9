"""Tests of iCalendar files with the icalendar library: times, identity, changes, folding, unusual rows."""

import gc
import weakref
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import icalendar
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import markup
from exchange.files import Context
from exchange.formats.ics import (
    END,
    FOLD,
    MAX_ABSTRACT_CHARS,
    CalendarScope,
    calendar,
    escape_text,
    fold_line,
    shorten_abstract,
    write,
)
from exchange.records import PersonRef, Program, RoleRecord, RoomRecord, SpeakerRecord
from tests.exchange.outputs import written_content
from tests.exchange.programs import HOUR, START, complete_program, edition, paper, program, session, talk
from tests.pseudolocale import pseudolocale

SITE = "https://conf.example:8443/"
CONTEXT = Context("2021", 2021, "America/Los_Angeles", SITE)
CHANGED = datetime(2021, 3, 1, 9, 30, tzinfo=UTC)
# Letters of one to four bytes, joined emoji, and characters that iCalendar escapes.
CHARACTERS = st.one_of(st.sampled_from('a;,\\\n:"é李👩‍🔬'), st.characters(exclude_categories=["Cs", "Cc"]))


def written_calendar(input_program: Program, context: Context = CONTEXT) -> bytes:
    return written_content(write, input_program, context)


def calendar_events(input_program: Program, context: Context = CONTEXT) -> list[Any]:
    return icalendar.Calendar.from_ical(written_calendar(input_program, context)).events


def session_event(*, rooms: tuple[RoomRecord, ...] = (), **fields: Any) -> Any:
    (event,) = calendar_events(program(sessions=(session("s1", **fields),), rooms=rooms))
    return event


def test_session_event_has_all_known_properties() -> None:
    chair = RoleRecord(person=PersonRef(name="Cy Lee"), role="chair")
    hall = RoomRecord(slug="hall", name="Hall A; left")
    event = session_event(
        title="Opening, day 1",
        kind="invited_talk",
        room="hall",
        roles=(chair,),
        abstract="Why.",
        rooms=(hall,),
        rescheduled_at=CHANGED,
    )

    assert event.start == datetime(2021, 4, 6, 8, tzinfo=ZoneInfo("America/Los_Angeles"))
    assert {name: str(event[name]) for name in ("SUMMARY", "LOCATION", "URL", "STATUS", "DESCRIPTION")} == {
        "SUMMARY": "Opening, day 1",
        "LOCATION": "Hall A; left",
        "URL": "https://conf.example:8443/2021/sessions/s1/",
        "STATUS": "CONFIRMED",
        "DESCRIPTION": "Chair: Cy Lee\n\nWhy.\n\nhttps://conf.example:8443/2021/sessions/s1/",
    }
    assert (event.uid, event.categories) == ("session.2021.s1@conf.example", ["Invited talk"])
    assert (event.DTSTAMP, event.LAST_MODIFIED) == (CHANGED, CHANGED)


def test_only_talk_with_its_own_time_becomes_an_event() -> None:
    talks = (
        talk("t1", session="s1", paper="p1", start=START),
        talk("t2", session="s1", paper="p1"),
        talk("t3", paper="p1"),
        talk(
            "t4",
            session="s1",
            title="Own",
            start=START,
            speakers=(SpeakerRecord(person=PersonRef(name="Bo")),),
        ),
    )
    input_program = program(
        paper("p1", "Ada Lovelace", "Bo Li"), sessions=(session("s1"),), presentations=talks
    )
    events_by_uid = {event.uid: event for event in calendar_events(input_program)}

    assert [uid.partition("@")[0] for uid in events_by_uid] == [
        "presentation.2021.t1",
        "presentation.2021.t4",
        "session.2021.s1",
    ]
    talk_event = events_by_uid["presentation.2021.t1@conf.example"]
    assert (talk_event["SUMMARY"], talk_event.duration) == ("On p1", HOUR)
    assert str(talk_event.description).startswith(
        "Authors: Ada Lovelace, Bo Li\n\nSession s1\n\nWhat was done."
    )


def test_trap_1_and_2_times_are_wall_times_before_and_after_a_clock_change() -> None:
    berlin = Context("2026", 2026, "Europe/Berlin", SITE)
    days = (datetime(2026, 3, 28, 9, tzinfo=UTC), datetime(2026, 3, 29, 8, tzinfo=UTC))
    input_program = Program(
        sessions=tuple(session(f"s{n}", start=day, end=day + HOUR) for n, day in enumerate(days))
    )
    content = written_calendar(input_program, berlin).decode()
    starts = [line for line in content.split("\r\n") if line.startswith("DTSTART;")]

    assert starts == [
        "DTSTART;TZID=Europe/Berlin:20260328T100000",
        "DTSTART;TZID=Europe/Berlin:20260329T100000",
    ]
    assert [event.start for event in calendar_events(input_program, berlin)] == list(days)
    assert [zone.tz_name for zone in icalendar.Calendar.from_ical(content).timezones] == ["Europe/Berlin"]


def test_repeated_hour_is_unambiguous() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 in Berlin, and again an hour later
    slots = (first, first + HOUR)
    input_program = Program(
        sessions=tuple(session(f"s{n}", start=at, end=at + HOUR) for n, at in enumerate(slots))
    )
    events = calendar_events(input_program, Context("2026", 2026, "Europe/Berlin", SITE))

    assert [(event.start.astimezone(UTC), event.end.astimezone(UTC)) for event in events] == [
        (at, at + HOUR) for at in slots
    ]


def test_trap_4_uid_is_stable_and_unique_across_editions() -> None:
    before = program(sessions=(session("s1"),), presentations=(talk("s1", session="s1", start=START),))
    moved = replace(before, sessions=(session("s1", title="Other", start=START - HOUR, room="b"),))
    uids = [{event.uid for event in calendar_events(input_program)} for input_program in (before, moved)]
    next_year_uids = {
        event.uid for event in calendar_events(before, replace(CONTEXT, edition="2022", year=2022))
    }

    assert uids[0] == uids[1] == {"session.2021.s1@conf.example", "presentation.2021.s1@conf.example"}
    assert len(uids[0] | next_year_uids) == 4


def test_trap_5_canceled_event_has_the_same_uid_and_a_higher_sequence() -> None:
    first = session_event(rescheduled_at=CHANGED)
    second = session_event(rescheduled_at=CHANGED + timedelta(seconds=1), status="cancelled")

    assert second.uid == first.uid
    assert (first["STATUS"], second["STATUS"]) == ("CONFIRMED", "CANCELLED")
    assert second["SEQUENCE"] > first["SEQUENCE"] > 0
    assert second.LAST_MODIFIED > first.LAST_MODIFIED


def test_unchanged_event_is_dated_by_the_publication_of_the_schedule() -> None:
    public = edition(public_from=CHANGED - timedelta(days=9), schedule_public_from=CHANGED)
    (event,) = calendar_events(program(edition=public, sessions=(session("s1", rescheduled_at=None),)))

    assert (event["SEQUENCE"], event.LAST_MODIFIED, event.DTSTAMP) == (0, CHANGED, CHANGED)


def test_trap_5_cancellation_of_a_parent_session_applies_to_its_talks() -> None:
    parent = session("w", status="cancelled", rescheduled_at=CHANGED)
    input_program = program(
        sessions=(parent, session("s1", parent="w")),
        presentations=(talk("t1", session="s1", title="Own", start=START),),
    )

    assert [(event["STATUS"], event.LAST_MODIFIED) for event in calendar_events(input_program)] == [
        ("CANCELLED", CHANGED)
    ] * 3


def test_description_of_canceled_event_begins_with_the_reason() -> None:
    parent = session("w", status="cancelled", cancellation_reason="The room leaks.")
    talks = (
        talk("t1", session="s1", title="Own", start=START),
        talk("t2", session="s1", title="Ill", start=START, status="cancelled", cancellation_reason="Flu."),
    )
    input_program = program(sessions=(parent, session("s1", parent="w"), session("s2")), presentations=talks)
    first_lines = {
        event.uid.partition("@")[0]: str(event.get("description", "")).split("\n")[0]
        for event in calendar_events(input_program)
    }

    assert first_lines == {
        "session.2021.w": "Canceled: The room leaks.",
        "session.2021.s1": "Canceled: The room leaks.",
        "session.2021.s2": first_lines["session.2021.s2"],
        "presentation.2021.t1": "Canceled: The room leaks.",
        "presentation.2021.t2": "Canceled: Flu.",
    }
    assert not first_lines["session.2021.s2"].startswith("Canceled")


def test_labels_in_descriptions_are_translated() -> None:
    talks = (talk("t1", session="s1", paper="p1", start=START, board="7"),)
    with pseudolocale():
        input_program = program(
            paper("p1", "Ada Lovelace", "Bo Li"), sessions=(session("s1"),), presentations=talks
        )
        descriptions = {
            event.uid.partition("@")[0]: str(event.description) for event in calendar_events(input_program)
        }

    assert descriptions["presentation.2021.t1"].startswith("⟦Board: 7⟧\n⟦Authors⟧: Ada Lovelace, Bo Li")


@settings(max_examples=150, deadline=None)
@given(st.text(CHARACTERS, max_size=120), st.text(CHARACTERS, max_size=300))
def test_trap_6_any_text_is_the_same_after_folding_and_escaping(title: str, room: str) -> None:
    input_program = program(
        sessions=(session("s1", title=markup.escape_markup(title), room="r"),),
        rooms=(RoomRecord(slug="r", name=room),),
    )
    content = written_calendar(input_program)

    assert content.endswith(b"\r\n")
    assert b"\n" not in content.replace(b"\r\n", b"")
    for line in content.split(b"\r\n"):
        assert len(line) <= 75
        line.decode()
    (event,) = icalendar.Calendar.from_ical(content).events
    assert str(event.get("SUMMARY", "")) == " ".join(title.split())
    assert str(event.get("LOCATION", "")) == (room.strip() or "r")


@given(st.text(st.sampled_from("\\;,\n\r^aé李👩"), max_size=300))
def test_trap_6_line_is_not_folded_within_a_character_or_escape(text: str) -> None:
    line = f"SUMMARY:{escape_text(text)}"
    pieces = fold_line(line).removesuffix(END).split(FOLD)

    assert "".join(piece.decode() for piece in pieces) == line
    assert max(map(len, pieces)) < 75
    assert [piece for piece in pieces if (len(piece) - len(piece.rstrip(b"\\"))) % 2] == []


def test_calendar_is_the_same_as_written_by_the_library() -> None:
    contents = (
        written_calendar(complete_program()),
        written_calendar(program(sessions=(session("s1", title="; é李" * 60),))),
    )

    assert tuple(icalendar.Calendar.from_ical(content).to_ical() for content in contents) == contents


def test_backslash_before_a_capital_n_is_escaped() -> None:
    assert b"SUMMARY:a \\\\Nabla b" in written_calendar(
        program(sessions=(session("s1", title=markup.escape_markup("a \\Nabla b")),))
    )


@pytest.mark.parametrize("minutes", [0, 1, 10_000])
def test_session_of_any_length_without_title_and_room_is_valid(minutes: int) -> None:
    event = session_event(title="\x07", end=START + timedelta(minutes=minutes), kind="", abstract="")

    assert event.end - event.start == timedelta(minutes=minutes)
    assert "SUMMARY" not in event
    assert "LOCATION" not in event


def test_event_of_no_duration_has_no_end() -> None:
    assert b"DTEND" not in written_calendar(program(sessions=(session("s1", end=START),)))


def test_empty_program_is_a_valid_named_calendar() -> None:
    read_calendar = icalendar.Calendar.from_ical(written_calendar(program()))

    assert (read_calendar.events, read_calendar.calendar_name) == ([], "MLSys 2021")
    assert [zone.tz_name for zone in read_calendar.timezones] == ["America/Los_Angeles"]


def test_calendar_of_two_editions_has_both_zones() -> None:
    other = program(edition=None, sessions=(session("s1"),))
    scopes = [
        CalendarScope(program(sessions=(session("s1"),)), CONTEXT),
        CalendarScope(other, Context("2022", 2022, "Asia/Seoul")),
    ]
    read_calendar = icalendar.Calendar.from_ical(
        b"".join(calendar(scopes, "Ada", "https://conf.example/x.ics"))
    )

    assert [zone.tz_name for zone in read_calendar.timezones] == ["America/Los_Angeles", "Asia/Seoul"]
    assert [event.uid for event in read_calendar.events] == [
        "session.2021.s1@conf.example",
        "session.2022.s1@plenary.invalid",
    ]
    assert str(read_calendar["SOURCE"]) == "https://conf.example/x.ics"


def test_scopes_of_one_edition_are_merged_by_time() -> None:
    late, early = session("s1", start=START + HOUR, end=START + 2 * HOUR), session("s2")
    scopes = (CalendarScope(program(sessions=(session,)), CONTEXT) for session in (late, early))

    assert b"".join(calendar(scopes, "MLSys 2021")) == written_calendar(program(sessions=(late, early)))


def test_written_calendar_leaves_no_reference_to_its_context() -> None:
    def version() -> str:
        return "1"

    reference = weakref.ref(version)
    gc.disable()
    try:
        assert b"SUMMARY" in written_calendar(
            program(sessions=(session("s1"),)), replace(CONTEXT, version=version)
        )
        del version
        assert reference() is None
    finally:
        gc.enable()


@given(st.text(st.sampled_from("ab \n李"), max_size=3 * MAX_ABSTRACT_CHARS))
def test_shortened_abstract_ends_after_a_complete_word(text: str) -> None:
    words = text.split()
    shortened = shorten_abstract(text).split()
    complete = shortened[:-1] if shortened[-1:] == ["…"] else shortened

    assert complete == words[: len(complete)]
    assert (complete == words) == (shortened == complete)
