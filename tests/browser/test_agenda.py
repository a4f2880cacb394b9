"""My agenda in Chromium: stars, calendar file, other tabs and devices, deletion, invalid storage."""

import pytest
from playwright.sync_api import Page, expect

from schedule.models import Agenda, Session
from tests.browser.axe import NARROW, display_issues
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]
DAY, AGENDA = "/2021/schedule/2021-04-06/", "/2021/agenda/"
STORAGE_KEY = "plenary.agenda.2021"
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


def save_agenda(page: Page) -> str:
    """Store the agenda on the site; return its private link."""
    page.goto(AGENDA)
    page.get_by_role("button", name="Save and sync").click()
    expect(page.get_by_text("Your agenda is saved.")).to_be_visible()
    return page.get_by_label("Private link:").input_value()


def wait_for_count(page: Page, number: int) -> None:
    expect(page.locator("[data-count]")).to_have_text(f" · {number}" if number else "")


def test_starred_sessions_are_in_the_agenda_and_its_calendar_file(open_page: OpenPage) -> None:
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


def test_star_button_is_44_pixels_large_and_works_by_keyboard(open_page: OpenPage) -> None:
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


def test_star_is_shown_in_other_tabs_at_once(open_page: OpenPage) -> None:
    tab = open_page()
    tab.goto(DAY)
    other_tab, agenda_tab = tab.context.new_page(), tab.context.new_page()
    other_tab.goto(DAY)
    agenda_tab.goto(AGENDA)

    star(tab, OPENING)
    expect(other_tab.get_by_role("button", name=OPENING, exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(agenda_tab.get_by_role("link", name="Opening Remarks")).to_be_visible()
    other_tab.get_by_role("button", name=CORTEX, exact=True).click()
    wait_for_count(tab, 2)
    wait_for_count(agenda_tab, 2)


def test_private_link_merges_the_agendas_of_two_devices(open_page: OpenPage) -> None:
    phone, desktop = open_page(), open_page()
    star(phone, OPENING)
    link = save_agenda(phone)
    star(desktop, CORTEX)
    desktop.goto(link)
    assert titles(desktop) == ["Opening Remarks"]
    desktop.get_by_role("button", name="Use this agenda in this browser").click()
    wait_for_count(desktop, 2)

    phone.goto(AGENDA)
    wait_for_count(phone, 2)
    with phone.expect_response("**/agenda/sync/"):
        phone.get_by_role("button", name=OPENING, exact=True).click()
    desktop.goto(AGENDA)
    wait_for_count(desktop, 1)
    assert desktop.get_by_role("link", name="Opening Remarks").count() == 0


def test_read_only_link_shows_the_agenda_without_changing_it(open_page: OpenPage) -> None:
    owner, guest = open_page(), open_page()
    star(owner, OPENING)
    save_agenda(owner)
    guest.goto(owner.get_by_label("Read-only link").input_value())
    assert titles(guest) == ["Opening Remarks"]
    assert guest.get_by_text("Delete this agenda").count() == 0
    guest.get_by_role("button", name="Star all").click()
    wait_for_count(guest, 1)
    guest.goto(AGENDA)
    expect(guest.get_by_role("link", name="Opening Remarks")).to_be_visible()
    assert Agenda.objects.count() == 1


def test_deleted_agenda_is_deleted_on_the_site_and_in_all_browsers(open_page: OpenPage) -> None:
    page, other_page = open_page(), open_page()
    star(page, OPENING)
    link = save_agenda(page)
    other_page.goto(link)
    other_page.get_by_role("button", name="Use this agenda in this browser").click()
    wait_for_count(other_page, 1)
    page.get_by_text("Delete this agenda").click()
    page.get_by_role("button", name="Delete agenda").click()
    expect(page.get_by_text("Your agenda was deleted.")).to_be_visible()
    wait_for_count(page, 0)
    assert page.evaluate(f"localStorage.getItem('{STORAGE_KEY}')") is None
    assert page.context.cookies() == []
    assert not Agenda.objects.exists()
    response = page.goto(link)
    assert response is not None
    assert response.status == 404
    other_page.goto(AGENDA)
    expect(other_page.get_by_text("Your saved agenda was deleted.")).to_be_visible()
    wait_for_count(other_page, 1)


def test_agenda_stored_only_in_the_browser_is_deleted(open_page: OpenPage) -> None:
    page = open_page()
    star(page, OPENING)
    page.goto(AGENDA)
    page.get_by_text("Delete this agenda").click()
    page.get_by_role("button", name="Delete agenda").click()
    expect(page.get_by_role("heading", name="Nothing starred")).to_be_visible()
    wait_for_count(page, 0)


INVALID_AGENDAS = ["{", "null", "[]", '{"version":9}', '{"version":1,"stars":5}', "\u0000"]
INVALID_AGENDAS += ['{"version":1,"stars":["junk"]}', '{"version":1,"stars":[3,null]}']


def test_invalid_stored_agenda_is_cleared_with_a_message(open_page: OpenPage) -> None:
    page = open_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/2021/")
    for stored in INVALID_AGENDAS:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [STORAGE_KEY, stored])
        page.goto(AGENDA)
        message = page.get_by_text("couldn’t be read, so they were cleared.")
        expect(message, f"after {stored!r}").to_be_visible()
        page.goto(DAY)
        assert (stored, page.get_by_text("couldn’t be read").count(), errors) == (stored, 0, [])
        star(page, OPENING)
        wait_for_count(page, 1)
        page.evaluate("localStorage.clear()")
    assert errors == []


def test_agenda_is_saved_on_the_site_without_javascript(open_page: OpenPage) -> None:
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


def test_moved_session_is_marked_until_dismissed(open_page: OpenPage) -> None:
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


def test_agenda_pages_have_no_axe_violations(open_page: OpenPage) -> None:
    page = open_page(viewport=NARROW)
    issues = []
    star(page, OPENING, CORTEX)
    link = save_agenda(page)
    for address in (AGENDA, link, "/2021/agenda/?s=s.none", "/2021/agenda/x/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        issues += display_issues(page, [(NARROW, "light"), (NARROW, "dark")])
    assert issues == []


def test_posters_of_a_large_session_are_filtered_by_star(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedule.views.MAX_LISTED_TALKS", 2)
    monkeypatch.setattr("schedule.poster_pages.POSTERS_PER_PAGE", 3)
    session = Session.objects.published().filter(kind="poster").earliest("start")
    page = open_page()
    page.goto(session.get_absolute_url())
    filter_button = page.get_by_role("button", name="Only my stars")
    expect(filter_button).to_be_hidden()
    page.locator("li.talk .star").nth(1).click()
    title = page.locator("li.talk .title").nth(1).inner_text()
    filter_button.click()

    expect(page.locator("li.talk .title")).to_have_text([title])
    assert "starred=" in page.url
    assert display_issues(page, [(NARROW, "light"), (NARROW, "dark")]) == []


def test_private_link_is_copied_and_shown_as_qr_code(open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    star(page, OPENING)
    link = save_agenda(page)
    page.locator("[data-copy=secret]").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link
    page.get_by_text("QR code for your phone").first.click()
    expect(page.get_by_role("img", name="QR code of the private link")).to_be_visible()
