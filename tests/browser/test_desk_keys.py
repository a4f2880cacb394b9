"""The desk by keyboard alone: the focus is always visible, and not lost after an action."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from conference.models import Edition
from exchange.models import ImportJob
from papers.models import Paper
from schedule.models import Presentation, Session, WorkingCopy
from schedule.working_copy.block import edit_working_copy, open_copies
from schedule.working_copy.release import open_copy
from tests import factories as make
from tests.browser.axe import DESK_LOOKS, DESKTOP, PHONE, hindrances
from tests.posted import address

pytestmark = pytest.mark.browser
MAX_TABS = 120
# Returns the focused element, and whether its focus is visible.
FOCUS = """() => {
  const found = document.activeElement;
  if (!found || found === document.body) return {tag: "body", seen: true};
  const style = getComputedStyle(found);
  const box = found.getBoundingClientRect();
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return {
    tag: found.tagName.toLowerCase(),
    seen: (outlined || style.boxShadow !== "none") && box.width > 0 && box.height > 0,
    html: found.outerHTML.slice(0, 160),
  };
}"""


@pytest.fixture
def edition(transactional_db: None) -> Edition:
    """Create a public edition: two sessions in two halls, and two papers without a session."""
    found = make.make_edition()
    halls = [make.make_room(found, name) for name in ("Hall A", "Hall B")]
    make.make_session(found, title="Vision talks", room=halls[0], status="published")
    make.make_session(found, title="Language talks", room=halls[1], status="published")
    for name in ("Cortex", "Delta"):
        make.make_paper(found, title=f"Paper {name}")
    return found


@pytest.fixture
def keys(open_desk: Callable[..., Page], said: list[str]) -> Iterator[Page]:
    yield open_desk()
    assert said == []


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until an element has the focus; assert that the focus is visible at each stop."""
    expect(target).to_be_visible()
    for _ in range(MAX_TABS):
        if target.evaluate("found => found === document.activeElement"):
            return
        page.keyboard.press(key)
        where = page.evaluate(FOCUS)
        assert where["seen"], where
    raise AssertionError(f"{target} is not reached by {key}.")


def press(page: Page, name: str, role: Any = "button") -> None:
    tab_to(page, page.get_by_role(role, name=name, exact=True).first)
    page.keyboard.press("Enter")


def told(page: Page) -> None:
    expect(page.locator(".messagelist .success").first).to_be_visible()


def test_paper_is_found_and_renamed(edition: Edition, keys: Page) -> None:
    keys.goto("/admin/")
    tab_to(keys, keys.locator("#desk-find"))
    keys.keyboard.type("Cortex")
    keys.keyboard.press("Enter")
    press(keys, "Paper Cortex", "link")
    tab_to(keys, keys.locator("#id_title"))
    keys.keyboard.press("Control+a")
    keys.keyboard.type("Paper Axon")
    keys.keyboard.press("Enter")
    told(keys)

    assert Paper.objects.filter(title="Paper Axon").exists()


def test_session_is_moved_in_the_timetable(edition: Edition, keys: Page) -> None:
    keys.goto("/admin/schedule/session/timetable/")
    tab_to(keys, keys.locator(".tt-block").filter(has_text="Vision talks"))
    keys.keyboard.press("ArrowDown")
    expect(keys.locator(".tt-count")).to_have_text("Sessions moved: 1")
    expect(keys.locator(".tt-block").filter(has_text="Vision talks")).to_be_focused()
    expect(keys.locator("#tt-clashes[aria-busy]")).to_have_count(0)
    before = Session.objects.get(title="Vision talks").start
    tab_to(keys, keys.get_by_role("button", name="Save all moves"), "Shift+Tab")
    keys.keyboard.press("Enter")
    told(keys)

    assert Session.objects.get(title="Vision talks").start > before


def test_papers_are_put_into_a_session(edition: Edition, keys: Page) -> None:
    keys.goto("/admin/schedule/session/assign/")
    session = Session.objects.get(title="Vision talks")
    for name, planned in (("Cortex", "1 paper planned"), ("Delta", "2 papers planned")):
        tab_to(keys, keys.get_by_label(f"Paper {name}", exact=True))
        keys.keyboard.press("m")
        expect(keys.get_by_label(f"Session for Paper {name}")).to_be_focused()
        keys.keyboard.press("Escape")
        keys.keyboard.type("Vision")
        keys.keyboard.press("Enter")
        expect(keys.locator("#as-count")).to_contain_text(planned)
        assert keys.evaluate(FOCUS)["tag"] != "body"
    tab_to(keys, keys.get_by_role("button", name="Save sessions"), "Shift+Tab")
    keys.keyboard.press("Enter")
    told(keys)

    assert session.presentations.count() == 2


def test_working_copy_is_begun_changed_and_released(edition: Edition, keys: Page) -> None:
    keys.goto(f"/admin/schedule/release/working-copy/?edition={edition.pk}")
    tab_to(keys, keys.locator("button[name=act][value=open]"))
    keys.keyboard.press("Enter")
    told(keys)
    keys.goto(address(Session.objects.get(title="Vision talks"), "change"))
    tab_to(keys, keys.locator("#id_title"))
    keys.keyboard.press("Control+a")
    keys.keyboard.type("Sight")
    keys.keyboard.press("Enter")
    told(keys)
    assert not Session.objects.filter(title="Sight").exists()
    keys.goto(f"/admin/schedule/release/working-copy/?edition={edition.pk}")
    tab_to(keys, keys.locator("button[name=act][value=release]"))
    keys.keyboard.press("Enter")
    told(keys)

    assert Session.objects.filter(title="Sight").exists()


def test_columns_of_a_pasted_table_are_chosen(edition: Edition, keys: Page) -> None:
    keys.goto(f"/admin/exchange/importjob/add/?edition={edition.pk}")
    tab_to(keys, keys.locator("[name=pasted]"))
    keys.keyboard.insert_text("Was,Wer\nOn n bodies,Mia Zed\n")
    press(keys, "Continue")
    keys.wait_for_url("**/change/**")
    for place, label in enumerate(("Title", "Authors")):
        tab_to(keys, keys.locator(f"select[name=t0-c{place}]"))
        keys.keyboard.type(label)
        expect(keys.locator(f"select[name=t0-c{place}]")).to_be_focused()
    press(keys, "Preview changes")
    expect(keys.get_by_role("button", name="Preview changes")).to_have_count(0)

    assert ImportJob.objects.get().columns["tables"][0]["columns"] == ["title", "authors"]


def test_change_is_announced(edition: Edition, keys: Page) -> None:
    session = Session.objects.get(title="Vision talks")
    start = timezone.now() + timedelta(hours=1)
    Session.objects.filter(pk=session.pk).update(start=start, end=start + timedelta(hours=1))
    keys.goto(f"/admin/schedule/session/{session.pk}/announce/")
    tab_to(keys, keys.get_by_label("New room"))
    keys.keyboard.type("Hall B")
    press(keys, "Show the notice")
    press(keys, "Publish now")
    expect(keys.get_by_text("The notice is public")).to_be_visible()
    session.refresh_from_db()

    assert str(session.room) == "Hall B"


def test_pages_of_the_desk_hinder_nobody(edition: Edition, open_desk: Callable[..., Page]) -> None:
    copy = open_copy(edition, User.objects.get(), timezone.now())
    session = Session.objects.get(title="Vision talks")
    hall = make.make_session(edition, kind="poster", title="Posters", status="published")
    make.make_presentation(hall, kind="poster", title="Poster", board="1")
    with edit_working_copy(open_copies()):
        Session.objects.filter(pk=session.pk).update(status="draft")
    admin, here = "/admin/schedule", f"?edition={edition.pk}"
    paths = [
        f"/admin/{here}",
        "/admin/search/?q=paper",
        f"{admin}/release/working-copy/{here}",
        f"{admin}/release/add/{here}",
        f"{admin}/session/timetable/{here}",
        f"{admin}/session/assign/{here}",
        f"{admin}/session/{hall.pk}/boards/",
        f"{admin}/session/{hall.pk}/boards/labels/",
        f"{admin}/session/{session.pk}/announce/",
        f"{admin}/programinvitation/add/{here}",
        f"{admin}/unavailability/add/{here}",
        "/admin/accounts/membership/roles/",
        f"/admin/conference/edition/new/?source={edition.pk}",
        f"/admin/exchange/importjob/add/{here}",
        address(session, "history"),
        address(Paper.objects.order_by("pk")[0], "change"),
        address(session, "change"),
    ]
    page, found = open_desk(), {}
    for path in paths:
        answer = page.goto(path)
        assert answer
        assert answer.status == 200, path
        found[path] = hindrances(page, [*DESK_LOOKS, (DESKTOP, "dark"), (PHONE, "light")])

    assert copy.is_open
    assert WorkingCopy.objects.get().row_count == 1
    assert Presentation.objects.count() == 1
    assert {path: seen for path, seen in found.items() if seen} == {}
