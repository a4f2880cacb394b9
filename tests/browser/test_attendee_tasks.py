"""Common tasks of attendees in few steps: time and room of a paper, posters of a day, phone calendar."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import DESKTOP, PHONE
from tests.browser.visitor import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("demo")]


def test_search_on_a_phone_shows_time_of_a_paper_after_one_tap(
    open_page: OpenPage,
) -> None:
    page = open_page(viewport=PHONE)
    page.goto("/2021/")
    page.get_by_role("navigation", name="Quick links").get_by_role("link", name="Search").click()
    page.locator("main").get_by_role("combobox").press_sequentially("cortex comp", delay=20)

    option = page.locator("[role=option]:visible").first
    expect(option).to_contain_text("Cortex: A Compiler for Recursive Deep Learning Models")
    expect(option).to_contain_text("Tue 6 Apr")
    expect(option).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def test_posters_of_a_topic_on_a_day_are_found_with_one_query(open_page: OpenPage) -> None:
    page = open_page(viewport=DESKTOP)
    page.goto("/2021/")
    box = page.locator(".bar form.search").get_by_role("combobox")
    box.click()
    box.press_sequentially("posters on compilers tuesday", delay=5)
    page.keyboard.press("Enter")

    filters = page.get_by_role("list").filter(has_text="Poster").filter(has_text="Tue 6 Apr")
    expect(filters.first).to_be_visible()
    papers = page.locator("main .papers > li")
    expect(papers.first).to_be_visible()
    for row in papers.all():
        expect(row).to_contain_text("Tue 6 Apr")


def test_agenda_is_added_to_a_phone_calendar_without_typing(open_page: OpenPage) -> None:
    page = open_page(viewport=PHONE)
    page.goto("/2021/schedule/2021-04-06/")
    page.locator("main .star").first.click()
    page.get_by_role("navigation", name="Quick links").get_by_role("link", name="Agenda").click()
    page.get_by_role("button", name="Save and sync").click()
    page.get_by_text("Add to calendar").first.click()

    url = page.get_by_role("link", name="Apple Calendar").first.get_attribute("href")
    assert url is not None
    assert url.startswith("webcal://")
