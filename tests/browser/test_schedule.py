"""The schedule in Chromium: the reader's own time, the grid by keyboard, the lobby, weights and paper."""

import gzip
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from playwright.sync_api import FloatRect, Page

from conference.models import Edition
from tests import factories as make
from tests.browser.axe import DESKTOP, LOOKS, hindrances
from tests.browser.axe import NARROW as PHONE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DAY = "/2026/schedule/2026-03-28/"
HOUR = timedelta(hours=1)


@pytest.fixture
def berlin() -> Edition:
    """Create an edition of two days around the start of summer time, with sessions in two rooms."""
    days = {"start_date": date(2026, 3, 28), "end_date": date(2026, 3, 29)}
    edition = make.make_edition(2026, timezone="Europe/Berlin", **days)
    hall, lab = make.make_room(edition, "Hall"), make.make_room(edition, "Lab")
    for day in (28, 29):
        start = datetime(2026, 3, day, 10, tzinfo=edition.zone)
        session = make.make_session(edition, start=start, title=f"Hall {day}", room=hall, uid=f"hall-{day}")
        make.make_presentation(session, make.make_paper(edition, ["Ada"], uid=f"p{day}"), start=start)
        make.make_session(edition, start=start, title=f"Lab {day}", room=lab, minutes=120)
        make.make_session(edition, start=start + HOUR, title=f"Later {day}", room=hall)
    return edition


def switch(page: Page) -> None:
    open_zones(page)
    page.get_by_role("button", name="Show my time").click()


def open_zones(page: Page) -> None:
    if page.locator(".zones[open]").count() == 0:
        page.locator(".zones > summary").click()


def own_times(page: Page) -> list[str]:
    words = page.locator("main .mine").all_inner_texts()
    return [text.replace("\n", " ").removeprefix(", your time: ").strip() for text in words]


def box(page: Page, title: str) -> FloatRect:
    """Return the bounding box of a session in the grid."""
    found = page.locator(".slot", has_text=title).bounding_box()
    assert found is not None
    return found


# The reader's own time


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Asia/Tokyo", "18:00 JST", "17:00 JST"),
        ("America/Los_Angeles", "02:00 PDT", "01:00 PDT"),
        ("Asia/Kathmandu", "14:45 GMT+5:45", "13:45 GMT+5:45"),
    ],
)
@pytest.mark.usefixtures("berlin")
def test_own_time_is_right_on_both_sides_of_a_clock_change(
    open_page: Callable[..., Page], zone: str, before: str, after: str
) -> None:
    page = open_page(timezone_id=zone, viewport=DESKTOP)
    page.goto(DAY)
    venue = page.inner_text("main")
    switch(page)

    assert before in own_times(page)
    assert page.locator("main .when time").first.inner_text() == "10:00"
    assert all(word in page.inner_text("main") for word in venue.split())
    page.goto("/2026/schedule/2026-03-29/")
    assert after in own_times(page)


@pytest.mark.usefixtures("berlin")
def test_own_time_names_its_day_where_that_differs(open_page: Callable[..., Page], berlin: Edition) -> None:
    late = datetime(2026, 3, 28, 22, tzinfo=berlin.zone)
    make.make_session(berlin, start=late, title="Late", kind="social")
    make.make_session(berlin, start=datetime(2026, 3, 28, 15, 30, tzinfo=UTC), title="Evening", kind="social")
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    switch(page)

    assert "Sun 29 Mar, 06:00 to 07:00 JST" in own_times(page)
    assert "Sun 29 Mar, 00:30 to 01:30 JST" in own_times(page)


@pytest.mark.usefixtures("berlin")
def test_own_time_follows_to_every_page_and_is_kept_only_after_use(open_page: Callable[..., Page]) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto("/2026/")
    assert page.evaluate("localStorage.length") == 0
    switch(page)
    for path in (DAY, "/2026/schedule/", "/2026/sessions/hall-28/", "/2026/papers/p28/", f"{DAY}?view=grid"):
        page.goto(path)
        assert own_times(page) != [], path
    switch(page)
    assert own_times(page) == []
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.usefixtures("berlin")
def test_another_zone_is_chosen_from_a_list_and_remembered(open_page: Callable[..., Page]) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    switch(page)
    page.get_by_label("Your time zone").select_option("Asia/Kathmandu")
    assert "14:45 GMT+5:45" in own_times(page)
    page.reload()
    assert "14:45 GMT+5:45" in own_times(page)
    assert page.get_by_label("Your time zone").input_value() == "Asia/Kathmandu"


@pytest.mark.usefixtures("berlin")
def test_broken_choice_is_forgotten(open_page: Callable[..., Page]) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    for broken in ("Mars/Olympus", "", "{}", "<b>"):
        page.evaluate("value => localStorage.setItem('plenary:zone', value)", broken)
        page.reload()

        assert (broken, own_times(page), faults) == (broken, [], [])
        assert page.evaluate("localStorage.length") == 0
    switch(page)
    assert own_times(page) != []


@pytest.mark.usefixtures("berlin")
def test_at_the_venue_own_time_adds_nothing(open_page: Callable[..., Page]) -> None:
    page = open_page(timezone_id="Europe/Paris", viewport=DESKTOP)
    page.goto(DAY)
    switch(page)

    assert own_times(page) == []
    assert "Your time zone is the same" in page.inner_text(".zones")


@pytest.mark.usefixtures("berlin")
def test_switch_that_is_off_moves_nothing(open_page: Callable[..., Page]) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=PHONE)
    shifts = """() => new Promise(done => { let sum = 0
        new PerformanceObserver(list => list.getEntries().forEach(one => { sum += one.value }))
            .observe({type: 'layout-shift', buffered: true}); setTimeout(() => done(sum), 300) })"""
    page.goto(DAY)

    assert page.evaluate(shifts) < 0.01


# The grid by keyboard


@pytest.mark.usefixtures("berlin")
def test_grid_is_one_stop_and_arrows_move_inside(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    focused = "document.activeElement.textContent"
    page.locator(".slot .title a").first.focus()
    moves = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowRight", "Home", "End"):
        page.keyboard.press(key)
        moves.append(page.evaluate(focused))

    assert moves == ["Lab 28", "Hall 28", "Later 28", "Lab 28", "Hall 28", "Later 28"]
    assert page.locator('.slot .title a[tabindex="0"]').count() == 1
    assert page.locator('.slot :is(a, button)[tabindex="0"]').count() == 2


def test_views_scroll_in_themselves_and_hinder_nobody(
    open_page: Callable[..., Page], berlin: Edition
) -> None:
    for number in range(12):
        room = make.make_room(berlin, f"Ballroom {number}")
        make.make_session(berlin, start=datetime(2026, 3, 28, 10, tzinfo=berlin.zone), room=room)
    page = open_page(viewport=DESKTOP, timezone_id="Asia/Tokyo")
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
    for query in ("view=grid", "view=grid&zoom=1", "view=grid&zoom=4", "kind=oral"):
        page.goto(f"{DAY}?{query}")
        if page.locator(".mine").count() == 0:
            switch(page)
            # An open menu may cover content below it.
            page.locator("details.zones").evaluate("menu => menu.removeAttribute('open')")
        complaints += hindrances(page, LOOKS)
    for query in ("week", "now"):
        page.goto(f"/2026/schedule/?view={query}")
        complaints += hindrances(page, LOOKS)

    assert complaints == []


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    "path", [f"{DAY}?view=grid", "/2026/schedule/?view=week", "/2026/schedule/?view=now"]
)
def test_views_are_whole_without_javascript(open_page: Callable[..., Page], path: str) -> None:
    scripted, plain = open_page(viewport=DESKTOP), open_page(viewport=DESKTOP, java_script_enabled=False)
    seen = [page.goto(path) and page.inner_text("main") for page in (scripted, plain)]

    assert seen[0] == seen[1]
    assert plain.locator(".zones button").is_hidden()


@pytest.mark.usefixtures("berlin")
def test_boxes_of_the_grid_are_as_high_as_their_sessions_are_long(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    hall, lab, later = (box(page, name) for name in ("Hall 28", "Lab 28", "Later 28"))

    assert abs(lab["height"] - 2 * hall["height"] - 2) <= 2
    assert (hall["y"], hall["width"]) == (lab["y"], lab["width"])
    assert abs(later["y"] - hall["y"] - hall["height"] - 2) <= 1
    assert page.evaluate(
        "document.querySelector('.grid').scrollWidth <= document.querySelector('.grid').clientWidth"
    )


@pytest.mark.usefixtures("berlin")
def test_grid_shows_only_my_stars_on_request(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    button = page.get_by_role("button", name="Only my stars")
    assert button.is_hidden()
    page.get_by_role("button", name="Star: Lab 28").click()
    button.click()
    assert [page.get_by_text(name, exact=True).is_visible() for name in ("Lab 28", "Hall 28")] == [
        True,
        False,
    ]
    button.click()
    assert page.get_by_text("Hall 28", exact=True).is_visible()


@pytest.mark.usefixtures("berlin")
def test_grid_marks_a_starred_talk_and_the_session_that_holds_it(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2026/sessions/hall-28/")
    page.locator(".talk .star").click()
    page.goto(f"{DAY}?view=grid")
    page.get_by_role("button", name="Only my stars").click()

    assert page.locator(".slot li.starred a").inner_text().endswith("Starred")
    assert page.get_by_text("Hall 28", exact=True).is_visible()
    assert not page.get_by_text("Lab 28", exact=True).is_visible()


@pytest.mark.usefixtures("berlin")
def test_line_at_now_moves(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP, timezone_id="Asia/Tokyo")
    with time_machine.travel(datetime(2026, 3, 28, 9, 30, tzinfo=UTC)):
        page.clock.set_fixed_time(datetime(2026, 3, 28, 9, 55, tzinfo=UTC))
        page.goto(f"{DAY}?view=grid")

    assert page.locator(".now-mark").inner_text() == "10:55"
    line, end = page.locator(".now-rule").bounding_box(), box(page, "Hall 28")
    assert line is not None
    assert abs(end["y"] + end["height"] - line["y"] - end["height"] / 12) <= 3


@pytest.mark.usefixtures("berlin")
def test_grid_is_printed_on_one_page(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")

    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1


# On paper, and over the wire


@pytest.mark.usefixtures("berlin")
def test_printed_pages_show_the_program_and_no_controls(
    open_page: Callable[..., Page], berlin: Edition
) -> None:
    page = open_page(viewport=DESKTOP)
    page.emulate_media(media="print")
    page.goto(berlin.rooms.get(name="Hall").get_absolute_url())
    assert page.locator(".door").count() == 2
    assert page.locator(".door .qr").first.bounding_box()["width"] > 100  # type: ignore[index]
    for path in (DAY, f"{DAY}?view=grid", "/2026/schedule/?view=week"):
        page.goto(path)
        shown = [page.locator(name).first.is_visible() for name in (".days", ".views", ".choose", ".switch")]
        assert (path, shown) == (path, [False] * 4)


@pytest.mark.usefixtures("demo")
def test_day_with_all_it_needs_is_light(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=DESKTOP)
    sizes: dict[str, int] = {}
    page.on("response", lambda answer: sizes.update({answer.url: len(gzip.compress(answer.body()))}))
    page.goto("/2021/schedule/2021-04-06/", wait_until="networkidle")
    looks = sum(size for url, size in sizes.items() if url.endswith((".css", ".js")))
    fonts = sum(size for url, size in sizes.items() if url.endswith(".woff2"))

    assert looks <= 45_000
    assert sum(sizes.values()) - fonts <= 60_000
    assert fonts <= 60_000


@pytest.mark.usefixtures("berlin")
def test_lobby_screen_hinders_nobody_while_the_conference_runs(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=PHONE)
    with time_machine.travel(datetime(2026, 3, 28, 9, 30, tzinfo=UTC)):
        page.goto("/2026/schedule/?view=now")

    assert "Hall 28" in page.inner_text("main")
    assert hindrances(page, [(PHONE, "light"), (PHONE, "dark")]) == []
