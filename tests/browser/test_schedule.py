"""The schedule in Chromium: own time, the grid by keyboard, the lobby screen, file sizes and printing."""

import gzip
from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from playwright.sync_api import FloatRect, Page

from conference.models import Edition
from tests import factories as make
from tests.browser.axe import DESKTOP, DISPLAYS, display_issues
from tests.browser.axe import NARROW as PHONE
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DAY = "/2026/schedule/2026-03-28/"
HOUR = timedelta(hours=1)


@pytest.fixture
def berlin_edition() -> Edition:
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


def toggle_own_time(page: Page) -> None:
    open_zones(page)
    page.get_by_role("button", name="Show my time").click()


def open_zones(page: Page) -> None:
    if page.locator(".zones[open]").count() == 0:
        page.locator(".zones > summary").click()


def own_times(page: Page) -> list[str]:
    texts = page.locator("main .mine").all_inner_texts()
    return [text.replace("\n", " ").removeprefix(", your time: ").strip() for text in texts]


def grid_box(page: Page, title: str) -> FloatRect:
    """Return the bounding box of a session in the grid."""
    bounding_box = page.locator(".slot", has_text=title).bounding_box()
    assert bounding_box is not None
    return bounding_box


# The reader's own time


@pytest.mark.parametrize(
    ("zone", "before", "after"),
    [
        ("Asia/Tokyo", "18:00 JST", "17:00 JST"),
        ("America/Los_Angeles", "02:00 PDT", "01:00 PDT"),
        ("Asia/Kathmandu", "14:45 GMT+5:45", "13:45 GMT+5:45"),
    ],
)
@pytest.mark.usefixtures("berlin_edition")
def test_own_time_is_right_before_and_after_a_clock_change(
    open_page: OpenPage, zone: str, before: str, after: str
) -> None:
    page = open_page(timezone_id=zone, viewport=DESKTOP)
    page.goto(DAY)
    venue_text = page.inner_text("main")
    toggle_own_time(page)

    assert before in own_times(page)
    assert page.locator("main .when time").first.inner_text() == "10:00"
    assert all(word in page.inner_text("main") for word in venue_text.split())
    page.goto("/2026/schedule/2026-03-29/")
    assert after in own_times(page)


@pytest.mark.usefixtures("berlin_edition")
def test_own_time_has_its_date_if_that_differs(open_page: OpenPage, berlin_edition: Edition) -> None:
    late = datetime(2026, 3, 28, 22, tzinfo=berlin_edition.zone)
    make.make_session(berlin_edition, start=late, title="Late", kind="social")
    make.make_session(
        berlin_edition, start=datetime(2026, 3, 28, 15, 30, tzinfo=UTC), title="Evening", kind="social"
    )
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    toggle_own_time(page)

    assert "Sun 29 Mar, 06:00 to 07:00 JST" in own_times(page)
    assert "Sun 29 Mar, 00:30 to 01:30 JST" in own_times(page)


@pytest.mark.usefixtures("berlin_edition")
def test_own_time_is_shown_on_every_page_and_stored_only_while_on(open_page: OpenPage) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto("/2026/")
    assert page.evaluate("localStorage.length") == 0
    toggle_own_time(page)
    for path in (DAY, "/2026/schedule/", "/2026/sessions/hall-28/", "/2026/papers/p28/", f"{DAY}?view=grid"):
        page.goto(path)
        assert own_times(page) != [], path
    toggle_own_time(page)
    assert own_times(page) == []
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.usefixtures("berlin_edition")
def test_selected_time_zone_is_remembered(open_page: OpenPage) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    toggle_own_time(page)
    page.get_by_label("Your time zone").select_option("Asia/Kathmandu")
    assert "14:45 GMT+5:45" in own_times(page)
    page.reload()
    assert "14:45 GMT+5:45" in own_times(page)
    assert page.get_by_label("Your time zone").input_value() == "Asia/Kathmandu"


@pytest.mark.usefixtures("berlin_edition")
def test_invalid_stored_time_zone_is_removed(open_page: OpenPage) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=DESKTOP)
    page.goto(DAY)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for stored in ("Mars/Olympus", "", "{}", "<b>"):
        page.evaluate("value => localStorage.setItem('plenary:zone', value)", stored)
        page.reload()

        assert (stored, own_times(page), errors) == (stored, [], [])
        assert page.evaluate("localStorage.length") == 0
    toggle_own_time(page)
    assert own_times(page) != []


@pytest.mark.usefixtures("berlin_edition")
def test_own_time_is_not_shown_in_the_zone_of_the_venue(open_page: OpenPage) -> None:
    page = open_page(timezone_id="Europe/Paris", viewport=DESKTOP)
    page.goto(DAY)
    toggle_own_time(page)

    assert own_times(page) == []
    assert "Your time zone is the same" in page.inner_text(".zones")


@pytest.mark.usefixtures("berlin_edition")
def test_page_without_own_time_has_no_layout_shift(open_page: OpenPage) -> None:
    page = open_page(timezone_id="Asia/Tokyo", viewport=PHONE)
    layout_shift_script = """() => new Promise(done => { let sum = 0
        new PerformanceObserver(list => list.getEntries().forEach(entry => { sum += entry.value }))
            .observe({type: 'layout-shift', buffered: true}); setTimeout(() => done(sum), 300) })"""
    page.goto(DAY)

    assert page.evaluate(layout_shift_script) < 0.01


# The grid by keyboard


@pytest.mark.usefixtures("berlin_edition")
def test_grid_has_one_tab_stop_and_arrow_keys_move_within(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    focused_text = "document.activeElement.textContent"
    page.locator(".slot .title a").first.focus()
    focused_titles = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowRight", "Home", "End"):
        page.keyboard.press(key)
        focused_titles.append(page.evaluate(focused_text))

    assert focused_titles == ["Lab 28", "Hall 28", "Later 28", "Lab 28", "Hall 28", "Later 28"]
    assert page.locator('.slot .title a[tabindex="0"]').count() == 1
    assert page.locator('.slot :is(a, button)[tabindex="0"]').count() == 2


def test_schedule_views_have_no_page_overflow_and_no_axe_violations(
    open_page: OpenPage, berlin_edition: Edition
) -> None:
    for number in range(12):
        room = make.make_room(berlin_edition, f"Ballroom {number}")
        make.make_session(
            berlin_edition, start=datetime(2026, 3, 28, 10, tzinfo=berlin_edition.zone), room=room
        )
    page = open_page(viewport=DESKTOP, timezone_id="Asia/Tokyo")
    issues: list[str] = []
    page.on("console", lambda message: issues.append(f"{page.url}: {message.text}"))
    for query in ("view=grid", "view=grid&zoom=1", "view=grid&zoom=4", "kind=oral"):
        page.goto(f"{DAY}?{query}")
        if page.locator(".mine").count() == 0:
            toggle_own_time(page)
            # An open menu may cover content below it.
            page.locator("details.zones").evaluate("menu => menu.removeAttribute('open')")
        issues += display_issues(page, DISPLAYS)
    for query in ("week", "now"):
        page.goto(f"/2026/schedule/?view={query}")
        issues += display_issues(page, DISPLAYS)

    assert issues == []


@pytest.mark.usefixtures("berlin_edition")
def test_text_of_schedule_views_is_the_same_without_javascript(open_page: OpenPage) -> None:
    page_with_script, page_without_script = (
        open_page(viewport=DESKTOP),
        open_page(viewport=DESKTOP, java_script_enabled=False),
    )
    for path in (f"{DAY}?view=grid", "/2026/schedule/?view=week", "/2026/schedule/?view=now"):
        texts = [
            page.goto(path) and page.inner_text("main") for page in (page_with_script, page_without_script)
        ]
        assert texts[0] == texts[1], path
        assert page_without_script.locator(".zones button").is_hidden(), path


@pytest.mark.usefixtures("berlin_edition")
def test_grid_box_height_is_proportional_to_session_length(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")
    hall, lab, later = (grid_box(page, name) for name in ("Hall 28", "Lab 28", "Later 28"))

    assert abs(lab["height"] - 2 * hall["height"] - 2) <= 2
    assert (hall["y"], hall["width"]) == (lab["y"], lab["width"])
    assert abs(later["y"] - hall["y"] - hall["height"] - 2) <= 1
    assert page.evaluate(
        "document.querySelector('.grid').scrollWidth <= document.querySelector('.grid').clientWidth"
    )


@pytest.mark.usefixtures("berlin_edition")
def test_grid_is_filtered_by_star(open_page: OpenPage) -> None:
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


@pytest.mark.usefixtures("berlin_edition")
def test_grid_filtered_by_star_shows_the_session_of_a_starred_talk(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2026/sessions/hall-28/")
    page.locator(".talk .star").click()
    page.goto(f"{DAY}?view=grid")
    page.get_by_role("button", name="Only my stars").click()

    assert page.locator(".slot li.starred a").inner_text().endswith("Starred")
    assert page.get_by_text("Hall 28", exact=True).is_visible()
    assert not page.get_by_text("Lab 28", exact=True).is_visible()


@pytest.mark.usefixtures("berlin_edition")
def test_line_in_the_grid_is_at_the_current_time(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP, timezone_id="Asia/Tokyo")
    with time_machine.travel(datetime(2026, 3, 28, 9, 30, tzinfo=UTC)):
        page.clock.set_fixed_time(datetime(2026, 3, 28, 9, 55, tzinfo=UTC))
        page.goto(f"{DAY}?view=grid")

    assert page.locator(".now-mark").inner_text() == "10:55"
    line_box, session_box = page.locator(".now-rule").bounding_box(), grid_box(page, "Hall 28")
    assert line_box is not None
    assert abs(session_box["y"] + session_box["height"] - line_box["y"] - session_box["height"] / 12) <= 3


@pytest.mark.usefixtures("berlin_edition")
def test_grid_is_printed_on_one_page(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto(f"{DAY}?view=grid")

    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1


# Printing, file sizes, and the lobby screen


@pytest.mark.usefixtures("berlin_edition")
def test_printed_pages_have_door_signs_and_no_controls(open_page: OpenPage, berlin_edition: Edition) -> None:
    page = open_page(viewport=DESKTOP)
    page.emulate_media(media="print")
    page.goto(berlin_edition.rooms.get(name="Hall").get_absolute_url())
    assert page.locator(".door").count() == 2
    assert page.locator(".door .qr").first.bounding_box()["width"] > 100  # type: ignore[index]
    for path in (DAY, f"{DAY}?view=grid", "/2026/schedule/?view=week"):
        page.goto(path)
        visibilities = [
            page.locator(name).first.is_visible() for name in (".days", ".views", ".choose", ".switch")
        ]
        assert (path, visibilities) == (path, [False] * 4)


@pytest.mark.usefixtures("demo")
def test_schedule_day_with_its_files_is_below_its_size_limits(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    sizes: dict[str, int] = {}
    page.on("response", lambda response: sizes.update({response.url: len(gzip.compress(response.body()))}))
    page.goto("/2021/schedule/2021-04-06/", wait_until="networkidle")
    style_and_script_bytes = sum(size for url, size in sizes.items() if url.endswith((".css", ".js")))
    font_bytes = sum(size for url, size in sizes.items() if url.endswith(".woff2"))

    assert style_and_script_bytes <= 45_000
    assert sum(sizes.values()) - font_bytes <= 60_000
    assert font_bytes <= 60_000


@pytest.mark.usefixtures("berlin_edition")
def test_lobby_screen_during_the_conference_has_no_axe_violations(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    with time_machine.travel(datetime(2026, 3, 28, 9, 30, tzinfo=UTC)):
        page.goto("/2026/schedule/?view=now")

    assert "Hall 28" in page.inner_text("main")
    assert display_issues(page, [(PHONE, "light"), (PHONE, "dark")]) == []
