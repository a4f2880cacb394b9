"""My agenda in Chromium: star to calendar, tabs in step, other devices, deletion, broken state, no script."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from schedule.models import Agenda, Session
from tests.browser.axe import NARROW, hindrances

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]
DAY, AGENDA = "/2021/schedule/2021-04-06/", "/2021/agenda/"
PLACE = "plenary.agenda.2021"
CORTEX = "Star: Cortex: A Compiler for Recursive Deep Learning Models"
OPENING = "Star: Opening Remarks"


def star(page: Page, *labels: str, address: str = DAY) -> None:
    page.goto(address)
    for label in labels:
        button = page.get_by_role("button", name=label, exact=True).first
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")


def titles(page: Page) -> list[str]:
    return page.locator("main article .title a").all_inner_texts()


def keep(page: Page) -> str:
    """Store the agenda on the site; return its secret link."""
    page.goto(AGENDA)
    page.get_by_role("button", name="Save and sync").click()
    expect(page.get_by_text("Your agenda is saved.")).to_be_visible()
    return page.get_by_label("Private link:").input_value()


def wait_for_count(page: Page, number: int) -> None:
    expect(page.locator("[data-count]")).to_have_text(f" · {number}" if number else "")


def test_star_goes_to_the_agenda_and_into_a_calendar(open_page: Callable[..., Page]) -> None:
    page = open_page(accept_downloads=True)
    star(page, OPENING, CORTEX)
    wait_for_count(page, 2)
    page.reload()
    expect(page.get_by_role("button", name=CORTEX, exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="Agenda").first.click()
    expect(page.get_by_role("heading", name="Tuesday 6 April 2021")).to_be_visible()
    assert titles(page)[0] == "Opening Remarks"

    with page.expect_download() as download:
        page.get_by_role("button", name="Calendar .ics").click()

    text = download.value.path().read_text("utf-8")
    assert text.count("BEGIN:VEVENT") == 2
    assert "SUMMARY:Opening Remarks" in text
    assert page.context.cookies() == []
    assert not Agenda.objects.exists()


def test_star_is_large_enough_and_works_by_keyboard(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport={"width": 320, "height": 700})
    page.goto(DAY)
    button = page.get_by_role("button", name=OPENING, exact=True)
    box = button.bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 44
    button.focus()
    for pressed in ("true", "false"):
        page.keyboard.press("Space")
        expect(button).to_have_attribute("aria-pressed", pressed)


def test_tabs_stay_in_step(open_page: Callable[..., Page]) -> None:
    one = open_page()
    one.goto(DAY)
    other, agenda = one.context.new_page(), one.context.new_page()
    other.goto(DAY)
    agenda.goto(AGENDA)

    star(one, OPENING)
    expect(other.get_by_role("button", name=OPENING, exact=True)).to_have_attribute("aria-pressed", "true")
    expect(agenda.get_by_role("link", name="Opening Remarks")).to_be_visible()
    other.get_by_role("button", name=CORTEX, exact=True).click()
    wait_for_count(one, 2)
    wait_for_count(agenda, 2)


def test_secret_link_joins_two_devices_without_loss(open_page: Callable[..., Page]) -> None:
    phone, desk = open_page(), open_page()
    star(phone, OPENING)
    link = keep(phone)
    star(desk, CORTEX)
    desk.goto(link)
    assert titles(desk) == ["Opening Remarks"]
    desk.get_by_role("button", name="Use this agenda in this browser").click()
    wait_for_count(desk, 2)

    phone.goto(AGENDA)
    wait_for_count(phone, 2)
    with phone.expect_response("**/agenda/sync/"):
        phone.get_by_role("button", name=OPENING, exact=True).click()
    desk.goto(AGENDA)
    wait_for_count(desk, 1)
    assert desk.get_by_role("link", name="Opening Remarks").count() == 0


def test_link_to_share_shows_and_changes_nothing(open_page: Callable[..., Page]) -> None:
    owner, guest = open_page(), open_page()
    star(owner, OPENING)
    keep(owner)
    guest.goto(owner.get_by_label("Read-only link").input_value())
    assert titles(guest) == ["Opening Remarks"]
    assert guest.get_by_text("Delete this agenda").count() == 0
    guest.get_by_role("button", name="Star all").click()
    wait_for_count(guest, 1)
    guest.goto(AGENDA)
    expect(guest.get_by_role("link", name="Opening Remarks")).to_be_visible()
    assert Agenda.objects.count() == 1


def test_deleting_deletes_everywhere(open_page: Callable[..., Page]) -> None:
    page, other = open_page(), open_page()
    star(page, OPENING)
    link = keep(page)
    other.goto(link)
    other.get_by_role("button", name="Use this agenda in this browser").click()
    wait_for_count(other, 1)
    page.get_by_text("Delete this agenda").click()
    page.get_by_role("button", name="Delete agenda").click()
    expect(page.get_by_text("Your agenda was deleted.")).to_be_visible()
    wait_for_count(page, 0)
    assert page.evaluate(f"localStorage.getItem('{PLACE}')") is None
    assert page.context.cookies() == []
    assert not Agenda.objects.exists()
    stale = page.goto(link)
    assert stale is not None
    assert stale.status == 404
    other.goto(AGENDA)
    expect(other.get_by_text("Your saved agenda was deleted.")).to_be_visible()
    wait_for_count(other, 1)


def test_agenda_in_the_browser_alone_is_deleted_too(open_page: Callable[..., Page]) -> None:
    page = open_page()
    star(page, OPENING)
    page.goto(AGENDA)
    page.get_by_text("Delete this agenda").click()
    page.get_by_role("button", name="Delete agenda").click()
    expect(page.get_by_role("heading", name="Nothing starred")).to_be_visible()
    wait_for_count(page, 0)


@pytest.mark.parametrize(
    "stored",
    [
        "{",
        "null",
        "[]",
        '{"version":9}',
        '{"version":1,"stars":5}',
        '{"version":1,"stars":["junk"]}',
        '{"version":1,"stars":[3,null]}',
        "\u0000",
    ],
)
def test_broken_state_is_cleared_with_a_word(open_page: Callable[..., Page], stored: str) -> None:
    page = open_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/2021/")
    page.evaluate("([place, text]) => localStorage.setItem(place, text)", [PLACE, stored])
    page.goto(AGENDA)
    expect(page.get_by_text("couldn’t be read, so they were cleared.")).to_be_visible()
    page.goto(DAY)
    assert page.get_by_text("couldn’t be read").count() == 0
    star(page, OPENING)
    wait_for_count(page, 1)
    assert errors == []


def test_without_javascript_the_site_keeps_the_agenda(open_page: Callable[..., Page]) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(DAY)
    page.get_by_role("button", name=OPENING, exact=True).click()
    assert page.url.endswith("/2021/agenda/?note=kept")
    assert titles(page) == ["Opening Remarks"]
    page.goto(DAY)
    page.get_by_role("button", name=CORTEX, exact=True).click()
    page.get_by_role("button", name="Unstar: Opening Remarks").click()
    assert "Opening Remarks" not in page.inner_text("main")
    assert "Cortex" in page.inner_text("main")
    page.get_by_text("Delete this agenda").click()
    page.get_by_role("button", name="Delete agenda").click()
    assert page.context.cookies() == []
    assert not Agenda.objects.exists()


def test_move_is_noted_in_the_browser(open_page: Callable[..., Page]) -> None:
    page = open_page()
    star(page, OPENING)
    session = Session.objects.published().get(title="Opening Remarks", edition__slug="2021")
    session.start, session.end = session.start.replace(minute=10), session.end.replace(minute=50)
    session.save()
    page.goto(AGENDA)
    expect(page.get_by_text("It was Tue 6 Apr, 08:00 PDT")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    page.reload()
    expect(page.get_by_role("link", name="Opening Remarks")).to_be_visible()
    assert page.get_by_text("Moved since").count() == 0


def test_agenda_hinders_nobody(open_page: Callable[..., Page]) -> None:
    page = open_page(viewport=NARROW)
    found = []
    star(page, OPENING, CORTEX)
    link = keep(page)
    for address in (AGENDA, link, "/2021/agenda/?s=s.none", "/2021/agenda/x/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        found += hindrances(page, [(NARROW, "light"), (NARROW, "dark")])
    assert found == []


def test_posters_of_a_large_session_are_narrowed_to_my_stars(
    open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", 2)
    monkeypatch.setattr("schedule.poster_pages.POSTERS_PER_PAGE", 3)
    session = Session.objects.published().filter(kind="poster").earliest("start")
    page = open_page()
    page.goto(session.get_absolute_url())
    narrow = page.get_by_role("button", name="Only my stars")
    expect(narrow).to_be_hidden()
    page.locator("li.talk .star").nth(1).click()
    title = page.locator("li.talk .title").nth(1).inner_text()
    narrow.click()

    expect(page.locator("li.talk .title")).to_have_text([title])
    assert "starred=" in page.url
    assert hindrances(page, [(NARROW, "light"), (NARROW, "dark")]) == []


def test_link_of_an_agenda_is_copied_and_drawn_for_a_phone(open_page: Callable[..., Page]) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    star(page, OPENING)
    link = keep(page)
    page.locator("[data-copy=secret]").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.get_by_text("QR code for your phone").first.click()
    expect(page.get_by_role("img", name="QR code of the private link")).to_be_visible()
