"""The timetable editor in a browser: by mouse, keyboard, touch and forms; clashes, edit conflicts, undo."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Dialog, Locator, Page, ViewportSize, expect

from schedule.models import Session
from tests import factories as make
from tests.browser.axe import PHONE, Display, display_issues, violations
from tests.browser.visitor import OpenPage

pytestmark = pytest.mark.browser
DESKTOP = ViewportSize(width=1280, height=1200)
DISPLAYS: list[Display] = [(DESKTOP, "light"), (PHONE, "dark")]
PAGE = "/admin/schedule/session/timetable/"
# Pixels of a minute on the board.
SCALE = 1.6


@pytest.fixture
def open_editor(open_desk: OpenPage, console_errors: list[str]) -> Iterator[OpenPage]:
    """Yield a function that opens a page as a chair. An error in the browser fails the test."""

    def new_page(**options: Any) -> Page:
        return open_desk(**{"viewport": DESKTOP, **options})

    yield new_page
    assert [line for line in console_errors if "409" not in line] == []


@pytest.fixture
def sessions(transactional_db: None) -> list[Session]:
    """Create two parallel sessions in two halls, and a later one with the same chair as one of them."""
    edition = make.make_edition()
    rooms = [make.make_room(edition, name) for name in ("Hall A", "Hall B")]
    first = make.make_session(edition, title="One", room=rooms[0])
    second = make.make_session(edition, title="Two", room=rooms[1])
    third = make.make_session(edition, title="Three", room=rooms[1], start=make.MORNING + timedelta(hours=2))
    ada = make.make_person("Ada")
    for session in (first, third):
        make.add_role(session, ada, "chair")
    make.make_presentation(first, start=make.MORNING, end=make.MORNING + timedelta(minutes=15))
    return [first, second, third]


def block(page: Page, title: str) -> Locator:
    return page.locator(".tt-block").filter(has_text=title)


def drag(page: Page, handle: Locator, across: float, down: float) -> None:
    box = handle.bounding_box()
    assert box
    x, y = box["x"] + min(20, box["width"] / 2), box["y"] + min(20, box["height"] / 2)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across / 2, y + down / 2, steps=4)
    page.mouse.move(x + across, y + down, steps=4)
    page.mouse.up()


def save(page: Page) -> None:
    # Wait for the search for clashes, so that its queries do not delay the save.
    expect(page.locator("#tt-clashes[aria-busy]")).to_have_count(0)
    page.get_by_role("button", name="Save all moves").click()
    expect(page.locator(".messagelist .success")).to_be_visible()


def times_and_room(session: Session) -> tuple[str, str, str]:
    session.refresh_from_db()
    zone = session.edition.zone
    start, end = (f"{time.astimezone(zone):%d %H:%M}" for time in (session.start, session.end))
    return start, end, session.room.name if session.room else ""


def test_session_is_dragged_to_another_time_and_room(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    across = block(page, "Two").bounding_box()["x"] - block(page, "One").bounding_box()["x"]  # type: ignore[index]
    drag(page, block(page, "One"), across, 240 * SCALE)
    expect(page.locator("#tt-status")).to_have_text("One: 12:00 to 13:00, Hall B")
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 1")
    assert times_and_room(sessions[0])[0] == "06 08:00"
    save(page)
    assert times_and_room(sessions[0]) == ("06 12:00", "06 13:00", "Hall B")
    assert sessions[0].presentations.get().start == make.MORNING + timedelta(hours=4)


def test_dragging_the_lower_edge_extends_a_session(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    drag(page, block(page, "Two").locator(".tt-edge"), 0, 30 * SCALE)
    save(page)
    assert times_and_room(sessions[1])[:2] == ("06 08:00", "06 09:30")


def test_session_is_moved_by_keyboard(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    block(page, "One").focus()
    for key in ("ArrowDown", "ArrowDown", "Shift+ArrowDown", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#tt-status")).to_have_text("One: 08:05 to 09:10, Hall B")
    expect(block(page, "One")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tt-status")).to_have_text("One can’t move further that way.")
    page.keyboard.press("PageDown")
    expect(page.locator("#tt-status")).to_have_text("One: moved to Wed 7 Apr, 08:05")
    expect(block(page, "One")).to_be_hidden()
    save(page)
    assert times_and_room(sessions[0]) == ("07 08:05", "07 09:10", "")


def test_moves_are_undone_one_by_one(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    block(page, "One").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+z")
    expect(page.locator("#tt-status")).to_have_text("Undone: One")
    assert page.locator(f"#id_s{sessions[0].pk}-start").input_value() == "08:05"
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 0")
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()


def test_selected_sessions_move_together(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    for title in ("One", "Three"):
        block(page, title).focus()
        page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.fill("#id_minutes", "30")
    page.get_by_role("button", name="Shift", exact=True).click()
    save(page)
    assert [times_and_room(session)[0] for session in sessions] == ["06 08:35", "06 08:00", "06 10:35"]


def test_session_form_opens_with_enter_and_moves_the_session(
    open_editor: OpenPage, sessions: list[Session]
) -> None:
    page = open_editor()
    page.goto(PAGE)
    block(page, "Two").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Day")).to_be_focused()
    assert violations(page) == []
    dialog.get_by_label("Start").fill("15:00")
    dialog.get_by_label("End").fill("16:00")
    dialog.get_by_label("Room").select_option("Hall A")
    page.keyboard.press("Escape")
    expect(block(page, "Two")).to_be_focused()
    save(page)
    assert times_and_room(sessions[1]) == ("06 15:00", "06 16:00", "Hall A")


def test_clashes_are_shown_while_editing(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    expect(page.locator("#tt-clashes")).to_contain_text("These sessions have no clashes.")
    drag(page, block(page, "One"), 0, 120 * SCALE)
    expect(page.locator("#tt-clashes")).to_contain_text("Ada: in two places at once")
    expect(page.locator("#tt-clashes .tt-new")).to_have_text("New")
    expect(block(page, "One")).to_have_attribute("aria-label", "One: 10:00 to 11:00, Hall A. clashes: 1")
    expect(block(page, "Three").locator(".tt-mark")).to_have_text("clashes: 1")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#tt-clashes")).to_contain_text("These sessions have no clashes.")
    assert times_and_room(sessions[0])[0] == "06 08:00"


DAY = timedelta(days=1)


@pytest.mark.parametrize("method", ["board", "form"])
def test_part_on_another_day_moves_with_its_session(
    open_editor: OpenPage, sessions: list[Session], method: str
) -> None:
    parent = sessions[0]
    parts = [
        make.make_session(parent.edition, title="Same", parent=parent, room=parent.room, minutes=30),
        make.make_session(
            parent.edition, title="Next", parent=parent, room=parent.room, start=make.MORNING + DAY
        ),
    ]
    page = open_editor()
    page.goto(PAGE)
    block(page, "One").focus()
    if method == "board":
        page.keyboard.press("PageDown")
    else:
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_label("Day").select_option("2021-04-07")
        page.keyboard.press("Escape")
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 3")
    save(page)
    assert [times_and_room(session)[0] for session in (parent, *parts)] == [
        "07 08:00",
        "07 08:00",
        "08 08:00",
    ]


def test_row_is_marked_as_moved_and_as_changed_by_someone_else(
    open_editor: OpenPage, sessions: list[Session]
) -> None:
    page = open_editor()
    page.goto(PAGE)
    Session.objects.filter(pk=sessions[0].pk).update(start=make.MORNING - timedelta(hours=1))
    block(page, "One").focus()
    page.keyboard.press("ArrowDown")
    badges = page.locator(f"#s{sessions[0].pk} .tt-badges")
    expect(badges.locator(".tt-badge").first).to_have_text("changed by someone else in the meantime")
    expect(badges.locator(".tt-moved")).to_have_text("moved")
    page.get_by_role("button", name="Undo").click()
    expect(badges.locator(".tt-moved")).to_have_count(0)


@pytest.mark.parametrize(("keys", "is_asked"), [(["ArrowDown"], True), (["ArrowDown", "ArrowUp"], False)])
def test_leaving_the_page_with_unsaved_moves_asks_for_confirmation(
    open_editor: OpenPage, sessions: list[Session], keys: list[str], is_asked: bool
) -> None:
    page = open_editor()
    page.goto(PAGE)
    dialog_types: list[str] = []

    def accept(dialog: Dialog) -> None:
        dialog_types.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    block(page, "One").click()
    page.keyboard.press("Escape")
    for key in keys:
        page.keyboard.press(key)
    expect(page.locator(".tt-count")).to_have_text(f"Sessions moved: {int(is_asked)}")
    page.goto("/admin/")

    assert dialog_types == (["beforeunload"] if is_asked else [])


class Finger:
    """A simulated finger on a touch screen."""

    def __init__(self, page: Page) -> None:
        self.send = page.context.new_cdp_session(page).send

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        self.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
        )

    def drag(self, handle: Locator, across: float, down: float) -> None:
        """Drag without releasing, after the page has stopped scrolling; distances are in pixels."""
        handle.tap(trial=True)
        box = handle.bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.touch("touchStart", (x, y))
        for part in (0.25, 0.5, 0.75, 1):
            self.touch("touchMove", (x + across * part, y + down * part))

    def release(self) -> None:
        self.touch("touchEnd")


def wait_until_scrolling_ends(page: Page) -> None:
    """Wait until the page has not moved for half a second: it goes on scrolling after a finger is lifted."""
    page.wait_for_function(
        "() => { const last = window.lastScrollY; window.lastScrollY = scrollY; return last === scrollY; }",
        polling=500,
    )


def test_session_is_moved_by_touch_on_a_tablet(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor(viewport=ViewportSize(width=1024, height=768), has_touch=True)
    page.goto(PAGE)
    finger, scroller = Finger(page), page.locator(".tt-scroll")
    scroller.evaluate("board => board.scrollIntoView()")
    across = block(page, "Two").bounding_box()["x"] - block(page, "One").bounding_box()["x"]  # type: ignore[index]

    block(page, "Two").locator(".tt-name").tap()
    expect(page.get_by_role("dialog").get_by_label("Start")).to_have_value("08:00")
    page.keyboard.press("Escape")

    # A drag on the session outside of its grip scrolls the page.
    start = page.evaluate("scrollY")
    finger.drag(block(page, "One").locator(".tt-name"), 0, 90)
    finger.release()
    page.wait_for_function("start => scrollY < start", arg=start)
    wait_until_scrolling_ends(page)
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 0")
    scroller.evaluate("board => board.scrollIntoView()")

    finger.drag(block(page, "One").locator(".tt-grip"), across, 60 * SCALE)
    finger.release()
    expect(page.locator("#tt-status")).to_have_text("One: 09:00 to 10:00, Hall B")
    finger.drag(block(page, "One").locator(".tt-edge"), 0, 30 * SCALE)
    finger.release()
    expect(page.locator("#tt-status")).to_have_text("One: 09:00 to 10:30, Hall B")
    save(page)
    assert times_and_room(sessions[0]) == ("06 09:00", "06 10:30", "Hall B")


def test_board_scrolls_while_a_session_is_held_at_its_edge_by_touch(
    open_editor: OpenPage, sessions: list[Session]
) -> None:
    late_start = sessions[0].start + timedelta(hours=10)
    make.make_session(sessions[0].edition, title="Late", room=sessions[0].room, start=late_start)
    page = open_editor(viewport=ViewportSize(width=1024, height=768), has_touch=True)
    page.goto(PAGE)
    finger, scroller = Finger(page), page.locator(".tt-scroll")
    scroller.evaluate("board => board.scrollIntoView()")
    handle_box, board_box = block(page, "One").locator(".tt-grip").bounding_box(), scroller.bounding_box()
    assert handle_box
    assert board_box
    bottom = min(768, board_box["y"] + board_box["height"])
    finger.drag(
        block(page, "One").locator(".tt-grip"), 0, bottom - 20 - handle_box["y"] - handle_box["height"] / 2
    )
    while scroller.evaluate("board => board.scrollTop") < 100:
        page.wait_for_timeout(50)
    finger.release()
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 1")
    # Times after 13:00 are only visible after scrolling.
    assert page.locator(f"#id_s{sessions[0].pk}-start").input_value() >= "13:00"


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_session_is_moved_and_reverted_without_javascript(
    open_editor: OpenPage, sessions: list[Session], size: ViewportSize
) -> None:
    page = open_editor(java_script_enabled=False, viewport=size)
    page.goto(PAGE)
    row = page.locator(f"#s{sessions[0].pk}")
    row.locator("summary").click()
    row.get_by_label("Start").fill("10:00")
    row.get_by_label("End").fill("11:00")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#tt-clashes")).to_contain_text("Ada: in two places at once")
    page.get_by_role("button", name="Wed 7 Apr").click()
    expect(page.locator(".tt-list")).to_contain_text("On other days")
    save(page)
    assert times_and_room(sessions[0])[:2] == ("06 10:00", "06 11:00")
    page.get_by_role("button", name="Revert all moves").click()
    expect(page.locator(".messagelist .success")).to_contain_text("2 rows reverted.")
    assert times_and_room(sessions[0])[:2] == ("06 08:00", "06 09:00")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_edit_conflict_is_refused_and_resolved(
    open_editor: OpenPage, sessions: list[Session], script: bool
) -> None:
    page = open_editor(java_script_enabled=script)
    page.goto(PAGE)
    row = page.locator(f"#s{sessions[0].pk}")
    row.locator("summary").click()
    row.get_by_label("Start").fill("10:00")
    row.get_by_label("End").fill("11:00")
    Session.objects.filter(pk=sessions[0].pk).update(start=make.MORNING - timedelta(hours=1))
    expect(page.locator("#tt-clashes[aria-busy]")).to_have_count(0)
    page.get_by_role("button", name="Save all moves").click()

    expect(page.locator(".errornote")).to_contain_text("Not saved")
    expect(page.locator("fieldset.choice")).to_contain_text("Tue 6 Apr, 07:00 to 09:00 PDT, Hall A")
    assert not script or violations(page) == []
    page.get_by_label("Yours").check()
    page.get_by_role("button", name="Save with these choices").click()
    expect(page.locator(".messagelist .success")).to_be_visible()
    assert times_and_room(sessions[0])[:2] == ("06 10:00", "06 11:00")


def test_timetable_editor_has_no_axe_violations(open_editor: OpenPage, sessions: list[Session]) -> None:
    page = open_editor()
    page.goto(PAGE)
    page.locator("#tt-keys summary").click()
    page.locator(f"#s{sessions[0].pk} summary").click()
    page.fill(f"#id_s{sessions[0].pk}-start", "07:00")
    page.locator(f"#s{sessions[0].pk}").get_by_label("Room").select_option("Hall B")
    expect(page.locator(".tt-count")).to_have_text("Sessions moved: 1")
    issues = display_issues(page, DISPLAYS)
    save(page)
    assert issues + display_issues(page, [(DESKTOP, "dark"), (PHONE, "light")]) == []


# Inside a session


def test_talks_are_reordered_and_spread_evenly(open_editor: OpenPage, sessions: list[Session]) -> None:
    for title in ("B", "C"):
        make.make_presentation(sessions[1], title=title)
    page = open_editor()
    page.goto(f"/admin/schedule/session/{sessions[1].pk}/talks/")
    page.get_by_role("button", name="Move C: drag, or press the arrow keys").focus()
    page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="Spread evenly").click()
    expect(page.get_by_label("Start of B")).to_have_value("08:30")
    assert violations(page) == []
    page.get_by_role("button", name="Save order and times").click()
    expect(page.locator(".messagelist .success")).to_be_visible()
    rows = [(row.title, row.start) for row in sessions[1].presentations.order_by("position")]
    assert rows == [("C", make.MORNING), ("B", make.MORNING + timedelta(minutes=30))]


def test_boards_are_assigned(open_editor: OpenPage, sessions: list[Session]) -> None:
    poster_session = make.make_session(sessions[0].edition, kind="poster", title="Posters")
    for title in ("B", "C"):
        make.make_presentation(poster_session, kind="poster", title=title)
    page = open_editor()
    page.goto(f"/admin/schedule/session/{poster_session.pk}/boards/")
    page.get_by_label("Boards in walking order").fill("7-9")
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_label("Board of C")).to_have_value("8")
    assert display_issues(page, DISPLAYS) == []
    page.get_by_role("button", name="Save boards").click()
    expect(page.locator(".messagelist .success")).to_have_text("2 boards were saved.")
    assert [row.board for row in poster_session.presentations.order_by("position")] == ["7", "8"]
    page.goto("/admin/schedule/session/posters/")
    assert display_issues(page, DISPLAYS) == []
