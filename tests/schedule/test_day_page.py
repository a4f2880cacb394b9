"""Tests of the page of a day: times, rooms, people and talks, once, in order, in the venue's zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.test import Client

from conference.models import Edition
from tests import factories as make
from tests.schedule.page_text import fetch, headings, main_text, read_text, time_values

pytestmark = pytest.mark.django_db
BERLIN = ZoneInfo("Europe/Berlin")
DAY = "/2021/schedule/2021-04-06/"
HOUR = timedelta(hours=1)


@pytest.fixture
def berlin() -> Edition:
    days = {"start_date": date(2026, 3, 27), "end_date": date(2026, 3, 29)}
    return make.make_edition(2026, timezone="Europe/Berlin", **days)


def test_headings_in_abstracts_follow_the_outline(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Session", abstract="# Aim\n\nText")
    make.make_presentation(session, make.make_paper(edition, title="Paper", abstract="# Method\n\nText"))

    assert headings(fetch(client, DAY))[2:] == [(3, "Session"), (4, "Aim"), (4, "Paper"), (5, "Method")]


# Known bugs of other program sites


def test_trap_1_dst_inside_the_conference_shows_the_wall_time_twice(client: Client, berlin: Edition) -> None:
    for day in (28, 29):
        make.make_session(berlin, start=datetime(2026, 3, day, 10, tzinfo=BERLIN), title=f"On {day}")
    page = fetch(client, "/2026/schedule/")

    assert time_values(page)[::2] == ["2026-03-28T10:00:00+01:00", "2026-03-29T10:00:00+02:00"]
    assert "Times are Berlin time (CET, then CEST)" in page
    assert "10:00 to 11:00 CET" in read_text(client, "/2026/schedule/2026-03-28/")
    assert "10:00 to 11:00 CEST" in read_text(client, "/2026/schedule/2026-03-29/")


def test_trap_1_session_over_the_clock_change_names_both_zones(client: Client, berlin: Edition) -> None:
    make.make_session(berlin, start=datetime(2026, 3, 29, 1, 30, tzinfo=BERLIN))

    assert "01:30 CET to 03:30 CEST" in read_text(client, "/2026/schedule/2026-03-28/")


@pytest.mark.parametrize("path", ["schedule/", "schedule/2021-04-06/", "posters/", "recordings/"])
def test_trap_2_every_time_has_an_offset_and_names_its_zone(
    client: Client, edition: Edition, path: str
) -> None:
    session = make.make_session(edition, kind="poster", recording_url="https://example.org/v")
    make.make_presentation(session, make.make_paper(edition), start=make.MORNING, end=make.MORNING)
    page = fetch(client, f"/2021/{path}")
    times = time_values(page)

    assert times != []
    assert {time[-6:] for time in times} == {"-07:00"}
    assert "PDT" in main_text(page)


def test_trap_3_wrong_day_a_night_session_is_listed_once(client: Client, edition: Edition) -> None:
    late = datetime(2021, 4, 6, 23, 30, tzinfo=edition.zone)
    make.make_session(edition, start=late, title="Night")
    make.make_session(edition, start=late + HOUR, title="Small hours")
    all_headings = headings(fetch(client, "/2021/schedule/"))

    assert all_headings[:2] == [(1, "Schedule"), (2, "Tuesday 6 April 2021")]
    assert all_headings[2:] == [(3, "23:30"), (4, "Night"), (3, "00:30"), (4, "Small hours")]
    assert headings(fetch(client, DAY))[1:] == [(2, "23:30"), (3, "Night"), (2, "00:30"), (3, "Small hours")]
    assert "No sessions on this day" in read_text(client, "/2021/schedule/2021-04-07/")


@pytest.mark.parametrize(("hour", "day"), [(23.5, "6"), (24.5, "6"), (29, "7")])
def test_today_is_the_current_program_day(client: Client, edition: Edition, hour: float, day: str) -> None:
    midnight = datetime(2021, 4, 6, tzinfo=edition.zone)
    with time_machine.travel(midnight + timedelta(hours=hour), tick=False):
        text = read_text(client, DAY)

    assert text.count("Today") == 1
    assert f"Today, {'Tue' if day == '6' else 'Wed'} {day}" in text


# Days


def test_day_strip_has_edition_days_and_other_days_with_sessions(client: Client, edition: Edition) -> None:
    make.make_session(edition, start=make.MORNING - timedelta(days=3))

    assert "All days Sat 3 Mon 5 Tue 6 Wed 7 Thu 8 Fri 9" in read_text(client, DAY)


def test_edition_day_without_sessions_says_so(client: Client, edition: Edition) -> None:
    assert "No sessions on this day Choose another day. All days" in read_text(client, DAY)


@pytest.mark.parametrize(
    "day", ["2021-04-20", "2021-02-30", "2021-4-6", "tuesday", "0001-01-01", "9999-12-31"]
)
def test_unknown_day_is_404_with_links_to_the_days(client: Client, edition: Edition, day: str) -> None:
    page = fetch(client, f"/2021/schedule/{day}/", 404)

    assert "Monday 5 April 2021" in page
    assert page.count('href="/2021/schedule/2021-04-0') == 5


def test_schedule_that_is_not_public_is_hidden(client: Client) -> None:
    session = make.make_session(make.make_edition(schedule_public_from=None), title="Secret")

    assert "No schedule was published" in read_text(client, "/2021/schedule/")
    assert "Secret" not in fetch(client, DAY)
    fetch(client, session.get_absolute_url(), 404)


# Sessions


def test_parallel_sessions_are_listed_under_one_time_in_room_order(client: Client, edition: Edition) -> None:
    hall, attic = make.make_room(edition, "Hall"), make.make_room(edition, "Attic")
    make.make_session(edition, room=attic, title="Second")
    make.make_session(edition, room=hall, title="First")
    make.make_session(edition, minutes=30, title="Third, without a room")
    text = read_text(client, DAY)

    assert text.count("08:00 PDT") == 1
    assert text.index("First") < text.index("Second") < text.index("Third")
    assert "Third, without a room 08:00 to 08:30 PDT" in text


def test_session_without_room_people_or_length_is_shown(client: Client, edition: Edition) -> None:
    make.make_session(edition, minutes=0, title="Group photo")

    assert read_text(client, DAY).endswith("08:00 PDT Oral session Group photo")


def test_session_of_several_days_shows_its_end_date(client: Client, edition: Edition) -> None:
    make.make_session(edition, minutes=10_000, title="Exhibition")

    assert "08:00 to Tue 13 Apr, 06:40 PDT" in read_text(client, DAY)


def test_roles_are_shown_with_printed_names_and_affiliations(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, kind="opening", title="Opening Remarks")
    for name in ("Alex Dimakis", "Ion Stoica"):
        make.add_role(session, name, "speaker")
    make.add_role(session, "Hui Guan", "moderator", name="H. Guan", affiliation="UMass")
    text = read_text(client, DAY)

    assert "Opening Remarks Speakers Alex Dimakis · Ion Stoica Moderator H. Guan, UMass" in text


def test_invited_talk_shows_abstract_and_biography(client: Client, edition: Edition) -> None:
    talk = make.make_session(edition, kind="invited_talk", title="Hardware", abstract="Ahead *lies* much.")
    speaker = make.make_person("William Dally", biography="Built **machines**.")
    make.add_role(talk, speaker, "speaker", affiliation="NVIDIA")
    expected = "Hardware William Dally, NVIDIA Ahead lies much. About William Dally Built machines."

    assert f"Invited talk {expected}" in read_text(client, DAY)


def test_oral_session_nests_papers_with_authors_awards_and_abstract(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Compilers", room=make.make_room(edition, "Hall"))
    paper = make.make_paper(edition, ["Zed Young", "Abe Old"], title="Cortex", abstract="In full.")
    make.make_award(edition, [paper], name="Best Paper")
    make.make_presentation(session, paper, start=make.MORNING)
    expected = "Compilers Hall 1 talk 08:00 PDT Best Paper Cortex Zed Young · Abe Old Abstract In full."
    page = fetch(client, DAY)

    assert expected in main_text(page)
    assert headings(page)[1:] == [(2, "08:00"), (3, "Compilers"), (4, "Cortex")]


def test_parts_are_listed_inside_their_workshop_on_its_day(client: Client, edition: Edition) -> None:
    workshop = make.make_session(edition, minutes=240, kind="workshop", title="Workshop")
    make.make_session(edition, parent=workshop, title="Part")
    make.make_session(edition, parent=workshop, title="Part next day", start=make.MORNING + 24 * HOUR)

    assert headings(fetch(client, DAY))[1:] == [(2, "08:00"), (3, "Workshop"), (4, "Part")]
    assert "Part next day Part of Workshop" in read_text(client, "/2021/schedule/2021-04-07/")


def test_cancelled_session_part_and_talk_are_marked(client: Client, edition: Edition) -> None:
    session = make.make_session(edition, title="Off", kind="workshop", status="cancelled")
    make.make_session(edition, parent=session, title="Part")
    talks = make.make_session(edition, title="On", start=make.MORNING + HOUR)
    make.make_presentation(talks, make.make_paper(edition, title="Gone"), status="cancelled")
    text = read_text(client, DAY)

    assert "Workshop Canceled Off" in text
    assert "Oral session Canceled Part" in text
    assert "Canceled Gone" in text
    assert "Canceled On" not in text


def test_running_session_is_marked(client: Client, edition: Edition) -> None:
    make.make_session(edition, title="Morning")
    with time_machine.travel(make.MORNING + timedelta(minutes=59), tick=False):
        assert "Oral session Now Morning" in read_text(client, DAY)
    with time_machine.travel(make.MORNING + HOUR, tick=False):
        assert "Now Morning" not in read_text(client, DAY)


def test_large_poster_session_lists_first_posters_and_links_to_all(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.day_size.MAX_LISTED_TALKS", 11)
    hall = make.make_session(edition, kind="poster", title="Hall")
    for number in range(12):
        make.make_presentation(hall, make.make_paper(edition), kind="poster", board=str(number + 1))
    page = fetch(client, DAY)

    assert page.count('class="talk"') == 10
    assert f'href="{hall.get_absolute_url()}">Show all 12 posters</a>' in page


def test_schedule_of_a_large_program_lists_sessions_without_talks(
    client: Client, edition: Edition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.views.MAX_PROGRAM_TALKS", 1)
    hall = make.make_session(edition, kind="poster", title="Hall")
    for _ in range(2):
        make.make_presentation(hall, make.make_paper(edition), kind="poster")

    page = fetch(client, "/2021/schedule/")

    assert headings(page)[2:] == [(3, "08:00"), (4, "Hall")]
    assert "Hall 2 posters" in main_text(page)


def test_drafts_are_on_no_public_schedule_page(client: Client, edition: Edition) -> None:
    room = make.make_room(edition)
    session = make.make_session(edition, kind="poster", recording_url="https://example.org/v", room=room)
    secret = make.make_paper(edition, ["XMARKX Author"], title="XMARKX paper", status="draft")
    make.make_presentation(session, secret, kind="poster", recording_url="https://example.org/1", room=room)
    make.make_material(secret, "video", label="XMARKX")
    make.make_presentation(session, title="XMARKX talk", status="draft", room=room)
    make.make_presentation(paper=secret, kind="poster")
    make.make_session(edition, title="XMARKX", status="draft", room=room, kind="invited_talk")
    make.make_session(edition, title="XMARKX part", status="draft", parent=session)
    draft = make.make_session(edition, status="draft", kind="workshop")
    make.make_session(edition, title="XMARKX inside", parent=draft)
    paths = ["schedule/", "schedule/2021-04-06/", "talks/", "posters/", "recordings/", f"rooms/{room.slug}/"]
    pages = [fetch(client, f"/2021/{path}") for path in paths] + [fetch(client, session.get_absolute_url())]

    assert [page for page in pages if "XMARKX" in page] == []


def test_program_day_is_in_the_time_zone_of_the_edition(client: Client) -> None:
    seoul = make.make_edition(2026, timezone="Asia/Seoul", day_start_hour=0)
    make.make_session(seoul, start=datetime(2026, 4, 5, 15, 30, tzinfo=UTC), title="Early")

    assert "00:30 to 01:30 KST Oral session Early" in read_text(client, "/2026/schedule/2026-04-06/")


def test_second_time_zone_of_a_hybrid_conference_is_shown(client: Client) -> None:
    edition = make.make_edition(mode="hybrid", second_timezone="Asia/Kathmandu")
    session = make.make_session(edition, title="Late", start=make.MORNING + 4 * HOUR)
    make.make_presentation(session, start=session.start, title="Talk")
    day_page, session_page = fetch(client, DAY), fetch(client, session.get_absolute_url())
    expected = "12:00 to 13:00 PDT Wed 7 Apr, 00:45 to 01:45 GMT+5:45"

    assert "with Kathmandu time (GMT+5:45) alongside" in day_page
    assert expected in main_text(day_page)
    assert "12:00 PDT Wed 7 Apr, 00:45 GMT+5:45" in main_text(day_page)
    assert expected in main_text(session_page)
    assert {time[-6:] for time in time_values(day_page) + time_values(session_page)} == {"-07:00"}


def test_second_time_zone_is_not_shown_if_unset(client: Client, edition: Edition) -> None:
    make.make_session(edition)

    assert 'class="second"' not in fetch(client, DAY)
