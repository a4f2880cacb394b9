"""Tests of rows that are sessions: those of one title stay apart by day, start, room and kind."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from conference.models import Edition
from exchange.files import Context, KnownRow, Source
from exchange.formats import spreadsheet
from exchange.imports.known_rows import reading_context
from exchange.imports.load import Report, load
from exchange.records import Program, stated
from schedule.models import Presentation, Session

ZONE = ZoneInfo("America/Los_Angeles")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HEADINGS = "title,kind,date,start,end,room"
BREAKS = f"""{HEADINGS}
Coffee break,Break,2021-04-06,10:00,10:30,Foyer
Coffee break,Break,2021-04-06,15:00,15:30,Foyer
Opening,Keynote,2021-04-06,09:00,10:00,Hall A
"""


def read(*texts: str, known: tuple[KnownRow, ...] = ()) -> Program:
    sources = [Source(f"{number}.csv", text.encode()) for number, text in enumerate(texts)]
    context = Context("2021", 2021, "UTC", known=lambda kind: known if kind == "session" else ())
    return spreadsheet.read(sources, context)


def session_rows(program: Program) -> list[tuple[str, str, object]]:
    """Return uid, start and room of the sessions."""
    return [
        (session.uid, f"{stated(session.start, EPOCH):%d %H:%M}", stated(session.room, None))
        for session in program.sessions
    ]


def notes(program: Program) -> list[str]:
    return [f"{note.where}: {note.message}" for note in program.notes]


def import_text(edition: Edition, text: str) -> Report:
    context = reading_context(edition)
    return load(spreadsheet.read([Source("program.csv", text.encode())], context), edition.slug)


def stored_sessions() -> list[tuple[str, str]]:
    return [
        (session.title, f"{session.start.astimezone(ZONE):%d %H:%M}")
        for session in Session.objects.order_by("start", "pk")
    ]


def test_trap_44_two_breaks_of_a_day_are_two_sessions() -> None:
    program = read(BREAKS)

    assert session_rows(program) == [
        ("coffee-break-2021-04-06-1000", "06 10:00", "foyer"),
        ("coffee-break-2021-04-06-1500", "06 15:00", "foyer"),
        ("opening", "06 09:00", "hall-a"),
    ]
    assert notes(program) == []


def test_sessions_of_one_title_and_time_are_told_apart_by_room_and_kind() -> None:
    program = read(
        f"{HEADINGS}\n"
        "Welcome,Workshop,2021-04-06,9:00,10:00,A\n"
        "Welcome,Workshop,2021-04-06,9:00,10:00,B\n"
        "Welcome,Tutorial,2021-04-06,9:00,10:00,B\n"
    )

    assert session_rows(program) == [
        ("welcome-2021-04-06-0900", "06 09:00", "a"),
        ("welcome-2021-04-06-0900-b", "06 09:00", "b"),
        ("welcome-2021-04-06-0900-2", "06 09:00", "b"),
    ]


def test_rows_of_one_session_may_each_name_a_speaker() -> None:
    program = read(
        "title,kind,date,start,end,speaker\n"
        "Panel,Panel,2021-04-06,9:00,10:00,Mia Zed\nPanel,Panel,2021-04-06,9:00,10:00,Ann Abe\n"
    )

    (session,) = program.sessions
    assert [role.person.name for role in stated(session.roles, ())] == ["Mia Zed", "Ann Abe"]
    assert notes(program) == []


def test_repeated_row_of_a_session_is_named() -> None:
    row = "Coffee break,Break,2021-04-06,10:00,10:30,Foyer\n"
    program = read(f"{HEADINGS}\n{row}{row}")

    assert session_rows(program) == [("coffee-break", "06 10:00", "foyer")]
    assert notes(program) == [
        "0.csv, row 3: “Coffee break” is listed at this time before (0.csv, row 2); taken once."
    ]


def test_papers_are_in_the_session_at_their_time() -> None:
    papers = (
        "id,title,session,date,start,end\n"
        "1,A,Posters,2021-04-06,15:10,15:20\n2,B,Posters,2021-04-06,10:10,10:20\n3,C,Posters,2021-04-06,,\n"
    )
    sessions = (
        "session,date,start,end,room\n"
        "Posters,2021-04-06,10:00,11:00,Foyer\nPosters,2021-04-06,15:00,16:00,Foyer\n"
    )
    program = read(papers, sessions)

    assert [(row.paper, row.session) for row in program.presentations] == [
        ("1", "posters-2021-04-06-1500"),
        ("2", "posters-2021-04-06-1000"),
        ("3", "posters-2021-04-06-1000"),
    ]
    assert notes(program)[:1] == [
        (
            "0.csv, row 4: There are several sessions “Posters” that day; the paper is in the first one. "
            "Give the time of the session or of the talk."
        )
    ]


def test_papers_without_a_day_are_in_the_session_of_the_same_file() -> None:
    program = read(
        "id,title,session\n1,A,Posters\n", "session,date,start,end\nPosters,2021-04-06,10:00,11:00\n"
    )

    assert session_rows(program) == [("posters", "06 10:00", None)]
    assert [row.session for row in program.presentations] == ["posters"]


def test_sessions_of_papers_are_told_apart_by_their_own_start() -> None:
    program = read(
        "id,title,session,date,session start,session end\n"
        "1,A,Posters,2021-04-06,10:00,11:00\n2,B,Posters,2021-04-06,15:00,16:00\n"
        "3,C,Posters,2021-04-06,10:00,11:00\n"
    )

    assert session_rows(program) == [
        ("posters-2021-04-06-1000", "06 10:00", None),
        ("posters-2021-04-06-1500", "06 15:00", None),
    ]
    assert [(row.paper, str(row.session)[-4:]) for row in program.presentations] == [
        ("1", "1000"),
        ("2", "1500"),
        ("3", "1000"),
    ]


def test_session_on_another_day_than_the_known_one_is_new_and_asked_about() -> None:
    known = KnownRow("lunch", "Lunch", "meal", datetime(2021, 4, 6, 12, tzinfo=UTC))
    program = read(f"{HEADINGS}\nLunch,Lunch,2021-04-07,12:00,13:00,Hall A\n", known=(known,))

    assert session_rows(program) == [("lunch-2021-04-07", "07 12:00", "hall-a")]
    assert notes(program) == [
        (
            "0.csv, row 2: “Lunch” is on 2021-04-06 in this edition, and on 2021-04-07 in the file. "
            "It is added as another session. If it is the same one, move it here first."
        )
    ]


@pytest.mark.django_db
def test_second_import_matches_breaks_by_time_and_takes_their_room(edition: Edition) -> None:
    import_text(edition, BREAKS)
    second = import_text(edition, BREAKS)
    assert (second.total["new"], second.total["changed"]) == (0, 0)

    moved = BREAKS.replace("15:00,15:30,Foyer", "15:15,15:45,Garden")
    tally = import_text(edition, moved).tallies["session"]

    assert (tally["new"], tally["changed"]) == (0, 1)
    assert stored_sessions() == [
        ("Opening", "06 09:00"),
        ("Coffee break", "06 10:00"),
        ("Coffee break", "06 15:15"),
    ]
    assert Session.objects.filter(uid="coffee-break-2021-04-06-1500", room__name="Garden").exists()


@pytest.mark.django_db
def test_program_of_another_day_adds_its_breaks(edition: Edition) -> None:
    import_text(edition, BREAKS)
    tally = import_text(edition, BREAKS.replace("04-06", "04-07")).tallies["session"]

    assert (tally["new"], tally["changed"]) == (3, 0)
    assert Presentation.objects.count() == 0
    assert len(stored_sessions()) == 6
