"""The desk by keyboard alone: the focus is always visible, and not lost after an action."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from conference.models import Edition
from exchange.models import ImportJob
from papers.models import Paper
from schedule.models import Presentation, ReleasePlan, Session, UnreleasedChange
from schedule.unreleased.releasing import let_changes_wait
from tests import factories as make
from tests.admin_forms import admin_url
from tests.browser.axe import DESK_DISPLAYS, DESKTOP, PHONE, display_issues
from tests.browser.visitor import OpenPage

pytestmark = pytest.mark.browser
MAX_TABS = 120
# Returns the focused element, whether its focus is visible, and whether it is the target.
FOCUSED_ELEMENT = """(target) => {
  const element = document.activeElement;
  if (!element || element === document.body) return {tag: "body", isVisible: true, isTarget: false};
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return {
    tag: element.tagName.toLowerCase(),
    isTarget: element === target,
    isVisible: (outlined || style.boxShadow !== "none") && box.width > 0 && box.height > 0,
    html: element.outerHTML.slice(0, 160),
  };
}"""


@pytest.fixture
def edition(transactional_db: None) -> Edition:
    """Create a public edition: two sessions in two halls, and two papers without a session."""
    edition = make.make_edition()
    halls = [make.make_room(edition, name) for name in ("Hall A", "Hall B")]
    make.make_session(edition, title="Vision talks", room=halls[0], status="published")
    make.make_session(edition, title="Language talks", room=halls[1], status="published")
    for name in ("Cortex", "Delta"):
        make.make_paper(edition, title=f"Paper {name}")
    return edition


@pytest.fixture
def desk_page(open_desk: OpenPage, console_errors: list[str]) -> Iterator[Page]:
    yield open_desk()
    assert console_errors == []


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until an element has the focus; assert that the focus is visible at each stop."""
    expect(target).to_be_visible()
    for count in range(MAX_TABS):
        focus = target.evaluate(FOCUSED_ELEMENT)
        assert not count or focus["isVisible"], focus
        if focus["isTarget"]:
            return
        page.keyboard.press(key)
    raise AssertionError(f"{target} is not reached by {key}.")


def tab_to_and_press(page: Page, name: str, role: Any = "button") -> None:
    tab_to(page, page.get_by_role(role, name=name, exact=True).first)
    page.keyboard.press("Enter")


def wait_for_success(page: Page) -> None:
    expect(page.locator(".messagelist .success").first).to_be_visible()


def test_paper_is_searched_and_renamed_by_keyboard(edition: Edition, desk_page: Page) -> None:
    desk_page.goto("/admin/")
    tab_to(desk_page, desk_page.locator("#desk-find"))
    desk_page.keyboard.type("Cortex")
    desk_page.keyboard.press("Enter")
    tab_to_and_press(desk_page, "Paper Cortex", "link")
    tab_to(desk_page, desk_page.locator("#id_title"))
    desk_page.keyboard.press("Control+a")
    desk_page.keyboard.type("Paper Axon")
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)

    assert Paper.objects.filter(title="Paper Axon").exists()


def test_session_is_moved_in_the_timetable_by_keyboard(edition: Edition, desk_page: Page) -> None:
    desk_page.goto("/admin/schedule/session/timetable/")
    tab_to(desk_page, desk_page.locator(".tt-block").filter(has_text="Vision talks"))
    desk_page.keyboard.press("ArrowDown")
    expect(desk_page.locator(".tt-count")).to_have_text("Sessions moved: 1")
    expect(desk_page.locator(".tt-block").filter(has_text="Vision talks")).to_be_focused()
    expect(desk_page.locator("#tt-clashes[aria-busy]")).to_have_count(0)
    old_start = Session.objects.get(title="Vision talks").start
    tab_to(desk_page, desk_page.get_by_role("button", name="Save all moves"), "Shift+Tab")
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)

    assert Session.objects.get(title="Vision talks").start > old_start


def test_papers_are_assigned_to_a_session_by_keyboard(edition: Edition, desk_page: Page) -> None:
    desk_page.goto("/admin/schedule/session/assign/")
    session = Session.objects.get(title="Vision talks")
    for name, count_text in (("Cortex", "1 paper planned"), ("Delta", "2 papers planned")):
        tab_to(desk_page, desk_page.get_by_label(f"Paper {name}", exact=True))
        desk_page.keyboard.press("m")
        expect(desk_page.get_by_label(f"Session for Paper {name}")).to_be_focused()
        desk_page.keyboard.press("Escape")
        desk_page.keyboard.type("Vision")
        desk_page.keyboard.press("Enter")
        expect(desk_page.locator("#as-count")).to_contain_text(count_text)
        assert desk_page.evaluate(FOCUSED_ELEMENT)["tag"] != "body"
    tab_to(desk_page, desk_page.get_by_role("button", name="Save sessions"), "Shift+Tab")
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)

    assert session.presentations.count() == 2


def test_changes_wait_and_are_released_by_keyboard(edition: Edition, desk_page: Page) -> None:
    desk_page.goto(f"/admin/schedule/release/working-copy/?edition={edition.pk}")
    tab_to(desk_page, desk_page.locator("button[name=act][value=open]"))
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)
    desk_page.goto(admin_url(Session.objects.get(title="Vision talks"), "change"))
    tab_to(desk_page, desk_page.locator("#id_title"))
    desk_page.keyboard.press("Control+a")
    desk_page.keyboard.type("Sight")
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)
    assert not Session.objects.filter(title="Sight").exists()
    desk_page.goto(f"/admin/schedule/release/working-copy/?edition={edition.pk}")
    tab_to(desk_page, desk_page.locator("button[name=act][value=release]"))
    desk_page.keyboard.press("Enter")
    wait_for_success(desk_page)

    assert Session.objects.filter(title="Sight").exists()


def test_columns_of_a_pasted_table_are_mapped_by_keyboard(edition: Edition, desk_page: Page) -> None:
    desk_page.goto(f"/admin/exchange/importjob/add/?edition={edition.pk}")
    tab_to(desk_page, desk_page.locator("[name=pasted]"))
    desk_page.keyboard.insert_text("Was,Wer\nOn n bodies,Mia Zed\n")
    tab_to_and_press(desk_page, "Continue")
    desk_page.wait_for_url("**/change/**")
    for index, label in enumerate(("Title", "Authors")):
        tab_to(desk_page, desk_page.locator(f"select[name=t0-c{index}]"))
        desk_page.keyboard.type(label)
        expect(desk_page.locator(f"select[name=t0-c{index}]")).to_be_focused()
    tab_to_and_press(desk_page, "Preview changes")
    expect(desk_page.get_by_role("button", name="Preview changes")).to_have_count(0)

    assert ImportJob.objects.get().columns["tables"][0]["columns"] == ["title", "authors"]


def test_room_change_is_announced_by_keyboard(edition: Edition, desk_page: Page) -> None:
    session = Session.objects.get(title="Vision talks")
    start = timezone.now() + timedelta(hours=1)
    Session.objects.filter(pk=session.pk).update(start=start, end=start + timedelta(hours=1))
    desk_page.goto(f"/admin/schedule/session/{session.pk}/announce/")
    tab_to(desk_page, desk_page.get_by_label("New room"))
    desk_page.keyboard.type("Hall B")
    tab_to_and_press(desk_page, "Show the notice")
    tab_to_and_press(desk_page, "Publish now")
    expect(desk_page.get_by_text("The notice is public")).to_be_visible()
    session.refresh_from_db()

    assert str(session.room) == "Hall B"


def test_desk_pages_have_no_axe_violations(edition: Edition, open_desk: OpenPage) -> None:
    let_changes_wait(edition, User.objects.get(), timezone.now())
    session = Session.objects.get(title="Vision talks")
    poster_session = make.make_session(edition, kind="poster", title="Posters", status="published")
    make.make_presentation(poster_session, kind="poster", title="Poster", board="1")
    Session.objects.filter(pk=session.pk).update(title="Sight")
    schedule_url, query = "/admin/schedule", f"?edition={edition.pk}"
    paths = [
        f"/admin/{query}",
        "/admin/search/?q=paper",
        f"{schedule_url}/release/working-copy/{query}",
        f"{schedule_url}/release/add/{query}",
        f"{schedule_url}/session/timetable/{query}",
        f"{schedule_url}/session/assign/{query}",
        f"{schedule_url}/session/{poster_session.pk}/boards/",
        f"{schedule_url}/session/{poster_session.pk}/boards/labels/",
        f"{schedule_url}/session/{session.pk}/announce/",
        f"{schedule_url}/programinvitation/add/{query}",
        f"{schedule_url}/unavailability/add/{query}",
        "/admin/accounts/membership/roles/",
        f"/admin/conference/edition/new/?source={edition.pk}",
        f"/admin/exchange/importjob/add/{query}",
        admin_url(session, "history"),
        admin_url(Paper.objects.order_by("pk")[0], "change"),
        admin_url(session, "change"),
    ]
    waiting = UnreleasedChange.objects.count()
    page, issues_by_path = open_desk(), {}
    for path in paths:
        response = page.goto(path)
        assert response
        assert response.status == 200, path
        issues_by_path[path] = display_issues(page, [*DESK_DISPLAYS, (DESKTOP, "dark"), (PHONE, "light")])

    assert ReleasePlan.objects.get().changes_wait
    assert UnreleasedChange.objects.count() == waiting > 0
    assert Presentation.objects.count() == 1
    assert {path: issues for path, issues in issues_by_path.items() if issues} == {}
