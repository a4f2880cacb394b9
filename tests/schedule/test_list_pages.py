"""Tests of the lists of rooms, invited talks, posters and recordings: order, times, places."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
import time_machine
from django.test import Client

from conference.models import Edition
from tests import factories as make
from tests.html_pages import Page
from tests.schedule.page_text import fetch, headings, main_text, read_text

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
WATCH = "https://example.org/watch"


def test_room_shows_size_stream_and_sessions_by_day(client: Client, edition: Edition) -> None:
    room = make.make_room(edition, "Hall A", capacity=300, stream_url=WATCH)
    make.make_session(edition, room=room, title="Later", start=make.MORNING + 24 * HOUR)
    make.make_session(edition, room=room, title="First")
    make.make_session(edition, title="Elsewhere")
    page = fetch(client, room.get_absolute_url())

    assert headings(page) == [
        (1, "Hall A"),
        (2, "Tuesday 6 April 2021"),
        (3, "08:00"),
        (4, "First"),
        (2, "Wednesday 7 April 2021"),
        (3, "08:00"),
        (4, "Later"),
    ]
    assert "300 seats" in page
    assert f'href="{WATCH}"' in page


def test_room_page_lists_sessions_with_posters_in_the_room(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="poster", title="Posters", room=make.make_room(edition, "C"))
    hall = make.make_room(edition, "B", virtual=True)
    make.make_presentation(session, make.make_paper(edition), kind="poster", room=hall)
    page = fetch(client, hall.get_absolute_url())

    assert "Virtual room B" in main_text(page)
    assert (4, "Posters") in headings(page)


def test_room_without_public_sessions_is_404(client: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    make.make_session(edition, room=room, status="draft")

    fetch(client, room.get_absolute_url(), 404)


def test_invited_talks_are_sorted_by_time_with_biographies(client: Client, edition: Edition) -> None:
    for title, hours in (("Second", 1), ("First", 0)):
        start = make.MORNING + hours * HOUR
        talk = make.make_session(edition, kind="invited_talk", title=title, abstract="Abstract.", start=start)
        make.add_role(
            talk, make.make_person("Bill Dally", biography="Life."), "speaker", affiliation="NVIDIA"
        )
    expected = "First Bill Dally, NVIDIA Tue 6 Apr, 08:00 to 09:00 PDT Abstract. About Bill Dally Life."
    page = fetch(client, "/2021/talks/")
    titles = [title for level, title in headings(page) if level == 2]

    assert expected in main_text(page)
    assert titles == ["First", "Second"]


def test_invited_talk_without_a_speaker_is_shown(client: Client, edition: Edition) -> None:
    make.make_session(edition, kind="invited_talk", title="To be announced")

    assert "To be announced Tue 6 Apr, 08:00 to 09:00 PDT" in read_text(client, "/2021/talks/")


def test_posters_are_listed_by_session_in_board_order(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="poster", title="Compilers", room=make.make_room(edition, "C"))
    for board in ("10", "9"):
        paper = make.make_paper(edition, ["Ada Lovelace"], title=f"On {board}")
        make.make_presentation(session, paper, kind="poster", board=board)
    expected = "Compilers 2 posters Tue 6 Apr, 08:00 to 09:00 PDT C Board 9 On 9 Ada Lovelace Board 10 On 10"

    assert expected in read_text(client, "/2021/posters/")


def test_posters_page_omits_talks_of_sessions_with_posters(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="workshop", title="Workshop")
    make.make_presentation(session, make.make_paper(edition, title="Shown"), kind="poster")
    make.make_presentation(session, make.make_paper(edition, title="Given"), kind="oral")

    assert headings(fetch(client, "/2021/posters/")) == [
        (1, "Posters"),
        (2, "Workshop 1 poster"),
        (3, "Shown"),
    ]


@pytest.mark.parametrize(("day", "heading"), [(6, "Time to be announced"), (20, "Time not announced")])
def test_unscheduled_posters_are_listed_under_their_own_heading(
    client: Client, edition: Edition, day: int, heading: str
) -> None:
    for title in ("beta", "Alpha"):
        make.make_presentation(paper=make.make_paper(edition, ["Ada"], title=title), kind="poster")
    expected = f"{heading} 2 posters These posters have no session or board. Alpha Ada beta Ada"
    with time_machine.travel(datetime(2021, 4, day, 12, tzinfo=UTC), tick=False):
        assert expected in read_text(client, "/2021/posters/")


def test_recordings_of_a_paper_are_listed_once_with_all_links(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Session", recording_url=f"{WATCH}/session")
    paper = make.make_paper(edition, ["Ada"], title="Cortex")
    make.make_presentation(session, paper, recording_url=f"{WATCH}/oral")
    make.make_presentation(session, paper, kind="poster", recording_url=f"{WATCH}/poster")
    make.make_material(paper, "video", url=f"{WATCH}/oral")
    make.make_material(paper, "video", url=f"{WATCH}/hidden", visible=False)
    page = fetch(client, "/2021/recordings/")

    assert headings(page)[1:] == [(2, "Tuesday 6 April 2021"), (3, "Session"), (3, "Cortex")]
    assert [page.count(f'href="{WATCH}/{name}"') for name in ("session", "oral", "poster", "hidden")] == [
        1,
        1,
        1,
        0,
    ]


def test_recordings_without_a_time_come_last(client: Client, edition: Edition) -> None:
    make.make_material(make.make_paper(edition, title="Only a video"), "video", url=WATCH)
    make.make_presentation(edition=edition, title="Lost talk", recording_url=WATCH)
    make.make_presentation(make.make_session(edition), title="A talk", recording_url=WATCH)
    titles = [title for _, title in headings(fetch(client, "/2021/recordings/"))]

    assert titles[1:] == ["Tuesday 6 April 2021", "A talk", "Other recordings", "Lost talk", "Only a video"]


EMPTY_LISTS = [
    ("talks/", "No invited talks yet", "No invited talks were published"),
    ("posters/", "No posters yet", "No posters were published"),
    ("recordings/", "No recordings yet", "No recordings were published"),
    ("schedule/", "No schedule yet", "No schedule was published"),
    ("schedule/?view=now", "No schedule yet", "No schedule was published"),
    ("papers/", "No papers yet", "No papers were published"),
    ("statistics/", "No statistics yet", "No papers were published"),
    ("awards/", "No awards yet", "No awards were announced"),
    ("committee/", "No committee yet", "No committee members were announced"),
]


def test_empty_lists_say_so_before_and_after_the_conference(
    client: Client, edition: Edition, subtests: pytest.Subtests
) -> None:
    for path, ahead, past in EMPTY_LISTS:
        with subtests.test(path=path):
            with time_machine.travel(make.MORNING):
                before = Page(fetch(client, f"/2021/{path}"))
            after = Page(fetch(client, f"/2021/{path}"))

            assert [element.inside("h2")[0].text for element in before.all("div", "empty")] == [ahead]
            assert [element.inside("h2")[0].text for element in after.all("div", "empty")] == [past]


def test_room_page_has_a_door_sheet_for_each_day(client: Client, edition: Edition) -> None:
    room = make.make_room(edition, "Hall A")
    for day in (0, 1):
        make.make_session(edition, room=room, start=make.MORNING + timedelta(days=day))
    page = Page(fetch(client, room.get_absolute_url()))

    assert [door.text for door in page.all("div", "door")] == ["Hall A", "Hall A"]
    assert len(page.all("svg", "qr")) == 2


def test_calendar_menu_links_to_each_calendar_application(client: Client, edition: Edition) -> None:
    make.make_session(edition, kind="oral")
    page = Page(fetch(client, "/2021/schedule/2021-04-06/?kind=oral"))
    (menu,) = page.all("details", "calendars")

    address = "127.0.0.1:8000/2021/schedule/2021-04-06.ics?kind=oral"
    quoted = quote(address, safe="")
    assert [(link.text, link.attributes["href"]) for link in menu.inside("a")] == [
        ("Apple Calendar", f"webcal://{address}"),
        ("Google Calendar", f"https://calendar.google.com/calendar/r?cid=webcal%3A%2F%2F{quoted}"),
        ("Outlook", f"https://outlook.live.com/calendar/0/addfromweb?url=http%3A%2F%2F{quoted}"),
        ("Download (.ics)", f"/{address.partition('/')[2]}"),
    ]
    assert "Subscriptions stay up to date; downloads don’t." in menu.text
