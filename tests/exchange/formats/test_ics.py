"""Tests of iCalendar files with the icalendar library: times, identity, changes, folding, odd rows."""

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
LETTERS = st.one_of(st.sampled_from('a;,\\\n:"é李👩‍🔬'), st.characters(exclude_categories=["Cs", "Cc"]))


def written(made: Program, context: Context = CONTEXT) -> bytes:
    return written_content(write, made, context)


def events(made: Program, context: Context = CONTEXT) -> list[Any]:
    return icalendar.Calendar.from_ical(written(made, context)).events


def event(*, rooms: tuple[RoomRecord, ...] = (), **fields: Any) -> Any:
    (found,) = events(program(sessions=(session("s1", **fields),), rooms=rooms))
    return found


def test_session_says_what_when_where_and_who() -> None:
    chair = RoleRecord(person=PersonRef(name="Cy Lee"), role="chair")
    hall = RoomRecord(slug="hall", name="Hall A; left")
    found = event(
        title="Opening, day 1",
        kind="invited_talk",
        room="hall",
        roles=(chair,),
        abstract="Why.",
        rooms=(hall,),
        rescheduled_at=CHANGED,
    )

    assert found.start == datetime(2021, 4, 6, 8, tzinfo=ZoneInfo("America/Los_Angeles"))
    assert {name: str(found[name]) for name in ("SUMMARY", "LOCATION", "URL", "STATUS", "DESCRIPTION")} == {
        "SUMMARY": "Opening, day 1",
        "LOCATION": "Hall A; left",
        "URL": "https://conf.example:8443/2021/sessions/s1/",
        "STATUS": "CONFIRMED",
        "DESCRIPTION": "Chair: Cy Lee\n\nWhy.\n\nhttps://conf.example:8443/2021/sessions/s1/",
    }
    assert (found.uid, found.categories) == ("session.2021.s1@conf.example", ["Invited talk"])
    assert (found.DTSTAMP, found.LAST_MODIFIED) == (CHANGED, CHANGED)


def test_talk_with_its_own_time_is_an_event_and_others_are_not() -> None:
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
    made = program(paper("p1", "Ada Lovelace", "Bo Li"), sessions=(session("s1"),), presentations=talks)
    found = {one.uid: one for one in events(made)}

    assert [uid.partition("@")[0] for uid in found] == [
        "presentation.2021.t1",
        "presentation.2021.t4",
        "session.2021.s1",
    ]
    first = found["presentation.2021.t1@conf.example"]
    assert (first["SUMMARY"], first.duration) == ("On p1", HOUR)
    assert str(first.description).startswith("Authors: Ada Lovelace, Bo Li\n\nSession s1\n\nWhat was done.")


def test_trap_1_and_2_times_are_wall_times_on_both_sides_of_a_change() -> None:
    berlin = Context("2026", 2026, "Europe/Berlin", SITE)
    days = (datetime(2026, 3, 28, 9, tzinfo=UTC), datetime(2026, 3, 29, 8, tzinfo=UTC))
    made = Program(sessions=tuple(session(f"s{n}", start=day, end=day + HOUR) for n, day in enumerate(days)))
    content = written(made, berlin).decode()
    starts = [line for line in content.split("\r\n") if line.startswith("DTSTART;")]

    assert starts == [
        "DTSTART;TZID=Europe/Berlin:20260328T100000",
        "DTSTART;TZID=Europe/Berlin:20260329T100000",
    ]
    assert [one.start for one in events(made, berlin)] == list(days)
    assert [zone.tz_name for zone in icalendar.Calendar.from_ical(content).timezones] == ["Europe/Berlin"]


def test_repeated_hour_is_unambiguous() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 in Berlin, and again an hour later
    slots = (first, first + HOUR)
    made = Program(sessions=tuple(session(f"s{n}", start=at, end=at + HOUR) for n, at in enumerate(slots)))
    found = events(made, Context("2026", 2026, "Europe/Berlin", SITE))

    assert [(one.start.astimezone(UTC), one.end.astimezone(UTC)) for one in found] == [
        (at, at + HOUR) for at in slots
    ]


def test_trap_4_identity_lasts_and_is_unique_across_years() -> None:
    before = program(sessions=(session("s1"),), presentations=(talk("s1", session="s1", start=START),))
    moved = replace(before, sessions=(session("s1", title="Other", start=START - HOUR, room="b"),))
    uids = [{one.uid for one in events(made)} for made in (before, moved)]
    later = {one.uid for one in events(before, replace(CONTEXT, edition="2022", year=2022))}

    assert uids[0] == uids[1] == {"session.2021.s1@conf.example", "presentation.2021.s1@conf.example"}
    assert len(uids[0] | later) == 4


def test_trap_5_change_raises_sequence_and_cancelled_stays_with_its_uid() -> None:
    first = event(rescheduled_at=CHANGED)
    second = event(rescheduled_at=CHANGED + timedelta(seconds=1), status="cancelled")

    assert second.uid == first.uid
    assert (first["STATUS"], second["STATUS"]) == ("CONFIRMED", "CANCELLED")
    assert second["SEQUENCE"] > first["SEQUENCE"] > 0
    assert second.LAST_MODIFIED > first.LAST_MODIFIED


def test_event_that_never_moved_is_as_it_was_published() -> None:
    public = edition(public_from=CHANGED - timedelta(days=9), schedule_public_from=CHANGED)
    (found,) = events(program(edition=public, sessions=(session("s1", rescheduled_at=None),)))

    assert (found["SEQUENCE"], found.LAST_MODIFIED, found.DTSTAMP) == (0, CHANGED, CHANGED)


def test_trap_5_talk_follows_its_session_and_the_whole_above() -> None:
    whole = session("w", status="cancelled", rescheduled_at=CHANGED)
    made = program(
        sessions=(whole, session("s1", parent="w")),
        presentations=(talk("t1", session="s1", title="Own", start=START),),
    )

    assert [(one["STATUS"], one.LAST_MODIFIED) for one in events(made)] == [("CANCELLED", CHANGED)] * 3


def test_event_says_first_why_it_was_called_off() -> None:
    whole = session("w", status="cancelled", cancellation_reason="The room leaks.")
    talks = (
        talk("t1", session="s1", title="Own", start=START),
        talk("t2", session="s1", title="Ill", start=START, status="cancelled", cancellation_reason="Flu."),
    )
    made = program(sessions=(whole, session("s1", parent="w"), session("s2")), presentations=talks)
    said = {one.uid.partition("@")[0]: str(one.get("description", "")).split("\n")[0] for one in events(made)}

    assert said == {
        "session.2021.w": "Canceled: The room leaks.",
        "session.2021.s1": "Canceled: The room leaks.",
        "session.2021.s2": said["session.2021.s2"],
        "presentation.2021.t1": "Canceled: The room leaks.",
        "presentation.2021.t2": "Canceled: Flu.",
    }
    assert not said["session.2021.s2"].startswith("Canceled")


def test_words_of_a_calendar_come_from_the_catalog() -> None:
    talks = (talk("t1", session="s1", paper="p1", start=START, board="7"),)
    with pseudolocale():
        made = program(paper("p1", "Ada Lovelace", "Bo Li"), sessions=(session("s1"),), presentations=talks)
        found = {one.uid.partition("@")[0]: str(one.description) for one in events(made)}

    assert found["presentation.2021.t1"].startswith("⟦Board: 7⟧\n⟦Authors⟧: Ada Lovelace, Bo Li")


@settings(max_examples=150, deadline=None)
@given(st.text(LETTERS, max_size=120), st.text(LETTERS, max_size=300))
def test_trap_6_folding_and_escaping_keep_any_script(title: str, room: str) -> None:
    made = program(
        sessions=(session("s1", title=markup.escape_markup(title), room="r"),),
        rooms=(RoomRecord(slug="r", name=room),),
    )
    content = written(made)

    assert content.endswith(b"\r\n")
    assert b"\n" not in content.replace(b"\r\n", b"")
    for line in content.split(b"\r\n"):
        assert len(line) <= 75
        line.decode()
    (found,) = icalendar.Calendar.from_ical(content).events
    assert str(found.get("SUMMARY", "")) == " ".join(title.split())
    assert str(found.get("LOCATION", "")) == (room.strip() or "r")


@given(st.text(st.sampled_from("\\;,\n\r^aé李👩"), max_size=300))
def test_trap_6_line_goes_on_between_letters_and_escapes(text: str) -> None:
    line = f"SUMMARY:{escape_text(text)}"
    pieces = fold_line(line).removesuffix(END).split(FOLD)

    assert "".join(piece.decode() for piece in pieces) == line
    assert max(map(len, pieces)) < 75
    assert [piece for piece in pieces if (len(piece) - len(piece.rstrip(b"\\"))) % 2] == []


def test_events_are_written_as_the_library_writes_them() -> None:
    content = written(complete_program()), written(program(sessions=(session("s1", title="; é李" * 60),)))

    assert tuple(icalendar.Calendar.from_ical(one).to_ical() for one in content) == content


def test_tex_with_a_capital_n_stays() -> None:
    assert b"SUMMARY:a \\\\Nabla b" in written(
        program(sessions=(session("s1", title=markup.escape_markup("a \\Nabla b")),))
    )


@pytest.mark.parametrize("minutes", [0, 1, 10_000])
def test_odd_rows_stay_valid(minutes: int) -> None:
    found = event(title="\x07", end=START + timedelta(minutes=minutes), kind="", abstract="")

    assert found.end - found.start == timedelta(minutes=minutes)
    assert "SUMMARY" not in found
    assert "LOCATION" not in found


def test_event_without_length_has_no_end() -> None:
    assert b"DTEND" not in written(program(sessions=(session("s1", end=START),)))


def test_empty_program_is_a_valid_calendar_of_its_name() -> None:
    found = icalendar.Calendar.from_ical(written(program()))

    assert (found.events, found.calendar_name) == ([], "MLSys 2021")
    assert [zone.tz_name for zone in found.timezones] == ["America/Los_Angeles"]


def test_calendar_of_two_editions_has_both_zones() -> None:
    other = program(edition=None, sessions=(session("s1"),))
    parts = [
        CalendarScope(program(sessions=(session("s1"),)), CONTEXT),
        CalendarScope(other, Context("2022", 2022, "Asia/Seoul")),
    ]
    found = icalendar.Calendar.from_ical(b"".join(calendar(parts, "Ada", "https://conf.example/x.ics")))

    assert [zone.tz_name for zone in found.timezones] == ["America/Los_Angeles", "Asia/Seoul"]
    assert [one.uid for one in found.events] == [
        "session.2021.s1@conf.example",
        "session.2022.s1@plenary.invalid",
    ]
    assert str(found["SOURCE"]) == "https://conf.example/x.ics"


def test_parts_of_one_edition_are_one_calendar_by_time() -> None:
    late, early = session("s1", start=START + HOUR, end=START + 2 * HOUR), session("s2")
    parts = (CalendarScope(program(sessions=(one,)), CONTEXT) for one in (late, early))

    assert b"".join(calendar(parts, "MLSys 2021")) == written(program(sessions=(late, early)))


def test_what_a_calendar_was_made_of_is_gone_with_it() -> None:
    def version() -> str:
        return "1"

    known = weakref.ref(version)
    gc.disable()
    try:
        assert b"SUMMARY" in written(program(sessions=(session("s1"),)), replace(CONTEXT, version=version))
        del version
        assert known() is None
    finally:
        gc.enable()


@given(st.text(st.sampled_from("ab \n李"), max_size=3 * MAX_ABSTRACT_CHARS))
def test_lead_never_cuts_a_word(text: str) -> None:
    words = text.split()
    shown = shorten_abstract(text).split()
    kept = shown[:-1] if shown[-1:] == ["…"] else shown

    assert kept == words[: len(kept)]
    assert (kept == words) == (shown == kept)
