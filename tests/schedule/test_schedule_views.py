"""Tests of the views of the schedule: grid, week, now and next; filters in the address."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from conference.models import Edition
from conference.templatetags.program import digits
from schedule.day_grid import MAX_HOURS, ROWS_PER_HOUR
from schedule.models import Session
from tests import factories as make
from tests.html_pages import Page, read
from tests.schedule.page_text import fetch, headings, main_text, read_text

pytestmark = pytest.mark.django_db
DAY = "/2021/schedule/2021-04-06/"
HOUR = timedelta(hours=1)


@pytest.fixture
def program(edition: Edition) -> dict[str, Session]:
    """Create two rooms with sessions at the same time, a break, and a workshop on the next day."""
    hall, lab = make.make_room(edition, "Hall", slug="hall"), make.make_room(edition, "Lab", slug="lab")
    topic = make.make_topic(edition, "Compilers", slug="compilers")
    below = make.make_topic(edition, "Scheduling", slug="scheduling", parent=topic)
    oral = make.make_session(edition, room=hall, title="Orals")
    poster = make.make_session(edition, room=lab, title="Posters", kind="poster")
    make.make_presentation(oral, make.make_paper(edition, title="Cortex", topic=below))
    make.make_presentation(oral, make.make_paper(edition, title="Other"))
    make.make_presentation(poster, make.make_paper(edition, title="Poster"), kind="poster")
    make.make_session(edition, title="Coffee", kind="break", start=make.MORNING + HOUR)
    tomorrow: Any = {"start": make.MORNING + 24 * HOUR, "kind": "workshop", "room": lab}
    return {"oral": oral, "poster": poster, "workshop": make.make_session(edition, title="Shop", **tomorrow)}


# The grid


@pytest.mark.usefixtures("program")
def test_grid_has_rooms_times_and_sessions_in_reading_order(client: Client) -> None:
    page = read(client, f"{DAY}?view=grid")

    assert page.texts("li", "room") == ["Hall", "Lab"]
    assert page.texts("p", "hour") == ["08:00", "09:00"]
    assert page.texts("li", "slot") == [
        "Oral session Orals 08:00 to 09:00 PDT, Hall 2 talks Cortex Other",
        "Poster session Posters 08:00 to 09:00 PDT, Lab 1 poster",
        "Coffee 09:00 to 10:00 PDT",
    ]
    classes = [cell.attributes["class"] for cell in page.all("li", "slot")]
    assert classes == [
        "slot kind-oral r1 n10 n2 c1 w1",
        "slot kind-poster r1 n10 n2 c2 w1",
        "slot kind-break r10 r3 n10 n2 c1 w2",
    ]
    assert page.texts("ul", "legend") == ["Oral session Poster session Break"]


def test_every_grid_position_has_a_css_class() -> None:
    rules = (settings.BASE_DIR / "static/css/grid-places.css").read_text()

    rows, columns = MAX_HOURS * ROWS_PER_HOUR, 99
    classes = {
        name
        for prefix, limit in (("r", rows), ("n", rows), ("c", columns), ("w", columns), ("h", MAX_HOURS))
        for number in range(1, limit + 1)
        for name in digits(number, prefix).split()
    }
    assert set(re.findall(r"^\.([rncwh]\d+) {", rules, re.MULTILINE)) == classes


@pytest.mark.parametrize(
    ("number", "classes"), [(7, "r7"), (40, "r40"), (287, "r200 r80 r7"), (300, "r300"), (205, "r200 r5")]
)
def test_digits_of_a_number_are_classes(number: int, classes: str) -> None:
    assert digits(number, "r") == classes


def test_grid_marks_cancelled_sessions(client: Client, edition: Edition) -> None:
    make.make_session(edition, title="Off", status="cancelled", room=make.make_room(edition))

    assert "Oral session Canceled Off" in read_text(client, f"{DAY}?view=grid")


def test_grid_has_parts_in_their_workshop_unless_in_another_room(client: Client, edition: Edition) -> None:
    room, other_room = make.make_room(edition, "Here"), make.make_room(edition, "There")
    workshop = make.make_session(edition, kind="workshop", title="Shop", room=room)
    make.make_session(edition, parent=workshop, title="Inside", room=room)
    make.make_session(edition, parent=workshop, title="Outside", room=other_room)
    cells = read(client, f"{DAY}?view=grid").texts("li", "slot")

    assert cells == [
        "Workshop Shop 08:00 to 09:00 PDT, Here 08:00 Inside",
        "Oral session Outside 08:00 to 09:00 PDT, There",
    ]


GRID_SIZES = ["1", "2", "3", "4"]


@pytest.mark.usefixtures("program")
def test_size_of_the_grid_is_in_its_address(client: Client, subtests: pytest.Subtests) -> None:
    for zoom in GRID_SIZES:
        with subtests.test(zoom=zoom):
            page = read(client, f"{DAY}?view=grid&zoom={zoom}&kind=oral")

            assert len(page.all("div", f"zoom-{zoom}")) == 1
            current = [
                link for link in page.all("a", **{"aria-current": "true"}) if link.text.startswith("Size")
            ]
            assert [link.text for link in current] == [f"Size {zoom}"]
            assert current[0].attributes["href"].startswith("?kind=oral&view=grid")


@pytest.mark.usefixtures("program")
def test_links_to_other_days_keep_grid_and_filters(client: Client) -> None:
    links = Page(fetch(client, f"{DAY}?view=grid&room=lab")).links()

    assert links["Wed 7"] == "/2021/schedule/2021-04-07/?room=lab&view=grid"
    assert links["All days"] == "/2021/schedule/?view=list&room=lab"
    assert links["List"] == f"{DAY}?room=lab"


# Filters


DAY_FILTERS = [
    ("kind=oral", ["Orals", "Cortex", "Other"]),
    ("room=lab", ["Posters", "Poster"]),
    ("topic=scheduling", ["Orals", "Cortex"]),
    ("topic=compilers&kind=oral&room=hall", ["Orals", "Cortex"]),
    ("kind=&room=&topic=", ["Orals", "Cortex", "Other", "Posters", "Poster", "Coffee"]),
]


@pytest.mark.usefixtures("program")
def test_query_filters_the_sessions_of_a_day(client: Client, subtests: pytest.Subtests) -> None:
    for query, titles in DAY_FILTERS:
        with subtests.test(query=query):
            page = fetch(client, f"{DAY}?{query}")

            assert [title for level, title in headings(page) if level > 2] == titles


@pytest.mark.usefixtures("program")
def test_day_without_matching_sessions_says_so(client: Client) -> None:
    page = fetch(client, f"{DAY}?kind=poster&room=hall")

    assert [title for level, title in headings(page) if level > 2] == []
    assert "No matching sessions on this day" in main_text(page)


@pytest.mark.usefixtures("program")
def test_topic_filter_counts_only_matching_talks(client: Client) -> None:
    assert "Orals Hall 1 talk" in read_text(client, f"{DAY}?topic=compilers")


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("view", ["list", "week"])
def test_filters_apply_to_all_days(client: Client, view: str) -> None:
    text = read_text(client, f"/2021/schedule/?view={view}&room=lab")

    assert "Shop" in text
    assert "Posters" in text
    assert "Orals" not in text


SCHEDULE_PATHS = ["/2021/schedule/", DAY]
UNKNOWN_VALUES = [
    ("kind", "xyz"),
    ("room", "attic"),
    ("topic", "nothing"),
    ("view", "cinema"),
    ("kind", "tutorial"),
]


@pytest.mark.usefixtures("program")
def test_unknown_filter_value_is_reported(client: Client, subtests: pytest.Subtests) -> None:
    for path in SCHEDULE_PATHS:
        for name, value in UNKNOWN_VALUES:
            with subtests.test(path=path, name=name, value=value):
                text = read_text(client, f"{path}?{name}={value}", 400)

                assert f"“{value}” isn’t a valid value for “{name}”." in text


def test_unknown_grid_size_is_reported(client: Client, edition: Edition) -> None:
    assert "for “zoom”. Valid values: 1, 2, 3, 4." in read_text(client, f"{DAY}?view=grid&zoom=9", 400)


# All days


@pytest.mark.usefixtures("program")
def test_week_view_shows_days_times_titles_and_rooms(client: Client) -> None:
    text = read_text(client, "/2021/schedule/?view=week")

    assert "Tuesday 6 April 2021 08:00 to 09:00 PDT Orals Hall Posters Lab 09:00 to 10:00 PDT Coffee" in text
    assert "Wednesday 7 April 2021 08:00 to 09:00 PDT Shop Lab" in text


@pytest.mark.usefixtures("program")
def test_schedule_opens_at_today_while_the_conference_runs(client: Client) -> None:
    with time_machine.travel(make.MORNING + HOUR / 2, tick=False):
        assert headings(fetch(client, "/2021/schedule/"))[0] == (1, "Tuesday 6 April 2021")
        assert headings(fetch(client, "/2021/schedule/?view=list"))[0] == (1, "Schedule")
    with time_machine.travel(make.MORNING - 24 * HOUR, tick=False):
        assert headings(fetch(client, "/2021/schedule/"))[0] == (1, "Schedule")


# Now and next

NOW = "/2021/schedule/?view=now"


def page_at(moment: datetime, client: Client, path: str = NOW) -> str:
    with time_machine.travel(moment, tick=False):
        return fetch(client, path)


@pytest.mark.usefixtures("program")
def test_now_view_shows_current_and_next_session_of_each_room(client: Client, edition: Edition) -> None:
    lab = edition.rooms.get(slug="lab")
    make.make_session(edition, room=lab, title="Later", start=make.MORNING + 2 * HOUR)
    text = main_text(page_at(make.MORNING + HOUR / 2, client))

    assert "Hall Now until 09:00 PDT Orals Nothing else today" in text
    assert "Lab Now until 09:00 PDT Posters 10:00 PDT Later" in text
    assert "All rooms 09:00 PDT Coffee" in text


@pytest.mark.usefixtures("program")
def test_now_view_names_the_next_session_or_the_end_of_the_conference(client: Client) -> None:
    before, between = make.MORNING - 48 * HOUR, make.MORNING + 12 * HOUR

    assert "MLSys 2021 begins Tue 6 Apr, 08:00 PDT: Orals, Hall." in main_text(page_at(before, client))
    assert "It continues Wed 7 Apr, 08:00 PDT: Shop, Lab." in main_text(page_at(between, client))
    assert "MLSys 2021 has ended." in main_text(page_at(make.MORNING + 240 * HOUR, client))


def test_now_view_shows_a_session_that_began_on_the_day_before(client: Client, edition: Edition) -> None:
    hall = make.make_room(edition, "Hall")
    make.make_session(edition, 24 * 60, title="Hackathon", room=hall)

    text = main_text(page_at(make.MORNING + 22 * HOUR, client))

    assert "Hall Now until 08:00 PDT Hackathon Nothing else today" in text


def test_now_view_omits_cancelled_sessions(client: Client, edition: Edition) -> None:
    make.make_session(edition, title="Off", status="cancelled", room=make.make_room(edition))

    assert "Off" not in main_text(page_at(make.MORNING + HOUR / 2, client))


@pytest.mark.usefixtures("program")
def test_now_view_refreshes_itself_without_javascript(client: Client) -> None:
    page = fetch(client, NOW)

    assert '<noscript><meta http-equiv="refresh" content="60"></noscript>' in page
    assert page.index("<noscript>") < page.index("</head>")


@pytest.mark.usefixtures("program")
def test_now_strip_is_only_on_schedule_and_today_and_home_has_cards(client: Client) -> None:
    strip = "Now Orals until 09:00 PDT · Hall Posters until 09:00 PDT · Lab Next Coffee 09:00 PDT"
    moment = make.MORNING + HOUR / 2

    for path in ("/2021/schedule/", DAY):
        assert strip in main_text(page_at(moment, client, path))
    cards = [card.text for card in Page(page_at(moment, client, "/2021/")).all("li", "card")]
    assert [card.split(" until ")[0] for card in cards[:2]] == [
        "Oral session · Hall Orals",
        "Poster session · Lab Posters",
    ]
    assert cards[2].startswith("Break Coffee")
    assert strip not in main_text(page_at(moment, client, "/2021/schedule/2021-04-07/"))


SERIES = ["Session 1A", "Industry Talks", "Session 1B", "Session 1C", "Session 1D", "Session 2", "Session 10"]


@pytest.fixture
def parallel_sessions(edition: Edition) -> Edition:
    """Create seven sessions at the same time, in halls in an unrelated order."""
    halls = [make.make_room(edition, f"Hall {number}", position=number) for number in range(1, 8)]
    titles = [SERIES[index] for index in (6, 1, 4, 0, 5, 3, 2)]
    for hall, title in zip(halls, titles, strict=True):
        make.make_session(edition, title=title, room=hall)
    return edition


STRIP_PATHS = ["/2021/", "/2021/schedule/", DAY]
STRIP_MINUTES = [-30, 30]


@pytest.mark.usefixtures("parallel_sessions")
def test_now_strip_shows_parallel_sessions_in_series_order(client: Client, subtests: pytest.Subtests) -> None:
    for path in STRIP_PATHS:
        for minutes in STRIP_MINUTES:
            with subtests.test(path=path, minutes=minutes):
                page = Page(page_at(make.MORNING + minutes * HOUR / 60, client, path))
                link_text = "All rooms" if path == "/2021/" else "Now and next in all rooms"
                strip = page.main if path == "/2021/" else page.main.split(link_text)[0]

                assert sorted(SERIES, key=strip.index) == SERIES
                assert page.links()[link_text] == NOW


@pytest.mark.usefixtures("parallel_sessions")
def test_day_page_and_neighbor_links_follow_the_series(client: Client, edition: Edition) -> None:
    day_page = fetch(client, "/2021/schedule/2021-04-06/")
    text = read_text(client, edition.sessions.get(title="Session 1B").get_absolute_url())

    assert [title for _, title in headings(day_page) if title in SERIES] == SERIES
    neighbors = re.findall(r"(?:Previous|Next): 08:00 PDT, ([A-Z][A-Za-z0-9 ]+?) ?(?=Next|$)", text)
    assert neighbors == ["Industry Talks", "Session 1C"]


@pytest.mark.usefixtures("parallel_sessions")
def test_now_view_shows_parallel_sessions_in_series_order(client: Client) -> None:
    text = main_text(page_at(make.MORNING, client))

    assert [title for title in SERIES if f"Now until 09:00 PDT {title}" in text] == SERIES
